"""Up*/down* forwarding by the definition: which neighbours an entry may name."""

from __future__ import annotations

from collections.abc import Sequence

from tests.kernels.reference.climb import climb


def next_rows(order: Sequence[int], edges: set[tuple[int, int]], home: int, row: int) -> set[int]:
    """Find the neighbours by which ``row`` sends to ``home``."""
    hop, falls = climb(order, edges, home)
    if row == home or hop[row] < 0:
        return set()
    if falls[row]:
        return {b for a, b in edges if a == row and order[b] > order[a] and falls[b] and hop[b] == hop[a] - 1}
    return {b for a, b in edges if a == row and order[b] < order[a] and hop[b] >= 0 and hop[b] == hop[a] - 1}
