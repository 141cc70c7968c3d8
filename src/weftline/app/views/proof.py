"""The JSON of a proof report."""

from __future__ import annotations

from weftline.app.certify import Certified
from weftline.model.proof import Certificate, Proof, ProofReport, Witness


def view_report(report: ProofReport) -> dict[str, object]:
    """Show every proof with its verdict, bound and witness or certificate."""
    return {
        "schema": "weftline/proof-report/1",
        "of": report.of,
        "accepted": report.is_accepted,
        "proofs": [view_proof(proof) for proof in report.proofs],
    }


def view_certified(certified: Certified) -> dict[str, object]:
    """Show every proof, and where the certificates stand; no files where a claim stands in the way."""
    return {**view_report(certified.report), "certificates": view_bundle(certified)}


def view_bundle(certified: Certified) -> dict[str, object]:
    """Show where the certificates stand."""
    return {
        "folder": str(certified.folder),
        "files": certified.files,
        "bytes": certified.size,
        "unproved": list(certified.unproved),
    }


def view_proof(proof: Proof) -> dict[str, object]:
    """Show one proof."""
    return {
        "claim": proof.claim,
        "required": proof.required,
        "verdict": str(proof.verdict),
        "bound": proof.bound,
        "bound_name": proof.bound_name,
        "statement": proof.statement,
        "witness": _view_witness(proof.witness),
        "certificate": _view_certificate(proof.certificate),
        "detail": dict(proof.detail),
    }


def _view_witness(witness: Witness | None) -> dict[str, object] | None:
    if witness is None:
        return None
    return {"kind": witness.kind, "summary": witness.summary, "detail": dict(witness.detail)}


def _view_certificate(certificate: Certificate | None) -> dict[str, object] | None:
    if certificate is None:
        return None
    return {"kind": certificate.kind, "statement": certificate.statement, "digest": certificate.digest}
