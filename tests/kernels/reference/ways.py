"""Ways of one switch, told slowly: sets of ports, and one counted off."""

from __future__ import annotations

from collections.abc import Sequence


def share_sets(sets: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Number each set among those kept once, in the order of their first use; -1 for an empty one."""
    kept: list[list[int]] = []
    number: list[int] = []
    for one in sets:
        members = sorted(set(one))
        if members and members not in kept:
            kept.append(members)
        number.append(kept.index(members) if members else -1)
    return number, kept


def pick(ways: Sequence[int], ordinal: int, divisor: int) -> int | None:
    """Count off one of the ways."""
    return ways[ordinal // divisor % len(ways)] if ways else None
