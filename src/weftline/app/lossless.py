"""Losslessness, proved on the files of both ends of every link and not on what was meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weftline.app.build import Built
from weftline.lint.merging import merge_devices
from weftline.model.artifact import ArtifactSet
from weftline.model.lossless import LosslessSource
from weftline.model.observed import ObservedDevice
from weftline.model.proof import Proof, ProofReport, Verdict
from weftline.prove.lossless import CLAIM, prove_lossless
from weftline.vendors import VENDORS


def judge_lossless(built: Built, artifacts: ArtifactSet) -> tuple[Proof, ...]:
    """Prove it on rendered files; none where links of the technology cannot lose.

    A class that loses packets is a refusal, whatever the claims ask for.
    """
    design = built.checked.technology.design
    if design.lossless is None:
        return ()
    demand = design.lossless(built.checked.design, built.fabric)
    devices = {device.name: device for device in read_devices(artifacts, design.list_vendors(built.checked.design))}
    is_asked = CLAIM in built.checked.design.spec.claims.required
    proof = prove_lossless(LosslessSource(devices, demand, artifacts.of), required=is_asked)
    return (replace(proof, required=is_asked or proof.verdict is Verdict.REFUTED),)


def read_devices(artifacts: ArtifactSet, vendors: Sequence[str]) -> tuple[ObservedDevice, ...]:
    """Read rendered files as those of anybody are read."""
    found: list[ObservedDevice] = []
    for name in vendors:
        configured = VENDORS[name].configured
        if configured is not None:
            found += configured([(a.path, a.content) for a in artifacts.artifacts if a.vendor == name and a.device])
    return merge_devices(found)


def put_lossless(report: ProofReport, proofs: tuple[Proof, ...]) -> ProofReport:
    """Put proofs of losslessness in the place of those that a report holds."""
    kept = tuple(proof for proof in report.proofs if proof.claim != CLAIM or not proofs)
    return replace(report, proofs=(*kept, *proofs))
