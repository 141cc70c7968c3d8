"""Up*/down* forwarding on any graph of switches that has a total order: reach, single ports, port sets."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.climb import climb, leads_on
from weftline.kernels.column import F64, I32, NIL, U8, U16
from weftline.kernels.tables import mix
from weftline.kernels.weigh import FINEST, measure_width, sum_rates, weigh_links


@kernel
def find_unreached(
    target: I32,
    need: U8,
    sender: U8,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
) -> U8:
    """Mark the components where a sender has no legal way to a target; O(targets * edges).

    A switch must reach ``target[i]`` where ``sender[switch] & need[i]``.
    """
    rows = len(order)
    hop = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    fails = np.zeros(len(component_ptr) - 1, dtype=np.uint8)
    for at in range(len(target)):
        part = component[target[at]]
        if fails[part] == 1:
            continue
        first = int(component_ptr[part])
        last = int(component_ptr[part + 1])
        climb(target[at], first, last, sequence, order, edge_ptr, edge_row, hop, falls, queue)
        for place in range(first, last):
            row = sequence[place]
            if hop[row] == NIL and sender[row] & need[at] != 0:
                fails[part] = 1
                break
    return fails


@kernel
def fill_updown(
    home: I32,
    goal_ptr: I32,
    goal: I32,
    ordinal: I32,
    home_group: I32,
    divisor: I32,
    slots: I32,
    edge_slot: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_group: I32,
    link_rate: F64,
    group: U8 | U16,
) -> None:
    """Fill ``group`` with one port per entry; O(homes * links + entries).

    ``goal[goal_ptr[i]:goal_ptr[i + 1]]`` are the destinations at ``home[i]``. The digit of destination ``d`` is
    ``ordinal[d] // divisor[switch]``. Digit modulo ``slots[switch]`` is the slot of the neighbour that ``d`` prefers,
    and what is left chooses among parallel links; so all switches of one kind prefer the same neighbour. Where that one
    does not lead on, the digit chooses among all ports that do, across neighbours first. Where ``link_rate`` is not
    empty and the links that lead on have unequal shares, each takes as many digits of a turn as its share
    (``weigh_links``).
    """
    rows = len(order)
    links = max(1, len(link_group))
    hop = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    good = np.empty(links, dtype=np.int32)
    lead = np.empty(max(1, len(edge_row)), dtype=np.int32)
    at_slot = np.full(rows + 1, NIL, dtype=np.int32)
    spot = np.empty(links, dtype=np.int32)
    weighs = len(link_rate) > 0
    rate = sum_rates(link_ptr, link_rate) if weighs else np.empty(0, dtype=np.float64)
    width = np.empty(rows if weighs else 0, dtype=np.float64)
    last = np.empty(rows if weighs else 0, dtype=np.float64)
    wheel = np.empty(links * FINEST if weighs else 0, dtype=np.int32)
    for at in range(len(home)):
        part = component[home[at]]
        first = int(component_ptr[part])
        final = int(component_ptr[part + 1])
        falling = climb(home[at], first, final, sequence, order, edge_ptr, edge_row, hop, falls, queue)
        if weighs:
            measure_width(
                first, final, sequence, order, edge_ptr, edge_row, rate, hop, falls, queue[:falling], width, last
            )
        for place in range(first, final):
            row = sequence[place]
            if row == home[at]:
                for index in range(goal_ptr[at], goal_ptr[at + 1]):
                    group[row, goal[index]] = home_group[goal[index]]
                continue
            if hop[row] == NIL:
                continue
            leading = 0
            rises = False
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                if leads_on(row, edge_row[edge], order, hop, falls):
                    lead[leading] = edge
                    leading += 1
                    if edge_slot[edge] != NIL:
                        at_slot[edge_slot[edge]] = edge
                        rises = True
            chosen = list_good(lead, leading, link_ptr, good, spot)
            turn = 0
            if weighs and chosen > 1:
                turn = weigh_links(lead[:leading], int(rises), edge_row, link_ptr, link_rate, rate, width, spot, wheel)
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                digit = int(ordinal[goal[index]] // divisor[row])
                rest = digit // int(slots[row])
                edge = at_slot[digit % int(slots[row])]
                if turn > 0:
                    link = int(good[wheel[digit % turn]])
                elif edge != NIL:
                    link = int(link_ptr[edge]) + rest % int(link_ptr[edge + 1] - link_ptr[edge])
                elif rises:
                    link = int(good[(digit + rest) % chosen])
                else:
                    link = int(good[digit % chosen])
                group[row, goal[index]] = link_group[link]
            for index in range(leading):
                if edge_slot[lead[index]] != NIL:
                    at_slot[edge_slot[lead[index]]] = NIL


@kernel
def list_good(lead: I32, leading: int, link_ptr: I32, good: I32, spot: I32) -> int:
    """List the links of the edges that lead on, across neighbours first; ``spot`` is the place of a link there."""
    chosen = 0
    strand = 0
    more = True
    while more:
        more = False
        for index in range(leading):
            link = link_ptr[lead[index]] + strand
            if link < link_ptr[lead[index] + 1]:
                more = True
                good[chosen] = link
                spot[link] = chosen
                chosen += 1
        strand += 1
    return chosen


@kernel
def collect_sets(
    home: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_port: I32,
    most: int,
    choice: U16,
) -> tuple[I32, I32, I32, I32]:
    """Collect, per switch, the sets of ports that lead on towards each home, each set once; O(homes * links).

    Fills ``choice[switch, i]`` with the set towards ``home[i]``, numbered per switch in order of first use, where a
    set exists. Returns per set its switch and its number there, and the CSR (sets + 1, ports ascending) of members.
    Stops, with a set number of ``most`` in the last place, where a switch needs more than ``most`` sets.
    """
    rows = len(order)
    hop = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    members = np.empty(max(1, len(link_port)), dtype=np.int32)
    set_row = np.empty(64, dtype=np.int32)
    set_number = np.empty(64, dtype=np.int32)
    set_ptr = np.zeros(65, dtype=np.int32)
    set_port = np.empty(256, dtype=np.int32)
    bucket = np.full(256, NIL, dtype=np.int32)
    count = np.zeros(rows, dtype=np.int32)
    sets = 0
    full = False
    for at in range(len(home)):
        if full:
            break
        part = component[home[at]]
        first = int(component_ptr[part])
        last = int(component_ptr[part + 1])
        climb(home[at], first, last, sequence, order, edge_ptr, edge_row, hop, falls, queue)
        for place in range(first, last):
            row = sequence[place]
            if hop[row] == NIL or row == home[at]:
                continue
            size = 0
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                if leads_on(row, edge_row[edge], order, hop, falls):
                    for link in range(link_ptr[edge], link_ptr[edge + 1]):
                        members[size] = link_port[link]
                        size += 1
            members[:size].sort()
            key = mix(int(row))
            for index in range(size):
                key = mix(key * 31 + int(members[index]))
            slot = key % len(bucket)
            found = NIL
            while bucket[slot] != NIL and found == NIL:
                other = bucket[slot]
                start = set_ptr[other]
                if set_row[other] == row and set_ptr[other + 1] - start == size:
                    found = other
                    for index in range(size):
                        if set_port[start + index] != members[index]:
                            found = NIL
                            break
                if found == NIL:
                    slot = (slot + 1) % len(bucket)
            if found == NIL:
                if sets == len(set_row):
                    set_row = np.append(set_row, np.empty(sets, dtype=np.int32))
                    set_number = np.append(set_number, np.empty(sets, dtype=np.int32))
                    set_ptr = np.append(set_ptr, np.empty(sets, dtype=np.int32))
                used = set_ptr[sets]
                while used + size > len(set_port):
                    set_port = np.append(set_port, np.empty(len(set_port), dtype=np.int32))
                set_port[used : used + size] = members[:size]
                set_ptr[sets + 1] = used + size
                set_row[sets] = row
                set_number[sets] = count[row]
                bucket[slot] = sets
                found = sets
                sets += 1
                if count[row] >= most:
                    full = True
                    break
                count[row] += 1
                if 2 * sets > len(bucket):
                    bucket = hash_sets(set_row, set_ptr, set_port, sets, 2 * len(bucket))
            choice[row, at] = set_number[found]
    return set_row[:sets].copy(), set_number[:sets].copy(), set_ptr[: sets + 1].copy(), set_port[: set_ptr[sets]].copy()


@kernel
def hash_sets(set_row: I32, set_ptr: I32, set_port: I32, sets: int, size: int) -> I32:
    """Put sets of ports into an open hash table of ``size`` buckets."""
    bucket = np.full(size, NIL, dtype=np.int32)
    for index in range(sets):
        key = mix(int(set_row[index]))
        for at in range(set_ptr[index], set_ptr[index + 1]):
            key = mix(key * 31 + int(set_port[at]))
        slot = key % size
        while bucket[slot] != NIL:
            slot = (slot + 1) % size
        bucket[slot] = index
    return bucket


@kernel
def spread_choice(choice: U16, home_of: I32, home: I32, home_group: I32, none: int, group: U8 | U16) -> None:
    """Copy the choice towards each home to all its destinations; O(entries).

    ``home_of[d]`` indexes ``home`` and the columns of ``choice``; NIL: no home. ``none`` is the choice of no set.
    """
    for row in range(len(choice)):
        for goal in range(len(home_of)):
            at = home_of[goal]
            if at == NIL:
                continue
            if home[at] == row:
                group[row, goal] = home_group[goal]
            elif choice[row, at] != none:
                group[row, goal] = choice[row, at]
