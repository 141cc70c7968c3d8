"""Isolation of tenants, proved on what devices make of the rendered files and not on what was meant."""

from __future__ import annotations

from dataclasses import replace

from weftline.app.build import Built
from weftline.model.addresses import Addresses
from weftline.model.artifact import ArtifactSet
from weftline.model.isolation import Owners
from weftline.model.proof import Proof, ProofReport
from weftline.prove import isolate
from weftline.render import render
from weftline.vendors import VENDORS


def find_owners(built: Built) -> Owners | None:
    """Say who owns what where there is something to keep apart, or a claim asks for it, and files can do it."""
    design = built.checked.technology.design
    if design.owners is None:
        return None
    owners = design.owners(built.checked.design, built.fabric)
    is_asked = isolate.CLAIM in built.checked.design.spec.claims.required
    return owners if owners.are_many or is_asked else None


def judge_isolation(built: Built, addresses: Addresses) -> tuple[Proof, ...]:
    """Prove isolation on the files of the design that decide it, rendered for that."""
    design = built.checked.technology.design
    owners = find_owners(built)
    if owners is None or design.isolate is None:
        return ()
    intents = design.isolate(built.checked.design, built.fabric, addresses)
    names = design.list_vendors(built.checked.design)
    vendors = tuple(VENDORS[name] for name in names if VENDORS[name].isolation is not None)
    artifacts = render(intents, vendors, of="")
    return judge_files(built, addresses, artifacts)


def judge_files(built: Built, addresses: Addresses, artifacts: ArtifactSet) -> tuple[Proof, ...]:
    """Prove isolation on files; a tenant that is not kept apart is a refusal, whatever the claims ask for."""
    owners = find_owners(built)
    design = built.checked.technology.design
    if owners is None:
        return ()
    return tuple(
        isolate.prove_isolation(vendor.isolation(artifacts, built.fabric, addresses, owners), required=True)
        for vendor in (VENDORS[name] for name in design.list_vendors(built.checked.design))
        if vendor.isolation is not None
    )


def put_isolation(report: ProofReport, proofs: tuple[Proof, ...]) -> ProofReport:
    """Put proofs of isolation in the place of those that a report holds."""
    kept = tuple(proof for proof in report.proofs if proof.claim != isolate.CLAIM or not proofs)
    return replace(report, proofs=(*kept, *proofs))
