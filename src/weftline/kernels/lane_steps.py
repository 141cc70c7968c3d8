"""Channels of several lanes, where packets change lanes from hop to hop: which waits on which, and on whose behalf."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16
from weftline.kernels.reach import IS_SKIPPED


@kernel
def start_walks(
    d: int,
    bit: int,
    mask: U16,
    kinds: int,
    target_row: I32,
    own_kind: I8,
    own_count: I32,
    home_row: I32,
    home_kind: I8,
    home_count: I32,
    seen: I32,
    queue: I32,
) -> int:
    """Put the states where packets of one class to a destination start into ``queue``; returns how many.

    A state is a switch row and the class of the port that a packet came in by: ``row * kinds + kind``.
    ``home_count[h]`` endpoints stand behind ports of class ``home_kind[h]`` of row ``home_row[h]``; the destination
    itself, one of ``own_kind[d]``, sends nothing. ``mask[row, d]`` has a bit per class (one row: for all sources).
    """
    tail = 0
    for h in range(len(home_row)):
        row = home_row[h]
        if mask[row if len(mask) > 1 else 0, d] & bit == 0:
            continue
        if row == target_row[d] and home_kind[h] == own_kind[d] and home_count[h] <= own_count[d]:
            continue
        state = row * kinds + home_kind[h]
        seen[state] = d
        queue[tail] = state
        tail += 1
    return tail


@kernel
def mark_step_turns(
    path_class: int,
    mask: U16,
    held: U16,
    port_class: I8,
    turn_ptr: I64,
    port_ptr: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    next_port: I32,
    switch_node: I32,
    target_kind: I8,
    target_row: I32,
    same_as: I32,
    own_kind: I8,
    own_count: I32,
    home_row: I32,
    home_kind: I8,
    home_count: I32,
    turn: U16,
) -> None:
    """Mark the turns of the packets of one class, a bit per lane that they come in on; O(members in use).

    ``turn`` is as in ``channels.mark_turns``, zero before. ``held[kind in, kind out]`` has a bit for each lane
    that packets of the class may hold behind such ports. All walks are followed from every source of the class; loops
    once around.
    """
    switches, destinations = group.shape
    kinds = held.shape[0]
    seen = np.full(switches * kinds, NIL, dtype=np.int32)
    queue = np.empty(switches * kinds, dtype=np.int32)
    bit = 1 << path_class
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED or same_as[d] != d:
            continue
        tail = start_walks(
            d, bit, mask, kinds, target_row, own_kind, own_count, home_row, home_kind, home_count, seen, queue
        )
        done = 0
        while done < tail:
            row = queue[done] // kinds
            kind = queue[done] % kinds
            done += 1
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                out = np.int64(group[step, d])
                if out < group_ptr[step + 1] - group_ptr[step]:
                    node = switch_node[step]
                    width = np.int64(port_ptr[node + 1] - port_ptr[node])
                    at = turn_ptr[step] + out * width + next_port[member] - port_ptr[node]
                    turn[at] |= held[kind, port_class[member_port[member]]]
                state = step * kinds + port_class[next_port[member]]
                if seen[state] != d:
                    seen[state] = d
                    queue[tail] = state
                    tail += 1


@kernel
def spread_step_turns(
    turn: U16,
    turn_ptr: I64,
    held: U16,
    port_class: I8,
    port_ptr: I32,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    switch_node: I32,
    wait_ptr: I64,
    wait: U16,
) -> None:
    """Add the turns of one class to ``wait``: which lanes of a port out those of a port in wait on; O(turns * members).

    ``wait[wait_ptr[row] + place in * ports of row + place out, lane in]`` has a bit per lane out; places are counted
    from the first port of the row.
    """
    lanes = wait.shape[1]
    for row in range(len(switch_node)):
        node = switch_node[row]
        base = port_ptr[node]
        width = np.int64(port_ptr[node + 1] - base)
        for entry in range(group_ptr[row + 1] - group_ptr[row]):
            begin = member_ptr[group_ptr[row] + entry]
            end = member_ptr[group_ptr[row] + entry + 1]
            for q in range(width):
                came = turn[turn_ptr[row] + entry * width + q]
                if came == 0:
                    continue
                for member in range(begin, end):
                    if next_row[member] < 0:
                        continue
                    port = member_port[member]
                    at = wait_ptr[row] + q * width + port - base
                    for level in range(lanes):
                        if came >> level & 1:
                            wait[at, level] |= held[port_class[base + q], port_class[port]]


@kernel
def list_step_dependencies(
    wait: U16, wait_ptr: I64, port_ptr: I32, port_peer: I32, switch_node: I32
) -> tuple[I64, I32]:
    """List for each channel and lane those that it waits on, as CSR over ``lane * ports + port``; O(size of wait)."""
    lanes = wait.shape[1]
    ports = len(port_peer)
    ptr = np.zeros(lanes * ports + 1, dtype=np.int64)
    after = np.empty(0, dtype=np.int32)
    for fill in range(2):
        for row in range(len(switch_node)):
            node = switch_node[row]
            base = port_ptr[node]
            width = np.int64(port_ptr[node + 1] - base)
            for q in range(width):
                channel = port_peer[base + q]
                if channel == NIL:
                    continue
                start = wait_ptr[row] + q * width
                for level in range(lanes):
                    used = ptr[level * ports + channel]
                    for then in range(lanes):
                        for out in range(width):
                            if wait[start + out, level] >> then & 1:
                                if fill == 1:
                                    after[used] = then * ports + base + out
                                used += 1
                    if fill == 0:
                        ptr[level * ports + channel] = used
        if fill == 0:
            total = np.int64(0)
            for node in range(len(ptr)):
                here = ptr[node]
                ptr[node] = total
                total += here
            after = np.empty(total, dtype=np.int32)
    return ptr, after


@kernel
def check_step_ranks(
    rank: I32,
    path_class: int,
    mask: U16,
    lane: I8,
    port_class: I8,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    next_port: I32,
    target_kind: I8,
    target_row: I32,
    own_kind: I8,
    own_count: I32,
    home_row: I32,
    home_kind: I8,
    home_count: I32,
) -> int:
    """Count the places where ``rank[lane, port]`` does not grow along a dependency of one class; no search.

    Destination by destination the tables are followed from the sources of the class: in each state (a switch and the
    class of the port in) the largest rank that comes in must be below the smallest that goes out.
    """
    switches, destinations = group.shape
    kinds = lane.shape[0]
    wrong = np.int64(0)
    seen = np.full(switches * kinds, NIL, dtype=np.int32)
    queue = np.empty(switches * kinds, dtype=np.int32)
    highest_in = np.empty(switches * kinds, dtype=np.int32)
    lowest_out = np.empty(switches * kinds, dtype=np.int32)
    bit = 1 << path_class
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED:
            continue
        tail = start_walks(
            d, bit, mask, kinds, target_row, own_kind, own_count, home_row, home_kind, home_count, seen, queue
        )
        for at in range(tail):
            highest_in[queue[at]] = NIL
        done = 0
        while done < tail:
            state = queue[done]
            done += 1
            row = state // kinds
            kind = state % kinds
            lowest_out[state] = np.iinfo(np.int32).max
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                here = rank[lane[kind, port_class[member_port[member]]], member_port[member]]
                if here < 0:
                    wrong += 1
                lowest_out[state] = min(lowest_out[state], here)
                on = step * kinds + port_class[next_port[member]]
                if seen[on] != d:
                    seen[on] = d
                    highest_in[on] = NIL
                    queue[tail] = on
                    tail += 1
                highest_in[on] = max(highest_in[on], here)
        for at in range(tail):
            if highest_in[queue[at]] >= lowest_out[queue[at]]:
                wrong += 1
    return int(wrong)


@kernel
def find_step_causes(
    cycle: I32,
    path_class: int,
    mask: U16,
    held: U16,
    port_class: I8,
    port_peer: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    next_port: I32,
    target_kind: I8,
    target_row: I32,
    own_kind: I8,
    own_count: I32,
    home_row: I32,
    home_kind: I8,
    home_count: I32,
    cause: I32,
    origin: I32,
) -> None:
    """Find for each step of a cycle of ``lane * ports + port`` a destination whose packets of one class take it.

    ``cause`` and ``origin`` (the switch row where such a packet starts) are filled where they are NIL, with the lowest
    destination. O(members in use).
    """
    pairs = len(cycle)
    ports = len(port_peer)
    switches, destinations = group.shape
    kinds = held.shape[0]
    seen = np.full(switches * kinds, NIL, dtype=np.int32)
    queue = np.empty(switches * kinds, dtype=np.int32)
    came_from = np.empty(switches * kinds, dtype=np.int32)
    bit = 1 << path_class
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED:
            continue
        tail = start_walks(
            d, bit, mask, kinds, target_row, own_kind, own_count, home_row, home_kind, home_count, seen, queue
        )
        for at in range(tail):
            came_from[queue[at]] = queue[at] // kinds
        done = 0
        while done < tail:
            state = queue[done]
            done += 1
            row = state // kinds
            kind = state % kinds
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                port = member_port[member]
                on = step * kinds + port_class[next_port[member]]
                if seen[on] != d:
                    seen[on] = d
                    came_from[on] = came_from[state]
                    queue[tail] = on
                    tail += 1
                then = np.int64(group[step, d])
                if then >= group_ptr[step + 1] - group_ptr[step]:
                    continue
                lanes = held[kind, port_class[port]]
                for pair in range(pairs):
                    if cause[pair] != NIL or cycle[pair] % ports != port or lanes >> (cycle[pair] // ports) & 1 == 0:
                        continue
                    wanted = cycle[(pair + 1) % pairs]
                    first = member_ptr[group_ptr[step] + then]
                    for other in range(first, member_ptr[group_ptr[step] + then + 1]):
                        out = member_port[other]
                        if next_row[other] < 0 or out != wanted % ports:
                            continue
                        if held[port_class[next_port[member]], port_class[out]] >> (wanted // ports) & 1:
                            cause[pair] = d
                            origin[pair] = came_from[state]
                            break
