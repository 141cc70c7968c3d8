"""What should come to run in a lab: sessions from the rendered files, and routes from the proved ones."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import NIL
from weftline.labs.netns.layout import Layout, list_endpoints
from weftline.labs.netns.reading import Hops
from weftline.labs.netns.timers import read_timers
from weftline.model.fabric import NodeKind
from weftline.model.lab import LabDesign
from weftline.model.routes import Routes, local_delivery, no_route


@dataclass(frozen=True, slots=True)
class Expected:
    """What one switch should hold."""

    sessions: frozenset[str]
    is_watched: bool
    """Whether BFD watches its sessions."""
    routes: Mapping[str, Hops]
    """Interfaces by network of another switch with endpoints; nothing where the routes lead nowhere."""


def list_expected(design: LabDesign, layout: Layout) -> dict[str, Expected]:
    """Say what each switch should hold, by its name."""
    routes = design.routes
    assert routes is not None  # noqa: S101  (a lab that reads the fabric itself is given the routes)
    networks = list_networks(design, layout)
    facts = {device.name: device.facts for device in design.devices}
    files = {device.name: device.files.get("frr.conf", b"") for device in design.devices}
    fabric = design.fabric
    found: dict[str, Expected] = {}
    nodes: list[int] = fabric.switch_node.tolist()
    for row, node in enumerate(nodes):
        own = facts.get(fabric.node_name[node], {})
        ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        sessions = {
            layout.ends[port].interface
            for port in ports
            if port in layout.ends and f"ports.{int(fabric.port_number[port])}.neighbour_number" in own
        }
        hops = {
            network: frozenset(layout.ends[port].interface for port in list_hops(routes, row, column))
            for network, (owner, column) in networks.items()
            if owner != node
        }
        name = fabric.node_name[node]
        is_watched = read_timers(files.get(name, b"")).interval_ms is not None
        found[name] = Expected(frozenset(sessions), is_watched, {network: h for network, h in hops.items() if h})
    return found


def list_networks(design: LabDesign, layout: Layout) -> dict[str, tuple[int, int]]:
    """List what switches with endpoints announce: the switch, and a destination of the routes in it or behind it."""
    routes, fabric = design.routes, design.fabric
    assert routes is not None  # noqa: S101
    addresses = list_endpoints(design, layout)
    columns = {port: place for place, port in enumerate(routes.destination_port.tolist()) if port != NIL}
    found: dict[str, tuple[int, int]] = {}
    for device in design.devices:
        announced = device.facts.get("forwarding.exchange.announced", ())
        if not isinstance(announced, tuple):
            continue
        node = layout.namespaces[device.name].node
        peers = fabric.port_peer[int(fabric.port_ptr[node]) : int(fabric.port_ptr[node + 1])].tolist()
        own = [port for port in peers if port in addresses and port in columns]
        for network in announced:
            block = ipaddress.IPv4Network(network)
            inside = [port for port in own if ipaddress.IPv4Address(addresses[port]) in block]
            goal = inside or own
            if goal and (inside or block.prefixlen == block.max_prefixlen):
                found[str(network)] = (node, columns[goal[0]])
    return found


def list_hops(routes: Routes, row: int, column: int) -> list[int]:
    """List the ports by which a switch should forward to a destination."""
    group = int(routes.group[row, column])
    if group in {no_route(routes.group), local_delivery(routes.group)}:
        return []
    place = int(routes.group_ptr[row]) + group
    return routes.member_port[int(routes.member_ptr[place]) : int(routes.member_ptr[place + 1])].tolist()


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of endpoints to try, as places in a list of ports."""

    ports: tuple[int, ...]
    together: tuple[tuple[int, int], ...]
    """Endpoints that must reach each other: of one tenant, or of none, and joined by the routes."""
    apart: tuple[tuple[int, int], ...]
    """Endpoints of two tenants."""
    total_together: int
    total_apart: int


