"""Columns that every medium has: the rate of each port, the time along each cable, and the latency of each node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import F64, I64, NIL
from weftline.medium.figures import Entry, Note, cite
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.fabric import Fabric, NodeKind, Tier
from weftline.model.parameters import Figure, PacketSource
from weftline.model.parts import NicPart, SwitchPart

LIGHT_M_PER_S = 198_000_000
"""Speed of a signal in fibre, and near enough in copper: 5.05 ns for a metre."""
LIGHT_SOURCE = "198,000 km/s in fibre, as SONiC's buffer_headroom_mellanox.lua has it"
MAX_MBPS = 10_000_000
LINKS, NODES = "links", "nodes"


@dataclass(frozen=True, slots=True)
class NodeDefaults:
    """What stands in where no part has a figure, in nanoseconds, each with why."""

    response_name: str
    """What a response answers."""
    switch_ns: float
    switch_source: str
    send_ns: float
    receive_ns: float
    host_source: str
    is_cut_through: bool
    cut_through_source: str


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that do not depend on what carries RDMA, and the figures behind them."""

    rate_mbps: I64
    propagation_ps: I64
    response_ps: I64
    latency_ps: I64
    receive_ps: I64
    is_cut_through: I64
    entries: tuple[Entry, ...]
    assumptions: tuple[str, ...]


FindResponse = Callable[[SwitchPart | NicPart, str, TierPart | None, float], Figure]
"""(part, its name, the tier of a switch, rate in Gb/s) -> nanoseconds until a pause or a credit has its effect."""


def find_tier(design: ResolvedSpec, fabric: Fabric, node: int) -> TierPart:
    """Find the switch of the tier of a node."""
    tiers = {int(Tier.LEAF): design.leaf, int(Tier.SPINE): design.spine, int(Tier.CORE): design.core}
    return tiers[int(fabric.node_tier[node])]


def find_lengths(source: PacketSource) -> tuple[F64, tuple[str, ...]]:
    """Find the metres of cable behind each port; what no list says is taken as the declaration has it, and said."""
    fabric, design = source.fabric, source.design
    own: F64 = fabric.cable_length_m if source.lengths_m is None else source.lengths_m
    length = np.zeros(fabric.port_count)
    has = fabric.port_cable != NIL
    length[has] = own[fabric.port_cable[has]]
    length[~has & (fabric.port_peer != NIL)] = np.nan
    unknown = np.flatnonzero(np.isnan(length))
    for port in unknown.tolist():
        length[port] = _guess_length(design, fabric, port)
    if not len(unknown):
        return length, ()
    words = f"the cables of {len(unknown) // 2:,} links have no length: that of their tiers is taken"
    return length, (words,)


def _guess_length(design: ResolvedSpec, fabric: Fabric, port: int) -> float:
    ends = sorted(int(fabric.node_tier[fabric.port_node[end]]) for end in (port, int(fabric.port_peer[port])))
    if ends[0] == Tier.HOST:
        return design.host_leaf.length_m
    if ends[0] == ends[1] and design.leaf_leaf is not None:
        return design.leaf_leaf.length_m
    return design.spine_core.length_m if ends[1] == Tier.CORE else design.leaf_spine.length_m


def lay_columns(source: PacketSource, defaults: NodeDefaults, respond: FindResponse) -> Columns:
    """Lay rates, times along cables and latencies out; O(ports).

    Both latencies of an endpoint count where a packet arrives: a wait in front of its wire would make the way there and
    back longer for pauses and credits, which it does not.

    Raises:
        SpecError: ``spec.link-rate`` where a link has no rate, or one beyond 10 Tb/s.
    """
    fabric = source.fabric
    rate = _find_rates(fabric)
    length, assumptions = find_lengths(source)
    propagation = np.rint(length * (1e12 / LIGHT_M_PER_S)).astype(np.int64)
    response, waits = _find_responses(source, rate, defaults.response_name, respond)
    latency = np.zeros(fabric.node_count, dtype=np.int64)
    receive, cut = latency.copy(), latency.copy()
    entries: list[Entry] = [*_list_links(fabric, rate, length), *waits]
    for key, note, nodes in _list_nodes(source, defaults):
        column = {"latency": latency, "receive": receive, "cut": cut}[key]
        column[nodes] += int(note.figure.value) if key == "cut" else round(float(note.figure.value) * 1000)
        entries.append(Entry(NODES, note, "node", nodes))
    return Columns(rate, propagation, response, latency, receive, cut, tuple(entries), assumptions)


