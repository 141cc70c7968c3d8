"""Cycles, told slowly: repeated removal, breadth first from everywhere."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
NIL = -1


def rank_channels(ptr: Array, after: Array) -> tuple[list[int], int]:
    nodes = len(ptr) - 1
    before: dict[int, set[int]] = {node: set() for node in range(nodes)}
    for node in range(nodes):
        for other in after[ptr[node] : ptr[node + 1]].tolist():
            before[other].add(node)
    rank = [NIL] * nodes
    for _ in range(nodes):
        for node in range(nodes):
            if all(rank[b] != NIL for b in before[node]):
                rank[node] = max((rank[b] + 1 for b in before[node]), default=0)
    return rank, rank.count(NIL)


def shortest_cycle(ptr: Array, after: Array) -> list[int]:
    """Find the length-then-first-node least cycle as its length and its smallest node; empty where there is none."""
    nodes = len(ptr) - 1
    best: list[int] = []
    for origin in range(nodes):
        depth, queue = {origin: 0}, deque([origin])
        while queue:
            node = queue.popleft()
            for other in after[ptr[node] : ptr[node + 1]].tolist():
                if other == origin:
                    length = depth[node] + 1
                    if not best or length < best[0]:
                        best = [length, origin]
                    queue.clear()
                    break
                if other not in depth:
                    depth[other] = depth[node] + 1
                    queue.append(other)
    return best
