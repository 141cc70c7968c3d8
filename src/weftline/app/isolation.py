"""Isolation of tenants, proved on what devices make of the rendered files and not on what was meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weftline.app.build import Built
from weftline.app.devices import DeviceFiles, render_devices
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


def render_deciding(built: Built, addresses: Addresses, routes: Routes) -> DeviceFiles | None:
    """Render the files of devices where they decide who is kept apart, and there is something to keep apart."""
    if not built.checked.technology.design.keeps_apart_by_devices or find_owners(built) is None:
        return None
    return render_devices(built, addresses, routes)


def judge_isolation(built: Built, addresses: Addresses, files: DeviceFiles | None) -> tuple[Proof, ...]:
    """Prove isolation on the files of the design that decide it: those given, or those rendered here for that."""
    design = built.checked.technology.design
    if files is not None:
        return judge_files(built, addresses, files.artifacts, files.observed)
    if design.isolate is None or find_owners(built) is None:
        return ()
    names = design.list_vendors(built.checked.design)
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
