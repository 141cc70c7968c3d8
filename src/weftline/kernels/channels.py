"""Channels: which one waits on which, on whose behalf, and whether ranks grow along every such dependency."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16
from weftline.kernels.reach import IS_SKIPPED


@kernel
def mark_turns(
    turn_ptr: I64,
    port_ptr: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    switch_node: I32,
    target_kind: I8,
    target_row: I32,
    same_as: I32,
    home_row: I32,
    home_count: I32,
    own_count: I32,
) -> U8:
    """Mark the turns that traffic can take: in by this port, out by this group; O(members in use).

    For every destination that is not skipped, all walks are followed from every switch that holds a lit endpoint other
    than the destination (``home_row`` with ``home_count`` endpoints; ``own_count`` is 1 where the destination is one
    of them). The turn in by port ``p`` and out by group ``e`` of row ``r`` is
    ``turn[turn_ptr[r] + e * ports of r + (p - first port of r)]``. Loops are followed once around.
    """
    switches, destinations = group.shape
    turn = np.zeros(turn_ptr[switches], dtype=np.uint8)
    seen = np.full(switches, NIL, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED or same_as[d] != d:
            continue
        tail = np.int64(0)
        for h in range(len(home_row)):
            row = home_row[h]
            if home_count[h] > own_count[d] or row != target_row[d]:
                seen[row] = d
                queue[tail] = row
                tail += 1
        done = np.int64(0)
        while done < tail:
            row = queue[done]
            done += 1
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            end = member_ptr[group_ptr[row] + entry + 1]
            for member in range(begin, end):
                step = next_row[member]
                if step < 0:
                    continue
                out = np.int64(group[step, d])
                if out < group_ptr[step + 1] - group_ptr[step]:
                    node = switch_node[step]
                    width = np.int64(port_ptr[node + 1] - port_ptr[node])
                    turn[turn_ptr[step] + out * width + next_port[member] - port_ptr[node]] = 1
                if seen[step] != d:
                    seen[step] = d
                    queue[tail] = step
                    tail += 1
    return turn


@kernel
def list_dependencies(
    turn: U8,
    turn_ptr: I64,
    port_ptr: I32,
    port_peer: I32,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    switch_node: I32,
) -> tuple[I64, I32]:
    """List for each channel the channels that it waits on, as CSR over all ports; O(turns * members).

    A channel is a switch's port towards another switch, named by the transmitting port. ``after[ptr[p]:ptr[p + 1]]``
    are ascending; ports that are no channel have none.
    """
    ports = len(port_peer)
    ptr = np.zeros(ports + 1, dtype=np.int64)
    after = np.empty(1024, dtype=np.int32)
    widest = np.int64(0)
    for row in range(len(switch_node)):
        node = switch_node[row]
        widest = max(widest, np.int64(port_ptr[node + 1] - port_ptr[node]))
    leads_on = np.zeros(widest, dtype=np.uint8)
    for fill in range(2):
        for row in range(len(switch_node)):
            node = switch_node[row]
            base = port_ptr[node]
            width = np.int64(port_ptr[node + 1] - base)
            for q in range(width):
                channel = port_peer[base + q]
                if channel == NIL:
                    continue
                any_turn = False
                for entry in range(group_ptr[row + 1] - group_ptr[row]):
                    if turn[turn_ptr[row] + entry * width + q] == 0:
                        continue
                    begin = member_ptr[group_ptr[row] + entry]
                    for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                        if next_row[member] >= 0:
                            leads_on[member_port[member] - base] = 1
                            any_turn = True
                if not any_turn:
                    continue
                used = ptr[channel]
                for out in range(width):
                    if leads_on[out] == 1:
                        leads_on[out] = 0
                        if fill == 1:
                            after[used] = base + out
                        used += 1
                if fill == 0:
                    ptr[channel] = used
        if fill == 0:
            total = np.int64(0)
            for port in range(ports + 1):
                here = ptr[port]
                ptr[port] = total
                total += here
            after = np.empty(total, dtype=np.int32)
    return ptr, after


@kernel
def find_causes(
    cycle: I32,
    port_node: I32,
    switch_row: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    target_kind: I8,
    target_row: I32,
    home_row: I32,
    home_count: I32,
    own_count: I32,
) -> tuple[I32, I32]:
    """Find for each channel of a cycle and the next one a destination whose traffic uses both in turn.

    Returns the destinations and the switch rows where such traffic starts, NIL where none was found (there is one
    where the dependencies are those of ``mark_turns``). The lowest destination is taken. O(members in use).
    """
    pairs = len(cycle)
    cause = np.full(pairs, NIL, dtype=np.int32)
    origin = np.full(pairs, NIL, dtype=np.int32)
    switches, destinations = group.shape
    seen = np.full(switches, NIL, dtype=np.int32)
    came_from = np.full(switches, NIL, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    missing = np.int64(pairs)
    for d in range(destinations):
        if missing == 0:
            break
        if target_kind[d] == IS_SKIPPED:
            continue
        tail = np.int64(0)
        for h in range(len(home_row)):
            row = home_row[h]
            if home_count[h] > own_count[d] or row != target_row[d]:
                seen[row] = d
                came_from[row] = row
                queue[tail] = row
                tail += 1
        done = np.int64(0)
        while done < tail:
            row = queue[done]
            done += 1
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step >= 0 and seen[step] != d:
                    seen[step] = d
                    came_from[step] = came_from[row]
                    queue[tail] = step
                    tail += 1
        for pair in range(pairs):
            if cause[pair] != NIL:
                continue
            found = 0
            for end in range(2):
                channel = cycle[(pair + end) % pairs]
                row = switch_row[port_node[channel]]
                if seen[row] != d:
                    break
                entry = np.int64(group[row, d])
                if entry >= group_ptr[row + 1] - group_ptr[row]:
                    break
                begin = member_ptr[group_ptr[row] + entry]
                for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                    if member_port[member] == channel and next_row[member] >= 0:
                        found += 1
                        break
            if found == 2:
                cause[pair] = d
                origin[pair] = came_from[switch_row[port_node[cycle[pair]]]]
                missing -= 1
    return cause, origin


@kernel
def check_ranks(
    rank: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    target_kind: I8,
    target_row: I32,
    home_row: I32,
    home_count: I32,
    own_count: I32,
) -> int:
    """Count the places where ranks do not grow along a dependency; 0 makes ``rank`` a certificate.

    Destination by destination, the tables are followed from the sources: at each switch the largest rank that comes in
    must be below the smallest that goes out, and a channel in use must have a rank. No search; O(members in use).
    """
    switches, destinations = group.shape
    wrong = np.int64(0)
    highest_in = np.empty(switches, dtype=np.int32)
    lowest_out = np.empty(switches, dtype=np.int32)
    seen = np.full(switches, NIL, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED:
            continue
        tail = np.int64(0)
        for h in range(len(home_row)):
            row = home_row[h]
            if home_count[h] > own_count[d] or row != target_row[d]:
                seen[row] = d
                highest_in[row] = NIL
                queue[tail] = row
                tail += 1
        done = np.int64(0)
        while done < tail:
            row = queue[done]
            done += 1
            lowest_out[row] = np.iinfo(np.int32).max
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                here = rank[member_port[member]]
                if here < 0:
                    wrong += 1
                lowest_out[row] = min(lowest_out[row], here)
                if seen[step] != d:
                    seen[step] = d
                    highest_in[step] = NIL
                    queue[tail] = step
                    tail += 1
                highest_in[step] = max(highest_in[step], here)
        for place in range(tail):
            row = queue[place]
            if highest_in[row] >= lowest_out[row]:
                wrong += 1
    return int(wrong)
