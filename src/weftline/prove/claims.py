"""The claims, and all of them judged about one fabric and its routes."""

from __future__ import annotations

from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofReport, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import balance, deadlock, reach
from weftline.prove.tables import read_tables

CLAIMS = (reach.CLAIM, deadlock.CLAIM, balance.CLAIM)


def prove(fabric: Fabric, routes: Routes, rules: ProofRules, job_pairs: tuple[I32, I32] | None = None) -> ProofReport:
    """Judge every claim about the routes, whoever made them.

    ``job_pairs`` are endpoint ports (fabric port indices) that send and receive at the same time in the declared job.
    Claims that are required but that nobody here can judge are unknown. Raises ``ArtifactError``
    ``artifact.tables-mismatch`` where the routes are no tables of this fabric; wrong entries are refuted, not raised.
    """
    tables = read_tables(fabric, routes)
    distance = reach.measure_distances(tables, rules)
    proofs = [
        reach.prove_reach(fabric, routes, tables, distance, rules),
        deadlock.prove_deadlock(fabric, routes, tables, rules),
        balance.prove_balance(fabric, routes, tables, distance, rules, job_pairs),
    ]
    proofs.extend(
        Proof(claim, required=True, verdict=Verdict.UNKNOWN, statement=f"Nothing judges '{claim}'.", of=routes.digest)
        for claim in rules.required
        if claim not in CLAIMS
    )
    return ProofReport(routes.digest, tuple(proofs))
