"""Neutral records of a dump become a Fabric with its Addresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.adopt.cables import Cable
from weftline.adopt.check import check_islands, check_lids, usual_rates
from weftline.adopt.names import plain_name
from weftline.adopt.nodes import Node, Work, make_graph, order_nodes, prepare
from weftline.adopt.tiers import Shape, recognise
from weftline.errors import Place, Problem
from weftline.formats.lid import PERMISSIVE
from weftline.formats.text import ProblemLog
from weftline.kernels.column import F64, I8, I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery, PortRecord
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind, Tier

MAX_PORTS = 1_000_000
"""Ports of all switches together; the largest subnet of 64-port switches has a third of that."""


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """The nodes in their final order, and the columns that follow from that alone."""

    nodes: list[Node]
    rows: list[int]
    """Position of each node among the switches, NIL elsewhere."""
    kind: I8
    port_ptr: I32
    port_node: I32
    port_number: I32
    ports: list[tuple[int, int]]
    """Per port its record and its number there."""

    def pick(self, values: list[int]) -> I32:
        """Take a value per switch to its node; NIL elsewhere."""
        return np.array([values[at] if at != NIL else NIL for at in self.rows], dtype=np.int32)

    def has_kind(self, kind: NodeKind) -> NDArray[np.bool_]:
        """Mark the ports of nodes of a kind."""
        return self.kind[self.port_node] == kind


def build_fabric(discovery: Discovery) -> Adoption | tuple[Problem, ...]:
    """Build the fabric that a dump describes, with every problem of the dump.

    Cables on which the ends disagree are reported and kept only where both ports are free. Dark ports of adapters
    are left out, since nothing can be sent by them. Returns problems alone when the dump joins nothing.
    """
    log = ProblemLog(discovery.file)
    work = prepare(discovery, log)
    ports = sum(work.records[at].port_count for at in work.switches)
    if ports > MAX_PORTS:
        message = f"the switches have {ports:,} ports; at most {MAX_PORTS:,} are read"
        return (
            *discovery.problems,
            *log.close(),
            Problem("artifact.dump-too-large", message, "", Place(discovery.file)),
        )
    if not work.cables or not work.switches:
        message = "no link joins two nodes of this dump through a switch, so there is no fabric to adopt"
        last = max((record.line for record in work.records), default=1)
        log.add("artifact.no-links", message, "the dump is cut off, or no cable is plugged in", last)
        return (*discovery.problems, *log.close())
    check_lids(work.records, log)
    shape = recognise(make_graph(work))
    nodes = order_nodes(work, shape)
    layout = _lay_out(work, nodes)
    fabric = _fabric(discovery, work, shape, layout, log)
    _check_parts(work, fabric, shape, log)
    records = work.records
    return Adoption(
        fabric=fabric,
        addresses=_addresses(fabric, work, layout),
        shape=shape.shape,
        shape_reason=shape.reason,
        problems=tuple(sorted((*discovery.problems, *log.close()), key=_line_of)),
        node_description=tuple(records[node.members[0]].title for node in nodes),
        port_place=tuple(number for _, number in layout.ports),
        port_adapter=tuple("" if records[at].kind == "switch" else records[at].title for at, _ in layout.ports),
    )


def _lay_out(work: Work, nodes: list[Node]) -> _Layout:
    """Lay out nodes and ports."""
    row = {at: number for number, at in enumerate(work.switches)}
    sizes = [len(node.ports) for node in nodes]
    return _Layout(
        nodes=nodes,
        rows=[row.get(node.members[0], NIL) for node in nodes],
        kind=np.array([node.kind for node in nodes], dtype=np.int8),
        port_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        port_node=np.repeat(np.arange(len(nodes), dtype=np.int32), sizes),
        port_number=np.array([number for node in nodes for number, _, _ in node.ports], dtype=np.int32),
        ports=[(member, port) for node in nodes for _, member, port in node.ports],
    )


def _pair_names(work: Work, shape: Shape) -> list[tuple[str, str]]:
    """Name what each cable joins: the lower tier first, extra endpoints apart from hosts."""
    tier_of = {at: shape.tier[number] for number, at in enumerate(work.switches)}
    extras = {member for node in work.extras for member in node.members}

    def name(cable: Cable) -> tuple[str, str]:
        ends = sorted((tier_of.get(at, 0), at) for at, _ in (cable.a, cable.b))
        return "extra" if ends[0][1] in extras else TIER_NAMES[ends[0][0]], TIER_NAMES[ends[1][0]]

    return [name(cable) for cable in work.cables]


def _links(work: Work, layout: _Layout, rates: list[float]) -> tuple[I32, I32, F64]:
    """Return peer, cable and rate of each port; dark ports of switches have the rate of the fastest link."""
    at_port = {ref: at for at, ref in enumerate(layout.ports)}
    peer = np.full(len(layout.ports), NIL, np.int32)
    cable = np.full(len(layout.ports), NIL, np.int32)
    rate = np.full(len(layout.ports), max(rates), np.float64)
    ends = np.array([(at_port[joint.a], at_port[joint.b]) for joint in work.cables], dtype=np.int32)
    for near, far in ((0, 1), (1, 0)):
        peer[ends[:, near]] = ends[:, far]
        cable[ends[:, near]] = np.arange(len(ends))
        rate[ends[:, near]] = rates
    return peer, cable, rate


def _fabric(discovery: Discovery, work: Work, shape: Shape, layout: _Layout, log: ProblemLog) -> Fabric:
    """Fill the columns."""
    peer, cable, rate = _links(work, layout, usual_rates(work.cables, _pair_names(work, shape), work.records, log))
    part = layout.pick(shape.component)
    port_part = _port_parts(layout, part, peer)
    unit = layout.pick(shape.unit)
    unit[: len(work.hosts)] = shape.host_unit
    nodes, ports = len(layout.nodes), len(layout.ports)
    return Fabric(
        name=plain_name(discovery.file.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]) or "adopted",
        shape=shape.shape,
        source_digest=discovery.digest,
        node_name=tuple(node.name for node in layout.nodes),
        node_kind=layout.kind,
        node_tier=np.maximum(layout.pick(shape.tier), int(Tier.HOST)).astype(np.int8),
        node_plane=np.zeros(nodes, np.int32),
        node_rail=layout.pick(shape.rail),
        node_unit=unit,
        node_group=layout.pick(shape.group),
        node_component=_node_parts(layout, part, port_part),
        node_tenant=np.full(nodes, NIL, np.int32),
        node_part=np.full(nodes, NIL, np.int32),
        part_name=(),
        tenant_name=(),
        port_ptr=layout.port_ptr,
        port_number=layout.port_number,
        port_peer=peer,
        port_rate_gbps=rate,
        port_rail=_rails(work, shape, layout, peer),
        port_plane=np.zeros(ports, np.int32),
        port_component=port_part,
        port_cable=cable,
        cable_part=("",) * len(work.cables),
        cable_length_m=np.full(len(work.cables), np.nan),
    )


def _line_of(problem: Problem) -> int:
    """Sort problems by line, those of the whole file last."""
    return problem.where.line if problem.where and problem.where.line else 2**31


def _rails(work: Work, shape: Shape, layout: _Layout, peer: I32) -> I32:
    """Return the rail per port, NIL on switches.

    The rail of an endpoint follows its number where the adapters of its host have names, else it is that of its leaf.
    """
    rail = np.where(layout.has_kind(NodeKind.SWITCH), NIL, layout.port_number - 1).astype(np.int32)
    rail[layout.has_kind(NodeKind.EXTRA)] = 0
    is_nameless = np.zeros(len(layout.nodes), dtype=np.bool_)
    is_nameless[: len(work.hosts)] = [not node.has_rails for node in work.hosts]
    lit = np.flatnonzero((peer != NIL) & is_nameless[layout.port_node])
    far = layout.pick(shape.rail)[layout.port_node[peer[lit]]]
    rail[lit] = np.where(far != NIL, far, rail[lit])
    return rail


def _port_parts(layout: _Layout, part: I32, peer: I32) -> I32:
    """Return the connected part of each port: its switch's, or the switch's at the other end."""
    far = np.where(peer != NIL, part[layout.port_node[peer]], NIL)
    return np.where(layout.has_kind(NodeKind.SWITCH), part[layout.port_node], far).astype(np.int32)


def _node_parts(layout: _Layout, part: I32, port_part: I32) -> I32:
    """Return the connected part of each node, NIL where its ports are in several."""
    column = part.copy()
    for node in np.flatnonzero(part == NIL).tolist():
        found = set(port_part[layout.port_ptr[node] : layout.port_ptr[node + 1]].tolist()) - {NIL}
        column[node] = found.pop() if len(found) == 1 else NIL
    return column


def _check_parts(work: Work, fabric: Fabric, shape: Shape, log: ProblemLog) -> None:
    """Report islands."""
    reached = [
        frozenset(fabric.port_component[fabric.port_ptr[node] : fabric.port_ptr[node + 1]].tolist()) - {NIL}
        for node in range(len(work.hosts))
    ]
    check_islands(shape.component, reached, [work.records[at].line for at in work.switches], log)


def _addresses(fabric: Fabric, work: Work, layout: _Layout) -> Addresses:
    """Fill GUIDs and LIDs; 0 where the dump has none or none is assigned."""
    listed = {(at, port.number): port for at, record in enumerate(work.records) for port in record.ports}
    empty = PortRecord(0)
    port_id: list[int] = []
    port_lid: list[int] = []
    lmc = 0
    for at, number in layout.ports:
        record, line = work.records[at], listed.get((at, number), empty)
        if record.kind == "switch":
            port_id.append(record.guid)
            port_lid.append(NIL)
        else:
            port_id.append(line.guid or (min(record.guid + number, 2**64 - 1) if record.guid else 0))
            port_lid.append(0 if line.lid == PERMISSIVE else line.lid)
            lmc = max(lmc, line.lmc)
    first = [work.records[node.members[0]] for node in layout.nodes]
    node_lid = [NIL if record.kind != "switch" else 0 if record.lid == PERMISSIVE else record.lid for record in first]
    return Addresses(
        fabric_digest=fabric.digest,
        scheme="lid",
        node_id=np.array([record.guid for record in first], dtype=np.uint64),
        port_id=np.array(port_id, dtype=np.uint64),
        node_address=np.array(node_lid, dtype=np.int64),
        port_address=np.array(port_lid, dtype=np.int64),
        node_number=np.full(len(first), NIL, dtype=np.int64),
        multipath_bits=lmc,
    )
