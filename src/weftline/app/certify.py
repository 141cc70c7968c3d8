"""Certificates on disk: a folder that an auditor checks without Weftline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from weftline.app.devices import observe_devices
from weftline.app.pipeline import Progress, Routed, run_to_proofs, silent
from weftline.app.render import Rendered, render_proved
from weftline.errors import ArtifactError
from weftline.formats import certificates
from weftline.kernels.column import NIL
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.certificates import TenantTable
from weftline.model.isolation import NOBODY, Owners
from weftline.model.proof import Proof, ProofReport, Verdict
from weftline.prove import converge, deadlock, isolate, reach
from weftline.prove.certify import certify_tables, count_reach, derive_tables, list_links
from weftline.prove.tenancy.cabling import bind_files
from weftline.prove.tenancy.certify import list_tenants
from weftline.render import write
from weftline.vendors import VENDORS

DERIVED = "fabric"
"""Name of the one set of tables where switches exchange routes."""
SAID = frozenset(
    {"lfts.conf", "guid2lid", "node-name-map", "partitions.conf", "opensm.conf", "opensm.conf.in", "qos-policy.conf"}
)
"""Files of a manager that claims rest on."""
MAKER = "certificates"


@dataclass(frozen=True, slots=True)
class Certified:
    """What a bundle was made from, and where it stands."""

    report: ProofReport
    folder: Path
    unproved: tuple[str, ...]
    """Claims that stand in the way; nothing is written then."""
    files: int = 0
    size: int = 0


def certify(place: Path, folder: Path, progress: Progress = silent) -> Certified:
    """Prove every claim and write the certificates, beside the rendered files that they are about.

    The folder appears whole or not at all, and the same input gives the same bytes.
    """
    proved = run_to_proofs(place, progress)
    return certify_rendered(render_proved(proved, None, force=True, progress=progress, to_disk=False), folder, progress)


def certify_rendered(rendered: Rendered, folder: Path, progress: Progress = silent) -> Certified:
    """Write the certificates of a design whose files were rendered already."""
    report, routed = rendered.proved.report, rendered.proved.routed
    proofs = {proof.claim: proof for proof in report.proofs}
    claims = [reach.CLAIM, deadlock.CLAIM, *(one for one in (isolate.CLAIM, converge.CLAIM) if one in proofs)]
    owners = _find_owners(routed, is_judged=isolate.CLAIM in proofs)
    unproved = tuple(claim for claim in claims if proofs[claim].verdict is not Verdict.PROVED)
    if rendered.artifacts is None:
        required = tuple(one.claim for one in report.proofs if one.required and one.verdict is not Verdict.PROVED)
        unproved = tuple(dict.fromkeys((*unproved, *required)))
    if unproved or rendered.artifacts is None:
        return Certified(report, folder, unproved)
    progress("writing certificates", None)
    files = dict(_list_files(routed, owners, proofs, rendered.artifacts))
    artifacts = tuple(Artifact(path, content, "", MAKER) for path, content in sorted(files.items()))
    write(ArtifactSet(report.of, artifacts), folder, forced=False)
    return Certified(report, folder, (), len(artifacts), sum(len(one.content) for one in artifacts))


def _find_owners(routed: Routed, *, is_judged: bool) -> Owners:
    """Find who owns what; where the declaration keeps nobody apart, everything is nobody's."""
    built = routed.built
    design = built.checked.technology.design
    owners = None if design.owners is None else design.owners(built.checked.design, built.fabric)
    if owners is not None and (is_judged or not owners.are_many):
        return owners
    return Owners(dict.fromkeys(built.fabric.endpoint_port.tolist(), NOBODY), (), "")