def choose_pairs(design: LabDesign, layout: Layout, most: int) -> Pairs:
    """Choose pairs to try: all of them, or evenly spread ones in which every endpoint sends and receives."""
    routes, fabric = design.routes, design.fabric
    assert routes is not None  # noqa: S101
    addresses = list_endpoints(design, layout)
    columns = {port: place for place, port in enumerate(routes.destination_port.tolist()) if port != NIL}
    ports = [port for port in addresses if port in columns]
    owner = np.array(_list_owners(design, layout, ports), dtype=np.int64)
    tenant = fabric.node_tenant[fabric.port_node[ports]]
    switch = fabric.port_node[fabric.port_peer[ports]]
    rows = fabric.switch_row[switch]
    is_switched = fabric.node_kind[switch] == NodeKind.SWITCH
    reaches = routes.group[rows][:, [columns[port] for port in ports]] != no_route(routes.group)
    reaches &= is_switched[:, None]
    node = fabric.port_node[ports]
    reaches &= node[:, None] != node[None, :]  # what a host sends to itself never leaves it
    same = (owner[:, None] == owner[None, :]) | _list_shared(design, layout, ports)
    differ = ~same & (tenant[:, None] != NIL) & (tenant[None, :] != NIL)
    together, apart = reaches & same, reaches & differ
    return Pairs(
        tuple(ports),
        _sample(together, most),
        _sample(apart, most),
        int(together.sum()),
        int(apart.sum()),
    )


def _list_owners(design: LabDesign, layout: Layout, ports: list[int]) -> list[int]:
    """Number the owners of endpoints: the tenant, and where there is none the VRF in which the endpoint stands."""
    fabric = design.fabric
    numbers: dict[str, int] = {}
    found: list[int] = []
    for port in ports:
        tenant = int(fabric.node_tenant[fabric.port_node[port]])
        vrf = _name_vrf(layout, int(fabric.port_peer[port]))
        found.append(tenant if tenant != NIL else -2 - numbers.setdefault(vrf, len(numbers)))
    return found


def _name_vrf(layout: Layout, port: int) -> str:
    """Name the VRF in which a port of a switch stands; empty where it stands in none."""
    space = layout.ends[port].namespace
    return next((vrf for one in layout.namespaces.values() for vrf, name in one.vrfs.items() if name == space), "")


def _list_shared(
    design: LabDesign, layout: Layout, ports: list[int]
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Say which endpoints stand in VRFs that take each other's routes, as a shared service and its users do."""
    taken: dict[str, set[str]] = {}
    told: dict[str, set[str]] = {}
    for device in design.devices:
        for path, value in device.facts.items():
            vrf, _, word = path.removeprefix("tenancy.vrfs.").rpartition(".")
            if path.startswith("tenancy.vrfs.") and word in {"imports", "exports"} and isinstance(value, tuple):
                (taken if word == "imports" else told).setdefault(vrf, set()).update(str(target) for target in value)
    names = [_name_vrf(layout, int(design.fabric.port_peer[port])) for port in ports]
    known = sorted(set(names))
    place = np.array([known.index(name) for name in names], dtype=np.int64)
    takes = np.array([[bool(taken.get(a, set()) & told.get(b, set())) for b in known] for a in known], dtype=bool)
    both = (takes & takes.T).reshape(len(known), len(known))
    return both[place[:, None], place[None, :]]


def _sample(wanted: NDArray[np.bool_], most: int) -> tuple[tuple[int, int], ...]:
    """Take whole diagonals, evenly spread: in each of them every endpoint sends once and receives once."""
    count = len(wanted)
    step = max(1, -(-int(wanted.sum()) // most))
    source = np.arange(count)
    found: list[tuple[int, int]] = []
    for turn in range(0, count - 1, step):
        shift = (count // 2 + turn - 1) % (count - 1) + 1  # from the farthest on, which is no NIC of the same host
        target = (source + shift) % count
        keep = wanted[source, target]
        found += zip(source[keep].tolist(), target[keep].tolist(), strict=True)
    return tuple(found)