def _find_rates(fabric: Fabric) -> I64:
    """A link is as fast as its slower end."""
    peer = fabric.port_peer
    gbps = np.where(peer == NIL, fabric.port_rate_gbps, np.fmin(fabric.port_rate_gbps, fabric.port_rate_gbps[peer]))
    joined = np.flatnonzero(peer != NIL)
    known = np.isfinite(gbps) & (gbps > 0) & (gbps * 1000 <= MAX_MBPS)
    wrong = joined[~known[joined]]
    if len(wrong):
        raise SpecError(
            "spec.link-rate",
            f"the rate of link {fabric.link_name(int(wrong[0]))} is not known, or above 10 Tb/s",
            "give the rate of both ports of each link that carries traffic",
        )
    return np.where(known, np.rint(np.where(known, gbps, 1.0) * 1000), 1).astype(np.int64)


def _list_links(fabric: Fabric, rate: I64, length: F64) -> Iterator[Entry]:
    joined = np.flatnonzero(fabric.port_peer != NIL)
    for mbps in np.unique(rate[joined]).tolist():
        figure = Figure(mbps / 1000, "declaration", "rate of the ports")
        yield Entry(LINKS, Note("rate", "Gb/s", figure), "port", joined[rate[joined] == mbps])
    for metres in np.unique(length[joined]).tolist():
        ports = joined[length[joined] == metres]
        figure = Figure(float(metres), "declaration", "length of the cable")
        yield Entry(LINKS, Note("cable", "m", figure), "port", ports)
        time = Figure(round(metres * 1e9 / LIGHT_M_PER_S, 3), "formula", LIGHT_SOURCE)
        yield Entry(LINKS, Note("propagation", "ns", time), "port", ports)


def _find_responses(source: PacketSource, rate: I64, words: str, respond: FindResponse) -> tuple[I64, list[Entry]]:
    fabric, design = source.fabric, source.design
    response = np.zeros(fabric.port_count, dtype=np.int64)
    joined = np.flatnonzero(fabric.port_peer != NIL)
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    kinds = np.where(is_switch, fabric.node_tier[fabric.port_node].astype(np.int64), -1)
    entries: list[Entry] = []
    for kind, mbps in {(int(kinds[port]), int(rate[port])) for port in joined.tolist()}:
        ports = joined[(kinds[joined] == kind) & (rate[joined] == mbps)]
        tier = None if kind < 0 else find_tier(design, fabric, int(fabric.port_node[ports[0]]))
        part = design.nic if tier is None else tier.part
        name = nic_name(design) if tier is None else tier.name
        figure = respond(part, name, tier, mbps / 1000)
        response[ports] = round(float(figure.value) * 1000)
        entries.append(Entry(LINKS, Note(words, "ns", figure), "port", ports))
    entries.sort(key=lambda entry: int(entry.indices[0]))
    return response, entries


def nic_name(design: ResolvedSpec) -> str:
    """Name the NIC of a design."""
    declared = design.spec.hosts.nic
    return design.host.nic if declared == "auto" else declared


def _list_nodes(source: PacketSource, defaults: NodeDefaults) -> Iterator[tuple[str, Note, I64]]:
    """List what each tier of switches and all hosts take, as (column, figure, nodes)."""
    fabric, design = source.fabric, source.design
    is_switch = fabric.node_kind == NodeKind.SWITCH
    for tier in (Tier.LEAF, Tier.SPINE, Tier.CORE):
        nodes = np.flatnonzero(is_switch & (fabric.node_tier == tier))
        if not len(nodes):
            continue
        switch = find_tier(design, fabric, int(nodes[0]))
        known = _from_part(switch.part, switch.name, "latency_ns")
        yield "latency", Note("latency, port to port", "ns", known or _guess(*_switch_time(defaults))), nodes
        known = _from_part(switch.part, switch.name, "is_cut_through")
        guess = _guess(defaults.is_cut_through, defaults.cut_through_source)
        yield "cut", Note("cut-through", "", known or guess), nodes
    nodes = np.flatnonzero(~is_switch)
    name = nic_name(design)
    for way, key, value in (
        ("memory to wire", "send_latency_ns", defaults.send_ns),
        ("wire to memory", "receive_latency_ns", defaults.receive_ns),
    ):
        found = _from_part(design.nic, name, key) or _guess(value, defaults.host_source)
        yield "receive", Note(f"latency, {way}", "ns", found), nodes


def _switch_time(defaults: NodeDefaults) -> tuple[float, str]:
    return defaults.switch_ns, defaults.switch_source


def _from_part(part: SwitchPart | NicPart, name: str, key: str) -> Figure | None:
    value = getattr(part, key)
    return None if value is None else Figure(value, "part", cite(part, name, key))


def _guess(value: float | bool, source: str) -> Figure:  # noqa: FBT001
    return Figure(value, "default", source)
