"""Build: a resolved declaration becomes a fabric."""

from __future__ import annotations

import dataclasses

import numpy as np

from weftline.compile.clos import host_links, leaf_links, plan_nodes, spine_links
from weftline.compile.columns import CableColumns, LinkColumns, assemble, concat_links
from weftline.compile.extras import check_extras, clos_room, direct_room, place_extras
from weftline.compile.groups import GroupPlan
from weftline.compile.layout import end_links, lay_out, layout_nodes, switch_links
from weftline.compile.place import refuse
from weftline.compile.plan import ClosPlan, check_endpoints, plan_clos
from weftline.compile.planned import plan_direct
from weftline.compile.reading import read_cabling
from weftline.compile.switches import with_hosts
from weftline.compile.torus import TorusPlan
from weftline.compile.wiring import wire_cabling
from weftline.errors import Problem
from weftline.kernels.column import digest_parts
from weftline.model.design import ResolvedSpec, RunPart
from weftline.model.fabric import Fabric
from weftline.model.topology import DIRECT


def build_fabric(design: ResolvedSpec, cabling_text: str | None = None) -> Fabric | tuple[Problem, ...]:
    """Build the fabric that a design declares, or return why it cannot be built.

    ``cabling_text`` is the cabling list of ``kind: cabling``. Every size is checked by arithmetic before a column is
    allocated. Takes well under a second for 16,384 endpoints.
    """
    problems = check_extras(design)
    if problems:
        return problems
    if design.spec.topology.kind == "cabling":
        return _build_listed(design, cabling_text)
    if design.spec.topology.kind in DIRECT:
        direct = plan_direct(design)
        return direct if isinstance(direct, tuple) else _build_direct(design, direct)
    plan = plan_clos(design)
    return plan if isinstance(plan, tuple) else _build_clos(design, plan)


def _build_listed(design: ResolvedSpec, text: str | None) -> Fabric | tuple[Problem, ...]:
    if text is None:
        message, hint = "kind: cabling needs a cabling list", "name the CSV file in topology.cabling"
        return refuse(design, "spec.cabling-missing", message, hint, "topology.cabling")
    problems = check_endpoints(design)
    if problems:
        return problems
    listed = read_cabling(text, design.cabling_path or "cabling list")
    if isinstance(listed, tuple):
        return listed
    return wire_cabling(dataclasses.replace(design, digest=digest_parts((design.digest, text))), listed)


def _build_clos(design: ResolvedSpec, plan: ClosPlan) -> Fabric | tuple[Problem, ...]:
    extras = design.spec.hosts.extra_endpoints
    nodes = plan_nodes(plan, tuple(e.name for e in extras), tuple(e.ports for e in extras))
    first_leaf = plan.hosts + len(extras)
    first_spine = first_leaf + plan.switches[0]
    first_core = first_spine + plan.switches[1]
    runs: list[tuple[LinkColumns, RunPart]] = [(host_links(design, plan, first_leaf), design.host_leaf)]
    if plan.tiers > 1:
        runs.append((leaf_links(design, plan, first_leaf, first_spine), design.leaf_spine))
    if plan.tiers > 2:
        runs.append((spine_links(design, plan, first_spine, first_core), design.spine_core))
    if extras:
        placed = place_extras(design, clos_room(plan), nodes, concat_links([links for links, _ in runs]), 0)
        if isinstance(placed, tuple):
            return placed
        runs.insert(1, (placed, design.host_leaf))
    numbered, cables = number_cables(runs)
    return assemble(design, plan.kind, nodes, concat_links(numbered), cables)


def _build_direct(design: ResolvedSpec, plan: GroupPlan | TorusPlan) -> Fabric | tuple[Problem, ...]:
    layout = lay_out(plan, design.spec.topology.planes)
    nodes = layout_nodes(design, layout)
    names = [extra.name for extra in design.spec.hosts.extra_endpoints]
    clash = sorted(set(names) & set(layout.other_names))
    if clash:
        message = f"{clash[0]} is both an extra endpoint and one of the other endpoints of a group"
        return refuse(design, "spec.duplicate-name", message, "rename one", "hosts.extra_endpoints")
    first_switch = len(nodes.name) - layout.graph.switches
    to_hosts, to_others = end_links(design, layout)
    runs = [(to_hosts, design.host_leaf)]
    if len(to_others.a_node):
        runs.append((to_others, design.host_leaf))
    between = switch_links(design, layout.graph, first_switch)
    if names:
        links = concat_links([links for links, _ in (*runs, *between)])
        placed = place_extras(design, direct_room(plan, layout, first_switch), nodes, links, 0)
        if isinstance(placed, tuple):
            return placed
        runs.append((placed, design.host_leaf))
    numbered, cables = number_cables([*runs, *between])
    fabric = assemble(design, layout.graph.shape, nodes, concat_links(numbered), cables)
    return dataclasses.replace(fabric, node_place=with_hosts(layout.graph.place, first_switch))


def number_cables(runs: list[tuple[LinkColumns, RunPart]]) -> tuple[list[LinkColumns], CableColumns]:
    """Number the cables of all runs through, and give each the part and length of its run."""
    numbered: list[LinkColumns] = []
    parts: list[str] = []
    lengths: list[float] = []
    for links, run in runs:
        count = int(links.cable.max()) + 1
        shifted = links.cable + np.int32(len(parts))
        numbered.append(dataclasses.replace(links, cable=shifted))
        parts.extend([run.name] * count)
        lengths.extend([run.length_m] * count)
    return numbered, CableColumns(part=tuple(parts), length_m=np.array(lengths, dtype=np.float64))
