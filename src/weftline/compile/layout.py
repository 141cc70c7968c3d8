"""Layout: nodes, links and cables of a planned dragonfly, dragonfly+ or torus."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weftline.compile.columns import LinkColumns, NodeColumns, fill, name_nodes
from weftline.compile.dragonfly import group_graph
from weftline.compile.groups import GroupPlan
from weftline.compile.lattice import torus_graph
from weftline.compile.spread import seat_hosts, seat_others
from weftline.compile.switches import SwitchGraph, number_ends, repeat_graph
from weftline.compile.torus import TorusPlan
from weftline.kernels.column import I8, I32, I64, NIL
from weftline.model.design import ResolvedSpec, RunPart
from weftline.model.fabric import NodeKind, Tier


@dataclass(frozen=True, slots=True)
class Layout:
    """Who sits where: one row per port of hosts in order (host, rail, plane), then per port of other endpoints."""

    graph: SwitchGraph
    hosts: int
    rails: int
    planes: int
    plane: I32
    """Of each switch."""
    home: I64
    """Switch of each port of hosts and other endpoints."""
    number: I64
    """Port of that switch, from 1."""
    host_unit: I32
    other_names: tuple[str, ...]

    @property
    def ports(self) -> int:
        """Count ports of hosts."""
        return self.hosts * self.rails * self.planes


def lay_out(plan: GroupPlan | TorusPlan, planes: int = 1) -> Layout:
    """Wire the switches of a plan and seat its hosts; each plane is a copy with a port of every NIC on it."""
    one = _lay_torus(plan) if isinstance(plan, TorusPlan) else _lay_groups(plan)
    graph, at = repeat_graph(one.graph, planes)
    plane = np.empty(graph.switches, dtype=np.int32)
    plane[at] = np.arange(planes, dtype=np.int32)[:, None]
    home = np.ascontiguousarray(at[:, one.home].T).reshape(-1).astype(np.int64)
    return replace(one, graph=graph, planes=planes, plane=plane, home=home, number=np.repeat(one.number, planes))


def _lay_torus(plan: TorusPlan) -> Layout:
    graph = torus_graph(plan.sizes, plan.links, plan.endpoints, plan.ports)
    host, rail = np.divmod(np.arange(plan.hosts * plan.rails, dtype=np.int64), plan.rails)
    unit = np.arange(plan.hosts) // plan.unit
    return Layout(
        graph,
        plan.hosts,
        plan.rails,
        planes=1,
        plane=fill(graph.switches, 0),
        home=host // plan.unit,
        number=host % plan.unit * plan.rails + rail + 1,
        host_unit=unit.astype(np.int32),
        other_names=(),
    )


def _lay_groups(plan: GroupPlan) -> Layout:
    graph = group_graph(plan.kind, plan.shapes, plan.pairs, plan.arrangement)
    home: list[I64] = []
    number: list[I64] = []
    other_home: list[I64] = []
    other_number: list[I64] = []
    first = 0
    for shape, hosts, others in zip(plan.shapes, plan.hosts.tolist(), plan.others.tolist(), strict=True):
        seats = seat_hosts(hosts, shape.leaves, shape.endpoints, plan.rails)
        home.append(first + seats.leaf)
        number.append(seats.number)
        if others:
            rest = seat_others(others, seats, shape.leaves, shape.endpoints)
            other_home.append(first + rest.leaf)
            other_number.append(rest.number)
        first += shape.leaves
    return Layout(
        graph,
        int(plan.hosts.sum()),
        plan.rails,
        planes=1,
        plane=fill(graph.switches, 0),
        home=np.concatenate(home + other_home),
        number=np.concatenate(number + other_number),
        host_unit=np.repeat(np.arange(len(plan.hosts), dtype=np.int32), plan.hosts),
        other_names=tuple(plan.other_names),
    )


def layout_nodes(design: ResolvedSpec, layout: Layout) -> NodeColumns:
    """List all nodes in order: hosts, declared extra endpoints, other endpoints, leaves, spines."""
    graph, extras = layout.graph, design.spec.hosts.extra_endpoints
    others = len(layout.other_names)
    counts = (layout.hosts, len(extras) + others, graph.switches)
    leaves = int(np.count_nonzero(graph.tier == Tier.LEAF))
    before = counts[0] + counts[1]
    kinds: I8 = np.array([NodeKind.HOST, NodeKind.EXTRA, NodeKind.SWITCH], dtype=np.int8)
    each = graph.switches // layout.planes
    unit = graph.group if graph.shape != "torus" else np.arange(graph.switches, dtype=np.int32) % each
    end_ports = [*(extra.ports for extra in extras), *([layout.planes] * others)]
    return NodeColumns(
        name=(
            *name_nodes(Tier.HOST, layout.hosts),
            *(extra.name for extra in extras),
            *layout.other_names,
            *name_nodes(Tier.LEAF, leaves),
            *name_nodes(Tier.SPINE, graph.switches - leaves),
        ),
        kind=np.repeat(kinds, counts),
        tier=np.concatenate((np.zeros(before, dtype=np.int8), graph.tier)),
        plane=np.concatenate((fill(before, NIL if layout.planes > 1 else 0), layout.plane)),
        rail=fill(before + graph.switches, NIL),
        unit=np.concatenate(
            (layout.host_unit, fill(counts[1], NIL), np.where(graph.tier == Tier.LEAF, unit, NIL))
        ).astype(np.int32),
        group=np.concatenate((fill(before, NIL), graph.group)),
        component=np.concatenate((fill(before, NIL), layout.plane)),
        ports=np.concatenate(
            (fill(layout.hosts, layout.rails * layout.planes), np.array(end_ports, dtype=np.int32), graph.radix)
        ).astype(np.int32),
    )


def end_links(design: ResolvedSpec, layout: Layout) -> tuple[LinkColumns, LinkColumns]:
    """Wire the NICs of hosts, and the other endpoints, each link in a cable of its own."""
    planes, per_host = layout.planes, layout.rails * layout.planes
    index = np.arange(layout.ports, dtype=np.int64)
    first_other = layout.hosts + len(design.spec.hosts.extra_endpoints)
    first_switch = first_other + len(layout.other_names)
    rate = min(design.rate_gbps, design.leaf.rate_gbps)

    def wire(node: I64, number: I64, chosen: slice) -> LinkColumns:
        return LinkColumns(
            a_node=node.astype(np.int32),
            a_number=(number + 1).astype(np.int32),
            b_node=(first_switch + layout.home[chosen]).astype(np.int32),
            b_number=layout.number[chosen].astype(np.int32),
            cable=np.arange(len(node), dtype=np.int32),
            rate_gbps=np.full(len(node), rate),
        )

    other = np.arange(len(layout.other_names) * planes, dtype=np.int64)
    return (
        wire(index // per_host, index % per_host, slice(0, layout.ports)),
        wire(first_other + other // planes, other % planes, slice(layout.ports, None)),
    )


def switch_links(design: ResolvedSpec, graph: SwitchGraph, first_switch: int) -> list[tuple[LinkColumns, RunPart]]:
    """Wire the switches run by run: inside groups or between neighbours first, then between groups."""
    a_number, b_number = number_ends(graph)
    low = np.minimum(graph.tier[graph.a], graph.tier[graph.b])
    high = np.maximum(graph.tier[graph.a], graph.tier[graph.b])
    rates = np.array([0.0, design.leaf.rate_gbps, design.spine.rate_gbps])
    every = LinkColumns(
        a_node=(first_switch + graph.a).astype(np.int32),
        a_number=a_number,
        b_node=(first_switch + graph.b).astype(np.int32),
        b_number=b_number,
        cable=np.zeros(graph.links, dtype=np.int32),
        rate_gbps=np.minimum(rates[low], rates[high]),
    )
    is_global = graph.is_global
    runs = (
        (design.leaf_leaf, ~is_global & (low == high)),
        (design.leaf_spine, ~is_global & (low != high)),
        (design.between_groups, is_global),
    )
    found: list[tuple[LinkColumns, RunPart]] = []
    for run, chosen in runs:
        count = int(np.count_nonzero(chosen))
        if run is not None and count:
            picked = LinkColumns(*(getattr(every, field)[chosen] for field in LinkColumns.__slots__))  # pyright: ignore[reportArgumentType]
            found.append((replace(picked, cable=np.arange(count, dtype=np.int32)), run))
    return found
