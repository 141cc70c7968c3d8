"""Pairs of flows and sums over their paths, with dictionaries and lists."""

from __future__ import annotations

from collections.abc import Sequence


def group_pairs(keys: Sequence[tuple[int, int, int]]) -> tuple[list[int], list[int]]:
    """Number the keys in order of first use."""
    known: dict[tuple[int, int, int], int] = {}
    pair = [known.setdefault(key, len(known)) for key in keys]
    return pair, [pair.index(number) for number in range(len(known))]


def peak_demand(
    pair: Sequence[int], queue: Sequence[int], paths: Sequence[Sequence[int]], caps: Sequence[float], resources: int
) -> list[float]:
    """Add the largest cap of each queue, and every flow in no queue."""
    groups = [[flow] for flow in range(len(pair)) if queue[flow] < 0]
    groups += [[f for f in range(len(pair)) if queue[f] == name] for name in sorted({q for q in queue if q >= 0})]
    return [
        sum(max((caps[pair[f]] for f in group if resource in paths[pair[f]]), default=0.0) for group in groups)
        for resource in range(resources)
    ]
