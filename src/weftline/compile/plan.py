"""Plan: the sizes of a Clos fabric by arithmetic alone, and the refusal of what cannot be built."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from weftline.compile.place import refuse
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec

MAX_ENDPOINTS = 1_000_000
MAX_PORTS = 8_000_000


@dataclass(frozen=True, slots=True)
class ClosPlan:
    """Sizes of a rail-optimised, fat-tree or rail-only fabric; every count is of one component unless it says so.

    A *lane* is the row of leaves that share spines in three tiers: the leaves of one rail (rail-optimised) or all
    leaves of the component. Groups cut a lane into pods. ``uplinks`` of a leaf spread over ``spines`` positions with
    ``leaf_parallel`` links each; the ``spine_uplinks`` of a spine over ``cores`` with ``spine_parallel`` links each.
    """

    kind: str
    hosts: int
    rails: int
    planes: int
    unit_size: int
    units: int
    slots: int
    uplinks: int
    tiers: int
    components: int
    """Of the whole fabric."""
    leaf_rails: int
    """Leaves per unit and plane: the rails, or one on a fat tree."""
    leaves: int
    switch_ports: tuple[int, int, int]
    """Ports of one leaf, spine and core."""
    lanes: int = 1
    groups: int = 1
    """Groups per lane; 1 in two tiers."""
    spines: int = 0
    """Per pod; 0 in one tier."""
    leaf_parallel: int = 0
    spine_uplinks: int = 0
    cores: int = 0
    """Per spine position; 0 below three tiers."""
    spine_parallel: int = 0

    @property
    def pods(self) -> int:
        """Count pods of a component."""
        return self.lanes * self.groups

    @property
    def endpoints(self) -> int:
        """Count endpoints of hosts in the whole fabric."""
        return self.hosts * self.rails * self.planes

    @property
    def switches(self) -> tuple[int, int, int]:
        """Count leaves, spines and cores of the whole fabric."""
        return (
            self.components * self.leaves,
            self.components * self.pods * self.spines,
            self.components * self.spines * self.cores,
        )


def smallest_divisor(number: int, least: int) -> int | None:
    """Find the smallest divisor of ``number`` that is at least ``least``; None where there is none."""
    return next((n for n in range(max(least, 1), number + 1) if number % n == 0), None)


def leaf_uplinks(slots: int, host_gbps: float, uplink_gbps: float, oversubscription: float) -> int:
    """Count the uplinks of a leaf whose ``slots`` host ports ask for ``oversubscription`` times what goes up."""
    return math.ceil(slots * host_gbps / (oversubscription * uplink_gbps) - 1e-9)


def plan_clos(design: ResolvedSpec) -> ClosPlan | tuple[Problem, ...]:
    """Work out all sizes in constant time, or say with the arithmetic why the fabric cannot be built."""
    problem = check_endpoints(design)
    if problem:
        return problem
    topology = design.spec.topology
    hosts, rails, planes = design.spec.hosts.count, design.rails, topology.planes
    by_rail = topology.kind != "fat-tree"
    units = math.ceil(hosts / design.unit_size)
    leaves = units * (rails if topology.kind == "rail-optimised" else 1)
    slots = design.unit_size * (1 if by_rail else rails)
    up_gbps = min(design.leaf.rate_gbps, design.spine.rate_gbps)
    down_gbps = min(design.rate_gbps, design.leaf.rate_gbps)
    uplinks = leaf_uplinks(slots, down_gbps, up_gbps, topology.oversubscription)
    tiers = _tiers(design, leaves)
    if tiers == 1:
        uplinks = 0
    problem = (
        _check_single(design, leaves, tiers)
        or _check_leaf(design, slots, uplinks)
        or _check_spine(design, leaves, uplinks, tiers)
    )
    if problem:
        return problem
    base = ClosPlan(
        kind=topology.kind,
        hosts=hosts,
        rails=rails,
        planes=planes,
        unit_size=design.unit_size,
        units=units,
        slots=slots,
        uplinks=uplinks,
        tiers=tiers,
        components=planes * (rails if topology.kind == "rail-only" else 1),
        leaf_rails=rails if by_rail else 1,
        leaves=leaves,
        switch_ports=(design.leaf.ports, design.spine.ports, design.core.ports),
    )
    plan = base if tiers == 1 else _add_spines(base) if tiers == 2 else _add_cores(base, design)
    return plan if isinstance(plan, tuple) else _check_total(design, plan) or plan


def check_endpoints(design: ResolvedSpec) -> tuple[Problem, ...]:
    """Refuse more endpoints than one fabric holds."""
    hosts, rails, planes = design.spec.hosts.count, design.rails, design.spec.topology.planes
    endpoints = hosts * rails * planes
    if endpoints <= MAX_ENDPOINTS:
        return ()
    return refuse(
        design,
        "spec.too-large",
        f"{hosts:,} hosts x {rails} rails x {planes} planes = {endpoints:,} endpoints; "
        f"one fabric holds at most {MAX_ENDPOINTS:,}",
        "declare several fabrics, or fewer hosts",
        "hosts.count",
    )


def _add_spines(plan: ClosPlan) -> ClosPlan:
    """Size the second tier; the leaves are known to fit on a spine, so that a divisor exists."""
    spines = smallest_divisor(plan.uplinks, math.ceil(plan.leaves * plan.uplinks / plan.switch_ports[1])) or 1
    return replace(plan, spines=spines, leaf_parallel=plan.uplinks // spines)


def _add_cores(plan: ClosPlan, design: ResolvedSpec) -> ClosPlan | tuple[Problem, ...]:
    """Size pods and cores; a pod has at most as many leaves as a spine has ports down."""
    half = plan.switch_ports[1] // 2
    lanes = plan.rails if plan.kind == "rail-optimised" else 1
    lane_leaves = plan.leaves // lanes
    groups = math.ceil(lane_leaves / half)
    largest = math.ceil(lane_leaves / groups)
    spines = smallest_divisor(plan.uplinks, math.ceil(largest * plan.uplinks / half)) or 1
    cores = smallest_divisor(half, math.ceil(lanes * groups * half / plan.switch_ports[2]))
    if cores is None:
        return _refuse_cores(design, lanes * groups, lanes, groups)
    return replace(
        plan,
        lanes=lanes,
        groups=groups,
        spines=spines,
        leaf_parallel=plan.uplinks // spines,
        spine_uplinks=half,
        cores=cores,
        spine_parallel=half // cores,
    )


def _tiers(design: ResolvedSpec, leaves: int) -> int:
    declared = design.spec.topology.tiers
    if declared != "auto":
        return declared
    if leaves == 1:
        return 1
    return 2 if leaves <= design.spine.ports else 3


def _check_single(design: ResolvedSpec, leaves: int, tiers: int) -> tuple[Problem, ...]:
    if tiers > 1 or leaves == 1:
        return ()
    topology, hosts = design.spec.topology, design.spec.hosts.count
    units = math.ceil(hosts / design.unit_size)
    per = f"{units} units x {design.rails} rails" if topology.kind == "rail-optimised" else f"{units} units"
    hint = "declare tiers: 2, or leave tiers out"
    if topology.kind == "rail-optimised" and units == 1:
        hint += "; kind: rail-only builds separate rails without spines"
    return refuse(
        design,
        "spec.tiers-too-few",
        f"tiers: 1 joins one leaf per plane, but {hosts:,} hosts in units of {design.unit_size:,} "
        f"need {per} = {leaves:,} leaves that spines must join",
        hint,
        "topology.tiers",
    )


def _check_leaf(design: ResolvedSpec, slots: int, uplinks: int) -> tuple[Problem, ...]:
    ports = design.leaf.ports
    if slots + uplinks <= ports:
        return ()
    ratio = design.spec.topology.oversubscription
    each = 1 if design.spec.topology.kind != "fat-tree" else design.rails
    rates = (
        min(design.rate_gbps, design.leaf.rate_gbps),
        min(design.leaf.rate_gbps, design.spine.rate_gbps),
    )
    most = min(design.unit_size, ports // each)
    while most and most * each + (leaf_uplinks(most * each, *rates, ratio) if uplinks else 0) > ports:
        most -= 1
    if most:
        hint = f"declare unit_size: {most}, a leaf with more ports, or more oversubscription"
    else:
        hint = "declare a leaf with more ports, or kind: rail-optimised, which puts each rail on its own leaf"
    hosts_down = f"{design.unit_size:,} hosts" + (f" x {each} rails" if each > 1 else "")
    return refuse(
        design,
        "spec.leaf-ports",
        f"a leaf would need {slots:,} ports down ({hosts_down}) and {uplinks:,} up (oversubscription {ratio:g}), "
        f"{slots:,} + {uplinks:,} = {slots + uplinks:,} > {ports:,} ports of {design.leaf.name}",
        hint,
        "hosts.unit_size",
    )


def _check_spine(design: ResolvedSpec, leaves: int, uplinks: int, tiers: int) -> tuple[Problem, ...]:
    ports = design.spine.ports
    if tiers == 2 and leaves > ports:
        need = math.ceil(leaves * uplinks / ports)
        return refuse(
            design,
            "spec.spine-reach",
            f"two tiers cannot join {leaves:,} leaves: their {leaves:,} x {uplinks} = {leaves * uplinks:,} uplinks "
            f"need {need:,} spines of {ports} ports, but the {uplinks} uplinks of a leaf reach at most {uplinks}; "
            f"a spine has {ports} ports for {leaves:,} leaves",
            "declare tiers: 3 or auto, more planes, larger units, or a spine with more ports",
            "topology.tiers",
        )
    if tiers == 3 and ports < 2:
        return refuse(
            design,
            "spec.spine-reach",
            "a spine of three tiers needs a port down and a port up, but has 1 port",
            "declare a spine with more ports",
            "topology.spine",
        )
    return ()


def _refuse_cores(design: ResolvedSpec, pods: int, lanes: int, groups: int) -> tuple[Problem, ...]:
    half, ports = design.spine.ports // 2, design.core.ports
    return refuse(
        design,
        "spec.core-reach",
        f"a core must reach every pod, but {lanes} x {groups:,} groups = {pods:,} pods > {ports} ports of "
        f"{design.core.name}; the {half} uplinks of a spine cannot be spread over more than {half} cores",
        "declare a core or a spine with more ports, more planes, or fewer hosts",
        "topology.core",
    )


def _check_total(design: ResolvedSpec, plan: ClosPlan) -> tuple[Problem, ...]:
    ports = plan.endpoints + sum(n * p for n, p in zip(plan.switches, plan.switch_ports, strict=True))
    if ports <= MAX_PORTS:
        return ()
    leaf, spine, core = plan.switches
    return refuse(
        design,
        "spec.too-large",
        f"{leaf:,} leaves, {spine:,} spines and {core:,} cores have {ports:,} ports with those of the hosts; "
        f"one fabric holds at most {MAX_PORTS:,}",
        "declare larger units, switches that fit them, or fewer hosts",
        "hosts.count",
    )
