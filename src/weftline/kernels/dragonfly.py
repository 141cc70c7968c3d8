"""Ways through groups of switches: dragonfly by local and global links, dragonfly+ by leaves and spines."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8


@kernel
def sends_detours(source: int, target: int, turn: int, groups: int, direct: I32) -> bool:
    """Say whether a group may send packets to a group by a third one, or else carries such packets of others.

    A table knows the destination only, so that a group that sends detours to a destination cannot carry them, or
    packets could circle. ``turn`` (0 or 1) is that of the destination's switch: every pair of groups sends detours to
    half of the switches. Without a direct link a group cannot carry. ``direct[source, target]`` counts links.
    """
    return direct[source, target] == 0 or (source - target + turn) % groups % 2 == 0


@kernel
def may_carry(source: int, target: int, middle: int, turn: int, groups: int, direct: I32, is_ordered: int) -> bool:
    """Say whether ``middle`` may carry packets from ``source`` to ``target``.

    Where ``is_ordered`` the way must go up and then down in the numbers of the groups, or down and then up: the way
    that leaves more groups to choose, which is the same one back (``goes_up_first``).
    """
    if middle in (source, target) or sends_detours(middle, target, turn, groups, direct):
        return False
    if is_ordered == 0:
        return True
    if goes_up_first(source, target, groups):
        return middle > min(source, target)
    return middle < max(source, target)


@kernel
def goes_up_first(source: int, target: int, groups: int) -> bool:
    """Say whether packets between two groups go up and then down in the numbers of groups."""
    return groups - 1 - min(source, target) >= max(source, target)


@kernel
def list_group_ways(
    row: int,
    home: I32,
    component: I32,
    group_of: I32,
    place: I32,
    member_ptr: I32,
    member: I32,
    inside: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_port: I32,
    direct: I32,
    detours: int,
    ptr: I32,
) -> I32:
    """List the ports by which a switch of a dragonfly leads to each home; fills ``ptr`` and returns the ports.

    ``inside[row, place]`` is the edge to the switch of the own group at that place, ``member`` the rows by group.
    A port stands once for each global link that it leads to, so that counting off weighs them.
    """
    groups = len(direct)
    own = int(group_of[row])
    port = np.empty(1024, dtype=np.int32)
    used = 0
    most = len(link_port)
    ptr[0] = 0
    for at in range(len(home)):
        goal = int(home[at])
        target = int(group_of[goal])
        turn = int(place[goal]) % 2
        while used + most + 1 > len(port):
            port = np.append(port, np.empty(len(port), dtype=np.int32))
        ptr[at + 1] = used
        if goal == row or component[goal] != component[row]:
            continue
        if target == own:
            edge = inside[row, place[goal]]
            if edge != NIL:
                for link in range(link_ptr[edge], link_ptr[edge + 1]):
                    port[used] = link_port[link]
                    used += 1
            ptr[at + 1] = used
            continue
        sends = detours == 1 and sends_detours(own, target, turn, groups, direct)
        is_gate = False
        for edge in range(edge_ptr[row], edge_ptr[row + 1]):
            middle = int(group_of[edge_row[edge]])
            if middle == own:
                continue
            if middle == target:
                is_gate = True
            elif not sends or not may_carry(own, target, middle, turn, groups, direct, 1):
                continue
            for link in range(link_ptr[edge], link_ptr[edge + 1]):
                port[used] = link_port[link]
                used += 1
        start = ptr[at + 1]
        ptr[at + 1] = used
        if is_gate or (used > start and direct[own, target] == 0):
            continue
        # by the switches of the own group that have a link there, or, where none has, one to a group in between
        turns = 0
        for index in range(member_ptr[own], member_ptr[own + 1]):
            other = int(member[index])
            step = inside[row, place[other]]
            if other == row or step == NIL:
                continue
            behind = 0
            for edge in range(edge_ptr[other], edge_ptr[other + 1]):
                middle = int(group_of[edge_row[edge]])
                if middle == target or (
                    direct[own, target] == 0
                    and sends
                    and middle != own
                    and may_carry(own, target, middle, turn, groups, direct, 1)
                ):
                    behind += int(link_ptr[edge + 1] - link_ptr[edge])
            first = link_ptr[step]
            width = int(link_ptr[step + 1] - first)
            for _ in range(max(behind, width) if behind > 0 else 0):
                if used == len(port):
                    port = np.append(port, np.empty(len(port), dtype=np.int32))
                port[used] = link_port[first + turns % width]
                used += 1
                turns += 1
        ptr[at + 1] = used
    return port[:used].copy()


@kernel
def measure_spines(
    home: I32,
    is_spine: U8,
    component: I32,
    group_of: I32,
    place: I32,
    inside: I32,
    edge_ptr: I32,
    edge_row: I32,
    near: U8,
) -> None:
    """Say how a spine of a dragonfly+ leads to each home without a detour: 2 best, 1 by a leaf and up again, 0 not.

    ``near[row, at]``: in the group of the home, whether the spine hands down to it (2; 1 where the home is a spine and
    both share a leaf); elsewhere the best of the spines that its global links lead to.
    """
    rows = len(group_of)
    for at in range(len(home)):
        goal = int(home[at])
        target = int(group_of[goal])
        for row in range(rows):
            if group_of[row] != target or is_spine[row] == 0 or component[row] != component[goal]:
                continue
            if row == goal:
                near[row, at] = 2
            elif is_spine[goal] == 0:
                near[row, at] = 2 if inside[row, place[goal]] != NIL else 0
            else:
                for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                    leaf = edge_row[edge]
                    if is_spine[leaf] == 0 and inside[leaf, place[goal]] != NIL:
                        near[row, at] = 1
                        break
        for row in range(rows):
            if group_of[row] == target or is_spine[row] == 0 or component[row] != component[goal]:
                continue
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                other = int(edge_row[edge])
                if group_of[other] == target and is_spine[other] == 1:
                    near[row, at] = max(near[row, at], near[other, at])


@kernel
def detour_of(
    row: int,
    edge: int,
    at: int,
    target: int,
    turn: int,
    group_of: I32,
    edge_row: I32,
    near: U8,
    direct: I32,
) -> bool:
    """Say whether an edge of a spine leads to a spine of a third group that has a link to the home's group itself."""
    other = int(edge_row[edge])
    middle = int(group_of[other])
    own = int(group_of[row])
    return middle != own and may_carry(own, target, middle, turn, len(direct), direct, 0) and near[other, at] > 0


