"""Engine torus: dimension by dimension, with a lane for ways over the dateline of a ring and one past a dead switch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.kernels.torus import measure_rings, walk_torus
from weftline.model.fabric import Fabric
from weftline.model.lanes import MAX_CLASSES, Lanes, LaneSteps
from weftline.route.graph import Destinations, SwitchGraph
from weftline.route.sets import count_off, fill_picks, list_homes
from weftline.route.table import Tables

MOST_DIMENSIONS = 8
MOST_CELLS = 1 << 28
HINT = "use engine layered, which routes any graph"


@dataclass(frozen=True, eq=False)
class Lattice:
    """Switches at coordinates; dimensions of one switch are left out."""

    place: I32
    size: I32
    along: I32
    """``[row, dimension, 0 up or 1 down]``: the next switch, NIL where a link or switch is lost."""
    edge: I32
    """``[row, dimension, 0 or 1]``: the edge of the graph to it."""


def route_torus(fabric: Fabric, graph: SwitchGraph, goals: Destinations) -> Tables:
    """Route a torus by dimension order: round each ring the shorter way that is whole, the first dimension first.

    A way has a class that says which rings it crosses the dateline of (the link from the last coordinate to the
    first); in such a ring it holds lane 1, else lane 0, as OpenSM's torus-2QoS does by service level. A shortest way
    over the dateline never passes the opposite side of its ring, and a ring that lost a link is none, so neither lane
    closes a circle. Where a dead switch stands where a way would turn, the way first steps in the next dimension;
    then first hops that skip a dimension have a lane of their own.

    Raises:
        CapabilityError: ``capability.engine-needs-torus`` where coordinates or links are no torus, or where what is
            lost leaves no such way.
    """
    lattice = read_lattice(fabric, graph)
    home, home_of = list_homes(goals)
    rows, dimensions = len(lattice.place), len(lattice.size)
    if rows * max(len(home), int(lattice.size.max(initial=1)) * dimensions) > MOST_CELLS:
        raise refuse(f"{rows:,} switches are too many")
    heading = np.zeros((rows, dimensions, int(lattice.size.max(initial=1))), dtype=np.int8)
    measure_rings(lattice.size, lattice.along, heading)
    toward = np.full((rows, len(home)), NIL, dtype=np.int8)
    marks = np.zeros((rows, len(home)), dtype=np.int32)
    astray = np.zeros(2, dtype=np.int32)
    if not walk_torus(
        home, graph.component, lattice.place, lattice.size, lattice.along, heading, toward, marks, astray
    ):  # fmt: skip
        raise refuse(f"what is lost leaves no way from {_name(fabric, astray[0])} to {_name(fabric, astray[1])}")

    def ways(row: int) -> tuple[I32, I32]:
        chosen = toward[row]
        edge = np.where(chosen == NIL, NIL, lattice.edge[row].reshape(-1)[np.maximum(chosen, 0)])
        size = np.where(edge == NIL, 0, np.diff(graph.link_ptr)[edge])
        ptr = np.concatenate(([0], np.cumsum(size))).astype(np.int32)
        link = np.repeat(graph.link_ptr[edge], size) + np.arange(int(ptr[-1])) - np.repeat(ptr[:-1], size)
        return ptr, graph.link_port[link]

    tables = fill_picks(fabric, goals, ways, count_off(goals, graph.component), np.ones(rows, dtype=np.int32))
    return replace(tables, lanes=_make_lanes(fabric, graph, goals, lattice, (home, home_of, marks)))


def read_lattice(fabric: Fabric, graph: SwitchGraph) -> Lattice:
    """Read the coordinates of a torus and the next switches in every dimension."""
    if fabric.node_place is None:
        raise refuse("the fabric does not say where each switch stands")
    place = fabric.node_place[fabric.switch_node]
    if not len(place) or np.any(place < 0):
        raise refuse("some switch has no coordinates")
    size = place.max(axis=0) + 1
    place, size = np.ascontiguousarray(place[:, size > 1]), np.ascontiguousarray(size[size > 1]).astype(np.int32)
    if len(size) > MOST_DIMENSIONS or len(np.unique(np.column_stack((graph.component, place)), axis=0)) < len(place):
        raise refuse("its coordinates are not those of a torus")
    row = np.repeat(np.arange(len(place)), np.diff(graph.edge_ptr))
    apart = (place[graph.edge_row] - place[row]) % np.maximum(size, 1)
    axis = np.argmax(apart != 0, axis=1) if len(size) else np.zeros(len(row), dtype=np.int64)
    step = apart[np.arange(len(row)), axis] if len(size) else np.zeros(len(row), dtype=np.int32)
    wrong = np.flatnonzero(((apart != 0).sum(axis=1) != 1) | ((step != 1) & (step != size[axis] - 1)))
    if len(wrong):
        port = int(graph.link_port[graph.link_ptr[wrong[0]]])
        raise refuse(f"{fabric.link_name(port)} does not join neighbours")
    along = np.full((len(place), len(size), 2), NIL, dtype=np.int32)
    edge = np.full_like(along, NIL)
    up = step == 1
    down = ~up
    along[row[up], axis[up], 0], edge[row[up], axis[up], 0] = graph.edge_row[up], np.flatnonzero(up)
    along[row[down], axis[down], 1], edge[row[down], axis[down], 1] = graph.edge_row[down], np.flatnonzero(down)
    return Lattice(place, size, along, edge)


def refuse(why: str) -> CapabilityError:
    """Say why a fabric cannot be routed so."""
    return CapabilityError("capability.engine-needs-torus", f"engine torus needs a torus, but {why}", HINT)


def _make_lanes(
    fabric: Fabric, graph: SwitchGraph, goals: Destinations, lattice: Lattice, found: tuple[I32, I32, I32]
) -> Lanes | None:
    """Number the classes that ways have, and say the lane of each hop; None where one lane does."""
    home, home_of, marks = found
    dimensions = len(lattice.size)
    cornering = bool(np.any(marks >> dimensions))
    known, which = np.unique(np.append(marks.ravel() & ((1 << dimensions) - 1), 0), return_inverse=True)
    if len(known) == 1 and not cornering:
        return None
    if len(known) > MAX_CLASSES:
        raise refuse(f"its ways are of {len(known)} classes, and a service level can name {MAX_CLASSES}")
    crossing = bool(np.any(known))
    of_home = which[:-1].reshape(marks.shape).astype(np.int8)
    path_class = np.where(home_of == NIL, 0, of_home[:, np.maximum(home_of, 0)]).astype(np.int8)
    kinds = 1 + dimensions
    lane = np.zeros((len(known), kinds, kinds), dtype=np.int8)
    for one, mark in enumerate(known.tolist()):
        for axis in range(dimensions):
            lane[one, :, 1 + axis] = mark >> axis & 1
            if cornering and axis:
                # whoever comes from an endpoint or an earlier dimension than the one before may step past a corner:
                # such hops stand before all hops of the dimension before, which stand before all others of this one
                lane[one, :axis, 1 + axis] = 1 + crossing
    kind = np.zeros(fabric.port_count, dtype=np.int8)
    row = fabric.switch_row[fabric.port_node[graph.link_port]]
    other = fabric.switch_row[fabric.port_node[fabric.port_peer[graph.link_port]]]
    kind[graph.link_port] = 1 + np.argmax(lattice.place[row] != lattice.place[other], axis=1)
    is_alike = bool(np.array_equal(of_home[home], of_home[home].T))
    steps = LaneSteps(path_class, kind, lane)
    return Lanes(1 + crossing + cornering, np.zeros(len(goals.home), dtype=np.int8), with_answers=is_alike, steps=steps)


def _name(fabric: Fabric, row: int) -> str:
    return fabric.node_name[int(fabric.switch_node[int(row)])]
