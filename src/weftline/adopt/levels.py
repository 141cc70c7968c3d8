"""Service levels that a manager gives out, path by path, become the lanes of programmed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weftline.errors import ArtifactError
from weftline.kernels.column import I8, I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.lanes import MAX_CLASSES, MAX_LANES, Lanes, LaneSteps
from weftline.model.routes import Routes


def place_levels(
    paths: Sequence[tuple[int, int, int]],
    lane_of_level: Sequence[int],
    fabric: Fabric,
    addresses: Addresses,
    routes: Routes,
) -> Routes:
    """Give tables the lanes of ``paths``, each a source, a destination and a service level, both ends by their LID.

    ``lane_of_level`` is the lane of each level, the same at all ports. Each path is on the lane of its own level:
    what goes back is on that of the path back, as where each end asks for its path. Pairs that no path names, and
    destinations that are switches, are on the lane of level 0. Endpoints of one switch may have different levels.

    Raises:
        ArtifactError: ``artifact.levels`` where a level or lane is none, or an address is nobody's.
    """
    lanes = np.array([*lane_of_level, *([0] * MAX_CLASSES)][:MAX_CLASSES], dtype=np.int64)
    if len(lane_of_level) > MAX_CLASSES or (lanes < 0).any() or (lanes >= MAX_LANES).any():
        raise _refuse(f"lanes are numbered from 0 to {MAX_LANES - 1}, and there are {MAX_CLASSES} levels")
    table = np.array(list(paths), dtype=np.int64).reshape(-1, 3)
    column, row = _index(addresses, routes), _index_rows(fabric, addresses)
    top = min(len(column), len(row))
    if ((table[:, :2] < 0) | (table[:, :2] >= top)).any():
        raise _refuse("a path is of an address that no endpoint has")
    source, goal, level = row[table[:, 0]], column[table[:, 1]], table[:, 2]
    if (source == NIL).any() or (goal == NIL).any():
        raise _refuse("a path is of an address that no endpoint has")
    if ((level < 0) | (level >= len(lane_of_level))).any():
        raise _refuse("a path has a level of which no lane is known")
    bits = np.zeros(routes.group.shape, dtype=np.uint16)
    np.bitwise_or.at(bits, (source, goal), np.left_shift(1, level).astype(np.uint16))
    bits[bits == 0] = 1
    first: I8 = np.log2(bits & -bits.astype(np.int32)).astype(np.int8)
    steps = LaneSteps(
        path_class=first,
        port_class=np.zeros(fabric.port_count, dtype=np.int8),
        lane=lanes.astype(np.int8).reshape(-1, 1, 1),
        more=bits,
    )
    none = np.zeros(len(routes.destination_node), dtype=np.int8)
    return replace(routes, lanes=Lanes(int(lanes.max()) + 1, none, with_answers=False, steps=steps))


def _refuse(message: str) -> ArtifactError:
    return ArtifactError("artifact.levels", message, "take paths, tables and the map of levels from the same subnet")


def _index(addresses: Addresses, routes: Routes) -> I32:
    """List the destination of each address of an endpoint."""
    port = routes.destination_port
    own = np.flatnonzero((port != NIL) & (addresses.port_address[port] > 0))
    lid = addresses.port_address[port[own]] + routes.path[own]
    found = np.full(int(lid.max(initial=0)) + 1, NIL, dtype=np.int32)
    found[lid] = own
    return found


def _index_rows(fabric: Fabric, addresses: Addresses) -> I32:
    """List the switch row at which each address of an endpoint hangs."""
    port = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    row = fabric.switch_row[fabric.port_node[fabric.port_peer[port]]]
    base, count = addresses.port_address[port], 1 << addresses.multipath_bits
    lid = (base[:, None] + np.arange(count)).reshape(-1)
    is_one = np.repeat(base > 0, count)
    found = np.full(int(lid[is_one].max(initial=0)) + 1, NIL, dtype=np.int32)
    found[lid[is_one]] = np.repeat(row, count)[is_one]
    return found
