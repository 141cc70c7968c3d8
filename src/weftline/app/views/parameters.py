"""The JSON of every figure that packets meet."""

from __future__ import annotations

from weftline.app.parameters import Parameters
from weftline.app.views.failure import view_place
from weftline.model.parameters import Parameter


def view_parameters(found: Parameters) -> dict[str, object]:
    """Show every figure in force, where it holds and who says it, and what was assumed."""
    return {
        "schema": "weftline/parameters/1",
        "of": found.routed.routes.digest,
        "parameters": [view_parameter(row) for row in found.parameters],
        "assumptions": list(found.assumptions),
    }


def view_parameter(row: Parameter) -> dict[str, object]:
    """Show one figure."""
    return {
        "group": row.group,
        "name": row.name,
        "value": row.value,
        "unit": row.unit,
        "holds": row.holds,
        "count": row.count,
        "origin": row.origin,
        "source": row.source,
        "where": view_place(row.where),
    }
