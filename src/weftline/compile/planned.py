"""Planned: the plan and the counts of a fabric without a tree, whichever kind it is."""

from __future__ import annotations

from weftline.compile.groups import GroupPlan, plan_groups
from weftline.compile.place import refuse
from weftline.compile.plan import MAX_PORTS, check_endpoints
from weftline.compile.torus import TorusPlan, plan_torus
from weftline.errors import Problem
from weftline.model.counts import FabricCounts, PlaneCounts
from weftline.model.design import ResolvedSpec

DIRECT_RUNS = ("host_leaf", "leaf_spine", "spine_core", "leaf_leaf", "between_groups")


def plan_direct(design: ResolvedSpec) -> GroupPlan | TorusPlan | tuple[Problem, ...]:
    """Work out the sizes of a dragonfly, dragonfly+ or torus, or say why it cannot be built."""
    problem = check_endpoints(design)
    if problem:
        return problem
    plan = plan_torus(design) if design.spec.topology.kind == "torus" else plan_groups(design)
    return plan if isinstance(plan, tuple) else _check_total(design, plan) or plan


def _check_total(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> tuple[Problem, ...]:
    if isinstance(plan, TorusPlan):
        switches, ports = plan.switches, plan.switches * plan.ports
    else:
        switches = sum(plan.switches)
        ports = sum(shape.leaves * shape.leaf_ports + shape.spines * shape.spine_ports for shape in plan.shapes)
        ports += int(plan.others.sum())
    planes = design.spec.topology.planes
    switches, ports = switches * planes, (ports + design.spec.hosts.count * design.rails) * planes
    if ports <= MAX_PORTS:
        return ()
    message = f"{switches:,} switches have {ports:,} ports with those of the hosts; one fabric holds at most "
    return refuse(design, "spec.too-large", f"{message}{MAX_PORTS:,}", "declare fewer switches", "topology")


def count_direct(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> FabricCounts:
    """Count what a plan builds in every plane; every link has a cable of its own."""
    hosts, planes = design.spec.hosts.count, design.spec.topology.planes
    endpoints = hosts * design.rails
    own = sum(extra.ports for extra in design.spec.hosts.extra_endpoints)
    if isinstance(plan, TorusPlan):
        leaf, spine, groups, units = plan.switches, 0, 0, -(-hosts // plan.unit)
        inside, across, extra = plan.switch_links, 0, own
    else:
        leaf, spine = plan.switches
        groups = units = len(plan.shapes)
        inside, across, extra = plan.local_links, plan.global_links, own + int(plan.others.sum()) * planes
    runs: dict[str, int] = dict.fromkeys(DIRECT_RUNS, 0)
    runs |= {"host_leaf": endpoints, "leaf_spine" if spine else "leaf_leaf": inside, "between_groups": across}
    switches = {"leaf": leaf, "spine": spine, "core": 0}
    total = sum(runs.values())
    links = {run: count * planes for run, count in runs.items()}
    return FabricCounts(
        hosts=hosts,
        gpus=hosts * design.gpus,
        units=units,
        endpoints=endpoints * planes,
        extra_endpoints=extra,
        switches={tier: count * planes for tier, count in switches.items()},
        cables=dict(links),
        links=total * planes,
        run_links=links,
        extra_cables=extra,
        extra_links=extra,
        by_plane=tuple(PlaneCounts(plane, endpoints, switches, total) for plane in range(planes)),
        groups=groups,
    )
