"""Isolation at the largest scale: 1,024 tenants on 65,536 endpoints in two planes, each pair judged by sets."""

from __future__ import annotations

import random

from benchmarks.measure import Figure, peak_gib, time_call
from weftline.model.isolation import MANAGEMENT, Groups, IsolatedEnd, IsolationTables, Sharing
from weftline.model.proof import Verdict
from weftline.prove.isolate import check_isolation, prove_isolation

TENANTS = 1024
ENDPOINTS = 65_536
PLANES = 2
"""A subnet of InfiniBand ends at 49,151 addresses."""
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
    ]


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
