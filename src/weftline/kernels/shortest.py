"""Shortest ways on any graph of switches: a tree per goal, of least load or of turns that are there already."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL, U16
from weftline.kernels.turns import NO_WAY, add_turn, drop_turn

FRESH = 1 << 40
"""Weight of a turn that nobody takes yet: above any sum of loads, so that few turns are made first of all."""


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
    """Grow a tree without a cycle of turns, of turns that are there where it can: each switch takes the best such link.

    False, and the turns as before, where a switch has none. ``refused`` is scratch per link, of anything but ``goal``.
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
def list_nearer(
    reached: int, queue: I32, hop: I32, link_ptr: I32, link_row: I32, near_ptr: I32, near_link: I32, near_row: I32
) -> None:
    """List for each switch of ``queue`` but the first its links that lead nearer, and where: a CSR by place there."""
    used = 0
    near_ptr[0] = 0
    near_ptr[1] = 0
    for at in range(1, reached):
        row = queue[at]
        for link in range(link_ptr[row], link_ptr[row + 1]):
            if hop[link_row[link]] == hop[row] - 1:
                near_link[used] = link
                near_row[used] = link_row[link]
                used += 1
        near_ptr[at + 1] = used


@kernel
def grow_lightest(
    goal: int, reached: int, queue: I32, near_ptr: I32, near_link: I32, near_row: I32, link_ptr: I32, load: I64,
    cost: I64, choice: U16,
) -> None:  # fmt: skip
    """Grow the tree of least load, of equal links the first; O(links that lead nearer)."""
    cost[queue[0]] = 0
    for at in range(1, reached):
        best = near_link[near_ptr[at]]
        least = cost[near_row[near_ptr[at]]] + load[best]
        for place in range(near_ptr[at] + 1, near_ptr[at + 1]):
            weight = cost[near_row[place]] + load[near_link[place]]
            if weight < least:
                least = weight
                best = near_link[place]
        row = queue[at]
        choice[row, goal] = best - link_ptr[row]
        cost[row] = least


@kernel
def grow_trees(
    goal_home: I32,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    sender: I32,
    toll: I64,
    balances: int,
    adapts: int,
    used: I32,
    order: I32,
    choice: U16,
) -> None:
    """Choose a tree for every goal, of fewest hops from everywhere; O(goals * links), more where it adapts.

    Goal ``i`` is a destination on switch ``goal_home[i]``; goals of one home should follow each other. Where a tree
    ``balances`` (1), it takes the way of least load, counted in ``sender`` endpoints of the trees before (T. Hoefler,
    T. Schneider, A. Lumsdaine, Optimized Routing for Large-Scale InfiniBand Networks, 2009), else the first link. Each
    endpoint is ``toll[link]`` on a link, more on a slower one, and every link begins with one.
    Where it ``adapts`` (1), it takes turns that earlier trees take, and closes no cycle with them if it can; ``used``
    and ``order`` are then for ``add_turn``. ``choice[switch, goal]`` becomes the link, counted from the switch's first.
    """
    rows = len(link_ptr) - 1
    links = len(link_row)
    hop = np.empty(rows, dtype=np.int32)
    queue = np.empty(rows, dtype=np.int32)
    cost = np.zeros(rows, dtype=np.int64)
    load = toll * balances
    refused = np.full(links, NIL, dtype=np.int32)
    seen = np.zeros(links, dtype=np.int32)
    stack = np.empty(links + 1, dtype=np.int32)
    first = np.empty(rows + 1, dtype=np.int32)
    second = np.empty(rows + 1, dtype=np.int32)
    weight = np.empty(rows, dtype=np.int64)
    near_ptr = np.zeros(rows + 1, dtype=np.int32)
    near_link = np.empty(links, dtype=np.int32)
    near_row = np.empty(links, dtype=np.int32)
    reached = 0
    last = NIL
    for goal in range(len(goal_home)):
        home = goal_home[goal]
        if home != last:
            reached = measure_hops(home, link_ptr, link_row, hop, queue)
            list_nearer(reached, queue, hop, link_ptr, link_row, near_ptr, near_link, near_row)
            last = home
        if adapts == 0:
            grow_lightest(goal, reached, queue, near_ptr, near_link, near_row, link_ptr, load, cost, choice)
        elif not grow_tree(
            goal, reached, queue, hop, sender, turn_ptr, link_ptr, link_row, link_back, load, cost, refused, used,
            order, seen, stack, first, second, choice,
        ):  # fmt: skip
            cost[home] = 0
            for at in range(1, reached):
                row = queue[at]
                link = pick_link(
                    row, goal, turn_ptr, link_ptr, link_row, link_back, hop, cost, load, choice, used, FRESH, refused
                )
                choice[row, goal] = link - link_ptr[row]
                cost[row] = weigh_link(
                    link, goal, turn_ptr, link_ptr, link_row, link_back, hop, cost, load, choice, used, FRESH
                )
        if balances == 1:
            for at in range(reached):
                weight[queue[at]] = sender[queue[at]]
            for at in range(reached - 1, 0, -1):
                row = queue[at]
                link = link_ptr[row] + np.int32(choice[row, goal])
                load[link] += weight[row] * toll[link]
                weight[link_row[link]] += weight[row]
