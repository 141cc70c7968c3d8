"""The JSON of an order of tables."""

from __future__ import annotations

from weftline.app.order import Ordered
from weftline.app.views.proof import view_proof


def view_order(ordered: Ordered) -> dict[str, object]:
    """Show the stages with their proofs, and what to drain."""
    ordering, side = ordered.ordering, ordered.side
    change = side.technology.change
    return {
        "schema": "weftline/order/1",
        "old": str(ordered.old),
        "new": ordered.new,
        "fabric": side.fabric.name,
        "technology": side.technology.name,
        "verdict": str(ordering.verdict),
        "why": ordering.why,
        "at_once": view_proof(ordering.direct),
        "stages": [
            {
                "number": number,
                "changes": stage.words,
                "entries": stage.entries,
                "writes": stage.writes,
                "proof": view_proof(stage.proof),
            }
            for number, stage in enumerate(ordering.stages, start=1)
        ],
        "drain": None
        if ordering.drain is None
        else {
            "destinations": list(ordered.drained),
            "links": None if ordering.drain.links is None else list(ordering.drain.links),
        },
        "granularity": None
        if change is None
        else {"piece": change.piece, "order": change.order, "stage": change.stage, "source": change.source},
        "steps": ordering.steps,
        "budget": ordered.budget,
        "written": [str(path) for path in ordered.written],
    }