def _list_files(
    routed: Routed, owners: Owners, proofs: dict[str, Proof], artifacts: ArtifactSet
) -> Iterator[tuple[str, bytes]]:
    fabric, routes, design = routed.built.fabric, routed.routes, routed.built.checked.technology.design
    spaced = next((name for name in fabric.node_name if not name.isascii() or len(name.split()) != 1), None)
    if spaced is not None:
        message = f"the name {spaced!r} cannot stand in a certificate: it has a blank or a letter beyond ASCII"
        raise ArtifactError("artifact.certificate-name", message, "give the node another name")
    ends = fabric.endpoint_port.tolist()
    yield "links.txt", certificates.write_links(list_links(fabric))
    placed = (
        (fabric.port_name(port), str(int(fabric.port_component[port])), owners.of_port.get(port, NOBODY))
        for port in ends
    )
    yield "endpoints.txt", certificates.write_endpoints(placed)
    yield "sharing.txt", certificates.write_sharing(owners.sharings)
    both = proofs[reach.CLAIM], proofs[deadlock.CLAIM]
    yield from _list_rendered(routed, artifacts)
    if design.table is None:
        yield f"{DERIVED}/tables.txt", certificates.write_derived(derive_tables(fabric, routes))
        if isolate.CLAIM in proofs:
            yield f"{DERIVED}/tenants.txt", certificates.write_tenants(_list_tenants(routed, owners, artifacts))
    planes = [None] if design.table is None else range(max(fabric.planes, 1))
    for plane in planes:
        name = DERIVED if plane is None else f"subnet-{plane + 1}"
        tables = certify_tables(fabric, routes, both, name, plane, _name_targets(routed, by_address=plane is not None))
        yield f"{name}/distances.txt", certificates.write_distances(tables)
        yield f"{name}/ranks.txt", certificates.write_ranks(tables)
    answers = routes.lanes is not None and routes.lanes.with_answers
    statements = {
        reach.CLAIM: certificates.state_reach(count_reach(both[0])),
        deadlock.CLAIM: certificates.state_deadlock(routes.lane_count, answers=answers),
    }
    if isolate.CLAIM in proofs:
        many = len({owners.of_port.get(port, NOBODY) for port in ends})
        statements[isolate.CLAIM] = certificates.state_isolation(
            many, owners.sharings, by_partitions=design.table is not None
        )
    yield (
        "claims.json",
        certificates.write_claims(fabric.name, routes.digest, statements, lanes=routes.lane_count, answers=answers),
    )


def _list_rendered(routed: Routed, artifacts: ArtifactSet) -> Iterator[tuple[str, bytes]]:
    """List the rendered files that the claims rest on: those of managers, else those of switches."""
    fabric = routed.built.fabric
    switches = {fabric.node_name[int(node)] for node in fabric.switch_node}
    for one in artifacts.artifacts:
        if one.device in switches or (VENDORS[one.vendor].tables is not None and one.path.rsplit("/", 1)[-1] in SAID):
            yield one.path, one.content


def _list_tenants(routed: Routed, owners: Owners, artifacts: ArtifactSet) -> tuple[TenantTable, ...]:
    built = routed.built
    observed = observe_devices(artifacts, built.checked.technology.design.list_vendors(built.checked.design))
    switches = tuple(device for device in observed if device.role == "switch")
    return list_tenants(bind_files(built.fabric, owners, switches, source=""))


def _name_targets(routed: Routed, *, by_address: bool) -> Callable[[int], tuple[str, ...]]:
    """Name destinations by port or, where tables are by address, by every address that one has."""
    fabric, routes, addresses = routed.built.fabric, routed.routes, routed.addresses
    spread = 1 if routes.destination_path is not None else 1 << addresses.multipath_bits

    def call(destination: int) -> tuple[str, ...]:
        port, node = int(routes.destination_port[destination]), int(routes.destination_node[destination])
        if not by_address:
            return (fabric.node_name[node] if port == NIL else fabric.port_name(port),)
        if port == NIL:
            return (f"0x{int(addresses.node_address[node]):04x}",)
        base = int(addresses.port_address[port]) + int(routes.path[destination])
        return tuple(f"0x{lid:04x}" for lid in range(base, base + spread))

    return call
