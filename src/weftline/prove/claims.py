"""The claims, and all of them judged about one fabric and its routes."""

from __future__ import annotations

from dataclasses import replace

from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofReport, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import balance, deadlock, reach
from weftline.prove.tables import read_tables

CLAIMS = (reach.CLAIM, deadlock.CLAIM, balance.CLAIM)
NOBODY = "Not judged: no endpoint is connected, so that nobody sends anything."


def prove(
    fabric: Fabric, routes: Routes, rules: ProofRules, job_pairs: tuple[I32, I32] | None = None, unseen: str = ""
) -> ProofReport:
    """Judge every claim about the routes, whoever made them.

    ``job_pairs`` are endpoint ports (fabric port indices) that send and receive at the same time in the declared job.
    ``unseen`` says why packets may take ways that the routes do not have; then nothing is proved, while what is
    refuted stays refuted. Claims that are required but that nobody here can judge are unknown, and so is every claim
    about a fabric without a connected endpoint, of which anything would hold. Raises ``ArtifactError``
    ``artifact.tables-mismatch`` where the routes are no tables of this fabric; wrong entries are refuted, not raised.
    """
    tables = read_tables(fabric, routes)
    distance = reach.measure_distances(tables, rules)
    proofs = [
        reach.prove_reach(fabric, routes, tables, distance, rules),
        deadlock.prove_deadlock(fabric, routes, tables, rules),
        balance.prove_balance(fabric, routes, tables, distance, rules, job_pairs),
    ]
    if not len(tables.endpoint):
        proofs = [
            Proof(p.claim, p.required, Verdict.UNKNOWN, NOBODY, p.of) if p.verdict is Verdict.PROVED else p
            for p in proofs
        ]
    if unseen:
        proofs = [_withdraw(proof, unseen) if proof.verdict is Verdict.PROVED else proof for proof in proofs]
    proofs.extend(
        Proof(claim, required=True, verdict=Verdict.UNKNOWN, statement=f"Nothing judges '{claim}'.", of=routes.digest)
        for claim in rules.required
        if claim not in CLAIMS
    )
    return ProofReport(routes.digest, tuple(proofs))


def _withdraw(proof: Proof, unseen: str) -> Proof:
    """Make a proof about some of the ways what it is: unknown."""
    statement = f"Not proved, since packets may take other ways: {unseen}. Of the ways in the tables: {proof.statement}"
    return replace(proof, verdict=Verdict.UNKNOWN, statement=statement, certificate=None)
