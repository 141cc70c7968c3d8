"""Reach, credit loops and balance of the tables that the switches hold, and what tables of ours would do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weftline.kernels.column import NIL
from weftline.model.audit import AuditInput, Judged
from weftline.model.finding import Finding, FindingSeverity, Topic, Unjudged
from weftline.model.proof import Proof, Verdict

TABLES = "dump_fts > lfts.txt (or ibdiagnet --routing, for ibdiagnet2.fdbs and ibdiagnet2.far)"
LEVELS = (
    "the service level of each path (saquery PR --src-to-dst A:B) and what programs take: those that ask for no path, "
    "as NCCL with NCCL_IB_SL, are on one level"
)
MANAGEMENT = 15
"""Lane of a service level that is dropped. IBTA vol 1, 7.6.6."""
_RULE = {"reach": "routing.reach", "deadlock": "routing.deadlock", "balance": "routing.balance"}
_OPEN = {
    "reach": "the topology and the tables of one moment",
    "deadlock": "the tables of one moment, and for lanes the service level tables beside them",
    "balance": "tables that deliver every pair: see Reach",
}
_NEXT = {
    "reach": "look at the cabling first; a heavy sweep mends what a fault left behind, but not with routing_engine "
    "file; weftline adopt DUMP shows tables that reach every pair",
    "deadlock": "choose an engine without loops: weftline lab engines DUMP shows what each engine of OpenSM would do",
    "balance": "compare with the load of the proposed tables; uneven uplinks and missing links cost bandwidth",
}


def judge_reach(source: AuditInput) -> Topic:
    """Whether every pair is delivered, without a loop."""
    return _judge(source, "reach", "Reach", "Does every pair of endpoints reach the other?", "critical")


def judge_deadlock(source: AuditInput) -> Topic:
    """Whether packets can wait for each other in a circle, as if all were on one lane.

    A proof on one lane holds on any: a circle of lanes would be a circle of their links too. A circle on one lane may
    be broken by service levels, which programs choose and no dump shows.
    """
    topic = _judge(source, "deadlock", "Credit loops", "Can packets wait for each other in a circle?", "critical")
    lanes = {lane for part in source.survey.parts for fact in part.lanes for lane in fact.lanes if lane != MANAGEMENT}
    if topic.verdict != "bad" or len(lanes) == 1:
        return topic
    known = f"; ports map service levels to {len(lanes)} lanes" if lanes else ""
    asked = Unjudged("Do service levels keep packets of the circle on different lanes?", LEVELS)
    return replace(topic, summary=f"{topic.summary}; judged as on one lane{known}", unjudged=(*topic.unjudged, asked))


def judge_balance(source: AuditInput) -> Topic:
    """How many flows share the busiest link; what is more than the topology forces is a warning."""
    return _judge(source, "balance", "Balance", "How many flows share the busiest link?", "note")


def _judge(source: AuditInput, claim: str, title: str, question: str, severity: FindingSeverity) -> Topic:
    figures = _compare(source, claim)
    proof = _find(source.programmed, claim)
    if source.programmed is None or proof is None:
        words = f"No file says what the forwarding tables hold{_offer(source, claim)}"
        return Topic(claim, title, "unknown", words + ".", unjudged=(Unjudged(question, TABLES),), figures=figures)
    if proof.verdict is Verdict.PROVED:
        return Topic(claim, title, "good", _affirm(proof), figures=figures)
    if proof.verdict is Verdict.UNKNOWN:
        return Topic(
            claim, title, "unknown", proof.statement, unjudged=(Unjudged(question, _OPEN[claim]),), figures=figures
        )
    summary = _summarise(proof) + _count_without_address(source, claim)
    finding = Finding(_RULE[claim], severity, source.programmed.routes.engine, summary, _NEXT[claim])
    verdict = "good" if severity == "note" else "bad"
    return Topic(claim, title, verdict, summary, (finding,), figures=figures)


def _affirm(proof: Proof) -> str:
    """Say in short what was proved; the report has the whole statement beside the proof."""
    if proof.claim == "reach" and proof.bound_text:
        return f"every pair of endpoints that are connected is delivered, by every choice; {proof.bound_text}"
    if proof.claim == "deadlock":
        return "no cycle among the channels between switches, as if all traffic were on one lane"
    return proof.statement


def _offer(source: AuditInput, claim: str) -> str:
    """Say what tables of ours would do with these cables."""
    proof = _find(source.proposed, claim)
    if proof is None or source.proposed is None or proof.bound is None:
        return ""
    whose = f"; those that Weftline's engine {source.proposed.routes.engine} makes for these cables"
    if claim == "balance":
        return f"{whose} carry at most {proof.bound:,.6g} times its rate over a link"
    if proof.verdict is not Verdict.PROVED:
        return f"{whose} do not hold either"
    return f"{whose} reach every pair" if claim == "reach" else f"{whose} hold no loop"


def _summarise(proof: Proof) -> str:
    """Say how much is wrong, and one case of it; nobody declared what a link may carry, so that is left out."""
    witness = proof.witness.summary if proof.witness is not None else proof.statement
    if proof.claim != "reach" or proof.bound is None:
        return witness.partition(", allowed is ")[0]
    return f"{proof.bound_text}, for example {witness}"


def _count_without_address(source: AuditInput, claim: str) -> str:
    """Count the endpoints that no table can lead to, since the manager gave them no LID."""
    if claim != "reach" or source.adoption is None:
        return ""
    fabric, ids = source.adoption.fabric, source.adoption.addresses
    lit = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    lost = int(np.count_nonzero(ids.port_address[lit] <= 0))
    if not lost:
        return ""
    return f"; {lost:,} of {len(lit):,} endpoints have no LID, so that no table can lead to them"


def _find(judged: Judged | None, claim: str) -> Proof | None:
    if judged is None:
        return None
    return next((proof for proof in judged.report.proofs if proof.claim == claim), None)


def _compare(source: AuditInput, claim: str) -> tuple[tuple[str, str], ...]:
    """Put the tables that run beside those that an engine of ours would make."""
    rows: list[tuple[str, str]] = []
    for name, judged in (("Programmed tables", source.programmed), ("Proposed tables", source.proposed)):
        proof = _find(judged, claim)
        if proof is not None and judged is not None:
            bound = f", {proof.bound_text}" if proof.bound_text else ""
            engine = "" if judged is source.programmed else f" ({judged.routes.engine})"
            rows.append((f"{name}{engine}", f"{proof.verdict}{bound}"))
    return tuple(rows)
