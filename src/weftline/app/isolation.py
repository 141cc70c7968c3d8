"""Isolation of tenants, proved on what devices make of the rendered files and not on what was meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weftline.app.build import Built
from weftline.app.devices import observe_devices
from weftline.kernels.column import digest_parts
from weftline.model.addresses import Addresses
from weftline.model.artifact import ArtifactSet
from weftline.model.isolation import Owners
from weftline.model.observed import ObservedDevice
from weftline.model.proof import Proof, ProofReport
from weftline.model.routes import Routes
from weftline.prove import isolate
from weftline.prove.separate import prove_separation
from weftline.prove.tenancy.cabling import bind_files
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


def judge_isolation(built: Built, addresses: Addresses, routes: Routes) -> tuple[Proof, ...]:
    """Prove isolation on the files of the design that decide it, rendered for that."""
    design = built.checked.technology.design
    owners = find_owners(built)
    names = design.list_vendors(built.checked.design)
    if owners is None:
        return ()
    if design.keeps_apart_by_devices:
        intents = design.intents(built.checked.design, built.fabric, addresses, routes)
        switches = tuple(intent for intent in intents if intent.role == "switch")
        artifacts = render(switches, tuple(VENDORS[name] for name in names), of="")
        return _judge_devices(built, owners, artifacts, observe_devices(artifacts, names))
    if design.isolate is None:
        return ()
    intents = design.isolate(built.checked.design, built.fabric, addresses)
    vendors = tuple(VENDORS[name] for name in names if VENDORS[name].isolation is not None)
    artifacts = render(intents, vendors, of="")
    return judge_files(built, addresses, artifacts, ())


def judge_files(
    built: Built, addresses: Addresses, artifacts: ArtifactSet, observed: Sequence[ObservedDevice]
) -> tuple[Proof, ...]:
    """Prove isolation on files; a tenant that is not kept apart is a refusal, whatever the claims ask for.

    ``observed`` is what the files say device by device, where the technology keeps owners apart by that.
    """
    owners = find_owners(built)
    design = built.checked.technology.design
    if owners is None:
        return ()
    if design.keeps_apart_by_devices:
        return _judge_devices(built, owners, artifacts, observed)
    return tuple(
        isolate.prove_isolation(vendor.isolation(artifacts, built.fabric, addresses, owners), required=True)
        for vendor in (VENDORS[name] for name in design.list_vendors(built.checked.design))
        if vendor.isolation is not None
    )


def _judge_devices(
    built: Built, owners: Owners, artifacts: ArtifactSet, observed: Sequence[ObservedDevice]
) -> tuple[Proof, ...]:
    """Prove isolation on what the files of switches do, all vendors' files of one switch together."""
    switches = tuple(device for device in observed if device.role == "switch")
    of = digest_parts(part for one in artifacts.artifacts for part in (one.path, one.digest))
    source = f"the rendered files of {len(switches):,} switches"
    is_asked = isolate.CLAIM in built.checked.design.spec.claims.required
    files = bind_files(built.fabric, owners, switches, source=source, of=of)
    return (prove_separation(files, required=owners.are_apart or is_asked),)


def put_isolation(report: ProofReport, proofs: tuple[Proof, ...]) -> ProofReport:
    """Put proofs of isolation in the place of those that a report holds."""
    kept = tuple(proof for proof in report.proofs if proof.claim != isolate.CLAIM or not proofs)
    return replace(report, proofs=(*kept, *proofs))
