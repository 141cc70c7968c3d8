"""Forwarding tables of complete fat trees, filled from the position of each destination."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8, U16

LEAF = 0
SPINE = 1
CORE = 2


@kernel
def write_cables(
    row: int,
    goals: I32,
    row_tree: I32,
    row_level: I32,
    row_pod: I32,
    row_position: I32,
    up_ptr: I32,
    up_group: I32,
    down_ptr: I32,
    down_group: I32,
    home: I32,
    home_group: I32,
    leaf_up: I32,
    spine_down: I32,
    spine_up: I32,
    core_down: I32,
    none: int,
    group: U8 | U16,
) -> None:
    """Write the group of a row towards each of ``goals`` by the position rule; O(goals)."""
    tree = row_tree[row]
    level = row_level[row]
    pod = row_pod[row]
    position = row_position[row]
    ups = up_group[up_ptr[row] : up_ptr[row + 1]]
    downs = down_group[down_ptr[row] : down_ptr[row + 1]]
    for index in range(len(goals)):
        goal = goals[index]
        at = home[goal]
        entry = none
        if at == NIL or row_tree[at] != tree:
            entry = none
        elif at == row:
            entry = int(home_group[goal])
        elif level == LEAF:
            if len(ups) > 0:
                entry = int(ups[leaf_up[goal]])
        elif row_level[at] != LEAF and row_position[at] != position:
            entry = none
        elif level == SPINE:
            if row_level[at] == LEAF and row_pod[at] == pod:
                entry = int(downs[spine_down[goal]])
            elif len(ups) > 0:
                entry = int(ups[spine_up[goal]])
        elif row_level[at] != CORE and len(downs) > 0:
            entry = int(downs[core_down[goal]])
        group[row, goal] = entry


@kernel
def find_like(
    row: int,
    row_tree: I32,
    row_level: I32,
    row_position: I32,
    up_ptr: I32,
    up_group: I32,
    down_ptr: I32,
    down_group: I32,
    recent: I32,
) -> int:
    """Find an earlier row of the same tree, level and position that names its cables alike; NIL where none is known.

    ``recent`` remembers one row per slot. Cores go by the cables down, the others by the cables up: what a spine sends
    down goes to its own pod alone.
    """
    level = row_level[row]
    slot = (int(row_tree[row]) * 31 + int(level)) * 31 + (int(row_position[row]) if level != LEAF else 0)
    slot %= len(recent)
    other = int(recent[slot])
    recent[slot] = row
    if other == NIL or row_tree[other] != row_tree[row] or row_level[other] != level:
        return NIL
    if level != LEAF and row_position[other] != row_position[row]:
        return NIL
    ptr = down_ptr if level == CORE else up_ptr
    group = down_group if level == CORE else up_group
    count = ptr[row + 1] - ptr[row]
    if ptr[other + 1] - ptr[other] != count:
        return NIL
    for cable in range(count):
        if group[ptr[row] + cable] != group[ptr[other] + cable]:
            return NIL
    return other


@kernel
def fill_tree(
    first: int,
    last: int,
    row_tree: I32,
    row_level: I32,
    row_pod: I32,
    row_position: I32,
    up_ptr: I32,
    up_group: I32,
    down_ptr: I32,
    down_group: I32,
    home: I32,
    home_group: I32,
    leaf_up: I32,
    spine_down: I32,
    spine_up: I32,
    core_down: I32,
    home_ptr: I32,
    home_goal: I32,
    pod_ptr: I32,
    pod_goal: I32,
    none: int,
    group: U8 | U16,
) -> int:
    """Fill the rows ``first`` to ``last`` of ``group`` (switches * destinations); O(their entries).

    Per destination: its home switch (NIL: none) and the group that delivers it there, the cable that every leaf sends
    up by, the cable that a spine of its pod sends down by, the cable that all other spines send up by, and the cable
    that every core sends down by. Cables are counted per switch: ``up_group[up_ptr[row] + cable]``. A destination on
    a spine is reached through spines and cores of its own position only. Returns how many rows were filled entry by
    entry. All others are copied from a row that names its cables alike; the two differ towards their own destinations
    (``home_goal[home_ptr[row]:]``), and spines towards those of the leaves of their pods too (``pod_goal``, by pod
    number of all trees).
    """
    slow = 0
    everything = np.arange(len(home), dtype=np.int32)
    recent = np.full(4096, NIL, dtype=np.int32)
    for row in range(first, last):
        other = find_like(row, row_tree, row_level, row_position, up_ptr, up_group, down_ptr, down_group, recent)
        if other == NIL:
            slow += 1
            write_cables(
                row, everything, row_tree, row_level, row_pod, row_position, up_ptr, up_group, down_ptr, down_group,
                home, home_group, leaf_up, spine_down, spine_up, core_down, none, group,
            )  # fmt: skip
            continue
        group[row, :] = group[other, :]
        for end in (other, row):
            write_cables(
                row, home_goal[home_ptr[end] : home_ptr[end + 1]], row_tree, row_level, row_pod, row_position, up_ptr,
                up_group, down_ptr, down_group, home, home_group, leaf_up, spine_down, spine_up, core_down, none, group,
            )  # fmt: skip
            if row_level[row] == SPINE:
                write_cables(
                    row, pod_goal[pod_ptr[row_pod[end]] : pod_ptr[row_pod[end] + 1]], row_tree, row_level, row_pod,
                    row_position, up_ptr, up_group, down_ptr, down_group, home, home_group, leaf_up, spine_down,
                    spine_up, core_down, none, group,
                )  # fmt: skip
    return slow
