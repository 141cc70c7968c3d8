"""Up*/down* forwarding on any graph of switches that has a total order, by single ports."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.climb import climb, leads_on
from weftline.kernels.column import F64, I32, NIL, U8, U16
from weftline.kernels.weigh import FINEST, measure_width, sum_rates, weigh_links


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
