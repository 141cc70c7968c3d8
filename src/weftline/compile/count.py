"""Count: how many of everything a plan or a fabric has."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.compile.clos import cage_cables, host_cables
from weftline.compile.plan import ClosPlan, check_endpoints, plan_clos
from weftline.compile.planned import count_direct, plan_direct
from weftline.compile.switches import DIRECT_SHAPES
from weftline.errors import Problem
from weftline.kernels.column import I8, I64, NIL
from weftline.model.counts import FabricCounts, PlaneCounts
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind, Tier
from weftline.model.topology import DIRECT

Mask: TypeAlias = NDArray[np.bool_]

RUNS = ("host_leaf", "leaf_spine", "spine_core")
_EXTRA, _OTHER = 3, 4
_LEAVES, _GROUPS = 5, 6


def plan_counts(design: ResolvedSpec) -> FabricCounts | tuple[Problem, ...]:
    """Count what a design declares by arithmetic alone, in constant time.

    The result equals ``count_fabric`` of the built fabric. What cannot be built comes back as problems; only that
    extra endpoints find free ports is left to ``build_fabric``. With ``kind: cabling`` only the figures of the hosts
    are known, and ``is_complete`` is False.
    """
    if design.spec.topology.kind == "cabling":
        return check_endpoints(design) or _count_hosts(design)
    if design.spec.topology.kind in DIRECT:
        direct = plan_direct(design)
        return direct if isinstance(direct, tuple) else count_direct(design, direct)
    plan = plan_clos(design)
    return plan if isinstance(plan, tuple) else count_plan(design, plan)


def _count_hosts(design: ResolvedSpec) -> FabricCounts:
    hosts, extra = design.spec.hosts.count, sum(e.ports for e in design.spec.hosts.extra_endpoints)
    return FabricCounts(
        hosts=hosts,
        gpus=hosts * design.gpus,
        units=math.ceil(hosts / design.unit_size),
        endpoints=hosts * design.rails * design.spec.topology.planes,
        extra_endpoints=extra,
        switches=_tiers(0, 0, 0),
        cables=dict.fromkeys(RUNS, 0),
        links=0,
        run_links=dict.fromkeys(RUNS, 0),
        extra_cables=extra,
        extra_links=extra,
        by_plane=(),
        is_complete=False,
    )


def count_plan(design: ResolvedSpec, plan: ClosPlan) -> FabricCounts:
    """Count what a plan builds."""
    leaf, spine, core = plan.switches
    extra = sum(e.ports for e in design.spec.hosts.extra_endpoints)
    per_host = int(host_cables(plan.rails, plan.planes, design.host_leaf.links)[-1]) + 1
    links = {
        "host_leaf": plan.endpoints,
        "leaf_spine": leaf * plan.uplinks,
        "spine_core": spine * plan.spine_uplinks,
    }
    cables = {
        "host_leaf": plan.hosts * per_host,
        "leaf_spine": leaf * _cages(plan.slots, plan.uplinks, design.leaf_spine.links),
        "spine_core": spine * _cages(plan.spine_uplinks, plan.spine_uplinks, design.spine_core.links),
    }
    total, share = sum(links.values()), plan.planes
    switches = _tiers(leaf // share, spine // share, core // share)
    by_plane = tuple(PlaneCounts(p, plan.endpoints // share, switches, total // share) for p in range(share))
    return FabricCounts(
        hosts=plan.hosts,
        gpus=plan.hosts * design.gpus,
        units=plan.units,
        endpoints=plan.endpoints,
        extra_endpoints=extra,
        switches=_tiers(leaf, spine, core),
        cables=cables,
        links=total,
        run_links=links,
        extra_cables=extra,
        extra_links=extra,
        by_plane=by_plane,
    )


def _tiers(leaf: int, spine: int, core: int) -> dict[str, int]:
    return {"leaf": leaf, "spine": spine, "core": core}


def _cages(first: int, count: int, links: int) -> int:
    return int(cage_cables(first, count, links)[-1]) + 1 if count else 0


def count_fabric(fabric: Fabric, design: ResolvedSpec | None = None) -> FabricCounts:
    """Count what a fabric is made of; without a design each NIC stands for one GPU, and units are those of hosts."""
    is_host = fabric.node_kind == NodeKind.HOST
    hosts = int(np.count_nonzero(is_host))
    run, port = _link_runs(fabric)
    ends = fabric.node_kind[fabric.port_node]
    host_ports = int(np.count_nonzero(ends == NodeKind.HOST))
    cable = fabric.port_cable[port]
    known = cable != NIL
    first = np.unique(cable[known], return_index=True)[1]
    links = np.bincount(run, minlength=7)
    cables = np.bincount(np.concatenate((run[known][first], run[~known])), minlength=7)
    is_direct = fabric.shape in DIRECT_SHAPES
    runs = dict(zip(RUNS, range(3), strict=True))
    if is_direct:
        runs |= {"leaf_leaf": _LEAVES, "between_groups": _GROUPS}
    groups = int(fabric.node_group.max(initial=NIL)) + 1 if is_direct else 0
    if design is None:
        gpus, units = host_ports // fabric.planes, int(fabric.node_unit[is_host].max(initial=NIL)) + 1
    else:
        gpus, units = hosts * design.gpus, math.ceil(hosts / design.unit_size)
        if is_direct:
            units = groups or int(fabric.node_unit[is_host].max(initial=NIL)) + 1
    return FabricCounts(
        hosts=hosts,
        gpus=gpus,
        units=units,
        endpoints=host_ports,
        extra_endpoints=int(np.count_nonzero(ends == NodeKind.EXTRA)),
        switches=_switches(fabric, fabric.node_kind == NodeKind.SWITCH),
        cables={name: int(cables[i]) for name, i in runs.items()},
        links=int(len(run) - links[_EXTRA]),
        run_links={name: int(links[i]) for name, i in runs.items()},
        extra_cables=int(cables[_EXTRA]),
        extra_links=int(links[_EXTRA]),
        by_plane=_planes(fabric, run, port),
        groups=groups,
    )


def _planes(fabric: Fabric, run: I64, port: I64) -> tuple[PlaneCounts, ...]:
    is_host_port = fabric.node_kind[fabric.port_node] == NodeKind.HOST
    is_switch = fabric.node_kind == NodeKind.SWITCH
    plane = fabric.port_plane[port]
    return tuple(
        PlaneCounts(
            plane=p,
            endpoints=int(np.count_nonzero(is_host_port & (fabric.port_plane == p))),
            switches=_switches(fabric, is_switch & (fabric.node_plane == p)),
            links=int(np.count_nonzero((plane == p) & (run != _EXTRA))),
        )
        for p in range(fabric.planes)
    )


def _switches(fabric: Fabric, chosen: Mask) -> dict[str, int]:
    tier: I8 = fabric.node_tier
    return {TIER_NAMES[t]: int(np.count_nonzero(chosen & (tier == t))) for t in (Tier.LEAF, Tier.SPINE, Tier.CORE)}


def _link_runs(fabric: Fabric) -> tuple[I64, I64]:
    """Classify each link by the tiers or groups it joins; also give one of its ports."""
    port = np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count))
    a, b = fabric.port_node[port], fabric.port_node[fabric.port_peer[port]]
    low = np.minimum(fabric.node_tier[a], fabric.node_tier[b])
    high = np.maximum(fabric.node_tier[a], fabric.node_tier[b])
    run = np.where(high == low + 1, low, _OTHER).astype(np.int64)
    if fabric.shape in DIRECT_SHAPES:
        run[run == _OTHER] = _LEAVES
        run[(low > Tier.HOST) & (fabric.node_group[a] != fabric.node_group[b])] = _GROUPS
    run[(fabric.node_kind[a] == NodeKind.EXTRA) | (fabric.node_kind[b] == NodeKind.EXTRA)] = _EXTRA
    return run, port
