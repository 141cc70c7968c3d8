"""Forwarding tables of complete fat trees, filled from the position of each destination."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8, U16

LEAF = 0
SPINE = 1
CORE = 2


@kernel
def fill_tree(
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
    group: U8 | U16,
) -> int:
    """Fill ``group`` (switches * destinations, all 'no route' before); O(switches * destinations).

    Per destination: its home switch (NIL: none) and the group that delivers it there, the cable that every leaf sends
    up by, the cable that a spine of its pod sends down by, the cable that all other spines send up by, and the cable
    that every core sends down by. Cables are counted per switch: ``up_group[up_ptr[row] + cable]``. A destination on
    a spine is reached through spines and cores of its own position only. Returns the number of entries written.
    """
    written = 0
    for row in range(len(row_tree)):
        tree = row_tree[row]
        level = row_level[row]
        ups = up_ptr[row + 1] - up_ptr[row]
        downs = down_ptr[row + 1] - down_ptr[row]
        for goal in range(len(home)):
            at = home[goal]
            if at == NIL or row_tree[at] != tree:
                continue
            entry = NIL
            if at == row:
                entry = home_group[goal]
            elif level == LEAF:
                if ups > 0:
                    entry = up_group[up_ptr[row] + leaf_up[goal]]
            elif row_level[at] != LEAF and row_position[at] != row_position[row]:
                continue
            elif level == SPINE:
                if row_level[at] == LEAF and row_pod[at] == row_pod[row]:
                    entry = down_group[down_ptr[row] + spine_down[goal]]
                elif ups > 0:
                    entry = up_group[up_ptr[row] + spine_up[goal]]
            elif row_level[at] != CORE and downs > 0:
                entry = down_group[down_ptr[row] + core_down[goal]]
            if entry != NIL:
                group[row, goal] = entry
                written += 1
    return written
