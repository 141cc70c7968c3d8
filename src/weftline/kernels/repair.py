"""Repair of tables: the columns that a lost link spoils, filled again; and columns where mixed tables could loop."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.climb import climb, leads_on
from weftline.kernels.column import I32, NIL, U8, U16

FAR = 255
"""No way, in a byte."""


@kernel
def list_strands(lead: I32, leading: int, link_ptr: I32, link_group: I32, good: I32) -> int:
    """List in ``good`` the links of ``lead[:leading]``, across neighbours first; returns how many there are."""
    chosen = np.int64(0)
    strand = 0
    more = True
    while more:
        more = False
        for one in range(leading):
            link = link_ptr[lead[one]] + strand
            if link < link_ptr[lead[one] + 1]:
                more = True
                good[chosen] = link_group[link]
                chosen += 1
        strand += 1
    return int(chosen)


@kernel
def mark_touched(group: U8 | U16, lost_row: I32, lost_group: I32, home: I32, component: I32) -> U8:
    """Mark the destinations whose column leads over a lost group in the component of their home; O(lost * D)."""
    touched = np.zeros(group.shape[1], dtype=np.uint8)
    for at in range(len(lost_row)):
        row = lost_row[at]
        entry = np.int64(lost_group[at])
        for goal in range(group.shape[1]):
            if np.int64(group[row, goal]) == entry and home[goal] != NIL and component[home[goal]] == component[row]:
                touched[goal] = 1
    return touched


@kernel
def repair_columns(
    home: I32,
    goal_ptr: I32,
    goal: I32,
    is_live: U8,
    is_sender: U8,
    ordinal: I32,
    divisor: I32,
    slots: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_group: I32,
    group_ptr: I32,
    group_row: I32,
    none: int,
    group: U8 | U16,
) -> int:
    """Fill the columns ``goal[goal_ptr[i]:goal_ptr[i + 1]]`` of ``home[i]`` again; O(homes * links + entries).

    The graph is what is left of the fabric; ``order`` is the total order of the whole fabric, so that what is repaired
    and what is kept go up and down alike. An entry stays where its group (which leads to ``group_row``, NIL where it
    is lost) still leads on; elsewhere the ordinal of the destination chooses among the ports that do, and where
    none does the entry becomes ``none``. Only rows in the component of the home are written. Returns how many pairs of
    a switch that sends and a live destination have no legal way.
    """
    rows = len(order)
    hop = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    good = np.empty(max(1, len(link_group)), dtype=np.int32)
    lead = np.empty(max(1, len(edge_row)), dtype=np.int32)
    failed = np.int64(0)
    for at in range(len(home)):
        part = component[home[at]]
        first = int(component_ptr[part])
        last = int(component_ptr[part + 1])
        climb(home[at], first, last, sequence, order, edge_ptr, edge_row, hop, falls, queue)
        for place in range(first, last):
            row = sequence[place]
            if row == home[at]:
                continue
            if hop[row] == NIL:
                for index in range(goal_ptr[at], goal_ptr[at + 1]):
                    group[row, goal[index]] = none
                    if is_sender[row] == 1 and is_live[goal[index]] == 1:
                        failed += 1
                continue
            chosen = np.int64(NIL)
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                entry = np.int64(group[row, goal[index]])
                if entry < group_ptr[row + 1] - group_ptr[row]:
                    other = group_row[group_ptr[row] + entry]
                    if other >= 0 and leads_on(row, other, order, hop, falls):
                        continue
                if chosen == NIL:
                    # the ports that lead on, across neighbours first
                    leading = 0
                    for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                        if leads_on(row, edge_row[edge], order, hop, falls):
                            lead[leading] = edge
                            leading += 1
                    chosen = list_strands(lead, leading, link_ptr, link_group, good)
                digit = int(ordinal[goal[index]] // divisor[row])
                group[row, goal[index]] = good[(digit + digit // int(slots[row])) % int(chosen)]
    return int(failed)


@kernel
def measure_ways(
    begin: int,
    end: int,
    home: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    hops: U8,
    fallen: U8,
) -> int:
    """Measure the legal ways to ``home[begin:end]`` into a row of ``hops`` and ``fallen`` each; O(homes * edges).

    ``hops`` is ``FAR`` where there is no way, or in another component. Returns how many hops are too many for a byte.
    """
    rows = len(order)
    hop = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    beyond = 0
    for at in range(begin, end):
        part = component[home[at]]
        first = int(component_ptr[part])
        last = int(component_ptr[part + 1])
        climb(home[at], first, last, sequence, order, edge_ptr, edge_row, hop, falls, queue)
        hops[at, :] = FAR
        fallen[at, :] = 0
        for place in range(first, last):
            row = sequence[place]
            fallen[at, row] = falls[row]
            if hop[row] >= FAR:
                beyond += 1
            elif hop[row] != NIL:
                hops[at, row] = hop[row]
    return beyond


@kernel
def leads_nearer(row: int, other: int, order: I32, hop: U8, falls: U8) -> bool:
    """Say whether ``other``, a neighbour of ``row``, is a next hop after ``measure_ways``."""
    if hop[row] == FAR or hop[other] == FAR or np.int64(hop[other]) != np.int64(hop[row]) - 1:
        return False
    if falls[row] == 1:
        return bool(order[other] > order[row] and falls[other] == 1)
    return bool(order[other] < order[row])


@kernel
def find_steady(
    begin: int,
    end: int,
    home: I32,
    goal_ptr: I32,
    goal: I32,
    hops: U8,
    fallen: U8,
    order: I32,
    group: U8 | U16,
    group_ptr: I32,
    group_row: I32,
    none: int,
    steady: U8,
) -> None:
    """Mark the columns to ``home[begin:end]`` whose every entry leads on, or is none where no way is; O(entries)."""
    rows = len(order)
    for at in range(begin, end):
        for index in range(goal_ptr[at], goal_ptr[at + 1]):
            steady[goal[index]] = 1
        for row in range(rows):
            if row == home[at]:
                continue
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                entry = np.int64(group[row, goal[index]])
                other = np.int64(NIL)
                if entry < group_ptr[row + 1] - group_ptr[row]:
                    other = np.int64(group_row[group_ptr[row] + entry])
                if hops[at, row] == FAR:
                    if entry != none:
                        steady[goal[index]] = 0
                elif other < 0 or not leads_nearer(row, int(other), order, hops[at], fallen[at]):
                    steady[goal[index]] = 0


@kernel
def find_shaken(dead_row: I32, dead_other: I32, hops: U8, fallen: U8, order: I32, edge_ptr: I32, edge_row: I32) -> U8:
    """Mark the homes to which some switch lost its last next hop with the edges that are gone; O(homes * dead * edges).

    ``edge_ptr, edge_row`` are what is left. To all other homes every switch is as far as before.
    """
    shaken = np.zeros(len(hops), dtype=np.uint8)
    for at in range(len(hops)):
        for edge in range(len(dead_row)):
            row = dead_row[edge]
            if not leads_nearer(row, int(dead_other[edge]), order, hops[at], fallen[at]):
                continue
            held = False
            for other in range(edge_ptr[row], edge_ptr[row + 1]):
                if leads_nearer(row, int(edge_row[other]), order, hops[at], fallen[at]):
                    held = True
                    break
            if not held:
                shaken[at] = 1
                break
    return shaken


@kernel
def refill_entries(
    row: I32,
    goal: I32,
    home_of: I32,
    ordinal: I32,
    divisor: I32,
    slots: I32,
    hops: U8,
    fallen: U8,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_group: I32,
    none: int,
    group: U8 | U16,
) -> None:
    """Fill single entries again, each towards a home that is as far as before; O(entries * links of a switch).

    The same choice as that of ``repair_columns``.
    """
    good = np.empty(max(1, len(link_group)), dtype=np.int32)
    lead = np.empty(max(1, len(edge_row)), dtype=np.int32)
    for index in range(len(row)):
        here = row[index]
        at = home_of[goal[index]]
        leading = 0
        for edge in range(edge_ptr[here], edge_ptr[here + 1]):
            if leads_nearer(here, int(edge_row[edge]), order, hops[at], fallen[at]):
                lead[leading] = edge
                leading += 1
        chosen = list_strands(lead, leading, link_ptr, link_group, good)
        if chosen == 0:
            group[here, goal[index]] = none
            continue
        digit = int(ordinal[goal[index]] // divisor[here])
        group[here, goal[index]] = good[(digit + digit // int(slots[here])) % int(chosen)]


@kernel
def count_loops(column: I32, group: U8 | U16, group_ptr: I32, member_ptr: I32, next_row: I32, looping: U8) -> int:
    """Mark in ``looping`` the columns among ``column`` in which some walk never ends; O(members in use).

    A member that leads nowhere ends the walk: a packet that is dropped does not loop. Returns how many are marked.
    """
    switches = group.shape[0]
    pending = np.empty(switches, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    found = np.int64(0)
    for at in range(len(column)):
        d = column[at]
        pending[:] = 0
        for row in range(switches):
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                if next_row[member] >= 0:
                    pending[next_row[member]] += 1
        tail = np.int64(0)
        for row in range(switches):
            if pending[row] == 0:
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
                if step >= 0:
                    pending[step] -= 1
                    if pending[step] == 0:
                        queue[tail] = step
                        tail += 1
        looping[d] = 1 if done < switches else 0
        found += np.int64(looping[d])
    return int(found)


@kernel
def list_changes(before: U8 | U16, after: U8 | U16, column: I32, row: I32, goal: I32) -> int:
    """List the entries of some columns that differ, row by row, as far as there is room; O(rows * columns).

    Returns how many there are.
    """
    found = np.int64(0)
    for at in range(before.shape[0]):
        for index in range(len(column)):
            if before[at, column[index]] != after[at, column[index]]:
                if found < len(row):
                    row[found] = at
                    goal[found] = column[index]
                found += 1
    return int(found)
