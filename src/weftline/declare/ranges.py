"""Host ranges as a person writes them: ``all``, ``17``, ``1-32`` or ``1-8,17``."""

from __future__ import annotations

import re
from itertools import pairwise

_PIECE = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?")
Interval = tuple[int, int]


def parse_ranges(text: str, count: int) -> tuple[Interval, ...] | str:
    """Read host ranges as sorted intervals of indices from 0, ends included; or say what is wrong.

    Nothing is expanded, so the cost depends on the length of the text only.
    """
    if text.strip() == "all":
        return ((0, count - 1),)
    found: list[Interval] = []
    for piece in text.split(","):
        interval = _parse_piece(piece, count)
        if isinstance(interval, str):
            return interval
        found.append(interval)
    found.sort()
    for before, after in pairwise(found):
        if after[0] <= before[1]:
            return f"host {after[0] + 1} is named twice"
    return tuple(found)


def _parse_piece(piece: str, count: int) -> Interval | str:
    match = _PIECE.fullmatch(piece)
    if match is None:
        return f"{piece.strip()[:40]!r} is no range of hosts"
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1:
        return "hosts are counted from 1"
    if last < first:
        return f"the range {first}-{last} runs backwards"
    return f"host {last} is beyond the last host, {count}" if last > count else (first - 1, last - 1)


def count_hosts(intervals: tuple[Interval, ...]) -> int:
    """Count the hosts of intervals."""
    return sum(last - first + 1 for first, last in intervals)


def expand_ranges(intervals: tuple[Interval, ...]) -> tuple[int, ...]:
    """List the host indices of intervals."""
    return tuple(host for first, last in intervals for host in range(first, last + 1))
