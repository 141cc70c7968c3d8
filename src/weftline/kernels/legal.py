"""Ways for goals that fit no lane: up and then down in one total order, so that any number of them closes no cycle."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.climb import climb, leads_on
from weftline.kernels.column import I8, I32, I64, NIL, U16
from weftline.kernels.shortest import grow_lightest, measure_hops
from weftline.kernels.turns import fit_turns, list_turns


@kernel
def fill_first(
    wanted: I32,
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
) -> int:
    """Put each goal of ``wanted`` into the first lane that its ways leave without a cycle; returns how many found one.

    Those that found none have ``lane`` NIL. ``used[lane]`` and ``order[lane]`` are for ``add_turn``.
    """
    rows = len(link_ptr) - 1
    seen = np.zeros(len(link_row), dtype=np.int32)
    stack = np.empty(len(link_row) + 1, dtype=np.int32)
    stamp = np.full(rows, NIL, dtype=np.int32)
    first = np.empty(rows + 1, dtype=np.int32)
    second = np.empty(rows + 1, dtype=np.int32)
    found = 0
    for at in range(len(wanted)):
        goal = int(wanted[at])
        lane[goal] = NIL
        count = list_turns(goal, int(goal_home[goal]), sender, link_ptr, link_row, choice, stamp, first, second)
        for level in range(len(used)):
            if fit_turns(
                count, first, second, turn_ptr, link_ptr, link_row, link_back, used[level], order[level], seen, stack
            ):
                lane[goal] = level
                found += 1
                break
    return found


@kernel
def compare_hops(
    home: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    link_ptr: I32,
    link_row: I32,
    sender: I32,
    longer: I64,
    extra: I64,
    most: I32,
) -> None:
    """Compare the legal ways to each home with the shortest; O(homes * links).

    Per home: how many endpoints of other switches have a ``longer`` way, by how many hops together (``extra``) and by
    how many at ``most``.
    """
    rows = len(link_ptr) - 1
    hop = np.empty(rows, dtype=np.int32)
    near = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    for at in range(len(home)):
        part = component[home[at]]
        first = int(component_ptr[part])
        last = int(component_ptr[part + 1])
        climb(home[at], first, last, sequence, order, link_ptr, link_row, hop, falls, queue)
        measure_hops(home[at], link_ptr, link_row, near, queue)
        longer[at] = 0
        extra[at] = 0
        most[at] = 0
        for place in range(first, last):
            row = sequence[place]
            more = hop[row] - near[row]
            if more > 0 and sender[row] > 0:
                longer[at] += sender[row]
                extra[at] += np.int64(more) * sender[row]
                most[at] = max(most[at], more)


@kernel
def grow_legal(
    goal_home: I32,
    lane: I8,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    link_ptr: I32,
    link_row: I32,
    sender: I32,
    toll: I64,
    choice: U16,
) -> None:
    """Choose for every goal without a lane the legal tree of least load; O(goals * (links + switches * hops)).

    The order has one top per component, so that every switch has a legal way. Loads begin with those of the goals that
    have a lane, whose ``choice`` stays.
    """
    rows = len(link_ptr) - 1
    load = toll.copy()
    for goal in range(len(goal_home)):
        if lane[goal] == NIL:
            continue
        for start in range(rows):
            row = start
            while sender[start] > 0 and row != goal_home[goal] and component[row] == component[goal_home[goal]]:
                link = link_ptr[row] + np.int32(choice[row, goal])
                load[link] += sender[start] * toll[link]
                row = link_row[link]
    hop = np.empty(rows, dtype=np.int32)
    falls = np.empty(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    cost = np.zeros(rows, dtype=np.int64)
    weight = np.empty(rows, dtype=np.int64)
    near_ptr = np.zeros(rows + 1, dtype=np.int32)
    near_link = np.empty(len(link_row), dtype=np.int32)
    near_row = np.empty(len(link_row), dtype=np.int32)
    reached = np.int64(0)
    known = np.int32(NIL)
    for goal in range(len(goal_home)):
        if lane[goal] != NIL:
            continue
        home = goal_home[goal]
        if home != known:
            first = int(component_ptr[component[home]])
            last = int(component_ptr[component[home] + 1])
            climb(home, first, last, sequence, order, link_ptr, link_row, hop, falls, queue)
            inside = sequence[first:last]
            reached = np.int64(last - first)
            queue[:reached] = inside[np.argsort(hop[inside], kind="mergesort")]
            listed = 0
            near_ptr[0] = 0
            near_ptr[1] = 0
            for at in range(1, reached):
                row = queue[at]
                for link in range(link_ptr[row], link_ptr[row + 1]):
                    if leads_on(row, link_row[link], order, hop, falls):
                        near_link[listed] = link
                        near_row[listed] = link_row[link]
                        listed += 1
                near_ptr[at + 1] = listed
            known = home
        grow_lightest(goal, int(reached), queue, near_ptr, near_link, near_row, link_ptr, load, cost, choice)
        for at in range(reached):
            weight[queue[at]] = sender[queue[at]]
        for at in range(reached - 1, 0, -1):
            row = queue[at]
            link = link_ptr[row] + np.int32(choice[row, goal])
            load[link] += weight[row] * toll[link]
            weight[link_row[link]] += weight[row]
