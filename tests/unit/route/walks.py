"""Walks through tables for the tests of routing: every path of many pairs, and the loads of shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.tables import walk_pairs
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.route import name_destination


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


def find_port(fabric: Fabric, name: str) -> int:
    """Find ``leaf-001/5``."""
    node, _, number = name.partition("/")
    at = fabric.node_name.index(node)
    return int(fabric.port_ptr[at]) + int(number) - 1


def switch_links(fabric: Fabric) -> list[int]:
    """List every link between switches, by its port of lower index."""
    row, node, peer = fabric.switch_row, fabric.port_node, fabric.port_peer
    return [
        port
        for port in range(fabric.port_count)
        if row[node[port]] != NIL and peer[port] > port and row[node[peer[port]]] != NIL
    ]


def reorder_switches(fabric: Fabric, permutation: Sequence[int]) -> Fabric:
    """Put the switches into another order: row ``i`` becomes the switch of old row ``permutation[i]``."""
    first = int(fabric.switch_node[0])
    return reorder_nodes(fabric, [*range(first), *(first + row for row in permutation)])


def reorder_nodes(fabric: Fabric, order: Sequence[int]) -> Fabric:
    """Put the nodes into another order: node ``i`` becomes old node ``order[i]``."""
    ptr = [int(at) for at in fabric.port_ptr]
    nodes: I64 = np.array(order, dtype=np.int64)
    ports: I64 = np.array([port for node in order for port in range(ptr[node], ptr[node + 1])], dtype=np.int64)
    new_port = np.empty(len(ports), dtype=np.int32)
    new_port[ports] = np.arange(len(ports))
    peer = fabric.port_peer[ports]
    columns = {
        field.name: getattr(fabric, field.name)[nodes if field.name.startswith("node_") else ports]
        for field in fields(fabric)
        if field.name.startswith(("node_", "port_"))
        and field.name not in {"node_name", "port_ptr", "port_peer"}
        and getattr(fabric, field.name) is not None
    }
    sizes = np.diff(fabric.port_ptr)[nodes]
    return replace(
        fabric,
        node_name=tuple(fabric.node_name[node] for node in order),
        port_ptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        port_peer=np.where(peer == NIL, NIL, new_port[peer]).astype(np.int32),
        **columns,
    )


def members(routes: Routes, row: int, goal: int) -> list[int] | None:
    """List the ports of an entry; empty for delivery here, None for no route."""
    entry = int(routes.group[row, goal])
    if entry == no_route(routes.group):
        return None
    if entry == local_delivery(routes.group):
        return []
    group = int(routes.group_ptr[row]) + entry
    assert group < routes.group_ptr[row + 1]
    return [int(port) for port in routes.member_port[routes.member_ptr[group] : routes.member_ptr[group + 1]]]


def follow(
    fabric: Fabric, routes: Routes, source: int, goal: int
) -> tuple[bool, set[tuple[int, int]], list[list[int]]]:
    """Follow every choice from an endpoint port: is all delivered, which channel waits on which, and all paths."""
    delivered = True
    waits: set[tuple[int, int]] = set()
    paths: list[list[int]] = []
    open_paths = [[source]]
    while open_paths:
        path = open_paths.pop()
        peer = int(fabric.port_peer[path[-1]])
        assert len(path) <= len(fabric.switch_node) + 2, "a loop"
        row = NIL if peer == NIL else int(fabric.switch_row[fabric.port_node[peer]])
        if row == NIL:
            delivered &= peer != NIL and peer == routes.destination_port[goal]
            paths.append(path)
            continue
        ports = members(routes, row, goal)
        if ports is None:
            delivered = False
            continue
        if not ports:
            delivered &= routes.destination_node[goal] == fabric.switch_node[row]
            paths.append(path)
            continue
        for port in ports:
            assert fabric.port_node[port] == fabric.switch_node[row]
            waits.add((path[-1], port))
            open_paths.append([*path, port])
    return delivered, waits, paths


def named_tables(fabric: Fabric, routes: Routes) -> dict[tuple[str, str], tuple[object, ...] | None]:
    """Write the tables and lanes by name: switch and destination to the ports, the class of the path, and the lane."""
    table: dict[tuple[str, str], tuple[object, ...] | None] = {}
    for row, node in enumerate(fabric.switch_node):
        for goal in range(len(routes.destination_node)):
            ports = members(routes, row, goal)
            said: list[object] = ["none" if ports is None else [fabric.port_name(port) for port in ports]]
            said.append(routes.lane_of(goal) if routes.steps is None else routes.steps.class_of(row, goal))
            table[fabric.node_name[int(node)], name_destination(fabric, routes, goal)] = tuple(said)
    if routes.steps is not None:
        for port in range(fabric.port_count):
            table[fabric.port_name(port), "class"] = (int(routes.steps.port_class[port]), routes.steps.lane.tolist())
    return table


def port_tables(fabric: Fabric, routes: Routes) -> dict[tuple[str, int], tuple[int, ...] | None]:
    """Write the tables by name: switch and destination to the numbers of the ports."""
    table: dict[tuple[str, int], tuple[int, ...] | None] = {}
    for row, node in enumerate(fabric.switch_node):
        for goal in range(len(routes.destination_node)):
            ports = members(routes, row, goal)
            numbers = None if ports is None else tuple(int(fabric.port_number[port]) for port in ports)
            table[fabric.node_name[int(node)], goal] = numbers
    return table


def weights_of(routes: Routes, row: int, goal: int) -> dict[int, int]:
    """Read the weight of each port of an entry."""
    group = int(routes.group_ptr[row]) + int(routes.group[row, goal])
    span = slice(int(routes.member_ptr[group]), int(routes.member_ptr[group + 1]))
    ports = routes.member_port[span].tolist()
    if routes.member_weight is None:
        return dict.fromkeys(ports, 1)
    return dict(zip(ports, routes.member_weight[span].tolist(), strict=True))
