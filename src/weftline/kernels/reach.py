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

COMPARED_ROWS = 64
"""Rows that are compared before columns that differ are left out."""

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
    switch, and every other row is equal: the walks then differ in the last link alone. At most S * D comparisons, row
    by row: a column is compared with the one before it on its switch, so that equal ones are like the first of them.
    """
    switches, destinations = group.shape
    same_as = np.arange(destinations, dtype=np.int32)
    is_direct = np.zeros(destinations, dtype=np.int8)
    latest = np.full(switches, NIL, dtype=np.int32)
    left = np.empty(destinations, dtype=np.int32)
    before = np.empty(destinations, dtype=np.int32)
    at_home = np.empty(destinations, dtype=np.int32)
    count = 0
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
        if latest[home] != NIL:
            left[count] = d
            before[count] = latest[home]
            at_home[count] = home
            count += 1
        latest[home] = d
    differs = np.zeros(count, dtype=np.uint8)
    for start in range(0, switches, COMPARED_ROWS):
        for row in range(start, min(start + COMPARED_ROWS, switches)):
            for at in range(count):
                is_other = group[row, left[at]] != group[row, before[at]] and at_home[at] != row
                differs[at] |= np.uint8(is_other)
        kept = 0
        for at in range(count):
            if differs[at] == 0:
                left[kept] = left[at]
                before[kept] = before[at]
                at_home[kept] = at_home[at]
                kept += 1
        count = kept
        differs[:count] = 0
    for at in range(count):
        same_as[left[at]] = same_as[before[at]]
    return same_as, is_direct


@kernel
def keep_columns(
    column: I32,
    row_ptr: I32,
    row: I32,
    distance: U8,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    target_kind: I8,
    target_port: I32,
) -> U8:
    """Mark the columns whose distances stay true though the entries of some of their rows changed; O(members of these).

    ``row[row_ptr[i]:row_ptr[i + 1]]`` are the rows that changed of ``column[i]``, ``distance`` is that before. A column
    stays where each of them had a distance and comes to the same one from its next switches: the distances that are
    finite then fall at every hop as before, so that they are those of the new tables, and what is not finite never led
    by a changed row alone.
    """
    kept = np.zeros(len(column), dtype=np.uint8)
    for index in range(len(column)):
        d = column[index]
        same = True
        for at in range(row_ptr[index], row_ptr[index + 1]):
            here = row[at]
            entry = np.int64(group[here, d])
            longest = np.int64(0)
            if entry < group_ptr[here + 1] - group_ptr[here]:
                for member in range(member_ptr[group_ptr[here] + entry], member_ptr[group_ptr[here] + entry + 1]):
                    step = next_row[member]
                    if step >= 0:
                        longest = max(longest, np.int64(distance[step, d]) + 1)
                    elif step == NIL and target_kind[d] == IS_ENDPOINT and next_port[member] == target_port[d]:
                        longest = max(longest, np.int64(1))
                    else:
                        longest = np.int64(FARTHEST + 1)
            if longest == 0 or longest > FARTHEST or np.int64(distance[here, d]) != longest:
                same = False
                break
        if same:
            kept[index] = 1
    return kept


@kernel
def judge_column(
    d: int,
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
    counts: I64,
    first: I32,
) -> None:
    """Judge each source's way to destination ``d`` into ``counts`` (8) and ``first`` (3); O(sources)."""
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
        if which >= 0 and first[which] == NIL:
            first[which] = s


@kernel
def judge_reach(
    begin: int,
    end: int,
    column: I32,
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
    counts: I64,
    first: I32,
) -> None:
    """Judge each (source switch, destination) of ``column[begin:end]`` by its distance; O(sources * columns).

    A source is a switch with ``source_count`` lit endpoints of one component. Writes, per destination, the counts
    ``[connected pairs, failed connected pairs, foreign pairs, delivered foreign pairs, farthest distance, switch
    destinations reached, absent, failed]`` (pairs of endpoints; for switches, pairs of a source and a switch) and for
    connected, foreign and switch destinations the first source that fails, NIL where none does. Where all sources are
    fine the pairs are counted by arithmetic.
    """
    width = 64
    total = np.int64(0)
    most = np.int64(NIL)
    for s in range(len(source_row)):
        total += source_count[s]
        most = max(most, np.int64(source_component[s]))
    for d in range(len(target_component)):
        most = max(most, np.int64(target_component[d]))
    in_component = np.zeros(most + 2, dtype=np.int64)  # NIL counts in the last place
    for s in range(len(source_row)):
        in_component[source_component[s]] += source_count[s]
    own_source = np.full(len(group), NIL, dtype=np.int32)  # by row, the first of its sources; these follow each other
    for s in range(len(source_row) - 1, -1, -1):
        own_source[source_row[s]] = s
    single = True
    for s in range(len(source_row)):
        if source_component[s] != source_component[0]:
            single = False
    worst = np.zeros(width, dtype=np.uint8)
    least = np.zeros(width, dtype=np.uint8)
    for start in range(begin, end, width):
        columns = column[start : min(start + width, end)]
        count = len(columns)
        is_run = True
        for w in range(count):
            if columns[w] != columns[0] + w:
                is_run = False
        worst[:] = 0
        least[:] = NEVER
        for s in range(len(source_row)):
            row = source_row[s]
            if single and is_run:
                for w in range(count):
                    worst[w] = max(worst[w], distance[row, columns[0] + w])
            else:
                for w in range(count):
                    value = distance[row, columns[w]]
                    if source_component[s] == target_component[columns[w]]:
                        worst[w] = max(worst[w], value)
                    else:
                        least[w] = min(least[w], value)
        for w in range(count):
            d = columns[w]
            counts[d, :] = 0
            first[d, :] = NIL
            if target_kind[d] == IS_SKIPPED:
                continue
            at = np.int64(NIL)
            if target_row[d] != NIL:
                at = np.int64(own_source[target_row[d]])
                while at != NIL and source_component[at] != target_component[d]:
                    at += 1
                    if at == len(source_row) or source_row[at] != target_row[d]:
                        at = np.int64(NIL)
            is_sole = at != NIL and source_count[at] == 1
            is_foreign_run = single and is_run and source_component[0] != target_component[d]
            if (
                target_kind[d] == IS_SWITCH
                or is_sole
                or is_foreign_run
                or np.int64(worst[w]) > max_hops
                or least[w] != NEVER
            ):
                judge_column(
                    d, distance, group, no_route, max_hops, target_kind, target_row, target_component, source_row,
                    source_component, source_count, counts[d], first[d],
                )  # fmt: skip
                continue
            own = in_component[target_component[d]]
            counts[d, 0] = own - (1 if at != NIL else 0)
            counts[d, 2] = total - own
            counts[d, 4] = worst[w]


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
