"""Channels, told slowly: sets of turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.reference.reach import members

Array = np.ndarray[Any, Any]


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
