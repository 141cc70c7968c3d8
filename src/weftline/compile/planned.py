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
    ports += design.spec.hosts.count * design.rails
    if ports <= MAX_PORTS:
        return ()
    message = f"{switches:,} switches have {ports:,} ports with those of the hosts; one fabric holds at most "
    return refuse(design, "spec.too-large", f"{message}{MAX_PORTS:,}", "declare fewer switches", "topology")


def count_direct(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> FabricCounts:
    """Count what a plan builds; every link has a cable of its own."""
    hosts = design.spec.hosts.count
    endpoints = hosts * design.rails
    own = sum(extra.ports for extra in design.spec.hosts.extra_endpoints)
    if isinstance(plan, TorusPlan):
        leaf, spine, groups, units = plan.switches, 0, 0, -(-hosts // plan.unit)
        inside, across, extra = plan.switch_links, 0, own
    else:
        leaf, spine = plan.switches
        groups = units = len(plan.shapes)
        inside, across, extra = plan.local_links, plan.global_links, own + int(plan.others.sum())
    runs: dict[str, int] = dict.fromkeys(DIRECT_RUNS, 0)
    runs |= {"host_leaf": endpoints, "leaf_spine" if spine else "leaf_leaf": inside, "between_groups": across}
    switches = {"leaf": leaf, "spine": spine, "core": 0}
    total = sum(runs.values())
    return FabricCounts(
        hosts=hosts,
        gpus=hosts * design.gpus,
        units=units,
        endpoints=endpoints,
        extra_endpoints=extra,
        switches=switches,
        cables=dict(runs),
        links=total,
        run_links=dict(runs),
        extra_cables=extra,
        extra_links=extra,
        by_plane=(PlaneCounts(0, endpoints, switches, total),),
        groups=groups,
    )
