"""Loads by following shares one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def spread(
    row: int, home: int, amount: float, ways: Callable[[int], Iterable[tuple[int, int]]], load: dict[int, float]
) -> bool:
    """Split ``amount`` at a row over its ways (port, next row), and so on to ``home``; False where there is none."""
    if row == home:
        return True
    found = list(ways(row))
    good = bool(found)
    for port, step in found:
        load[port] = load.get(port, 0.0) + amount / len(found)
        good = spread(step, home, amount / len(found), ways, load) and good
    return good
