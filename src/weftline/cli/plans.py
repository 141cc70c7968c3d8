"""What ``diff`` prints of a cabling plan: counts, then the cables that are not as planned."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from weftline.cli.layout import print_rows
from weftline.cli.output import clean, gather_problems, make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from weftline.app.plan import Held

SHOWN = 20
"""Differences of one kind that are listed; the rest are counted."""
WORDS = {"miswired": "miswired", "missing": "missing", "unknown": "not judged"}


def show_held(held: Held, *, as_json: bool, no_color: bool) -> int:
    """Print how much is as planned, and what is not; links beside the plan are gathered by device."""
    from weftline.app.views.plan import view_held

    status = EXIT_DONE if held.is_accepted else EXIT_NO
    view = view_held(held)
    if as_json:
        print_json(view)
        return status
    console = make_console(no_color=no_color)
    keys = ["planned", "as_planned", "miswired", "missing", "not_judged", "unplanned"]
    keys += [key for key in ("excused", "outside") if view[key]]
    print_rows(console, {key: view[key] for key in keys})
    if held.verdict.absent:
        names = held.verdict.absent
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        text = f"{len(names)} of {held.verdict.devices} devices of the plan were not found: {', '.join(names[:SHOWN])}"
        console.print(f"\n{clean(text)}{more}")
    lines = [*gather_problems(held.problems), *_list_differences(held)]
    for line in ["", *lines] if lines else []:
        console.print(clean(line))
    return status


def _list_differences(held: Held) -> list[str]:
    """List the cables of the plan that are not so, each kind up to a bound, and the others by device."""
    lines: list[str] = []
    for kind, word in WORDS.items():
        found = [item for item in held.verdict.differences if item.kind == kind]
        lines += [f"{word}: {item.where}: {item.subject}: {item.message}" for item in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"{word}: {len(found) - SHOWN} more; --json lists all")
    devices = Counter(item.device for item in held.verdict.differences if item.kind == "unplanned")
    if devices:
        lines.append(f"unplanned: {sum(devices.values()):,} links, by device:")
        lines += [f"unplanned: {device}: {count}" for device, count in devices.most_common(SHOWN)]
        if len(devices) > SHOWN:
            lines.append(f"unplanned: {len(devices) - SHOWN} more devices; --json lists all links")
    return lines
