"""Isolation at the largest scale: 1,024 tenants on 65,536 endpoints, by partitions and by what files of switches do."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from benchmarks.measure import Figure, peak_gib, time_call
from weftline.app.bulk import without_collector
from weftline.errors import Place
from weftline.model.isolation import MANAGEMENT, Groups, IsolatedEnd, IsolationTables, Sharing
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import (
    ObservedFilter,
    ObservedNeighbour,
    ObservedRouter,
    ObservedRule,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.proof import Verdict
from weftline.model.said import Said
from weftline.model.separation import EdgePort, SeparationFiles, SwitchLink
from weftline.prove.isolate import check_isolation, prove_isolation
from weftline.prove.separate import check_separation, prove_separation

TENANTS = 1024
ENDPOINTS = 65_536
PLANES = 2
"""A subnet of InfiniBand ends at 49,151 addresses."""
HELD = 32
"""Endpoints of a leaf, and its cables upwards."""
COVERS = frozenset({"ports", "tenancy", "routing", "filters", "mirrors", "pauses"})
DEFAULT, SERVICE = 0x7FFF, 0x2000


def run() -> list[Figure]:
    """Measure the proof, the check of its certificate, and the refutation of one member too many."""
    tables = make_tables()
    prove_s, proof = time_call(lambda: prove_isolation(tables, required=True))
    check_s, holds = time_call(lambda: check_isolation(proof))
    refute_s, refuted = time_call(lambda: prove_isolation(spoil(tables), required=True))
    if (proof.verdict, holds, refuted.verdict) != (Verdict.PROVED, True, Verdict.REFUTED):
        message = f"not the verdicts to measure: {proof.verdict}, {holds}, {refuted.verdict}"
        raise SystemExit(message)
    what = f"isolation of {TENANTS:,} tenants on {ENDPOINTS:,} endpoints"
    return [
        Figure(f"{what}, with certificate", prove_s, "s", must=3.0, aim=0.5),
        Figure("check of that certificate", check_s, "s"),
        Figure(f"{what}, refuted with a pair", refute_s, "s", must=3.0, aim=0.5),
        Figure("memory for that", peak_gib(), "GiB"),
        *measure_files(),
    ]


def measure_files() -> list[Figure]:
    """Measure the proof by what the files of 5,120 switches say, in VRFs with EVPN, and its refutation."""
    with without_collector():
        files = make_files()
        prove_s, proof = time_call(lambda: prove_separation(files, required=True))
        check_s, holds = time_call(lambda: check_separation(proof))
        first, last = files.ends[0], files.ends[-1]
        wrong = replace(files, ends=(*files.ends[:-1], replace(last, owner=first.owner)))
        refute_s, refuted = time_call(lambda: prove_separation(wrong, required=True))
    if (proof.verdict, holds, refuted.verdict) != (Verdict.PROVED, True, Verdict.REFUTED):
        message = f"not the verdicts to measure: {proof.statement}, {holds}, {refuted.verdict}"
        raise SystemExit(message)
    what = f"isolation of {TENANTS:,} tenants by the files of {len(files.devices):,} switches, once read"
    return [
        Figure(f"{what}, with certificate", prove_s, "s", must=3.0, aim=0.5),
        Figure("check of that certificate", check_s, "s"),
        Figure(f"{what}, refuted with a meeting", refute_s, "s"),
        Figure("memory for that", peak_gib(), "GiB"),
    ]


def make_files() -> SeparationFiles:
    """Make what is read of a full tree of 65,536 endpoints: tenants of 64 endpoints on two leaves each."""
    leaves, radix = ENDPOINTS // HELD, 2 * HELD
    links = [
        *((f"leaf-{leaf:04d}", f"spine-{leaf // HELD * HELD + up:04d}", HELD + up, leaf % HELD)
          for leaf in range(leaves) for up in range(HELD)),
        *((f"spine-{spine:04d}", f"core-{spine % HELD * HELD + up:04d}", HELD + up, spine // HELD)
          for spine in range(leaves) for up in range(HELD)),
    ]  # fmt: skip
    devices = [make_leaf(leaf) for leaf in range(leaves)]
    devices += [make_switch(f"spine-{at:04d}", leaves + at, range(radix)) for at in range(leaves)]
    devices += [make_switch(f"core-{at:04d}", 2 * leaves + at, range(radix)) for at in range(leaves // 2)]
    ends = [make_edge(place) for place in range(ENDPOINTS)]
    cables = [SwitchLink(f"{a}/{i}~{b}/{j}", (a, f"Ethernet{i}"), (b, f"Ethernet{j}")) for a, b, i, j in links]
    return SeparationFiles(tuple(devices), tuple(ends), tuple(cables), (Sharing(MANAGEMENT),), "0", "files")


def make_edge(place: int) -> EdgePort:
    """Make an endpoint of the tenant whose turn it is, and the port that it is cabled to."""
    leaf, port = f"leaf-{place // HELD:04d}", place % HELD
    owner = f"tenant-{place * TENANTS // ENDPOINTS:04d}"
    return EdgePort(f"host-{place // 8:05d}/nic{place % 8}", owner, f"{leaf}/{port}", (leaf, f"Ethernet{port}"))


def make_switch(name: str, number: int, cabled: range, **fields: Any) -> ObservedDevice:
    """Make a switch whose cabled ports speak BGP with EVPN, without addresses of their own."""
    at = Place(f"{name}.conf", 1)
    families = (Said("evpn", at), Said("ipv4", at))
    router = ObservedRouter(
        "default", at, number=Said(number, at),
        neighbours=tuple(ObservedNeighbour(f"Ethernet{port}", at, families=families) for port in cabled),
    )  # fmt: skip
    ports = tuple(
        ObservedPort(f"Ethernet{port}", at, number=Said(port, at), is_up=Said(value=True, where=at),
                     peer=Said("cable", at), pauses=Said((3,), at))
        for port in cabled
    )  # fmt: skip
    loopback = ObservedPort("Loopback0", at, addresses=(Said(f"10.{number >> 8}.{number & 255}.1/32", at),))
    ports = (loopback, *ports, *fields.pop("ports", ()))
    routers = (router, *fields.pop("routers", ()))
    return ObservedDevice(name, "switch", "any", (at.file,), ports=ports, routers=routers, covers=COVERS, **fields)


def make_leaf(leaf: int) -> ObservedDevice:
    """Make a leaf whose hosts are in the VRF of their tenant, and send from their own subnets alone."""
    name = f"leaf-{leaf:04d}"
    at = Place(f"{name}.conf", 1)
    ports: list[ObservedPort] = []
    rules: list[ObservedRule] = []
    tenant = leaf * HELD * TENANTS // ENDPOINTS
    vrf, vni = f"Vrf{tenant}", 10_001 + tenant
    for port in range(HELD):
        address = (100 << 24) + 2 * (leaf * HELD + port)
        subnet = f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}/31"
        interface = f"Ethernet{port}"
        ports.append(
            ObservedPort(interface, at, number=Said(port, at), is_up=Said(value=True, where=at), peer=Said("host", at),
                         addresses=(Said(subnet, at),), vrf=Said(vrf, at), pauses=Said((3,), at),
                         filters_in=(Said("EDGE", at),))
        )  # fmt: skip
        only = frozenset({interface})
        rules += [
            ObservedRule(at, 3 * port, "deny", protocol="udp", target_port="4789", in_ports=only),
            ObservedRule(at, 3 * port + 1, "permit", source=subnet, in_ports=only),
            ObservedRule(at, 3 * port + 2, "deny", in_ports=only),
        ]
    target = (Said(f"64512:{vni}", at),)
    inner = ObservedRouter(vrf, at, number=Said(leaf, at), redistributed=(Said("connected", at),), imports=target,
                           exports=target)  # fmt: skip
    return make_switch(
        name, leaf, range(HELD, 2 * HELD), ports=tuple(ports), routers=(inner,),
        vrfs=(ObservedVrf(vrf, at, vni=Said(vni, at)),), filters=(ObservedFilter("EDGE", at, rules=tuple(rules)),),
        tunnel=ObservedTunnel(at, source=Said(f"10.{leaf >> 8}.{leaf & 255}.1", at)),
    )  # fmt: skip


def make_tables() -> IsolationTables:
    """Make the tables of tenants of mixed sizes and places, with storage that all reach and managers."""
    rng = random.Random(1)
    owners = [rng.randrange(TENANTS) for _ in range(ENDPOINTS)]
    ends: list[IsolatedEnd] = []
    for place, tenant in enumerate(owners):
        plane = place % PLANES
        common = frozenset((plane << 16 | DEFAULT, plane << 16 | SERVICE))
        ends.append(make_end(f"host-{place // 8:05d}/nic{place % 8}", f"tenant-{tenant:04d}",
                             Groups(frozenset((plane << 16 | tenant + 1,)), common), plane))  # fmt: skip
    for plane in range(PLANES):
        hubs = Groups(frozenset((plane << 16 | SERVICE,)), frozenset((plane << 16 | DEFAULT,)))
        ends.append(make_end(f"storage-{plane}", "storage", hubs, plane))
        ends.append(make_end(f"manager-{plane}", MANAGEMENT, Groups(frozenset((plane << 16 | DEFAULT,)), frozenset()),
                             plane))  # fmt: skip
    return IsolationTables(tuple(ends), (Sharing(MANAGEMENT), Sharing("storage")), "0", "tables of a benchmark", "")


def make_end(name: str, owner: str, groups: Groups, component: int) -> IsolatedEnd:
    """Make an endpoint whose switch port holds what it holds itself."""
    return IsolatedEnd(name, owner, groups, groups, enforces_in=True, enforces_out=True, component=component)


def spoil(tables: IsolationTables) -> IsolationTables:
    """Make the last tenant's last endpoint a member of the first tenant's group too."""
    *others, last, a, b, c, d = tables.ends
    first = tables.ends[(ENDPOINTS - 1) % PLANES]
    assert first.own is not None  # noqa: S101
    assert last.own is not None  # noqa: S101
    wrong = Groups(last.own.full | first.own.full, last.own.limited)
    changed = IsolatedEnd(last.name, last.owner, wrong, wrong, enforces_in=True, enforces_out=True,
                          component=last.component)  # fmt: skip
    return IsolationTables((*others, changed, a, b, c, d), tables.sharings, tables.of, tables.source, tables.premise)
