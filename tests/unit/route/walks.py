"""Walks through tables for the tests of routing: every path of many pairs, and the loads of shifts."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.tables import walk_pairs
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.routes import Routes, local_delivery, no_route


def walk(fabric: Fabric, routes: Routes, source: I32, target: I32, max_hops: int = 64) -> tuple[I64, I32, I32]:
    """Walk from endpoint ports to destinations."""
    return walk_pairs(
        source.astype(np.int32),
        target.astype(np.int32),
        routes.destination_node,
        routes.destination_port,
        fabric.port_node,
        fabric.port_peer,
        fabric.switch_row,
        routes.group,
        routes.group_ptr,
        routes.member_ptr,
        routes.member_port,
        no_route(routes.group),
        local_delivery(routes.group),
        0,
        max_hops,
    )


def host_endpoints(fabric: Fabric, component: int | None = None) -> I32:
    """List the lit endpoint ports of hosts, as indices of destinations, in host-then-rail order."""
    port = fabric.endpoint_port
    keep = (fabric.node_kind[fabric.port_node[port]] == NodeKind.HOST) & (fabric.port_peer[port] != NIL)
    if component is not None:
        keep &= fabric.port_component[port] == component
    return np.flatnonzero(keep).astype(np.int32)


def worst_shift_load(fabric: Fabric, routes: Routes, component: int) -> int:
    """Find the worst load of a directed link over every shift of the hosts of a component; all must be delivered."""
    members = host_endpoints(fabric, component)
    count = len(members)
    port = fabric.endpoint_port
    worst = 0
    for shift in range(1, count):
        target = np.roll(members, -shift)
        _, path, status = walk(fabric, routes, port[members], target)
        assert not status.any()
        worst = max(worst, int(np.bincount(path).max()))
    return worst
