"""Build: a resolved declaration becomes a fabric."""

from __future__ import annotations

import dataclasses

import numpy as np

from weftline.compile.clos import host_links, leaf_links, plan_nodes, spine_links
from weftline.compile.columns import CableColumns, LinkColumns, assemble, concat_links
from weftline.compile.extras import check_extras, place_extras
from weftline.compile.place import refuse
from weftline.compile.plan import ClosPlan, check_endpoints, plan_clos
from weftline.compile.reading import read_cabling
from weftline.compile.wiring import wire_cabling
from weftline.errors import Problem
from weftline.kernels.column import digest_parts
from weftline.model.design import ResolvedSpec, RunPart
from weftline.model.fabric import Fabric


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
        placed = place_extras(design, plan, nodes, concat_links([links for links, _ in runs]), 0)
        if isinstance(placed, tuple):
            return placed
        runs.insert(1, (placed, design.host_leaf))
    numbered, cables = number_cables(runs)
    return assemble(design, plan.kind, nodes, concat_links(numbered), cables)


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
