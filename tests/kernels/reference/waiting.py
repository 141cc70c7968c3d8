"""Slow twin of the graph of channels: whether an edge would close a cycle, by looking for the way back."""

from __future__ import annotations

from collections.abc import Mapping


def closes(edges: Mapping[int, set[int]], first: int, last: int) -> bool:
    """Tell whether a way leads from ``last`` to ``first``, so that an edge back would close a cycle."""
    seen, waiting = {last}, [last]
    while waiting:
        node = waiting.pop()
        if node == first:
            return True
        fresh = edges.get(node, set()) - seen
        seen |= fresh
        waiting += fresh
    return False
