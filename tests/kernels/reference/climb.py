"""Up*/down* forwarding by the definition, on sets of neighbours."""

from __future__ import annotations

from collections.abc import Sequence

FAR = 10**9


def climb(order: Sequence[int], edges: set[tuple[int, int]], home: int) -> tuple[list[int], list[bool]]:
    """Find the hops towards ``home`` and who goes down all the way, by relaxing to the fixed point."""
    count = len(order)
    down = [FAR] * count
    down[home] = 0
    for _ in range(count):
        for a, b in edges:
            if order[b] > order[a]:
                down[a] = min(down[a], down[b] + 1)
    hop = list(down)
    for _ in range(count):
        for a, b in edges:
            if order[b] < order[a] and down[a] >= FAR:
                hop[a] = min(hop[a], hop[b] + 1)
    return [-1 if steps >= FAR else steps for steps in hop], [steps < FAR for steps in down]
