"""One path followed through the tables and explained."""

from __future__ import annotations

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.kernels.tables import DELIVERED, NO_ROUTE, TOO_LONG, walk_pairs
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.path import Hop, Path
from weftline.model.routes import Routes, local_delivery, no_route

_SHOWN = 6
_APART = "they are on different rails, planes or islands, which the design joins by no path"


def trace_path(fabric: Fabric, routes: Routes, source_port: int, destination: int, seed: int = 0) -> Path:
    """Follow the tables from an endpoint port to a destination (a column of the tables) and say why at each hop.

    A group of several ports is resolved by the same hash of source, destination, switch and ``seed`` as in the
    simulator. Raises ``CapabilityError`` saying where the packet is lost: ``capability.no-route``,
    ``capability.route-loop`` or ``capability.route-astray``.
    """
    source, target = fabric.port_name(source_port), name_destination(fabric, routes, destination)
    lane = routes.lane_of(destination)
    if routes.destination_port[destination] == source_port:
        name = fabric.node_name[int(fabric.port_node[source_port])]
        return Path(source, target, (Hop(name, None, None, 0, "source and target are the same port"),), lane)
    share_ptr, member = routes.shares
    _, path, status = walk_pairs(
        np.array([source_port], dtype=np.int32),
        np.array([destination], dtype=np.int32),
        routes.destination_node,
        routes.destination_port,
        fabric.port_node,
        fabric.port_peer,
        fabric.switch_row,
        routes.group,
        routes.group_ptr,
        share_ptr,
        routes.member_port[member],
        no_route(routes.group),
        local_delivery(routes.group),
        seed,
        len(fabric.switch_node) + 1,
    )
    if status[0] != DELIVERED:
        goal = int(routes.destination_port[destination])
        are_apart = goal != NIL and bool(fabric.port_component[goal] != fabric.port_component[source_port])
        raise _explain_loss(fabric, (source, target), path, int(status[0]), are_apart=are_apart)
    return Path(source, target, _explain_hops(fabric, routes, path, destination), lane)


def name_destination(fabric: Fabric, routes: Routes, destination: int) -> str:
    """Name a destination: its endpoint port, with ``+2`` for its second further address, or the switch."""
    port, path = int(routes.destination_port[destination]), int(routes.path[destination])
    if port == NIL:
        return fabric.node_name[int(routes.destination_node[destination])]
    return f"{fabric.port_name(port)}+{path}" if path else fabric.port_name(port)


def _explain_hops(fabric: Fabric, routes: Routes, path: I32, destination: int) -> tuple[Hop, ...]:
    hops: list[Hop] = []
    came: int | None = None
    entry = NIL
    source = int(fabric.switch_row[fabric.port_node[fabric.port_peer[path[0]]]])
    for port in path.tolist():
        node, peer = int(fabric.port_node[port]), int(fabric.port_peer[port])
        offered = 1 if came is None else _count_members(routes, int(fabric.switch_row[node]), destination)
        step = _describe_step(fabric, node, int(fabric.port_node[peer]))
        if came is None:
            why = f"sends on {fabric.port_name(port)}, {step}"
        elif offered == 1:
            why = f"{step}: the only port of its entry"
        else:
            why = f"{step}: one of {offered} ports of its entry, picked by hash"
            why += _tell_weight(routes, int(fabric.switch_row[node]), destination, port)
        if (
            routes.steps is not None
            and came is not None
            and fabric.node_kind[fabric.port_node[peer]] == NodeKind.SWITCH
        ):
            why += f", on lane {routes.lane_of_hop(source, destination, entry, port)}"
        hops.append(Hop(fabric.node_name[node], came, int(fabric.port_number[port]), offered, why))
        came, entry = int(fabric.port_number[peer]), peer
    last = int(fabric.port_node[int(fabric.port_peer[path[-1]])])
    hops.append(Hop(fabric.node_name[last], came, None, 0, "is the destination"))
    return tuple(hops)


def _count_members(routes: Routes, row: int, destination: int) -> int:
    group = int(routes.group_ptr[row]) + int(routes.group[row, destination])
    return int(routes.member_ptr[group + 1] - routes.member_ptr[group])


def _tell_weight(routes: Routes, row: int, destination: int, port: int) -> str:
    """Tell which part of what its group carries a port has, where members differ."""
    group = int(routes.group_ptr[row]) + int(routes.group[row, destination])
    span = slice(int(routes.member_ptr[group]), int(routes.member_ptr[group + 1]))
    if routes.member_weight is None or np.all(routes.member_weight[span] == routes.member_weight[span.start]):
        return ""
    own = routes.member_weight[span][routes.member_port[span] == port]
    return f", with {int(own.sum())} of {int(routes.member_weight[span].sum())} parts"


def _describe_step(fabric: Fabric, node: int, other: int) -> str:
    name = fabric.node_name[other]
    if fabric.node_kind[other] != NodeKind.SWITCH:
        return f"delivers to {name}"
    rise = int(fabric.node_tier[other]) - int(fabric.node_tier[node])
    return f"{'up' if rise > 0 else 'down' if rise < 0 else 'across'} to {name}"


def _explain_loss(fabric: Fabric, ends: tuple[str, str], path: I32, status: int, *, are_apart: bool) -> CapabilityError:
    """Say where a packet is lost, and how it came there."""
    source, target = ends
    nodes = [int(fabric.port_node[port]) for port in path]
    port = int(path[-1])
    peer = int(fabric.port_peer[port])
    at = fabric.node_name[int(fabric.port_node[peer])] if peer != NIL else fabric.port_name(port)
    lost = f"from {source} to {target} nothing is delivered:"
    if status == NO_ROUTE:
        hint = _APART if are_apart else "weftline prove counts such pairs"
        return CapabilityError("capability.no-route", f"{lost} {at} has no route", hint)
    if status == TOO_LONG:
        nodes.append(int(fabric.port_node[peer]))
        # The choice depends on source, destination, switch and seed only, so what follows a switch repeats.
        last = len(nodes) - 1
        start = max(place for place in range(last) if nodes[place] == nodes[last])
        names = [fabric.node_name[node] for node in nodes[start:]]
        shown = " -> ".join([*names[:_SHOWN], "...", names[-1]] if len(names) > _SHOWN + 1 else names)
        return CapabilityError("capability.route-loop", f"{lost} it loops {shown}", "weftline prove counts such pairs")
    if peer == NIL:
        return CapabilityError("capability.route-astray", f"{lost} port {at} is dark", "connect it, or route around it")
    return CapabilityError(
        "capability.route-astray", f"{lost} it goes astray at {at}", "weftline prove counts such pairs"
    )
