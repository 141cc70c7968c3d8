"""Clos: nodes and links of a planned fabric, by index arithmetic on whole columns."""

from __future__ import annotations

import numpy as np

from weftline.compile.columns import LinkColumns, NodeColumns, name_nodes
from weftline.compile.plan import ClosPlan
from weftline.kernels.column import I8, I32, I64, NIL
from weftline.model.design import ResolvedSpec, RunPart
from weftline.model.fabric import NodeKind, Tier


def leaf_columns(plan: ClosPlan) -> dict[str, I64]:
    """Compute plane, unit, rail, component, pod (in the component) and index in the pod of each leaf."""
    index = np.arange(plan.switches[0], dtype=np.int64)
    rail = index % plan.leaf_rails
    unit = index // plan.leaf_rails % plan.units
    plane = index // (plan.leaf_rails * plan.units)
    group, place = _split(unit, plan.units, plan.groups)
    if plan.kind == "rail-only":
        return {
            "plane": plane,
            "unit": unit,
            "rail": rail,
            "component": plane * plan.rails + rail,
            "group": group,
            "pod": group,
            "place": place,
        }
    if plan.lanes > 1:
        pod = rail * plan.groups + group
    else:
        pod = group
        if plan.tiers < 3:
            place = unit * plan.leaf_rails + rail
    return {"plane": plane, "unit": unit, "rail": rail, "component": plane, "group": group, "pod": pod, "place": place}


