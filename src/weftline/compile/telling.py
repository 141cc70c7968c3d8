"""Telling: how the switches of a fabric without a tree are joined, and why its counts are what they are, in words."""

from __future__ import annotations

import numpy as np

from weftline.compile.groups import GroupPlan
from weftline.compile.torus import TorusPlan
from weftline.model.design import ResolvedSpec


def tell_direct(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> dict[str, str]:
    """Say how the switches of a plan are joined, in a few words by name."""
    each_plane = _per_plane(design)
    if isinstance(plan, TorusPlan):
        shape = " x ".join(str(size) for size in plan.sizes)
        links = ", ".join(str(count) for count in plan.links)
        return {
            "torus": f"{shape} = {plan.switches:,} switches{each_plane}, {plan.endpoints} endpoint ports each",
            "neighbour links": f"{links} in each dimension, {plan.switch_links:,} in all{each_plane}",
        }
    told: dict[str, str] = {}
    at = 0
    for group in design.spec.topology.groups:
        shape, hosts, others = plan.shapes[at], int(plan.hosts[at]), int(plan.others[at])
        what = f"{shape.leaves} leaves and {shape.spines} spines" if shape.spines else f"{shape.leaves} leaves"
        other = f", {others:,} others" if others else ""
        told[f"groups {group.name}"] = (
            f"{group.count} x {what}, {hosts:,} hosts{other}, {shape.endpoints} ports per leaf"
        )
        at += group.count
    each = sorted({int(n) for n in plan.pairs[~_diagonal(len(plan.pairs))]}) or [0]
    span = str(each[0]) if len(each) == 1 else f"{each[0]} to {each[-1]}"
    told["local links"] = f"{plan.local_links:,}{each_plane}"
    told["global links"] = f"{span} between two groups, {plan.global_links:,} in all{each_plane}, {plan.arrangement}"
    return told


def _per_plane(design: ResolvedSpec) -> str:
    return " on each plane" if design.spec.topology.planes > 1 else ""


def _diagonal(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.eye(count, dtype=np.bool_)


def reason_direct(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> dict[str, str]:
    """Give the arithmetic behind every count of a plan."""
    planes = design.spec.topology.planes
    each = f" x {planes} planes" if planes > 1 else ""
    hosts = f"{design.spec.hosts.count:,} hosts x {design.rails} rails{each}"
    if isinstance(plan, TorusPlan):
        told = tell_direct(design, plan)
        return {
            "host_leaf": hosts,
            "leaf": told["torus"] + each,
            "leaf_leaf": told["neighbour links"],
            "units": f"{design.spec.hosts.count:,} hosts, {plan.unit} on each switch",
        }
    declared = design.spec.topology.groups
    kinds = [(group, plan.shapes[plan.names.index(group.name)]) for group in declared]
    groups = " + ".join(f"{group.count} {group.name}" for group, _ in kinds)
    inside = " + ".join(f"{group.count} x {shape.local_links:,} ({group.name})" for group, shape in kinds)
    others = " + ".join(f"{group.count} x {group.others:,} ({group.name})" for group, _ in kinds if group.others)
    return {
        "host_leaf": hosts,
        "units": f"groups, {groups}",
        "groups": groups,
        "leaf": " + ".join(f"{group.count} x {group.leaf} ({group.name}){each}" for group, _ in kinds),
        "spine": " + ".join(f"{group.count} x {group.spine} ({group.name}){each}" for group, _ in kinds),
        "leaf_spine" if plan.switches[1] else "leaf_leaf": inside + each,
        "between_groups": tell_direct(design, plan)["global links"],
        "extra_endpoints": " + ".join(text for text in ("hosts.extra_endpoints", others) if text),
    }


def promised_load(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> float:
    """Give the load, in rates of a link, that the worst shift puts on the best shortest paths.

    In groups: all endpoints of one send to one other group over the links between the two, or all of a leaf to one
    other. In a torus: those of a switch to one half way round, through every switch in between.
    """
    rate = design.rate_gbps
    if isinstance(plan, TorusPlan):
        ends = plan.unit * plan.rails * rate / design.leaf.rate_gbps
        return max(ends * (size // 2) / links for size, links in zip(plan.sizes, plan.links, strict=True))
    ends = plan.hosts.astype(np.int64) * plan.rails
    trunk = min(design.leaf.rate_gbps, design.spine.rate_gbps)
    between = np.divide(ends[:, None], plan.pairs, out=np.zeros(plan.pairs.shape), where=plan.pairs > 0)
    leaf = max(shape.endpoints / (shape.parallel * max(shape.spines, 1)) for shape in plan.shapes)
    return max(float(between.max()), leaf, 1.0 if len(ends) == 1 else 0.0) * rate / trunk
