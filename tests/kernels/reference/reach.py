"""Reach, told slowly: every walk is walked."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BROKEN, NIL, MIXED, NEVER, FARTHEST = -2, -1, 254, 255, 250


def link_members(
    group_ptr: Array, member_ptr: Array, member_port: Array, switch_node: Array, switch_row: Array, port_node: Array,
    port_peer: Array,
) -> tuple[list[int], list[int]]:  # fmt: skip
    rows = [BROKEN] * len(member_port)
    ports = [NIL] * len(member_port)
    for row, node in enumerate(switch_node):
        own = set(np.flatnonzero(port_node == node).tolist())
        for member in range(member_ptr[group_ptr[row]], member_ptr[group_ptr[row + 1]]):
            port = int(member_port[member])
            if port in own and port_peer[port] != NIL:
                ports[member] = int(port_peer[port])
                rows[member] = int(switch_row[port_node[ports[member]]])
    return rows, ports


def members(row: int, d: int, group: Array, group_ptr: Array, member_ptr: Array) -> list[int]:
    mine = list(range(group_ptr[row], group_ptr[row + 1]))
    entry = int(group[row, d])
    return list(range(member_ptr[mine[entry]], member_ptr[mine[entry] + 1])) if entry < len(mine) else []


def share_columns(
    group: Array, group_ptr: Array, member_ptr: Array, next_row: Array, next_port: Array, target_kind: Array,
    target_port: Array, target_row: Array,
) -> tuple[list[int], list[int]]:  # fmt: skip
    same, direct, latest = list(range(group.shape[1])), [0] * group.shape[1], dict[int, int]()
    for d in range(group.shape[1]):
        home = int(target_row[d])
        if target_kind[d] != 0 or home == NIL:
            continue
        mine = members(home, d, group, group_ptr, member_ptr)
        if not mine or any(next_port[m] != target_port[d] for m in mine):
            continue
        direct[d] = 1
        other = latest.get(home)
        if other is not None and np.array_equal(np.delete(group[:, d], home), np.delete(group[:, other], home)):
            same[d] = other
        else:
            latest[home] = d
    return same, direct


def outcomes(row: int, seen: tuple[int, ...], d: int, tables: tuple[Any, ...]) -> set[tuple[str, int]]:
    """Walk every walk: ('delivered', switches) or ('lost', 0); a walk that comes back to a switch is lost there."""
    group, group_ptr, member_ptr, next_row, next_port, local, kind, port, target_row = tables
    if row in seen:
        return {("lost", 0)}
    here = len(seen) + 1
    mine = members(row, d, group, group_ptr, member_ptr)
    if not mine:
        is_home = kind[d] == 1 and target_row[d] == row and group[row, d] == local
        return {("delivered", here) if is_home else ("lost", 0)}
    found: set[tuple[str, int]] = set()
    for member in mine:
        if next_row[member] >= 0:
            found |= outcomes(int(next_row[member]), (*seen, row), d, tables)
        else:
            is_there = kind[d] == 0 and next_port[member] == port[d]
            found.add(("delivered", here) if is_there else ("lost", 0))
    return found


def measure_reach(
    group: Array, group_ptr: Array, member_ptr: Array, next_row: Array, next_port: Array, local: int,
    target_kind: Array, target_port: Array, target_row: Array, same_as: Array,
) -> Array:  # fmt: skip
    tables = (group, group_ptr, member_ptr, next_row, next_port, local, target_kind, target_port, target_row)
    distance = np.full(group.shape, NEVER, dtype=np.uint8)
    for d in range(group.shape[1]):
        for row in range(group.shape[0]):
            if target_kind[d] == 2:
                continue
            ends = outcomes(row, (), d, tables)
            hops = [length for how, length in ends if how == "delivered"]
            if hops:
                distance[row, d] = MIXED if ("lost", 0) in ends else max(hops)
    return distance


def judge_reach(
    distance: Array, group: Array, no_route: int, max_hops: int, target_kind: Array, target_row: Array,
    target_component: Array, source_row: Array, source_component: Array, source_count: Array,
) -> tuple[list[int], list[list[int]]]:  # fmt: skip
    counts, first = [0] * 8, [[NIL, NIL], [NIL, NIL], [NIL, NIL]]
    hops = [0]

    def fail(which: int, s: int, d: int) -> None:
        if first[which][0] == NIL:
            first[which] = [s, d]

    for d in range(distance.shape[1]):
        for s, row in enumerate(source_row):
            value = int(distance[row, d])
            good, own = value <= max_hops, source_component[s] == target_component[d]
            pairs = int(source_count[s]) - int(own and row == target_row[d])
            if target_kind[d] == 1:
                where = 5 if good else 6 if group[row, d] == no_route else 7
                counts[where] += 1
                hops += [value] if good else []
                if where == 7:
                    fail(2, s, d)
            elif target_kind[d] == 0 and pairs and own:
                counts[0] += pairs
                counts[1] += 0 if good else pairs
                hops += [value] if good else []
                if not good:
                    fail(0, s, d)
            elif target_kind[d] == 0 and pairs:
                counts[2] += pairs
                if value != NEVER:
                    counts[3] += pairs
                    fail(1, s, d)
    counts[4] = max(hops)
    return counts, first


def check_distances(
    distance: Array, group: Array, group_ptr: Array, member_ptr: Array, next_row: Array, next_port: Array, local: int,
    target_kind: Array, target_port: Array, target_row: Array,
) -> int:  # fmt: skip
    wrong = 0
    for row, d in np.ndindex(*distance.shape):
        claimed = int(distance[row, d])
        if claimed == MIXED or target_kind[d] == 2:
            continue
        mine = members(row, d, group, group_ptr, member_ptr)
        arrives = [target_kind[d] == 0 and next_row[m] == NIL and next_port[m] == target_port[d] for m in mine]
        after = [int(distance[next_row[m], d]) if next_row[m] >= 0 else None for m in mine]
        is_home = not mine and target_kind[d] == 1 and target_row[d] == row and group[row, d] == local
        if claimed == NEVER:
            wrong += is_home or any(arrives) or any(value not in {None, NEVER} for value in after)
        else:
            falls = [a or (v is not None and 1 <= v < claimed) for a, v in zip(arrives, after, strict=True)]
            wrong += not (1 <= claimed <= FARTHEST and (is_home or (bool(mine) and all(falls))))
    return wrong
