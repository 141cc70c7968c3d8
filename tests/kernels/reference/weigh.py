"""Shares of links by the definition: fractions of rates, turns counted one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tests.kernels.reference.climb import climb
from tests.kernels.reference.updown import next_rows


def widths(
    order: Sequence[int], rate: Mapping[tuple[int, int], float], home: int
) -> tuple[dict[int, float], dict[int, float]]:
    """Find what fits from every row to ``home``, and the widest last edge behind it, nearest rows first."""
    edges = set(rate)
    hop, falls = climb(order, edges, home)
    width, last = {home: math.inf}, {home: math.inf}
    for row in sorted(range(len(order)), key=lambda row: (not falls[row], hop[row])):
        if row == home or hop[row] < 0:
            continue
        ways = next_rows(order, edges, home, row)
        last[row] = max(min(rate[row, way], last[way]) if way == home else last[way] for way in ways)
        width[row] = min(sum(min(rate[row, way], width[way]) for way in ways), last[row])
    return width, last


def wheel(share: Sequence[int]) -> list[int]:
    """List places by rounds: a place misses the rounds in which its sum of shares, begun late, passes no whole one."""
    top = max(share)
    before = [sum(share[:place]) % top for place in range(len(share))]
    return [
        place
        for turn in range(top)
        for place, own in enumerate(share)
        if (before[place] + (turn + 1) * own) // top > (before[place] + turn * own) // top
    ]