def _split(unit: I64, units: int, groups: int) -> tuple[I64, I64]:
    """Cut the units into groups as equal as possible, the first ones larger by one; give group and index in it."""
    base, larger = divmod(units, groups)
    edge = larger * (base + 1)
    group = np.where(unit < edge, unit // (base + 1), larger + (unit - edge) // max(base, 1))
    place = np.where(unit < edge, unit % (base + 1), (unit - edge) % max(base, 1))
    return group, place


def plan_nodes(plan: ClosPlan, extra_names: tuple[str, ...], extra_ports: tuple[int, ...]) -> NodeColumns:
    """Lay out all nodes in order: hosts, extra endpoints, leaves, spines, cores."""
    counts = (plan.hosts, len(extra_names), *plan.switches)
    names = [
        *name_nodes(Tier.HOST, plan.hosts),
        *extra_names,
        *name_nodes(Tier.LEAF, counts[2]),
        *name_nodes(Tier.SPINE, counts[3]),
        *name_nodes(Tier.CORE, counts[4]),
    ]
    ends = [_host_block(plan), _extra_block(plan, len(extra_names))]
    blocks = [*ends, _leaf_block(plan), _spine_block(plan), _core_block(plan)]
    plane, rail, unit, group, component = (
        np.concatenate([block[i] for block in blocks]).astype(np.int32) for i in range(5)
    )
    sizes = (plan.rails * plan.planes, 0, *plan.switch_ports)
    ports = np.repeat(np.array(sizes, dtype=np.int32), counts)
    ports[counts[0] : counts[0] + counts[1]] = extra_ports
    kinds: I8 = np.array([NodeKind.HOST, NodeKind.EXTRA, *[NodeKind.SWITCH] * 3], dtype=np.int8)
    tiers: I8 = np.array([Tier.HOST, Tier.HOST, Tier.LEAF, Tier.SPINE, Tier.CORE], dtype=np.int8)
    return NodeColumns(
        name=tuple(names),
        kind=np.repeat(kinds, counts),
        tier=np.repeat(tiers, counts),
        plane=plane,
        rail=rail,
        unit=unit,
        group=group,
        component=component,
        ports=ports,
    )


def _host_block(plan: ClosPlan) -> list[I64]:
    nil = np.full(plan.hosts, NIL, dtype=np.int64)
    plane = nil if plan.planes > 1 else np.zeros(plan.hosts, dtype=np.int64)
    return [plane, nil, np.arange(plan.hosts, dtype=np.int64) // plan.unit_size, nil, nil]


def _extra_block(plan: ClosPlan, count: int) -> list[I64]:
    nil = np.full(count, NIL, dtype=np.int64)
    return [nil if plan.planes > 1 else np.zeros(count, dtype=np.int64), nil, nil, nil, nil]


def _leaf_block(plan: ClosPlan) -> list[I64]:
    leaf = leaf_columns(plan)
    nil = np.full(len(leaf["unit"]), NIL, dtype=np.int64)
    rail = nil if plan.kind == "fat-tree" else leaf["rail"]
    return [leaf["plane"], rail, leaf["unit"], leaf["group"] if plan.tiers == 3 else nil, leaf["component"]]


def _spine_block(plan: ClosPlan) -> list[I64]:
    index = np.arange(plan.switches[1], dtype=np.int64)
    nil = np.full(len(index), NIL, dtype=np.int64)
    if not len(index):
        return [nil] * 5
    pod = index // plan.spines % plan.pods
    component = index // (plan.spines * plan.pods)
    rail = nil
    if plan.kind == "rail-only":
        rail = component % plan.rails
    elif plan.lanes > 1 or (plan.kind == "rail-optimised" and plan.tiers == 3):
        rail = pod // plan.groups
    return [_plane(plan, component), rail, nil, pod % plan.groups if plan.tiers == 3 else nil, component]


def _core_block(plan: ClosPlan) -> list[I64]:
    index = np.arange(plan.switches[2], dtype=np.int64)
    nil = np.full(len(index), NIL, dtype=np.int64)
    if not len(index):
        return [nil] * 5
    component = index // (plan.spines * plan.cores)
    rail = component % plan.rails if plan.kind == "rail-only" else nil
    return [_plane(plan, component), rail, nil, nil, component]


def _plane(plan: ClosPlan, component: I64) -> I64:
    return component // plan.rails if plan.kind == "rail-only" else component


def host_links(design: ResolvedSpec, plan: ClosPlan, first_leaf: int) -> LinkColumns:
    """Wire every host port to its leaf."""
    index = np.arange(plan.endpoints, dtype=np.int64)
    per_host = plan.rails * plan.planes
    host, number = index // per_host, index % per_host
    rail, plane = number // plan.planes, number % plan.planes
    unit, slot = host // plan.unit_size, host % plan.unit_size
    if plan.kind == "fat-tree":
        leaf, down = plane * plan.units + unit, slot * plan.rails + rail
    else:
        leaf, down = (plane * plan.units + unit) * plan.rails + rail, slot
    cables = host_cables(plan.rails, plan.planes, design.host_leaf.links)
    return LinkColumns(
        a_node=host.astype(np.int32),
        a_number=(number + 1).astype(np.int32),
        b_node=(first_leaf + leaf).astype(np.int32),
        b_number=(down + 1).astype(np.int32),
        cable=(host * (int(cables[-1]) + 1) + cables[number]).astype(np.int32),
        rate_gbps=np.full(len(index), min(design.rate_gbps, design.leaf.rate_gbps)),
    )


def host_cables(rails: int, planes: int, links: int) -> I32:
    """Number the cables of one host by port: a cable takes ports of one NIC, or several whole NICs where it can."""
    rail, plane = np.divmod(np.arange(rails * planes, dtype=np.int32), planes)
    if links <= planes:
        return (rail * -(-planes // links) + plane // links).astype(np.int32)
    return (rail // (links // planes)).astype(np.int32)


def cage_cables(first: int, count: int, links: int) -> I32:
    """Number the cables of ``count`` uplink ports that begin after port ``first``, by cages of ``links`` ports."""
    return ((first + np.arange(count, dtype=np.int32)) // links - first // links).astype(np.int32)


def leaf_links(design: ResolvedSpec, plan: ClosPlan, first_leaf: int, first_spine: int) -> LinkColumns:
    """Wire every uplink of every leaf to the spines of its pod."""
    columns = leaf_columns(plan)
    leaf, q = _grid(plan.switches[0], plan.uplinks)
    pod = columns["component"] * plan.pods + columns["pod"]
    spine = pod[leaf] * plan.spines + q // plan.leaf_parallel
    down = columns["place"][leaf] * plan.leaf_parallel + q % plan.leaf_parallel
    return _uplinks(
        design.leaf_spine,
        (first_leaf + leaf, plan.slots, q, plan.uplinks),
        (first_spine + spine, down),
        min(design.leaf.rate_gbps, design.spine.rate_gbps),
    )


def spine_links(design: ResolvedSpec, plan: ClosPlan, first_spine: int, first_core: int) -> LinkColumns:
    """Wire every uplink of every spine to the cores of its position."""
    spine, t = _grid(plan.switches[1], plan.spine_uplinks)
    position = spine % plan.spines
    pod = spine // plan.spines % plan.pods
    component = spine // (plan.spines * plan.pods)
    core = (component * plan.spines + position) * plan.cores + t // plan.spine_parallel
    down = pod * plan.spine_parallel + t % plan.spine_parallel
    return _uplinks(
        design.spine_core,
        (first_spine + spine, plan.spine_uplinks, t, plan.spine_uplinks),
        (first_core + core, down),
        min(design.spine.rate_gbps, design.core.rate_gbps),
    )


def _uplinks(run: RunPart, low: tuple[I64, int, I64, int], high: tuple[I64, I64], rate_gbps: float) -> LinkColumns:
    node, first, uplink, count = low
    cables = cage_cables(first, count, run.links)
    per_node = int(cables[-1]) + 1
    return LinkColumns(
        a_node=node.astype(np.int32),
        a_number=(first + uplink + 1).astype(np.int32),
        b_node=high[0].astype(np.int32),
        b_number=(high[1] + 1).astype(np.int32),
        cable=((node - node[0]) * per_node + cables[uplink]).astype(np.int32),
        rate_gbps=np.full(len(node), rate_gbps),
    )


def _grid(outer: int, inner: int) -> tuple[I64, I64]:
    index = np.arange(outer * inner, dtype=np.int64)
    return index // inner, index % inner
