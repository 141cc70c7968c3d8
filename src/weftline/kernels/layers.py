"""Lanes: goals shared out so that the ways to them, and the answers that they send, close no cycle of turns."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16
from weftline.kernels.turns import NO_WAY, drop_turn, fit_turns, list_answers, list_turns


@kernel
def fill_lanes(
    goal_home: I32,
    answers: U8,
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
    """Put every goal into the first lane that stays without a cycle, and then share them out more evenly.

    Returns the lanes in use, or minus the goals that found a lane, less 1. A lane holds the turns of the ways to its
    goals from every switch with ``sender`` endpoints and, of a goal that ``answers``, those from its switch to all
    goals. Goals of one home follow each other. ``used[lane]`` and ``order[lane]`` are for ``add_turn``.
    """
    rows = len(link_ptr) - 1
    links = len(link_row)
    lanes = len(used)
    seen = np.zeros(links, dtype=np.int32)
    stack = np.empty(links + 1, dtype=np.int32)
    stamp = np.full(rows, NIL, dtype=np.int32)
    mark = np.full(turn_ptr[rows], NIL, dtype=np.int32)
    first = np.empty(rows + 1, dtype=np.int32)
    second = np.empty(rows + 1, dtype=np.int32)
    most = np.int64(0)
    held = np.zeros(lanes, dtype=np.int64)
    # how many goals of a home that answer are in a lane: its answers are there once
    speaks = np.zeros((rows, lanes), dtype=np.int32)
    out_first = np.empty(turn_ptr[rows], dtype=np.int32)
    out_second = np.empty(turn_ptr[rows], dtype=np.int32)
    for round_ in range(2):
        share = np.int64(0)
        if round_ == 1:
            share = (len(goal_home) + most - 1) // max(most, 1)
            stamp[:] = NIL
            mark[:] = NIL
        last = NIL
        out = 0
        for goal in range(len(goal_home)):
            home = goal_home[goal]
            own = np.int64(lane[goal])
            if round_ == 1 and held[own] <= share:
                continue
            if home != last and answers[goal] == 1:
                out = list_answers(
                    home, goal_home, link_ptr, link_row, link_back, turn_ptr, choice, mark, out_first, out_second
                )
                last = home
            count = list_turns(goal, home, sender, link_ptr, link_row, choice, stamp, first, second)
            by_held = np.arange(lanes)
            if round_ == 1:
                by_held = np.argsort(held[:most] * 256 + np.arange(most))
            found = False
            for at in range(len(by_held)):
                level = by_held[at]
                if round_ == 1 and held[level] >= held[own] - 1:
                    found = True
                    break
                if not fit_turns(
                    count, first, second, turn_ptr, link_ptr, link_row, link_back, used[level], order[level], seen,
                    stack,
                ):  # fmt: skip
                    continue
                if answers[goal] == 1 and speaks[home, level] == 0 and not fit_turns(
                    out, out_first, out_second, turn_ptr, link_ptr, link_row, link_back, used[level], order[level],
                    seen, stack,
                ):  # fmt: skip
                    for back in range(count):
                        drop_turn(first[back], second[back], turn_ptr, link_ptr, link_row, link_back, used[level])
                    continue
                if round_ == 1:
                    for back in range(count):
                        drop_turn(first[back], second[back], turn_ptr, link_ptr, link_row, link_back, used[own])
                    held[own] -= 1
                    if answers[goal] == 1:
                        speaks[home, own] -= 1
                        for back in range(out if speaks[home, own] == 0 else 0):
                            drop_turn(
                                out_first[back], out_second[back], turn_ptr, link_ptr, link_row, link_back, used[own]
                            )
                lane[goal] = level
                held[level] += 1
                if answers[goal] == 1:
                    speaks[home, level] += 1
                most = max(most, np.int64(level + 1))
                found = True
                break
            if round_ == 0 and not found:
                return -goal - 1
    return int(most)


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
