"""Turns in a lane: which channel may wait for which, kept free of cycles one turn at a time."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL, U16

NO_WAY = 65_535
"""Choice of a switch that has no way, or needs none."""


@kernel
def add_turn(
    first: int,
    second: int,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    used: I32,
    order: I32,
    seen: I32,
    stack: I32,
) -> bool:
    """Let channel ``first`` wait for ``second`` in one lane; False, and nothing changed, where that closes a cycle.

    ``used[turn]`` counts the trees that need a turn; ``order`` is a topological order of the channels, repaired where
    the new turn breaks it (D. J. Pearce, P. H. J. Kelly, A dynamic topological sort algorithm for directed acyclic
    graphs, 2007): only channels between the two in that order are looked at. ``seen`` (zero before and after) and
    ``stack`` are scratch, one per channel.
    """
    row = link_row[first]
    width = np.int64(link_ptr[row + 1] - link_ptr[row])
    turn = turn_ptr[row] + np.int64(link_back[first] - link_ptr[row]) * width + np.int64(second - link_ptr[row])
    if used[turn] > 0 or order[first] < order[second]:
        used[turn] += 1
        return True
    low = order[second]
    high = order[first]
    # ahead: what second leads to, no further than first
    ahead = 0
    tail = 1
    stack[0] = second
    seen[second] = 1
    closes = second == first
    while ahead < tail and not closes:
        channel = stack[ahead]
        ahead += 1
        row = link_row[channel]
        width = np.int64(link_ptr[row + 1] - link_ptr[row])
        start = turn_ptr[row] + np.int64(link_back[channel] - link_ptr[row]) * width
        for out in range(width):
            if used[start + out] > 0:
                other = link_ptr[row] + out
                if other == first:
                    closes = True
                    break
                if order[other] < high and seen[other] == 0:
                    seen[other] = 1
                    stack[tail] = other
                    tail += 1
    if closes:
        for at in range(tail):
            seen[stack[at]] = 0
        return False
    ahead = tail
    # behind: what leads to first, no further back than second
    done = tail
    stack[tail] = first
    seen[first] = 1
    tail += 1
    while done < tail:
        channel = stack[done]
        done += 1
        row = link_row[link_back[channel]]
        width = np.int64(link_ptr[row + 1] - link_ptr[row])
        start = turn_ptr[row] + np.int64(channel - link_ptr[row])
        for entry in range(width):
            if used[start + entry * width] > 0:
                other = link_back[link_ptr[row] + entry]
                if order[other] > low and seen[other] == 0:
                    seen[other] = 1
                    stack[tail] = other
                    tail += 1
    places = np.empty(tail, dtype=np.int32)
    for at in range(tail):
        places[at] = order[stack[at]]
        seen[stack[at]] = 0
    front = stack[ahead:tail][np.argsort(places[ahead:])]
    back = stack[:ahead][np.argsort(places[:ahead])]
    places.sort()
    for at in range(tail - ahead):
        order[front[at]] = places[at]
    for at in range(ahead):
        order[back[at]] = places[tail - ahead + at]
    used[turn] += 1
    return True


@kernel
def drop_turn(first: int, second: int, turn_ptr: I64, link_ptr: I32, link_row: I32, link_back: I32, used: I32) -> None:
    """Take back one ``add_turn``; the order stays valid."""
    row = link_row[first]
    width = np.int64(link_ptr[row + 1] - link_ptr[row])
    used[turn_ptr[row] + np.int64(link_back[first] - link_ptr[row]) * width + np.int64(second - link_ptr[row])] -= 1


@kernel
def fit_turns(
    count: int,
    first: I32,
    second: I32,
    turn_ptr: I64,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    used: I32,
    order: I32,
    seen: I32,
    stack: I32,
) -> bool:
    """Put all turns of a tree into a lane, or none where they would close a cycle."""
    for at in range(count):
        if not add_turn(first[at], second[at], turn_ptr, link_ptr, link_row, link_back, used, order, seen, stack):
            for back in range(at):
                drop_turn(first[back], second[back], turn_ptr, link_ptr, link_row, link_back, used)
            return False
    return True


@kernel
def list_turns(
    goal: int,
    home: int,
    sender: I32,
    link_ptr: I32,
    link_row: I32,
    choice: U16,
    stamp: I32,
    first: I32,
    second: I32,
) -> int:
    """List the turns that packets to ``goal`` take from the switches with senders; returns how many.

    ``stamp`` is scratch per switch: the last goal that passed it.
    """
    count = 0
    for start in range(len(sender)):
        row = start
        if sender[row] == 0:
            continue
        while row != home and stamp[row] != goal and choice[row, goal] != NO_WAY:
            stamp[row] = goal
            link = link_ptr[row] + np.int32(choice[row, goal])
            other = link_row[link]
            if other != home:
                first[count] = link
                second[count] = link_ptr[other] + np.int32(choice[other, goal])
                count += 1
            row = other
    return count


@kernel
def list_answers(
    home: int,
    goal_home: I32,
    link_ptr: I32,
    link_row: I32,
    link_back: I32,
    turn_ptr: I64,
    choice: U16,
    mark: I32,
    first: I32,
    second: I32,
) -> int:
    """List once each turn of the ways from ``home`` to all goals; returns how many.

    ``mark`` is scratch per turn: the last home that took it. O(goals * hops).
    """
    count = 0
    for goal in range(len(goal_home)):
        row = home
        before = np.int32(NIL)
        while row != goal_home[goal] and choice[row, goal] != NO_WAY:
            link = link_ptr[row] + np.int32(choice[row, goal])
            if before != NIL:
                width = np.int64(link_ptr[row + 1] - link_ptr[row])
                place = np.int64(link_back[before] - link_ptr[row]) * width + np.int64(choice[row, goal])
                if mark[turn_ptr[row] + place] != home:
                    mark[turn_ptr[row] + place] = home
                    first[count] = before
                    second[count] = link
                    count += 1
            before = link
            row = link_row[link]
    return count
