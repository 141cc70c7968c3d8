"""What only files can show: that nothing is lost, that no failure deadlocks, and that they lead to the routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weftline.app.build import Built
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.lossless import LosslessSource
from weftline.model.observed import ObservedDevice
from weftline.model.proof import Proof, ProofReport, Verdict
from weftline.model.routes import Routes
from weftline.prove import converge, failures, lossless
from weftline.prove.converge import prove_converge
from weftline.prove.failures import RoutingGraph, prove_failures
from weftline.prove.lossless import prove_lossless


def judge_lossless(built: Built, of: str, observed: Sequence[ObservedDevice]) -> tuple[Proof, ...]:
    """Prove both claims on what rendered files say; none where links of the technology cannot lose.

    What is refuted is a refusal, whatever the claims ask for.
    """
    design = built.checked.technology.design
    if design.lossless is None:
        return ()
    demand = design.lossless(built.checked.design, built.fabric)
    devices = {device.name: device for device in observed}
    required = built.checked.design.spec.claims.required
    source = LosslessSource(devices, demand, of)
    proofs = (
        prove_lossless(source, required=lossless.CLAIM in required),
        prove_failures(_make_graph(built.fabric, of), devices, required=failures.CLAIM in required),
    )
    return tuple(replace(one, required=one.required or one.verdict is Verdict.REFUTED) for one in proofs)


def judge_exchange(built: Built, routes: Routes, of: str, observed: Sequence[ObservedDevice]) -> tuple[Proof, ...]:
    """Prove that what switches tell each other by their files leads to the routes; none where they are given tables.

    What is refuted is a refusal, whatever the claims ask for.
    """
    design = built.checked.technology.design
    if design.table is not None or not observed:
        return ()
    required = converge.CLAIM in built.checked.design.spec.claims.required
    proof = prove_converge(built.fabric, routes, observed, of, required=required)
    return (replace(proof, required=required or proof.verdict is Verdict.REFUTED),)


def _make_graph(fabric: Fabric, of: str) -> RoutingGraph:
    """Make the graph of switches, parallel links counted once."""
    row = fabric.switch_row[fabric.port_node]
    peer = fabric.port_peer
    far = np.where(peer == NIL, NIL, row[peer])
    between = (row != NIL) & (far != NIL)
    pairs = np.unique(np.stack((row[between], far[between]), axis=1), axis=0).astype(np.int32)
    met = fabric.port_peer[fabric.endpoint_port]
    origins = np.unique(row[met[met != NIL]])
    names = tuple(fabric.node_name[int(node)] for node in fabric.switch_node)
    return RoutingGraph(names, pairs, origins[origins != NIL].astype(np.int32), of)


def put_lossless(report: ProofReport, proofs: tuple[Proof, ...]) -> ProofReport:
    """Put proofs about files in the place of those that a report holds."""
    claims = {proof.claim for proof in proofs}
    kept = tuple(proof for proof in report.proofs if proof.claim not in claims)
    return replace(report, proofs=(*kept, *proofs))
