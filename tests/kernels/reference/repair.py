"""Repair of tables by the definition, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def touched(
    table: Sequence[Sequence[int]], lost: Iterable[tuple[int, int]], home: Sequence[int], component: Sequence[int]
) -> list[bool]:
    """Say of each destination whether a row in the component of its home leads over a lost group."""
    pairs = list(lost)
    return [
        home[goal] >= 0 and any(table[row][goal] == g and component[row] == component[home[goal]] for row, g in pairs)
        for goal in range(len(home))
    ]


def loops(ways: Mapping[int, set[int]]) -> bool:
    """Say whether some walk over ``ways`` comes back to where it was."""
    return any(_returns(ways, start, start, set()) for start in ways)


def _returns(ways: Mapping[int, set[int]], start: int, row: int, seen: set[int]) -> bool:
    for step in ways.get(row, set()):
        if step == start:
            return True
        if step not in seen:
            seen.add(step)
            if _returns(ways, start, step, seen):
                return True
    return False


def changes(
    before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], columns: Sequence[int]
) -> list[tuple[int, int]]:
    """List the entries of some columns that differ, row by row."""
    return [(row, goal) for row in range(len(before)) for goal in columns if before[row][goal] != after[row][goal]]
