"""The classes of a host's NICs: one line per priority, read by people, by a shell and by Weftline."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weftline.formats.lines import Reading, read_number
from weftline.model.intent import ClassIntent
from weftline.model.observed import Fact

NOTHING = "-"
HEAD = ("priority", "dscps", "buffer", "tc", "schedule", "weight", "pause")
CLASSES_HEAD = re.compile(rb"^priority +dscps +buffer +tc ", re.MULTILINE)
"""The line that begins a list of classes."""
_RANGE = re.compile(r"^(\d{1,2})(?:-(\d{1,2}))?$")
LAST_DSCP = 63


def write_classes(classes: Iterable[ClassIntent]) -> str:
    """Write the list: which DSCPs have a priority, its receive buffer, its traffic class, how that is served."""
    table = [HEAD, *(_row(item) for item in classes)]
    widths = [max(len(row[place]) for row in table) for place in range(len(HEAD))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)
    return "".join(f"{line}\n" for line in lines)


def _row(item: ClassIntent) -> tuple[str, ...]:
    return (
        str(item.key),
        write_ranges(item.dscps) or NOTHING,
        str(item.group),
        str(item.queue),
        item.schedule,
        NOTHING if item.weight is None else str(item.weight),
        NOTHING if item.priority is None else str(item.priority),
    )


def write_ranges(numbers: Iterable[int]) -> str:
    """Write numbers as ``0-25,27``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(str(end) for end in run) for run in runs)


def read_ranges(text: str, last: int) -> tuple[int, ...] | None:
    """Read ``0-25,27``; None when it is none, or goes beyond ``last``."""
    found: list[int] = []
    for piece in text.split(","):
        match = _RANGE.match(piece)
        if match is None or int(match[2] or match[1]) > last or int(match[1]) > int(match[2] or match[1]):
            return None
        found.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(found) if len(set(found)) == len(found) else None


def read_classes(content: bytes, reading: Reading) -> list[Fact]:
    """Read the list back."""
    facts: list[Fact] = []
    seen: set[int] = set()
    for line, text in reading.lines(content):
        words = text.split()
        if tuple(words) == HEAD:
            continue
        where = reading.place(line)
        key = read_number(words[0], 0, 7)
        if key is None or len(words) != len(HEAD):
            reading.report("artifact.unreadable-line", f"line is no class with {len(HEAD)} columns", where)
            continue
        if key in seen:
            reading.report("artifact.said-twice", f"priority {key} stands twice", where)
        seen.add(key)
        for name, (field, value) in _read_cells(words).items():
            place = reading.place(line, name)
            if value is not None:
                facts.append(Fact(f"queues.classes.{key}.{field}", value, place))
            elif words[HEAD.index(name)] != NOTHING:
                message = f"{name} is {words[HEAD.index(name)][:40]!r}, which it cannot be"
                reading.report("artifact.out-of-range", message, place)
    return facts


def _read_cells(words: list[str]) -> dict[str, tuple[str, int | str | tuple[int, ...] | None]]:
    _, dscps, buffer, queue, schedule, weight, pause = words
    return {
        "dscps": ("dscps", read_ranges(dscps, LAST_DSCP)),
        "buffer": ("group", read_number(buffer, 0, 7)),
        "tc": ("queue", read_number(queue, 0, 7)),
        "schedule": ("schedule", schedule if schedule in {"strict", "weighted"} else None),
        "weight": ("weight", read_number(weight, 0, 100)),
        "pause": ("priority", read_number(pause, 0, 7)),
    }
