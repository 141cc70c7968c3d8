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
        "engines": view_each(judged.engines),
        "own": _view_judged(judged.own),
    }


def view_each(engines: tuple[Judged, ...]) -> list[dict[str, object]]:
    """Show what each engine did."""
    return [_view_judged(one) for one in engines]


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


def summarise(one: Judged) -> dict[str, str]:
    """Say in a few words what became of an engine."""
    balance = one.find("balance")
    return {
        "engine": one.label,
        "tables_of": _source(one),
        "reach": _say_reach(one),
        "loop": _say_loop(one),
        "load": "" if balance is None or balance.bound is None else f"{balance.bound:,.2f}",
        "seconds": f"{one.seconds:.1f}",
    }


def _source(one: Judged) -> str:
    if one.run is None or one.run.outcome == "ran":
        return "its own"
    return one.run.programmed or "none"


def _say_reach(one: Judged) -> str:
    reach = one.find("reach")
    if reach is None:
        return "-"
    if reach.verdict == "proved":
        return "all pairs"
    lost = int(reach.detail.get("failed_pairs", 0))
    if reach.verdict == "refuted" and lost:
        return f"{lost:,} pairs lost"
    return "no" if reach.verdict == "refuted" else "unknown"


def _say_loop(one: Judged) -> str:
    deadlock = one.find("deadlock")
    if deadlock is None:
        return "-"
    if deadlock.verdict == "proved":
        return "none"
    if deadlock.verdict == "unknown":
        return "unknown"
    only = one.between_endpoints is not None and one.between_endpoints.verdict == "proved"
    return "only to switches" if only else f"of {deadlock.bound} links"
