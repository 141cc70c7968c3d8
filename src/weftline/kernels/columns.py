"""Columns of single ports without some links: which are spoilt, filled again, checked entry by entry, and put back."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL, U8, U16
from weftline.kernels.outage import NO_HOP, climb_rest, is_joined, keep_ways, leads_down, mend_ways

APART = -1
"""The order of the whole fabric leaves a pair without a way."""
FULL = -2
"""More entries changed than there is room for."""


@kernel
def count_strays(
    home: I32,
    goal_ptr: I32,
    goal: I32,
    goal_group: I32,
    component: I32,
    order: I32,
    hop: U8,
    falls: U8,
    group_ptr: I32,
    group_row: I32,
    group: U8 | U16,
) -> int:
    """Count the entries that do not lead one hop nearer on a way up and then down; O(entries).

    0 makes ``hop`` and ``falls`` a certificate of every column: hops fall by one at each switch, so that all is
    delivered, and no packet goes up once it came down, so that channels in the order of switches never wait in a
    circle. The goals of ``home[i]`` are ``goal[goal_ptr[i]:goal_ptr[i + 1]]``, delivered by the group
    ``goal_group``; ``group_row`` is where each group leads, NIL for no switch.
    """
    wrong = 0
    for at in range(len(home)):
        for row in range(len(order)):
            if component[row] != component[home[at]]:
                continue
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                entry = int(group[row, goal[index]])
                if row == home[at]:
                    if entry != goal_group[goal[index]]:
                        wrong += 1
                    continue
                if entry >= group_ptr[row + 1] - group_ptr[row]:
                    if hop[at, row] != NO_HOP:
                        wrong += 1
                    continue
                other = int(group_row[group_ptr[row] + entry])
                if other < 0 or not leads_down(row, other, order, hop[at], falls[at]):
                    wrong += 1
    return wrong


@kernel
def find_spoilt(
    ports: I32,
    token: int,
    port_edge: I32,
    edge_from: I32,
    edge_ptr: I32,
    edge_stamp: I32,
    group_of_port: I32,
    home_row: I32,
    component: I32,
    group: U8 | U16,
    goal_stamp: I32,
) -> int:
    """Stamp the goals whose column leads over a lost port between switches, as ``mark_touched`` does.

    A goal whose switch is cut off, and the entries of a switch that is, stay as they are. Returns how many are stamped.
    """
    found = 0
    for port in ports:
        edge = port_edge[port]
        if edge == NIL:
            continue
        row = int(edge_from[edge])
        if not is_joined(row, token, edge_ptr, edge_stamp):
            continue
        wanted = group_of_port[port]
        for goal in range(group.shape[1]):
            if int(group[row, goal]) != wanted or goal_stamp[goal] == token:
                continue
            home = home_row[goal]
            if home == NIL or component[home] != component[row] or not is_joined(home, token, edge_ptr, edge_stamp):
                continue
            goal_stamp[goal] = token
            found += 1
    return found


@kernel
def refill(
    ports: I32,
    token: int,
    dead_edge: I32,
    home: I32,
    goal_ptr: I32,
    goal: I32,
    goal_stamp: I32,
    goal_port: I32,
    port_stamp: I32,
    rests: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    edge_from: I32,
    link_ptr: I32,
    link_port: I32,
    port_edge: I32,
    edge_stamp: I32,
    hop: U8,
    falls: U8,
    new_hop: U8,
    new_falls: U8,
    new_of: I32,
    group_of_port: I32,
    group_ptr: I32,
    group_row: I32,
    group_port: I32,
    ordinal: I32,
    divisor: I32,
    slots: I32,
    none: int,
    queue: I32,
    lead: I32,
    good: I32,
    undo_cell: I64,
    undo_entry: I32,
    group: U8 | U16,
) -> int:
    """Fill the stamped columns again as ``repair_columns`` does; O(homes of stamped goals * what they touch).

    Where no switch loses its hops to a home, only entries at lost ports change; elsewhere hops are found again, into
    ``new_hop[new_of[i]]``. ``rests[row]`` counts the endpoints that a switch still holds. What changes is written
    down in ``undo_cell`` (row * goals + goal) and ``undo_entry``, so that it can be put back. Returns how many entries
    changed; APART where a pair that cables join found no way, FULL where they are too many.
    """
    goals = group.shape[1]
    used = 0
    fresh = 0
    for at in range(len(home)):
        new_of[at] = NIL
        any_goal = False
        for index in range(goal_ptr[at], goal_ptr[at + 1]):
            if goal_stamp[goal[index]] == token:
                any_goal = True
                break
        if not any_goal:
            continue
        if keep_ways(dead_edge, token, edge_ptr, edge_row, edge_from, edge_stamp, order, hop[at], falls[at]):
            for lost in ports:
                edge = port_edge[lost]
                if edge == NIL:
                    continue
                row = int(edge_from[edge])
                if component[row] != component[home[at]] or not is_joined(row, token, edge_ptr, edge_stamp):
                    continue
                chosen = NIL
                for index in range(goal_ptr[at], goal_ptr[at + 1]):
                    one = goal[index]
                    if goal_stamp[one] != token or int(group[row, one]) != group_of_port[lost]:
                        continue
                    if row == home[at]:
                        continue
                    if chosen == NIL:
                        chosen = list_good(
                            row, token, order, edge_ptr, edge_row, link_ptr, link_port, port_stamp, edge_stamp,
                            hop[at], falls[at], group_of_port, lead, good,
                        )  # fmt: skip
                    if chosen == 0 or used == len(undo_cell):
                        return APART if chosen == 0 else FULL
                    undo_cell[used] = row * goals + one
                    undo_entry[used] = int(group[row, one])
                    used += 1
                    digit = int(ordinal[one] // divisor[row])
                    group[row, one] = good[(digit + digit // int(slots[row])) % chosen]
            continue
        part = component[home[at]]
        first = int(component_ptr[part])
        last = int(component_ptr[part + 1])
        mine = new_hop[fresh]
        mine_falls = new_falls[fresh]
        if not mend_ways(
            dead_edge, token, edge_ptr, edge_row, edge_from, edge_stamp, order, hop[at], falls[at], mine, mine_falls
        ):
            climb_rest(
                int(home[at]),
                first,
                last,
                token,
                sequence,
                order,
                edge_ptr,
                edge_row,
                edge_stamp,
                mine,
                mine_falls,
                queue,
            )
        new_of[at] = fresh
        fresh += 1
        for place in range(first, last):
            row = sequence[place]
            if row == home[at] or not is_joined(row, token, edge_ptr, edge_stamp):
                continue
            chosen = NIL
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                one = goal[index]
                if goal_stamp[one] != token:
                    continue
                entry = int(group[row, one])
                if mine[row] == NO_HOP:
                    if rests[row] > 0 and goal_port[one] != NIL and port_stamp[goal_port[one]] != token:
                        return APART
                    wanted = none
                else:
                    if entry < group_ptr[row + 1] - group_ptr[row]:
                        other = int(group_row[group_ptr[row] + entry])
                        if (
                            other >= 0
                            and port_stamp[group_port[group_ptr[row] + entry]] != token
                            and leads_down(row, other, order, mine, mine_falls)
                        ):
                            continue
                    if chosen == NIL:
                        chosen = list_good(
                            row, token, order, edge_ptr, edge_row, link_ptr, link_port, port_stamp, edge_stamp,
                            mine, mine_falls, group_of_port, lead, good,
                        )  # fmt: skip
                    if chosen == 0:
                        return APART
                    digit = int(ordinal[one] // divisor[row])
                    wanted = int(good[(digit + digit // int(slots[row])) % chosen])
                if wanted != entry:
                    if used == len(undo_cell):
                        return FULL
                    undo_cell[used] = row * goals + one
                    undo_entry[used] = entry
                    used += 1
                    group[row, one] = wanted
    return used


@kernel
def list_good(
    row: int,
    token: int,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_port: I32,
    port_stamp: I32,
    edge_stamp: I32,
    hop: U8,
    falls: U8,
    group_of_port: I32,
    lead: I32,
    good: I32,
) -> int:
    """List the groups of the live ports that lead on, across neighbours first; returns how many."""
    leading = 0
    for edge in range(edge_ptr[row], edge_ptr[row + 1]):
        if edge_stamp[edge] != token and leads_down(row, edge_row[edge], order, hop, falls):
            lead[leading] = edge
            leading += 1
    chosen = 0
    strand = 0
    more = True
    while more:
        more = False
        for one in range(leading):
            # the link that stands at this place among those that are left
            left = strand
            for link in range(link_ptr[lead[one]], link_ptr[lead[one] + 1]):
                if port_stamp[link_port[link]] == token:
                    continue
                if left == 0:
                    more = True
                    good[chosen] = group_of_port[link_port[link]]
                    chosen += 1
                    break
                left -= 1
        strand += 1
    return chosen


@kernel
def count_misled(
    token: int,
    home: I32,
    goal_ptr: I32,
    goal: I32,
    goal_stamp: I32,
    goal_group: I32,
    component: I32,
    order: I32,
    edge_ptr: I32,
    edge_stamp: I32,
    hop: U8,
    falls: U8,
    new_hop: U8,
    new_falls: U8,
    new_of: I32,
    group_ptr: I32,
    group_row: I32,
    group_port: I32,
    port_stamp: I32,
    undo_cell: I64,
    home_of_goal: I32,
    group: U8 | U16,
) -> tuple[int, int]:
    """Check the columns as they stand now; returns entries that are wrong, and the most hops of any switch.

    Where hops stayed, an entry that did not change was checked before (``count_strays``), so the changed ones are
    checked; where hops were found again, every entry of the column. A right entry leads over a live port to a switch
    one hop nearer, never up once it came down.
    """
    goals = group.shape[1]
    wrong = 0
    most = 0
    for at in range(len(undo_cell)):
        row = undo_cell[at] // goals
        one = undo_cell[at] - row * goals
        where = home_of_goal[one]
        if new_of[where] != NIL:
            continue
        entry = int(group[row, one])
        if entry >= group_ptr[row + 1] - group_ptr[row]:
            wrong += 1
            continue
        other = int(group_row[group_ptr[row] + entry])
        if (
            other < 0
            or port_stamp[group_port[group_ptr[row] + entry]] == token
            or not leads_down(row, other, order, hop[where], falls[where])
        ):
            wrong += 1
    for at in range(len(home)):
        if new_of[at] == NIL:
            continue
        mine = new_hop[new_of[at]]
        mine_falls = new_falls[new_of[at]]
        for row in range(len(order)):
            if component[row] != component[home[at]] or not is_joined(row, token, edge_ptr, edge_stamp):
                continue
            if mine[row] != NO_HOP:
                most = max(most, int(mine[row]))
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                if goal_stamp[goal[index]] != token:
                    continue
                entry = int(group[row, goal[index]])
                if row == home[at]:
                    if entry != goal_group[goal[index]]:
                        wrong += 1
                    continue
                if entry >= group_ptr[row + 1] - group_ptr[row]:
                    if mine[row] != NO_HOP:
                        wrong += 1
                    continue
                other = int(group_row[group_ptr[row] + entry])
                if (
                    other < 0
                    or port_stamp[group_port[group_ptr[row] + entry]] == token
                    or not leads_down(row, other, order, mine, mine_falls)
                ):
                    wrong += 1
    return wrong, most


@kernel
def put_back(undo_cell: I64, undo_entry: I32, group: U8 | U16) -> None:
    """Undo the changes, the last one first."""
    goals = group.shape[1]
    for at in range(len(undo_cell) - 1, -1, -1):
        row = undo_cell[at] // goals
        group[row, undo_cell[at] - row * goals] = undo_entry[at]
