"""Loads: the rate that each directed link carries when many endpoints send at once."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I8, I32, I64, NIL, U8, U16
from weftline.kernels.reach import FARTHEST


@kernel
def add_single(
    source_port: I32,
    target: I32,
    rate: F64,
    source_row: I32,
    target_port: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    port_peer: I32,
    distance: U8,
    load: F64,
) -> tuple[int, int]:
    """Add flows to ``load`` (per transmitting port) where every group has one member; O(flows * hops).

    ``target`` are destination indices of endpoints, ``source_row`` is per port the switch at its other end,
    ``distance`` is that of ``measure_reach`` for these tables: a walk is only taken where it is known to end well.
    Returns how many flows are not delivered (they load their own link alone) and the table steps taken.
    """
    lost = np.int64(0)
    steps = np.int64(0)
    for flow in range(len(source_port)):
        port = source_port[flow]
        goal = target[flow]
        load[port] += rate[flow]
        row = source_row[port]
        if row < 0:
            if port_peer[port] != target_port[goal]:
                lost += 1
            continue
        if distance[row, goal] > FARTHEST:
            lost += 1
            continue
        while row >= 0:
            steps += 1
            member = member_ptr[group_ptr[row] + np.int64(group[row, goal])]
            load[member_port[member]] += rate[flow]
            row = next_row[member]
    return int(lost), int(steps)


@kernel
def add_split(
    source_port: I32,
    target: I32,
    rate: F64,
    source_row: I32,
    target_port: I32,
    target_row: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    port_peer: I32,
    same_as: I32,
    is_direct: I8,
    distance: U8,
    load: F64,
) -> tuple[int, int]:
    """Add flows to ``load`` where every group splits what comes equally over its members.

    Flows to destinations that share a column are led together, from far to near by ``distance``, so each switch
    passes on once. Returns how many flows have a walk that is not delivered (they load their own link alone) and the
    table steps taken. O(destinations + flows + members in use by each shared column).
    """
    switches, destinations = group.shape
    lost = np.int64(0)
    steps = np.int64(0)
    ptr = np.zeros(destinations + 1, dtype=np.int32)
    for flow in range(len(target)):
        ptr[same_as[target[flow]] + 1] += 1
    for d in range(destinations):
        ptr[d + 1] += ptr[d]
    fill = ptr.copy()
    order = np.empty(len(target), dtype=np.int32)
    for flow in range(len(target)):
        column = same_as[target[flow]]
        order[fill[column]] = flow
        fill[column] += 1
    carried = np.zeros(switches, dtype=np.float64)
    waits = np.zeros(switches, dtype=np.uint8)
    head = np.full(FARTHEST + 1, NIL, dtype=np.int32)
    following = np.full(switches, NIL, dtype=np.int32)
    for d in range(destinations):
        farthest = np.int64(0)
        for place in range(ptr[d], ptr[d + 1]):
            flow = order[place]
            port = source_port[flow]
            load[port] += rate[flow]
            row = source_row[port]
            steps += 1
            if row < 0:
                if port_peer[port] != target_port[target[flow]]:
                    lost += 1
                continue
            away = np.int64(distance[row, d])
            if away > FARTHEST:
                lost += 1
                continue
            if is_direct[d] == 1:
                load[port_peer[target_port[target[flow]]]] += rate[flow]
            carried[row] += rate[flow]
            if waits[row] == 0:
                waits[row] = 1
                following[row] = head[away]
                head[away] = row
                farthest = max(farthest, away)
        for away in range(farthest, 0, -1):
            row = head[away]
            head[away] = NIL
            while row != NIL:
                after = following[row]
                flowing = carried[row]
                carried[row] = 0.0
                waits[row] = 0
                if row != target_row[d] or is_direct[d] == 0:
                    entry = np.int64(group[row, d])
                    begin = member_ptr[group_ptr[row] + entry]
                    end = member_ptr[group_ptr[row] + entry + 1]
                    share = flowing / (end - begin)
                    steps += end - begin
                    for member in range(begin, end):
                        load[member_port[member]] += share
                        step = next_row[member]
                        if step < 0:
                            continue
                        carried[step] += share
                        if waits[step] == 0:
                            waits[step] = 1
                            nearer = np.int64(distance[step, d])
                            following[step] = head[nearer]
                            head[nearer] = step
                row = after
    return int(lost), int(steps)


@kernel
def find_worst(load: F64, port_rate: F64) -> tuple[float, int]:
    """Find the highest load over rate and the lowest port that has it (NIL where nothing is loaded)."""
    worst = 0.0
    where = np.int64(NIL)
    for port in range(len(load)):
        if load[port] > 0.0:
            relative = load[port] / port_rate[port]
            if relative > worst:
                worst = relative
                where = np.int64(port)
    return worst, int(where)


@kernel
def shift_flows(shift: int, component_ptr: I32, source: I32, target: I32) -> int:
    """Write the flows of one shift: in each component the i-th endpoint sends to the (i + shift)-th, modulo all.

    The endpoints of component c stand at ``component_ptr[c]:component_ptr[c + 1]``. Writes such places into ``source``
    and ``target`` and returns how many; components that the shift maps onto themselves send nothing.
    """
    used = np.int64(0)
    for component in range(len(component_ptr) - 1):
        begin = np.int64(component_ptr[component])
        count = np.int64(component_ptr[component + 1]) - begin
        if count == 0 or shift % count == 0:
            continue
        for i in range(count):
            goal = i + shift % count
            if goal >= count:
                goal -= count
            source[used] = begin + i
            target[used] = begin + goal
            used += 1
    return int(used)


@kernel
def load_shifts(
    shifts: I64,
    component_ptr: I32,
    member_port_of: I32,
    member_target: I32,
    endpoint_rate: F64,
    port_rate: F64,
    is_single: int,
    source_row: I32,
    target_port: I32,
    target_row: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    port_peer: I32,
    same_as: I32,
    is_direct: I8,
    distance: U8,
) -> tuple[F64, I32, I64, int]:
    """Find the worst relative load of each shift.

    ``member_port_of`` and ``member_target`` are port and destination index of each endpoint, in the order of their
    component (``component_ptr``); a flow has the lower of its two endpoints' rates. Returns per shift the worst load,
    its port, the flows that are not delivered, and the table steps of all.
    """
    count = len(shifts)
    worst = np.zeros(count, dtype=np.float64)
    where = np.full(count, NIL, dtype=np.int32)
    lost = np.zeros(count, dtype=np.int64)
    steps = np.int64(0)
    load = np.zeros(len(port_rate), dtype=np.float64)
    source = np.empty(len(member_port_of), dtype=np.int32)
    target = np.empty(len(member_port_of), dtype=np.int32)
    rate = np.empty(len(member_port_of), dtype=np.float64)
    for number in range(count):
        load[:] = 0.0
        used = shift_flows(shifts[number], component_ptr, source, target)
        for flow in range(used):
            rate[flow] = min(endpoint_rate[source[flow]], endpoint_rate[target[flow]])
            source[flow] = member_port_of[source[flow]]
            target[flow] = member_target[target[flow]]
        if is_single == 1:
            missing, taken = add_single(
                source[:used], target[:used], rate[:used], source_row, target_port, group, group_ptr, member_ptr,
                member_port, next_row, port_peer, distance, load,
            )  # fmt: skip
        else:
            missing, taken = add_split(
                source[:used], target[:used], rate[:used], source_row, target_port, target_row, group, group_ptr,
                member_ptr, member_port, next_row, port_peer, same_as, is_direct, distance, load,
            )  # fmt: skip
        highest, port = find_worst(load, port_rate)
        worst[number] = highest
        where[number] = port
        lost[number] = missing
        steps += taken
    return worst, where, lost, int(steps)
