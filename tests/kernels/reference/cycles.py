"""Channels and cycles, told slowly: sets of turns, repeated removal, breadth first from everywhere."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from tests.kernels.reference.reach import members

Array = np.ndarray[Any, Any]
NIL = -1


def visited(
    d: int, group: Array, group_ptr: Array, member_ptr: Array, next_row: Array, target_row: Array, homes: Array,
    counts: Array, own: Array,
) -> set[int]:  # fmt: skip
    """List the switches that packets to a destination come to."""
    todo = [int(h) for h, n in zip(homes, counts, strict=True) if n > (own[d] if h == target_row[d] else 0)]
    seen: set[int] = set()
    while todo:
        row = todo.pop()
        if row not in seen:
            seen.add(row)
            todo += [int(next_row[m]) for m in members(row, d, group, group_ptr, member_ptr) if next_row[m] >= 0]
    return seen


def dependencies(
    group: Array, group_ptr: Array, member_ptr: Array, member_port: Array, next_row: Array, target_kind: Array,
    target_row: Array, homes: Array, counts: Array, own: Array,
) -> dict[tuple[int, int], set[int]]:  # fmt: skip
    """Map each pair of channels that are used in turn to the destinations that do so."""
    found: dict[tuple[int, int], set[int]] = {}
    for d in range(group.shape[1]):
        if target_kind[d] == 2:
            continue
        for row in visited(d, group, group_ptr, member_ptr, next_row, target_row, homes, counts, own):
            for a in members(row, d, group, group_ptr, member_ptr):
                if next_row[a] < 0:
                    continue
                for b in members(int(next_row[a]), d, group, group_ptr, member_ptr):
                    if next_row[b] >= 0:
                        found.setdefault((int(member_port[a]), int(member_port[b])), set()).add(d)
    return found


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


def check_ranks(
    rank: Array, group: Array, group_ptr: Array, member_ptr: Array, member_port: Array, next_row: Array,
    target_kind: Array, target_row: Array, homes: Array, counts: Array, own: Array,
) -> bool:  # fmt: skip
    """Judge whether the ranks grow along every dependency and every channel in use has one."""
    for d in range(group.shape[1]):
        if target_kind[d] == 2:
            continue
        for row in visited(d, group, group_ptr, member_ptr, next_row, target_row, homes, counts, own):
            mine = members(row, d, group, group_ptr, member_ptr)
            if any(rank[member_port[m]] < 0 for m in mine if next_row[m] >= 0):
                return False
    pairs = dependencies(
        group, group_ptr, member_ptr, member_port, next_row, target_kind, target_row, homes, counts, own
    )
    return all(rank[a] < rank[b] for a, b in pairs)
