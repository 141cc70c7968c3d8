"""Reach: how far every switch is from every destination over all choices, and which walks never end there."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16

FARTHEST = 250
"""Longest distance that a certificate can hold."""
MIXED = 254
"""Some walks from here are delivered or not, or they loop: neither always nor never delivered."""
NEVER = 255
"""No walk from here is delivered."""

BROKEN = -2
"""A member that leads nowhere: a dark port, a port of another switch, no port at all."""

IS_ENDPOINT = 0
IS_SWITCH = 1
IS_SKIPPED = 2
"""An endpoint port that is dark: nobody stands there."""


@kernel
def link_members(
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    switch_node: I32,
    switch_row: I32,
    port_node: I32,
    port_peer: I32,
) -> tuple[I32, I32]:
    """Follow each member of each group over its link; O(members).

    Returns per member ``next_row`` (the row of the switch at the other end, NIL for an endpoint, ``BROKEN`` where the
    member is dark or no port of its switch) and ``next_port`` (the port at the other end, NIL where broken).
    """
    count = len(member_port)
    next_row = np.full(count, BROKEN, dtype=np.int32)
    next_port = np.full(count, NIL, dtype=np.int32)
    for row in range(len(switch_node)):
        for group in range(group_ptr[row], group_ptr[row + 1]):
            for member in range(member_ptr[group], member_ptr[group + 1]):
                port = member_port[member]
                if port < 0 or port >= len(port_peer) or port_node[port] != switch_node[row]:
                    continue
                peer = port_peer[port]
                if peer != NIL:
                    next_port[member] = peer
                    next_row[member] = switch_row[port_node[peer]]
    return next_row, next_port


@kernel
def share_columns(
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    target_kind: I8,
    target_port: I32,
    target_row: I32,
) -> tuple[I32, I8]:
    """Find destinations that all switches but their own treat alike, so that one walk serves them all.

    Returns ``same_as`` (the first such destination, itself for most) and ``is_direct`` (1 where the destination's own
    switch hands over to it by every member). Two destinations share a column only where both are direct, on the same
    switch, and every other row is equal: the walks then differ in the last link alone. At most S * D comparisons.
    """
    switches, destinations = group.shape
    same_as = np.arange(destinations, dtype=np.int32)
    is_direct = np.zeros(destinations, dtype=np.int8)
    first = np.full(switches, NIL, dtype=np.int32)
    for d in range(destinations):
        home = target_row[d]
        if target_kind[d] != IS_ENDPOINT or home == NIL:
            continue
        entry = np.int64(group[home, d])
        if entry >= group_ptr[home + 1] - group_ptr[home]:
            continue
        begin = member_ptr[group_ptr[home] + entry]
        end = member_ptr[group_ptr[home] + entry + 1]
        direct = end > begin
        for member in range(begin, end):
            if next_row[member] != NIL or next_port[member] != target_port[d]:
                direct = False
        if not direct:
            continue
        is_direct[d] = 1
        other = first[home]
        if other == NIL:
            first[home] = d
            continue
        same = True
        for row in range(switches):
            if row != home and group[row, d] != group[row, other]:
                same = False
                break
        if same:
            same_as[d] = other
        else:
            first[home] = d
    return same_as, is_direct


@kernel
def measure_column(
    d: int,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    local: int,
    target_kind: I8,
    target_port: I32,
    target_row: I32,
    head: I32,
    edge_next: I32,
    edge_row: I32,
    pending: I32,
    longest: I32,
    queue: I32,
    value: U8,
) -> None:
    """Measure the longest way of every switch to destination ``d`` into ``value``; O(members in use).

    The links are followed backwards from the delivery: a switch is ready when all its members are. What never
    becomes ready loops, or leads into a loop. Scratch: ``head``, ``pending``, ``longest``, ``queue``, ``value`` of
    length S; ``edge_next``, ``edge_row`` as long as the largest column has members.
    """
    switches = len(head)
    edges = np.int64(0)
    tail = np.int64(0)
    for row in range(switches):
        head[row] = NIL
    for row in range(switches):
        value[row] = NEVER
        pending[row] = 0
        longest[row] = 0
        delivers = False
        entry = np.int64(group[row, d])
        begin = np.int64(0)
        end = np.int64(0)
        if entry < group_ptr[row + 1] - group_ptr[row]:
            begin = np.int64(member_ptr[group_ptr[row] + entry])
            end = np.int64(member_ptr[group_ptr[row] + entry + 1])
        elif entry == local and target_kind[d] == IS_SWITCH and row == target_row[d]:
            longest[row] = 1
            delivers = True
        if begin == end and not delivers:
            longest[row] = FARTHEST + 1
        for member in range(begin, end):
            step = next_row[member]
            if step >= 0:
                edge_row[edges] = row
                edge_next[edges] = head[step]
                head[step] = edges
                edges += 1
                pending[row] += 1
            elif step == NIL and target_kind[d] == IS_ENDPOINT and next_port[member] == target_port[d]:
                delivers = True
                longest[row] = max(longest[row], 1)
            else:
                longest[row] = FARTHEST + 1
        if delivers:
            value[row] = MIXED
        if pending[row] == 0:
            queue[tail] = row
            tail += 1
    done = np.int64(0)
    spoiled = False
    while done < tail:
        row = queue[done]
        done += 1
        if longest[row] <= FARTHEST:
            value[row] = longest[row]
        else:
            spoiled = True
        edge = head[row]
        while edge != NIL:
            before = edge_row[edge]
            longest[before] = max(longest[before], min(longest[row] + 1, FARTHEST + 1))
            pending[before] -= 1
            if pending[before] == 0:
                queue[tail] = before
                tail += 1
            edge = edge_next[edge]
    if not spoiled and done == switches:
        return
    # whatever a delivering switch can be reached from may be delivered: not NEVER
    tail = np.int64(0)
    for row in range(switches):
        if value[row] != NEVER:
            queue[tail] = row
            tail += 1
    done = np.int64(0)
    while done < tail:
        edge = head[queue[done]]
        done += 1
        while edge != NIL:
            before = edge_row[edge]
            if value[before] == NEVER:
                value[before] = MIXED
                queue[tail] = before
                tail += 1
            edge = edge_next[edge]


@kernel
def measure_reach(
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    local: int,
    target_kind: I8,
    target_port: I32,
    target_row: I32,
    same_as: I32,
) -> U8:
    """Measure ``distance[S, D]``: the most switches on a walk, or ``MIXED`` or ``NEVER``; O(members in use).

    Skipped destinations are ``NEVER`` everywhere.
    """
    switches, destinations = group.shape
    distance = np.full((switches, destinations), NEVER, dtype=np.uint8)
    widest = np.int64(0)
    for row in range(switches):
        most = np.int64(0)
        for entry in range(group_ptr[row], group_ptr[row + 1]):
            most = max(most, np.int64(member_ptr[entry + 1] - member_ptr[entry]))
        widest += most
    head = np.empty(switches, dtype=np.int32)
    edge_next = np.empty(widest, dtype=np.int32)
    edge_row = np.empty(widest, dtype=np.int32)
    pending = np.empty(switches, dtype=np.int32)
    longest = np.empty(switches, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    value = np.empty(switches, dtype=np.uint8)
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED:
            continue
        if same_as[d] != d:
            other = same_as[d]
            for row in range(switches):
                distance[row, d] = distance[row, other]
            continue
        measure_column(
            d, group, group_ptr, member_ptr, next_row, next_port, local, target_kind, target_port, target_row,
            head, edge_next, edge_row, pending, longest, queue, value,
        )  # fmt: skip
        for row in range(switches):
            distance[row, d] = value[row]
    return distance


@kernel
def judge_reach(
    distance: U8,
    group: U8 | U16,
    no_route: int,
    max_hops: int,
    target_kind: I8,
    target_row: I32,
    target_component: I32,
    source_row: I32,
    source_component: I32,
    source_count: I32,
) -> tuple[I64, I32]:
    """Judge each (source switch, destination) by its distance; O(sources * D).

    A source is a switch with ``source_count`` lit endpoints of one component. Returns the counts ``[connected pairs,
    failed connected pairs, foreign pairs, delivered foreign pairs, farthest distance, switch destinations reached,
    absent, failed]`` (pairs of endpoints; for switches, pairs of a source and a switch) and for connected, foreign and
    switch destinations the first failure as ``[source, destination]``, NIL where there is none.
    """
    counts = np.zeros(8, dtype=np.int64)
    first = np.full((3, 2), NIL, dtype=np.int32)
    for d in range(distance.shape[1]):
        if target_kind[d] == IS_SKIPPED:
            continue
        for s in range(len(source_row)):
            row = source_row[s]
            reached = np.int64(distance[row, d])
            is_good = reached <= max_hops
            own = source_component[s] == target_component[d]
            which = -1
            if target_kind[d] == IS_SWITCH:
                if is_good:
                    counts[5] += 1
                elif np.int64(group[row, d]) == no_route:
                    counts[6] += 1
                else:
                    counts[7] += 1
                    which = 2
            else:
                pairs = np.int64(source_count[s])
                if own and row == target_row[d]:
                    pairs -= 1
                if pairs == 0:
                    continue
                if own:
                    counts[0] += pairs
                    if not is_good:
                        counts[1] += pairs
                        which = 0
                else:
                    counts[2] += pairs
                    if reached != NEVER:
                        counts[3] += pairs
                        which = 1
            if is_good and which == -1 and (own or target_kind[d] == IS_SWITCH):
                counts[4] = max(counts[4], reached)
            if which >= 0 and first[which, 0] == NIL:
                first[which, 0] = s
                first[which, 1] = d
    return counts, first


@kernel
def check_distances(
    distance: U8,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    local: int,
    target_kind: I8,
    target_port: I32,
    target_row: I32,
) -> int:
    """Count the distances that the tables contradict; 0 makes ``distance`` a certificate. No search; O(members in use).

    A distance k of 1 to ``FARTHEST`` says: every member hands over to the destination, or to a switch with a
    distance of 1 to k - 1. ``NEVER`` says: no member hands over to the destination, nor to a switch that is not
    ``NEVER`` too. ``MIXED`` says nothing.
    """
    wrong = np.int64(0)
    for row in range(distance.shape[0]):
        for d in range(distance.shape[1]):
            claimed = np.int64(distance[row, d])
            if claimed == MIXED or target_kind[d] == IS_SKIPPED:
                continue
            entry = np.int64(group[row, d])
            is_always = True
            is_never = True
            is_falling = claimed >= 1
            if entry < group_ptr[row + 1] - group_ptr[row]:
                begin = member_ptr[group_ptr[row] + entry]
                end = member_ptr[group_ptr[row] + entry + 1]
                is_always = end > begin
                for member in range(begin, end):
                    step = next_row[member]
                    if step >= 0:
                        after = np.int64(distance[step, d])
                        if after != NEVER:
                            is_never = False
                        if after < 1 or after >= claimed:
                            is_falling = False
                    elif step == NIL and target_kind[d] == IS_ENDPOINT and next_port[member] == target_port[d]:
                        is_never = False
                    else:
                        is_always = False
            elif entry == local and target_kind[d] == IS_SWITCH and row == target_row[d]:
                is_never = False
            else:
                is_always = False
            if claimed == NEVER:
                if not is_never:
                    wrong += 1
            elif claimed > FARTHEST or not is_always or not is_falling:
                wrong += 1
    return int(wrong)
