"""What `lab keep` prints: a line per change."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from weftline.cli.output import clean, make_console
from weftline.errors import EXIT_CHANGE_FAILED, EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from weftline.app.keep_event import Counts, KeepEvent

MAX_NAMED = 6
OURS = ("notice", "recompute", "prove", "write")


def show_event(event: KeepEvent, *, as_json: bool, no_color: bool) -> None:
    """Print one change at once, whoever reads."""
    if as_json:
        from weftline.app.views.keep import view_event

        _print_line(view_event(event))
        return
    console = make_console(no_color=no_color)
    for line in list_lines(event):
        console.print(clean(line))
    sys.stdout.flush()


def _print_line(view: Mapping[str, object]) -> None:
    """Print one document on a line of its own, so that a reader can follow."""
    sys.stdout.write(json.dumps(view, allow_nan=False) + "\n")
    sys.stdout.flush()


def list_lines(event: KeepEvent) -> Iterator[str]:
    """Write what changed and what was done, then each wrong cable."""
    if event.kind in {"cut-off", "returned"}:
        yield _say_reach(event)
        return
    words = [f"{word} {_name(names)}" for word, names in (("down", event.gone), ("back", event.back)) if names]
    if event.kind == "start":
        words = [f"kept; down {_name(event.down)}" if event.down else "kept; every cable is as declared"]
        if event.cut_off:
            nothing = f"the manager of {_name(event.cut_off)} is cut off, so nothing is known of the cables there"
            words = [f"{words[0]}; {nothing}"] if event.proofs else [f"kept; {nothing}"]
        if not event.proofs:
            yield words[0]
            return
    yield f"{', '.join(words) or 'looked again'}: {_say_done(event)}"
    yield f"  {_say_times(event)}"
    for wrong in event.wrong:
        yield f"  wrong cable, not used: {wrong}"


def _say_reach(event: KeepEvent) -> str:
    if event.kind == "cut-off":
        return (
            f"cut off: the port of the manager of {event.why} is down, so nobody sees its cables and no tables are sent"
        )
    return f"back: the manager of {event.why} is reached again, and everything is looked at anew"


def _say_done(event: KeepEvent) -> str:
    if event.kind == "refused":
        return f"the tables stay as they are, since new ones are not proved: {event.why}"
    what = f"{event.changed:,} entries towards {event.columns:,} destinations"
    if event.kind == "failed":
        return f"{what} were sent, and do not run: {event.why}"
    if not event.changed:
        return f"the tables stay as they are, {_say_proved(event)}"
    how = "" if len(event.stages) < 2 else f" in {len(event.stages)} stages ({', then '.join(event.stages)})"
    anew = ", all computed anew," if event.is_anew else ""
    end = "another change came before they were read back" if event.is_told_more else "read back"
    return f"{what} changed{anew}{how}, {_say_proved(event)}; {end}{event.why and '; '}{event.why}"


def _say_proved(event: KeepEvent) -> str:
    pairs = event.proofs[0].detail.get("connected_pairs", 0)
    return f"proved for {pairs:,} pairs that can be connected"


def _say_times(event: KeepEvent) -> str:
    parts = ", ".join(f"{name} {event.seconds[name]:.3f}" for name in OURS if name in event.seconds)
    manager = event.seconds.get("manager", 0.0)
    return f"ours {event.ours:.3f} s ({parts}); OpenSM {manager:.3f} s"


def _name(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def show_counts(counts: Counts, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print what the run came to; wrong cables and refused tables are a no, tables that do not run a failure."""
    if as_json:
        from weftline.app.views.keep import view_counts

        _print_line(view_counts(counts))
    elif not quiet:
        words = f"{counts.changes:,} changes, {counts.refused:,} refused, {counts.failed:,} failed"
        make_console(no_color=no_color).print(f"{words}, {counts.wrong:,} ports with a wrong cable")
        if counts.cut_off:
            words = f"the manager of {_name(counts.cut_off)} is cut off: what runs there is not kept"
            make_console(no_color=no_color).print(words)
    if counts.failed:
        return EXIT_CHANGE_FAILED
    return EXIT_NO if counts.refused or counts.wrong or counts.cut_off else EXIT_DONE
