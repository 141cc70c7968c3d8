"""The JSON of a checked declaration."""

from __future__ import annotations

from weftline.app.check import Checked
from weftline.app.views.failure import view_problem


def view_checked(checked: Checked) -> dict[str, object]:
    """Show that a declaration holds together and what it means."""
    return {
        "schema": "weftline/check/1",
        "declaration": str(checked.workspace.declaration),
        "digest": checked.design.digest,
        "resolved": view_resolved(checked),
        "problems": [view_problem(problem) for problem in checked.warnings],
    }


def view_resolved(checked: Checked) -> dict[str, object]:
    """Show every ``auto`` with its value."""
    design = checked.design
    spec = design.spec
    engine = spec.routing.engine
    return {
        "technology": spec.technology,
        "topology": spec.topology.kind,
        "hosts": spec.hosts.count,
        "host_part": design.host_name,
        "gpus_per_host": design.gpus,
        "rails": design.rails,
        "rate_gbps": design.rate_gbps,
        "planes": spec.topology.planes,
        "unit_size": design.unit_size,
        "leaf_part": f"{design.leaf.name} ({design.leaf.ports} ports)",
        "spine_part": f"{design.spine.name} ({design.spine.ports} ports)",
        "core_part": f"{design.core.name} ({design.core.ports} ports)",
        "engine": checked.technology.design.engine if engine == "auto" else engine,
    }
