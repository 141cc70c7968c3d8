"""The JSON of a checked declaration."""

from __future__ import annotations

import numpy as np

from weftline.app.build import Built
from weftline.app.views.failure import view_problem
from weftline.compile import plan_direct, tell_direct
from weftline.kernels.column import NIL
from weftline.model.design import TierPart
from weftline.model.fabric import TIER_NAMES
from weftline.model.spec import AUTO
from weftline.model.topology import DIRECT

FOR_TREES = "fat-tree"


def view_checked(built: Built) -> dict[str, object]:
    """Show that a declaration holds together and what it means."""
    checked = built.checked
    return {
        "schema": "weftline/check/1",
        "declaration": str(checked.workspace.declaration),
        "digest": checked.design.digest,
        "resolved": view_resolved(built),
        "problems": [view_problem(problem) for problem in checked.warnings],
    }


def view_resolved(built: Built) -> dict[str, object]:
    """Show every ``auto`` with its value, and how many ports of the switches are used."""
    design = built.checked.design
    spec = design.spec
    engine = spec.routing.engine
    plan = plan_direct(design) if spec.topology.kind in DIRECT else ()
    told = {} if isinstance(plan, tuple) else tell_direct(design, plan)
    return {
        "technology": spec.technology,
        "topology": spec.topology.kind,
        "hosts": spec.hosts.count,
        "host_part": design.host_name,
        "gpus_per_host": design.gpus,
        "rails": design.rails,
        "rate": f"{design.rate_gbps:g} Gb/s",
        "planes": spec.topology.planes,
        **({} if spec.topology.kind in DIRECT else {"unit_size": design.unit_size}),
        **told,
        **{tier: _tell_part(built, tier, count) for tier, count in built.counts.switches.items() if count},
        "engine": _tell_engine(built) if engine == AUTO else engine,
    }


def _tell_engine(built: Built) -> str:
    """Name the engine that ``auto`` tries first; one for trees is passed over where the kind is none."""
    design = built.checked.technology.design
    kind = built.checked.design.spec.topology.kind
    if design.shaped.get(kind):
        return design.shaped[kind][0]
    others = [engine for engine in design.engines if engine != FOR_TREES]
    return others[0] if kind in DIRECT and others else design.engine


def _tell_part(built: Built, tier: str, count: int) -> str:
    """Name the part of a tier, and say how many of its ports the fullest switch uses."""
    fabric = built.fabric
    part: TierPart = getattr(built.checked.design, tier)
    lit = np.bincount(fabric.port_node[fabric.port_peer != NIL], minlength=fabric.node_count)
    members = np.flatnonzero(fabric.node_tier == TIER_NAMES.index(tier))
    fullest = int(members[lit[members].argmax()])
    ports = int(fabric.port_ptr[fullest + 1] - fabric.port_ptr[fullest])
    split = f" ({part.ports} before some were split)" if ports != part.ports else ""
    return f"{count:,} x {part.name}, {int(lit[fullest])} of {ports} ports used{split}"
