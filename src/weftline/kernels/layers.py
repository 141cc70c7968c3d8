"""Layered shortest paths: a tree of ports per destination, and destinations shared out to lanes without a cycle."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16
from weftline.kernels.turns import NO_WAY, add_turn, drop_turn, fit_turns, list_turns

FRESH = 1 << 40
"""Weight of a turn that a lane does not have yet: above any sum of loads, so that few turns are made first of all."""


@kernel
def measure_hops(home: int, link_ptr: I32, link_row: I32, hop: I32, queue: I32) -> int:
    """Count the hops from every switch to ``home``, NIL where there is no way; returns how many are in ``queue``."""
    hop[:] = NIL
    hop[home] = 0
    queue[0] = home
    head = 0
    tail = 1
    while head < tail:
        row = queue[head]
        head += 1
        for link in range(link_ptr[row], link_ptr[row + 1]):
            other = link_row[link]
            if hop[other] == NIL:
                hop[other] = hop[row] + 1
                queue[tail] = other
                tail += 1
    return tail


@kernel
def weigh_link(
    link: int,
    goal: int,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    hop: I32,
    cost: I64,
    load: I64,
    choice: U16,
    used: I32,
    fresh: int,
) -> int:
    """Weigh the whole way that begins with ``link``: its loads, and ``fresh`` for each turn the lane has not yet."""
    row = link_row[link]
    total = cost[row] + load[link]
    if fresh > 0 and hop[row] > 0:
        width = np.int64(link_ptr[row + 1] - link_ptr[row])
        turn = turn_ptr[row] + np.int64(link_back[link] - link_ptr[row]) * width + np.int64(choice[row, goal])
        if used[turn] == 0:
            total += fresh
    return int(total)


@kernel
def pick_link(
    row: int,
    goal: int,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    hop: I32,
    cost: I64,
    load: I64,
    choice: U16,
    used: I32,
    fresh: int,
    refused: I32,
) -> int:
    """Pick the link of ``row`` that leads nearer by the way of least weight, NIL where none is left.

    Of equal ones the first. A link with ``refused[link] == goal`` is left out.
    """
    best = NIL
    least = np.int64(0)
    for link in range(link_ptr[row], link_ptr[row + 1]):
        if hop[link_row[link]] != hop[row] - 1 or refused[link] == goal:
            continue
        weight = weigh_link(link, goal, turn_ptr, link_ptr, link_row, link_back, hop, cost, load, choice, used, fresh)
        if best == NIL or weight < least:
            best = link
            least = np.int64(weight)
    return best


@kernel
def grow_tree(
    goal: int,
    reached: int,
    queue: I32,
    hop: I32,
    sender: I32,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    load: I64,
    cost: I64,
    refused: I32,
    used: I32,
    order: I32,
    seen: I32,
    stack: I32,
    first: I32,
    second: I32,
    choice: U16,
) -> bool:
    """Grow a tree inside one lane, of turns that it has where it can: each switch takes the best link without a cycle.

    False, and the lane as before, where a switch has none. ``refused`` is scratch per link, of anything but ``goal``.
    """
    home = queue[0]
    lit = np.zeros(len(hop), dtype=np.uint8)
    lit[home] = 1
    count = 0
    cost[home] = 0
    choice[home, goal] = NO_WAY
    for at in range(1, reached):
        row = queue[at]
        while True:
            link = pick_link(
                row, goal, turn_ptr, link_ptr, link_row, link_back, hop, cost, load, choice, used, FRESH, refused
            )
            if link == NIL:
                for back in range(count):
                    drop_turn(first[back], second[back], turn_ptr, link_ptr, link_row, link_back, used)
                for place in range(1, reached):
                    other = queue[place]
                    for out in range(link_ptr[other], link_ptr[other + 1]):
                        if refused[out] == goal:
                            refused[out] = NIL
                return False
            choice[row, goal] = link - link_ptr[row]
            cost[row] = weigh_link(
                link, goal, turn_ptr, link_ptr, link_row, link_back, hop, cost, load, choice, used, FRESH
            )
            if sender[row] == 0:
                break
            # the whole way down to what already carries traffic
            begin = count
            here = row
            fits = True
            while lit[here] == 0:
                out = int(link_ptr[here]) + int(choice[here, goal])
                other = int(link_row[out])
                if other == home:
                    break
                on = int(link_ptr[other]) + int(choice[other, goal])
                if not add_turn(out, on, turn_ptr, link_ptr, link_row, link_back, used, order, seen, stack):
                    fits = False
                    break
                first[count] = out
                second[count] = on
                count += 1
                here = other
            if fits:
                here = row
                while lit[here] == 0:
                    lit[here] = 1
                    here = link_row[link_ptr[here] + np.int32(choice[here, goal])]
                break
            for back in range(begin, count):
                drop_turn(first[back], second[back], turn_ptr, link_ptr, link_row, link_back, used)
            count = begin
            refused[link] = goal
    return True


@kernel
def fill_layers(
    goal_home: I32,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    sender: I32,
    balances: int,
    adapts: int,
    used: I32,
    order: I32,
    choice: U16,
    lane: I8,
) -> int:
    """Choose a tree and a lane for every goal; returns the lanes in use, or minus the goals that found a lane, less 1.

    Goal ``i`` is a destination on switch ``goal_home[i]``; goals of one home should follow each other. A tree has the
    fewest hops from everywhere; where it ``balances`` (1), it takes the way of least load, counted in ``sender``
    endpoints of the trees before (T. Hoefler, T. Schneider, A. Lumsdaine, Optimized Routing for Large-Scale InfiniBand
    Networks, 2009), else the first link. A goal goes into the first lane that stays without a cycle: with one tree for
    all lanes, or where it ``adapts`` (1), with a tree grown in the lane.

    ``choice[switch, goal]`` becomes the link of the switch, counted from its first. ``used[lane]`` and ``order[lane]``
    are for ``add_turn``. O(goals * (links + turns that are looked at to keep the orders)).
    """
    rows = len(link_ptr) - 1
    links = len(link_row)
    hop = np.empty(rows, dtype=np.int32)
    queue = np.empty(rows, dtype=np.int32)
    cost = np.zeros(rows, dtype=np.int64)
    load = np.zeros(links, dtype=np.int64)
    refused = np.full(links, NIL, dtype=np.int32)
    seen = np.zeros(links, dtype=np.int32)
    stack = np.empty(links + 1, dtype=np.int32)
    stamp = np.full(rows, NIL, dtype=np.int32)
    first = np.empty(rows + 1, dtype=np.int32)
    second = np.empty(rows + 1, dtype=np.int32)
    weight = np.empty(rows, dtype=np.int64)
    reached = 0
    last = NIL
    most = 0
    count = 0
    for goal in range(len(goal_home)):
        home = goal_home[goal]
        if home != last:
            reached = measure_hops(home, link_ptr, link_row, hop, queue)
            last = home
        if adapts == 0:
            cost[home] = 0
            for at in range(1, reached):
                row = queue[at]
                link = pick_link(
                    row, goal, turn_ptr, link_ptr, link_row, link_back, hop, cost, load, choice, used[0], 0, refused
                )
                choice[row, goal] = link - link_ptr[row]
                cost[row] = cost[link_row[link]] + load[link]
            count = list_turns(goal, home, sender, link_ptr, link_row, choice, stamp, first, second)
        found = False
        for level in range(len(used)):
            if adapts == 1:
                found = grow_tree(
                    goal, reached, queue, hop, sender, turn_ptr, link_ptr, link_row, link_back, load, cost, refused,
                    used[level], order[level], seen, stack, first, second, choice,
                )  # fmt: skip
            else:
                found = fit_turns(
                    count, first, second, turn_ptr, link_ptr, link_row, link_back, used[level], order[level], seen,
                    stack,
                )  # fmt: skip
            if found:
                lane[goal] = level
                most = max(most, level + 1)
                break
        if not found:
            return -goal - 1
        if balances == 1:
            for at in range(reached):
                weight[queue[at]] = sender[queue[at]]
            for at in range(reached - 1, 0, -1):
                row = queue[at]
                link = link_ptr[row] + np.int32(choice[row, goal])
                load[link] += weight[row]
                weight[link_row[link]] += weight[row]
    return most


@kernel
def level_lanes(
    lanes: int,
    goal_home: I32,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    sender: I32,
    used: I32,
    order: I32,
    choice: U16,
    lane: I8,
) -> None:
    """Move goals from lanes that hold more than their share to the emptiest that can take them, once through."""
    rows = len(link_ptr) - 1
    links = len(link_row)
    seen = np.zeros(links, dtype=np.int32)
    stack = np.empty(links + 1, dtype=np.int32)
    stamp = np.full(rows, NIL, dtype=np.int32)
    first = np.empty(rows + 1, dtype=np.int32)
    second = np.empty(rows + 1, dtype=np.int32)
    held = np.zeros(lanes, dtype=np.int64)
    for goal in range(len(goal_home)):
        held[lane[goal]] += 1
    share = (len(goal_home) + lanes - 1) // lanes
    for goal in range(len(goal_home)):
        own = lane[goal]
        if held[own] <= share:
            continue
        count = list_turns(goal, goal_home[goal], sender, link_ptr, link_row, choice, stamp, first, second)
        by_held = np.argsort(held * 256 + np.arange(lanes))
        for at in range(lanes):
            level = by_held[at]
            if held[level] >= held[own] - 1:
                break
            if fit_turns(
                count, first, second, turn_ptr, link_ptr, link_row, link_back, used[level], order[level], seen, stack
            ):
                for back in range(count):
                    drop_turn(first[back], second[back], turn_ptr, link_ptr, link_row, link_back, used[own])
                lane[goal] = level
                held[level] += 1
                held[own] -= 1
                break


@kernel
def spread_layers(
    row_of: I32, link_ptr: I32, link_group: I32, choice: U16, goal_of: I32, home: I32, home_group: I32, group: U8 | U16
) -> None:
    """Copy the choices for each goal to its destinations as groups; O(entries).

    ``row_of[switch]`` is the row of ``group``; destination ``d`` goes the way of ``goal_of[d]`` (NIL: nowhere), and is
    handed over by ``home_group[d]`` at the switch ``home[d]``.
    """
    for row in range(len(row_of)):
        for destination in range(len(goal_of)):
            goal = goal_of[destination]
            if goal == NIL:
                continue
            if home[destination] == row:
                group[row_of[row], destination] = home_group[destination]
            elif choice[row, goal] != NO_WAY:
                group[row_of[row], destination] = link_group[link_ptr[row] + np.int32(choice[row, goal])]