@kernel
def list_spine_ways(
    row: int,
    home: I32,
    is_spine: U8,
    component: I32,
    group_of: I32,
    place: I32,
    inside: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_port: I32,
    near: U8,
    direct: I32,
    detours: int,
    ptr: I32,
) -> I32:
    """List the ports by which a switch of a dragonfly+ leads to each home; fills ``ptr`` and returns the ports."""
    own = int(group_of[row])
    groups = len(direct)
    port = np.empty(max(1, len(home)) * max(1, link_ptr[edge_ptr[row + 1]] - link_ptr[edge_ptr[row]]), dtype=np.int32)
    used = 0
    ptr[0] = 0
    for at in range(len(home)):
        goal = int(home[at])
        ptr[at + 1] = used
        if goal == row or component[goal] != component[row]:
            continue
        target = int(group_of[goal])
        turn = int(place[goal]) % 2
        sends = detours == 1 and sends_detours(own, target, turn, groups, direct)
        to_own = inside[row, place[goal]] if target == own else np.int32(NIL)
        best = np.uint8(0)
        if is_spine[row] == 0:
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                best = max(best, near[edge_row[edge], at])
        for edge in range(edge_ptr[row], edge_ptr[row + 1]):
            other = int(edge_row[edge])
            leads = False
            if to_own != NIL:
                leads = edge == to_own
            elif is_spine[row] == 0:
                leads = best > 0 and near[other, at] == best
                if sends and target != own and not leads:
                    for on in range(edge_ptr[other], edge_ptr[other + 1]):
                        if detour_of(other, on, at, target, turn, group_of, edge_row, near, direct):
                            leads = True
                            break
            elif target == own:
                leads = is_spine[other] == 0 and is_spine[goal] == 1 and inside[other, place[goal]] != NIL
            elif group_of[other] == target:
                leads = near[row, at] > 0 and near[other, at] == near[row, at]
            elif sends:
                leads = detour_of(row, edge, at, target, turn, group_of, edge_row, near, direct)
            if leads:
                for link in range(link_ptr[edge], link_ptr[edge + 1]):
                    port[used] = link_port[link]
                    used += 1
        ptr[at + 1] = used
    return port[:used].copy()
