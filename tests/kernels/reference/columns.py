"""Columns of single ports held against hops, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def is_right(
    row: int, other: int | None, home: int, order: Sequence[int], ways: tuple[Sequence[int], Sequence[bool]]
) -> bool:
    """Say whether an entry at ``row`` leads one hop nearer to ``home``, and never up after down."""
    hop, falls = ways
    if row == home:
        return other is None
    if hop[row] == 255 or other is None:
        return hop[row] == 255 and other is None
    if hop[other] + 1 != hop[row]:
        return False
    return falls[other] and order[other] > order[row] if falls[row] else order[other] < order[row]


def strays(
    ways_of: Mapping[int, dict[int, int | None]],
    order: Sequence[int],
    ways: Mapping[int, tuple[Sequence[int], Sequence[bool]]],
) -> int:
    """Count the entries that are not right; ``ways_of[home][row]`` is the next switch, None for none or delivery."""
    return sum(
        not is_right(row, other, home, order, ways[home])
        for home, rows in ways_of.items()
        for row, other in rows.items()
    )
