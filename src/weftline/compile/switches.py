"""Switches: a graph of switches as columns, whatever its family, and the fabric that it makes with its hosts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.compile.columns import fill, name_nodes
from weftline.compile.parts import connected_parts, uniform_value
from weftline.kernels.column import I8, I32, I64, NIL, digest_parts
from weftline.model.fabric import Fabric, NodeKind, Tier

DIRECT_SHAPES = ("dragonfly", "dragonfly-plus", "torus", "hyperx", "slim-fly")
"""Shapes whose switches do not stand in tiers of a tree."""


@dataclass(frozen=True, slots=True)
class SwitchGraph:
    """Switches in order (leaves, then spines), the links between them, and how many endpoints each may have.

    Link ``i`` joins switch ``a[i]`` to ``b[i]``; parallel links stand there several times. ``a_class`` and ``b_class``
    say among which ports of its switch an end stands: ports are numbered endpoints first, then by class, by the switch
    at the other end and by link.
    """

    shape: str
    tier: I8
    group: I32
    """Group of each switch; NIL in families without groups."""
    place: I32 | None
    """Coordinates, one column per dimension; None in families without."""
    endpoints: I32
    """Ports for endpoints of each switch."""
    radix: I32
    """All ports of each switch, dark ones too."""
    a: I32
    b: I32
    a_class: I32
    b_class: I32

    @property
    def switches(self) -> int:
        """Count switches."""
        return len(self.tier)

    @property
    def links(self) -> int:
        """Count links between switches."""
        return len(self.a)

    @property
    def is_global(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Tell which links join two groups."""
        return self.group[self.a] != self.group[self.b]

    @property
    def degree(self) -> I64:
        """Count the links of each switch to other switches."""
        ends = np.concatenate((self.a, self.b))
        return np.bincount(ends, minlength=self.switches).astype(np.int64)


def repeat_graph(graph: SwitchGraph, planes: int) -> tuple[SwitchGraph, I32]:
    """Put copies of a graph side by side, tier by tier and in each tier plane by plane.

    Also returns ``[plane, switch]``: where each switch of a plane stands in the whole.
    """
    if planes == 1:
        return graph, np.arange(graph.switches, dtype=np.int32).reshape(1, -1)
    plane, switch = np.divmod(np.arange(planes * graph.switches), graph.switches)
    order = np.lexsort((switch, plane, graph.tier[switch]))
    at = np.empty(len(order), dtype=np.int32)
    at[order] = np.arange(len(order))
    at = at.reshape(planes, graph.switches)
    chosen = switch[order]
    return (
        SwitchGraph(
            shape=graph.shape,
            tier=graph.tier[chosen],
            group=graph.group[chosen],
            place=None if graph.place is None else graph.place[chosen],
            endpoints=graph.endpoints[chosen],
            radix=graph.radix[chosen],
            a=at[:, graph.a].reshape(-1),
            b=at[:, graph.b].reshape(-1),
            a_class=np.tile(graph.a_class, planes),
            b_class=np.tile(graph.b_class, planes),
        ),
        at,
    )


def number_ends(graph: SwitchGraph) -> tuple[I32, I32]:
    """Give the port number, from 1, of both ends of every link: endpoints first, then class, peer, link."""
    ends = np.concatenate((graph.a, graph.b)).astype(np.int64)
    peers = np.concatenate((graph.b, graph.a))
    classes = np.concatenate((graph.a_class, graph.b_class))
    links = np.tile(np.arange(graph.links), 2)
    order = np.lexsort((links, peers, classes, ends))
    first = np.searchsorted(ends[order], np.arange(graph.switches))
    number = np.empty(len(ends), dtype=np.int32)
    number[order] = np.arange(len(ends)) - first[ends[order]] + 1
    number += graph.endpoints[ends]
    return number[: graph.links], number[graph.links :]


def plain_fabric(graph: SwitchGraph, name: str, rate_gbps: float) -> Fabric:
    """Make the fabric of a graph with a host of one NIC on every endpoint port, each link in a cable of its own."""
    home = np.repeat(np.arange(graph.switches, dtype=np.int32), graph.endpoints)
    hosts, switches = len(home), graph.switches
    count = hosts + switches
    ports = np.concatenate((np.ones(hosts, dtype=np.int64), graph.radix))
    ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(ports))).astype(np.int32)
    node = np.repeat(np.arange(count, dtype=np.int32), ports)
    a_number, b_number = number_ends(graph)
    first_end = np.cumsum(graph.endpoints) - graph.endpoints
    slot = np.arange(hosts) - first_end[home]
    a_port = np.concatenate((ptr[:hosts], ptr[hosts + graph.a] + a_number - 1))
    b_port = np.concatenate((ptr[hosts + home] + slot, ptr[hosts + graph.b] + b_number - 1))
    peer, cable = fill(len(node), NIL), fill(len(node), NIL)
    peer[a_port], peer[b_port] = b_port, a_port
    cable[a_port] = cable[b_port] = np.arange(len(a_port))
    is_host = np.arange(count) < hosts
    part = connected_parts(switches, graph.a, graph.b)
    component = np.unique(part, return_inverse=True)[1].astype(np.int32)
    component = np.concatenate((component[home], component))
    nil = fill(count, NIL)
    rows = np.arange(switches)
    names = [""] * switches
    for tier in (Tier.LEAF, Tier.SPINE):
        chosen = rows[graph.tier == tier].tolist()
        for at, text in zip(chosen, name_nodes(tier, len(chosen)), strict=True):
            names[at] = text
    return Fabric(
        name=name,
        shape=graph.shape,
        source_digest=digest_parts((name, graph.shape, graph.a, graph.b, graph.endpoints, graph.radix)),
        node_name=(*name_nodes(Tier.HOST, hosts), *names),
        node_kind=np.where(is_host, NodeKind.HOST, NodeKind.SWITCH).astype(np.int8),
        node_tier=np.concatenate((np.zeros(hosts, dtype=np.int8), graph.tier)),
        node_plane=fill(count, 0),
        node_rail=nil.copy(),
        node_unit=np.concatenate((uniform_value(hosts, np.arange(hosts, dtype=np.int32), home), fill(switches, NIL))),
        node_group=np.concatenate((fill(hosts, NIL), graph.group)),
        node_component=component,
        node_tenant=nil.copy(),
        node_part=nil.copy(),
        part_name=(),
        tenant_name=(),
        port_ptr=ptr,
        port_number=(np.arange(len(node)) - ptr[node] + 1).astype(np.int32),
        port_peer=peer,
        port_rate_gbps=np.full(len(node), rate_gbps),
        port_rail=np.where(is_host[node], 0, NIL).astype(np.int32),
        port_plane=fill(len(node), 0),
        port_component=component[node],
        port_cable=cable,
        cable_part=("",) * len(a_port),
        cable_length_m=np.full(len(a_port), np.nan),
        node_place=with_hosts(graph.place, hosts),
    )


def with_hosts(place: I32 | None, before: int) -> I32 | None:
    """Put rows of NIL before the coordinates of the switches, for nodes that are none."""
    if place is None:
        return None
    return np.concatenate((np.full((before, place.shape[1]), NIL, dtype=np.int32), place))
