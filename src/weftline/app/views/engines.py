"""The JSON of a fabric under the routing engines of its manager."""

from __future__ import annotations

from weftline.app.engines import EnginesJudged, Judged
from weftline.app.views.failure import view_problem
from weftline.app.views.proof import view_proof, view_report


def view_engines(judged: EnginesJudged) -> dict[str, object]:
    """Show what each engine did, and what its tables are worth; our own last."""
    fabric = judged.fabric
    return {
        "schema": "weftline/lab-engines/1",
        "place": str(judged.place),
        "fabric": fabric.name,
        "switches": len(fabric.switch_node),
        "endpoints": len(fabric.endpoint_port),
        "with_lanes": judged.with_lanes,
        "engines": [_view_judged(one) for one in judged.engines],
        "own": _view_judged(judged.own),
    }


def _view_judged(one: Judged) -> dict[str, object]:
    return {
        "engine": one.label,
        "outcome": "ran" if one.run is None else one.run.outcome,
        "programmed": one.label if one.run is None else one.run.programmed,
        "reason": one.reason,
        "seconds": round(one.seconds, 3),
        "proofs": None if one.report is None else view_report(one.report),
        "deadlock_between_endpoints": None if one.between_endpoints is None else view_proof(one.between_endpoints),
        "problems": [view_problem(problem) for problem in one.problems],
    }
