"""Tables of ours for a fabric that exists: the first engine whose tables are proved, and why no other one."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.app.pipeline import MAX_HOPS, Progress, silent
from weftline.errors import CapabilityError
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofReport, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.route import compute_routes

RULES = ProofRules(required=("reach", "deadlock"), balance_threshold=1.0, max_hops=MAX_HOPS)
"""What tables of a fabric that exists are judged by."""
PREFERRED = ("fat-tree", "updown")
"""The first carries every shift of a full tree without contention, the second routes any graph on one lane."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Computed tables with their proofs."""

    routes: Routes
    reason: str
    """Which engine, and why not the ones before it, in one sentence."""
    report: ProofReport


def choose_routes(fabric: Fabric, engine: str, paths: int = 1, progress: Progress = silent) -> Chosen:
    """Compute tables with the named engine; ``auto`` takes the first whose tables are loop-free and reach every pair.

    ``paths`` are the addresses of an endpoint. Where no engine's tables are proved the last one's are returned, with
    the proof that says what is wrong.

    Raises:
        CapabilityError: where a named engine, or every one, cannot route the fabric.
    """
    progress("computing routes", None)
    if engine != "auto":
        routes = compute_routes(fabric, engine, to_switches=True, paths=paths)
        progress("proving the claims", None)
        return Chosen(routes, f"computed by {engine}, as asked", prove(fabric, routes, RULES))
    against: list[str] = []
    for name in PREFERRED:
        try:
            routes = compute_routes(fabric, name, to_switches=True, paths=paths)
        except CapabilityError as error:
            if name == PREFERRED[-1]:
                raise
            against.append(f"{name} cannot: {error.message}")
            continue
        progress("proving the claims", None)
        report = prove(fabric, routes, RULES)
        if report.is_accepted or name == PREFERRED[-1]:
            since = f", since {'; '.join(against)}" if against else ""
            return Chosen(routes, f"computed by {name}{since}; no tables were given", report)
        against.append(f"the tables of {name} would not do: {_tell_refuted(report)}")
    raise AssertionError(PREFERRED)


def _tell_refuted(report: ProofReport) -> str:
    """Say what is wrong with tables."""
    for proof in report.proofs:
        if proof.required and proof.verdict is not Verdict.PROVED:
            return proof.witness.summary if proof.witness is not None else proof.statement
    return "they are not proved"
