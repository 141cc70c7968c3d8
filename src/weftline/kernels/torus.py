"""Ways on a torus: dimension by dimension, round each ring the way that is whole, past a dead corner if need be."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, NIL


@kernel
def measure_rings(size: I32, along: I32, heading: I8) -> None:
    """Say for each switch, dimension and coordinate which way round the ring leads there: 1, -1, or 0 for no way.

    ``along[row, dimension, 0 or 1]`` is the switch one up or one down, NIL where a link or switch is lost. The shorter
    way is taken where both are whole; of two equal ones that which does not pass from the last coordinate to the first
    where the lower end is even, so that both ends choose the same links. ``heading`` is zero before.
    """
    rows, dimensions = along.shape[0], along.shape[1]
    for row in range(rows):
        for axis in range(dimensions):
            count = size[axis]
            ahead = 0
            here = row
            while ahead < count - 1 and along[here, axis, 0] != NIL:
                here = along[here, axis, 0]
                ahead += 1
            behind = 0
            here = row
            while behind < count - 1 and along[here, axis, 1] != NIL:
                here = along[here, axis, 1]
                behind += 1
            for step in range(1, count):
                # ``step`` upwards is ``count - step`` downwards
                up = step <= ahead
                down = count - step <= behind
                if up and down:
                    # told apart by the caller where equal: 2
                    heading[row, axis, step] = 1 if 2 * step < count else (-1 if 2 * step > count else 2)
                elif up:
                    heading[row, axis, step] = 1
                elif down:
                    heading[row, axis, step] = -1


@kernel
def step_on(row: int, goal: int, place: I32, size: I32, along: I32, heading: I8, found: I32) -> bool:
    """Find the next step from ``row`` to ``goal``: ``found`` becomes the axis, the way (1 or -1) and 1 past a corner.

    The first dimension that differs is gone along whole; where its ring is not whole up to the goal's coordinate, a
    step in a later dimension leads to a ring that is. False where neither does.
    """
    dimensions = len(size)
    for axis in range(dimensions):
        step = (place[goal, axis] - place[row, axis]) % size[axis]
        if step == 0:
            continue
        way = heading[row, axis, step]
        if way == 2:
            low = min(place[goal, axis], place[row, axis])
            crosses = low % 2 == 1
            way = 1 if (place[row, axis] == low) != crosses else -1
        if way != 0:
            found[0], found[1], found[2] = axis, way, 0
            return True
        if axis + 1 < dimensions:
            for side in range(2):
                other = along[row, axis + 1, side]
                if other != NIL and heading[other, axis, step] != 0:
                    found[0], found[1], found[2] = axis + 1, 1 - 2 * side, 1
                    return True
        return False
    return False


@kernel
def walk_torus(
    home: I32, component: I32, place: I32, size: I32, along: I32, heading: I8, toward: I8, marks: I32, astray: I32
) -> bool:
    """Find the next step of every switch to every home, and what the way from it passes; O(switches * homes * hops).

    ``toward[row, at]`` becomes ``2 * axis``, one more downwards, NIL for no way. ``marks[row, at]`` gets bit ``axis``
    where the way passes from the last coordinate of a ring to the first or back, and bit ``dimensions`` where it steps
    past a dead corner. False, and the pair in ``astray``, where there is no such way.
    """
    rows, dimensions = len(place), len(size)
    found = np.zeros(3, dtype=np.int32)
    for at in range(len(home)):
        goal = int(home[at])
        for row in range(rows):
            if row == goal or component[row] != component[goal]:
                continue
            here = row
            hops = 0
            mark = 0
            while here != goal:
                if hops > rows or not step_on(here, goal, place, size, along, heading, found):
                    astray[0], astray[1] = row, goal
                    return False
                axis = found[0]
                side = 0 if found[1] == 1 else 1
                if here == row:
                    toward[row, at] = 2 * axis + side
                if found[2] == 1:
                    mark |= 1 << dimensions
                if size[axis] > 3:
                    edge = size[axis] - 1 if side == 0 else 0
                    if place[here, axis] == edge:
                        mark |= 1 << axis
                here = int(along[here, axis, side])
                hops += 1
            marks[row, at] = mark
    return True
