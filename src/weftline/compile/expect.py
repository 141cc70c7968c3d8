"""Expect: declared counts against what the declaration really comes to, each difference with its reason."""

from __future__ import annotations

from weftline.compile.groups import GroupPlan
from weftline.compile.place import find_place
from weftline.compile.plan import ClosPlan, plan_clos
from weftline.compile.planned import plan_direct
from weftline.compile.telling import reason_direct
from weftline.compile.torus import TorusPlan
from weftline.errors import Problem
from weftline.model.counts import FabricCounts
from weftline.model.design import ResolvedSpec
from weftline.model.topology import DIRECT


def check_expect(design: ResolvedSpec, counts: FabricCounts) -> tuple[Problem, ...]:
    """Compare the section ``expect`` with the counts; every difference is a problem that shows the arithmetic."""
    actual = {"hosts": counts.hosts, "gpus": counts.gpus, "units": counts.units}
    actual |= {"endpoints": counts.endpoints, "extra_endpoints": counts.extra_endpoints, "groups": counts.groups}
    if counts.is_complete:
        actual.update(counts.switches)
        actual.update({"leaf_leaf": 0, "between_groups": 0} | dict(counts.cables))
    kind = design.spec.topology.kind
    plan = None if kind == "cabling" else plan_direct(design) if kind in DIRECT else plan_clos(design)
    reasons = dict.fromkeys(actual, "as the declaration says") | _common_reasons(design)
    if isinstance(plan, ClosPlan):
        reasons |= _reasons(design, plan)
    elif plan is None:
        reasons = {}
    elif not isinstance(plan, tuple):
        reasons |= reason_direct(design, plan)
    problems: list[Problem] = []
    for key, count in actual.items():
        expected: int | None = getattr(design.spec.expect, key)
        if expected is None or expected == count:
            continue
        reason = reasons.get(key, "as the cabling list says")
        problems.append(
            Problem(
                "spec.expect",
                f"expect.{key} says {expected:,}, but it is {count:,}: {reason}",
                _hint(key, expected, count, counts, plan),
                find_place(design, f"expect.{key}"),
            )
        )
    return tuple(problems)


def _hint(
    key: str,
    expected: int,
    count: int,
    counts: FabricCounts,
    plan: ClosPlan | GroupPlan | TorusPlan | tuple[Problem, ...] | None,
) -> str:
    if key == "host_leaf" and expected == count + counts.extra_cables:
        return f"the {counts.extra_cables:,} cables of extra endpoints are counted apart: write host_leaf: {count}"
    if key == "leaf" and isinstance(plan, ClosPlan) and expected * plan.switch_ports[0] < counts.endpoints:
        ports = plan.switch_ports[0]
        return f"{expected:,} leaves x {ports} ports = {expected * ports:,} ports for {counts.endpoints:,} endpoints"
    return f"correct the plan, or write {key}: {count}"


def _common_reasons(design: ResolvedSpec) -> dict[str, str]:
    hosts, planes = design.spec.hosts.count, design.spec.topology.planes
    return {
        "hosts": "hosts.count",
        "gpus": f"{hosts:,} hosts x {design.gpus} GPUs",
        "endpoints": f"{hosts:,} hosts x {design.rails} rails" + (f" x {planes} planes" if planes > 1 else ""),
        "extra_endpoints": "hosts.extra_endpoints",
        "groups": f"kind {design.spec.topology.kind} has none",
        "leaf_leaf": "there are none between leaves",
        "between_groups": "there are no groups",
        "spine": "there are no spines",
        "core": "there are no cores",
        "spine_core": "there are no cores",
        "leaf_spine": "there are no spines",
    }


def _reasons(design: ResolvedSpec, plan: ClosPlan) -> dict[str, str]:
    leaf, spine, core = plan.switches
    planes = f" x {plan.planes} planes" if plan.planes > 1 else ""
    rails = f" x {plan.leaf_rails} rails" if plan.leaf_rails > 1 else ""
    hosts = f"{plan.hosts:,} hosts x {plan.rails} rails{planes}"
    uplinks = f"{leaf:,} leaves x {plan.uplinks} uplinks"
    component = "component" if plan.components > 1 else "fabric"
    no_core = f"{plan.leaves} leaves of one {component} fit on spines of {plan.switch_ports[1]} ports, so none"
    if plan.tiers == 1:
        spines = "one leaf needs no spine"
    elif plan.tiers == 2:
        spines = (
            f"the smallest divisor of {plan.uplinks} uplinks that is at least {plan.leaves} leaves x {plan.uplinks} / "
            f"{plan.switch_ports[1]} ports is {plan.spines}"
            + (f", in each of {plan.components} components" if plan.components > 1 else "")
        )
    else:
        spines = f"{plan.spines} in each of {plan.components * plan.pods} pods"
    return {
        "units": f"{plan.hosts:,} hosts in units of {plan.unit_size:,}",
        "leaf": f"{plan.units:,} units{rails}{planes}",
        "spine": spines,
        "core": f"{plan.cores} for each of {plan.components * plan.spines} spine positions" if core else no_core,
        "host_leaf": _cables(plan.endpoints, hosts, design.host_leaf.links),
        "leaf_spine": _cables(leaf * plan.uplinks, uplinks, design.leaf_spine.links),
        "spine_core": _cables(
            spine * plan.spine_uplinks, f"{spine:,} spines x {plan.spine_uplinks} uplinks", design.spine_core.links
        )
        if core
        else no_core,
    }


def _cables(links: int, product: str, per_cable: int) -> str:
    return f"{product} = {links:,} links, {per_cable} per cable"
