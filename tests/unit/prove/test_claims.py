"""The report, and certificates that somebody changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import change_entries, clockwise_routes, make_routes, ring
from weftline.errors import ArtifactError
from weftline.kernels.column import U8, Array, digest_parts
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofReport, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import CLAIMS, check_certificate, prove
from weftline.prove.reach import NO_DISTANCE, measure_distances
from weftline.prove.tables import Tables, read_tables
from weftline.route import compute_routes

World = tuple[Fabric, Routes, ProofReport]


@pytest.fixture(scope="module")
def world() -> World:
    """A proved tree with a job."""
    fabric = make_fabric("fat-tree", hosts=8, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    pairs = (np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32))
    return fabric, routes, prove(fabric, routes, ProofRules(), pairs)


def test_every_claim_is_judged_in_order(world: World) -> None:
    report = world[2]
    assert tuple(p.claim for p in report.proofs) == CLAIMS
    assert report.of == world[1].digest
    assert report.is_accepted
    assert all(check_certificate(world[0], world[1], proof) for proof in report.proofs)


def test_reports_are_plain_values(world: World) -> None:
    fabric = ring(4)
    refuted = prove(fabric, clockwise_routes(fabric, 4, ties="clockwise"), ProofRules(max_hops=2))
    assert [p.verdict for p in refuted.proofs] == [Verdict.REFUTED] * 3
    for proof in (*world[2].proofs, *refuted.proofs):
        told: dict[str, Any] = {"bound": proof.bound, "detail": dict(proof.detail)}
        if proof.witness is not None:
            told["witness"] = [proof.witness.kind, proof.witness.summary, dict(proof.witness.detail)]
        assert json.loads(json.dumps(told)) == told


def test_same_input_same_report(world: World) -> None:
    pairs = (np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32))
    again = prove(world[0], world[1], ProofRules(), pairs)
    for one, two in zip(world[2].proofs, again.proofs, strict=True):
        assert one.certificate is not None
        assert two.certificate is not None
        assert one.certificate.digest == two.certificate.digest
        assert (one.statement, one.bound, one.detail) == (two.statement, two.bound, two.detail)


def test_required_claim_that_nobody_judges_counts_as_no(world: World) -> None:
    report = prove(world[0], world[1], ProofRules(required=("reach", "levitate")))
    assert [(p.claim, p.required) for p in report.proofs] == [
        ("reach", True), ("deadlock", False), ("balance", False), ("levitate", True),
    ]  # fmt: skip
    assert report.proofs[3].verdict is Verdict.UNKNOWN
    assert not report.is_accepted


def test_claim_that_is_not_required_may_be_refuted() -> None:
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="clockwise")
    rules = ProofRules(required=("reach",), balance_threshold=4.0)
    assert prove(fabric, routes, rules).is_accepted
    assert not prove(fabric, routes, replace(rules, required=("reach", "deadlock"))).is_accepted


def forge(proof: Proof, name: str, change: Callable[[Array], Array], *, seal: bool) -> Proof:
    """Change a column of a certificate; with ``seal`` its digest is made anew."""
    assert proof.certificate is not None
    columns = dict(proof.certificate.columns)
    columns[name] = change(columns[name].copy())
    digest = proof.certificate.digest
    if seal and proof.claim == "balance":
        digest = digest_parts((proof.claim, str(proof.detail["worst_shift"] or 0), *columns, *columns.values()))
    elif seal:
        digest = digest_parts((proof.claim, columns[name]))
    return replace(proof, certificate=replace(proof.certificate, columns=columns, digest=digest))


def put(place: tuple[int, ...] | int, value: float) -> Callable[[Array], Array]:
    """Overwrite one value."""

    def change(column: Array) -> Array:
        column[place] = value
        return column

    return change


def swap_ranks(column: Array) -> Array:
    """Turn the order of all ranks around."""
    held = column.astype(np.int32)
    return np.where(held >= 0, held.max() - held, held).astype(np.int32)


FORGERIES: list[tuple[int, str, Callable[[Array], Array]]] = [
    (0, "distance", put((0, 7), 1)),
    (0, "distance", put((0, 7), 254)),
    (0, "distance", put((0, 7), 255)),
    (0, "distance", put((0, 7), 0)),
    (0, "distance", lambda column: column[:, 1:]),
    (0, "distance", lambda column: column.astype(np.int64)),
    (1, "rank", swap_ranks),
    (1, "rank", np.zeros_like),
    (1, "rank", lambda column: np.full_like(column, -1)),
    (1, "rank", lambda column: column[1:]),
    (1, "rank", lambda column: column.astype(np.float64)),
    (2, "worst", put(0, 0.5)),
    (2, "worst", put(1, 9.0)),
    (2, "load_gbps", put(0, 1.0)),
    (2, "load_gbps", lambda column: column[1:]),
    (2, "shift", lambda column: column[::-1]),
    (2, "shift", lambda column: column[1:]),
    (2, "job_target", put(0, 5)),
]


@pytest.mark.parametrize("seal", [False, True])
@pytest.mark.parametrize(("which", "name", "change"), FORGERIES)
def test_forged_certificates_do_not_hold(
    world: World, which: int, name: str, change: Callable[[Array], Array], seal: bool
) -> None:
    assert not check_certificate(world[0], world[1], forge(world[2].proofs[which], name, change, seal=seal))


@pytest.mark.parametrize("which", range(3))
def test_missing_columns_do_not_hold(world: World, which: int) -> None:
    proof = world[2].proofs[which]
    assert proof.certificate is not None
    assert not check_certificate(*world[:2], replace(proof, certificate=replace(proof.certificate, columns={})))
    assert not check_certificate(*world[:2], replace(proof, certificate=None))
    assert not check_certificate(*world[:2], replace(proof, verdict=Verdict.UNKNOWN))
    assert not check_certificate(*world[:2], replace(proof, of="0" * 64))
    assert not check_certificate(*world[:2], replace(proof, claim="levitate"))


def test_better_bounds_than_the_truth_do_not_hold(world: World) -> None:
    reach, deadlock, balance = world[2].proofs
    assert not check_certificate(*world[:2], replace(reach, bound=2))
    assert not check_certificate(*world[:2], replace(reach, bound=4))
    assert not check_certificate(*world[:2], replace(reach, bound=None))
    assert not check_certificate(*world[:2], replace(reach, detail={**reach.detail, "max_hops": 2}))
    assert not check_certificate(*world[:2], replace(deadlock, bound=1))
    assert not check_certificate(*world[:2], replace(balance, bound=0.5))
    assert not check_certificate(*world[:2], replace(balance, detail={**balance.detail, "threshold": 0.5}))


FIGURES: list[object] = [None, "3", "x", True, 3.0, 3.5, float("nan"), float("inf"), 10**30, -1, [3]]


@pytest.mark.parametrize("figure", FIGURES, ids=repr)
def test_strange_figures_do_not_hold(world: World, figure: Any) -> None:
    for proof, key in zip(world[2].proofs, ("max_hops", "channels", "threshold"), strict=True):
        held = replace(proof, bound=figure)
        assert not check_certificate(*world[:2], held)
        if proof.claim != "deadlock":
            held = replace(proof, detail={**proof.detail, key: figure})
            assert not check_certificate(*world[:2], held)
            assert not check_certificate(*world[:2], replace(proof, detail={}))
    shifted = replace(world[2].proofs[2], detail={**world[2].proofs[2].detail, "worst_shift": figure})
    assert not check_certificate(*world[:2], shifted) or figure == world[2].proofs[2].detail["worst_shift"]


def test_certificates_carry_no_other_statement(world: World) -> None:
    for proof in world[2].proofs:
        assert not check_certificate(*world[:2], replace(proof, statement=f"{proof.statement} And it is fast."))
    reach, _, balance = world[2].proofs
    for stronger in ({"connected_pairs": 57}, {"max_hops": 4}):
        assert not check_certificate(*world[:2], replace(reach, detail={**reach.detail, **stronger}))
    lower = replace(balance, detail={**balance.detail, "threshold": 2.0})
    assert not check_certificate(*world[:2], lower)


def test_sample_does_not_pass_for_all_shifts(world: World) -> None:
    """Shifts that happen to be fine prove nothing about the others, and a sample says that it is one."""
    fabric = world[0]
    routes = change_entries(world[1], {(0, 4): int(world[1].group[0, 5])})
    honest = prove(fabric, routes, ProofRules(balance_threshold=2.0)).proofs[2]
    assert honest.certificate is not None
    columns = honest.certificate.columns
    fine = columns["worst"].astype(np.float64) <= 1.0
    assert 0 < int(fine.sum()) < len(fine)
    some = replace(world[2].proofs[2], of=routes.digest)
    shifts, worst = columns["shift"][fine], columns["worst"][fine]
    load = prove(fabric, routes, ProofRules(all_shifts_up_to=1, sample_shifts=1)).proofs[2]
    assert load.verdict is Verdict.PROVED
    assert load.certificate is not None
    assert check_certificate(fabric, routes, load)
    held = {"shift": shifts, "worst": worst, "load_gbps": load.certificate.columns["load_gbps"]}
    for statement in (some.statement, load.statement, honest.statement):
        for told in ({"is_sample": True}, {"is_sample": True, "sample_reason": "more than 1 endpoints"}, {}):
            detail = {**load.detail, "is_sample": False, "sample_reason": "", **told}
            digest = digest_parts(("balance", str(detail["worst_shift"]), *held, *held.values()))
            sealed = replace(load.certificate, columns=held, digest=digest)
            forged = replace(load, statement=statement, detail=detail, certificate=sealed)
            assert not check_certificate(fabric, routes, forged)


@pytest.mark.parametrize("is_affordable", [True, False])
def test_every_shift_is_loaded_again_where_that_is_affordable(
    is_affordable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One shift of 31 is overloaded, and said not to be: only who loads all of them again finds it."""
    if not is_affordable:
        monkeypatch.setattr("weftline.prove.check.ALL_CHECKED_STEPS", 100)
    fabric = make_fabric("fat-tree", hosts=32, ports=8, unit_size=4)
    sound = compute_routes(fabric, "fat-tree", to_switches=False)
    routes = change_entries(sound, {(0, 4): int(sound.group[0, 7])})
    honest = prove(fabric, routes, ProofRules(balance_threshold=9.0)).proofs[2]
    low = prove(fabric, sound, ProofRules()).proofs[2]
    assert honest.certificate is not None
    assert low.certificate is not None
    load = prove(fabric, routes, ProofRules(all_shifts_up_to=1, sample_shifts=1)).proofs[2]
    assert load.certificate is not None
    assert load.detail["worst_shift"] == 1
    worst = np.ones(31)
    assert np.flatnonzero(honest.certificate.columns["worst"].astype(np.float64) > 1.0).tolist() == [3]
    columns = {**low.certificate.columns, "worst": worst, "load_gbps": load.certificate.columns["load_gbps"]}
    digest = digest_parts(("balance", "1", *columns, *columns.values()))
    forged = replace(
        low,
        of=routes.digest,
        detail={**low.detail, "worst_shift": 1},
        certificate=replace(low.certificate, columns=columns, digest=digest),
    )
    assert check_certificate(fabric, routes, forged) == (not is_affordable)
    assert check_certificate(fabric, routes, honest)


def test_no_reach_certificate_hides_a_missing_column_or_a_loose_pair(world: World) -> None:
    fabric, routes, report = world
    assert report.proofs[0].certificate is not None
    fewer = replace(
        routes,
        destination_node=routes.destination_node[1:],
        destination_port=routes.destination_port[1:],
        group=np.ascontiguousarray(routes.group[:, 1:]),
    )
    loose = from_links(["leaf-001"], {f"host-000{i}": "leaf-001" for i in (1, 2, 3, 4)}, [])
    peer = np.full_like(loose.port_peer, -1)
    peer[:4] = 1, 0, 3, 2
    pairs = replace(loose, port_peer=peer)
    for one, tables in ((fabric, fewer), (pairs, make_routes(pairs, lambda _row, _d: None))):
        refuted = prove(one, tables, ProofRules()).proofs[0]
        assert refuted.verdict is Verdict.REFUTED
        read = read_tables(one, tables)
        column = measure_distances(read, ProofRules())
        sealed = replace(
            report.proofs[0].certificate, columns={"distance": column}, digest=digest_parts(("reach", column))
        )
        for bound in range(6):
            forged = replace(refuted, verdict=Verdict.PROVED, bound=bound, witness=None, certificate=sealed)
            assert not check_certificate(one, tables, forged)
            clean = {**refuted.detail, "failed_pairs": 0, "endpoints_without_column": 0}
            assert not check_certificate(one, tables, replace(forged, detail=clean))


@pytest.mark.parametrize("which", [0, 2])
def test_nothing_is_checked_that_cannot_be_measured(world: World, which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(_tables: Tables, _rules: ProofRules) -> U8:
        return NO_DISTANCE

    monkeypatch.setattr("weftline.prove.reach.measure_distances", give_up)
    assert check_certificate(*world[:2], world[2].proofs[which]) == (which == 0)


def test_certificates_are_of_these_tables_alone(world: World) -> None:
    fabric, routes, report = world
    changed = change_entries(routes, {(0, 7): 255})
    for proof in report.proofs:
        assert not check_certificate(fabric, changed, proof)
    assert not check_certificate(fabric, changed, replace(report.proofs[0], of=changed.digest))
    assert not check_certificate(fabric, changed, replace(report.proofs[2], of=changed.digest))


BAD: dict[str, Callable[[Routes], Routes]] = {
    "another fabric": lambda r: replace(r, fabric_digest="0" * 64),
    "rows or columns": lambda r: replace(r, group=r.group[1:].copy()),
    "groups do not fit": lambda r: replace(r, group_ptr=r.group_ptr[::-1].copy()),
    "members do not fit": lambda r: replace(r, member_ptr=r.member_ptr + np.int32(1)),
    "groups do not fit the": lambda r: replace(r, member_ptr=r.member_ptr[:0].copy(), group_ptr=r.group_ptr * 0),
    "no port of the fabric": lambda r: replace(r, destination_port=r.destination_port + np.int32(10_000)),
    "is no endpoint": lambda r: replace(
        r, destination_port=np.where(r.destination_port == 0, np.int32(8), r.destination_port).astype(np.int32)
    ),
    "no node of the fabric": lambda r: replace(r, destination_node=r.destination_node - np.int32(10_000)),
    "is no switch": lambda r: replace(r, destination_port=np.full_like(r.destination_port, -1)),
    "more groups than an entry": lambda r: replace(
        r,
        group_ptr=np.concatenate((r.group_ptr[:-1], [r.group_ptr[-1] + 300])).astype(np.int32),
        member_ptr=np.concatenate((r.member_ptr, [r.member_ptr[-1]] * 300)).astype(np.int32),
    ),
}


@pytest.mark.parametrize("words", BAD)
def test_columns_that_are_no_tables_of_the_fabric(world: World, words: str) -> None:
    with pytest.raises(ArtifactError, match=words) as caught:
        prove(world[0], BAD[words](world[1]), ProofRules())
    assert caught.value.code == "artifact.tables-mismatch"


@pytest.mark.parametrize(("peer", "words"), [(10_000, "ends nowhere"), (3, "one end only")])
def test_fabrics_whose_links_do_not_meet(world: World, peer: int, words: str) -> None:
    column = world[0].port_peer.copy()
    column[0] = peer
    torn = replace(world[0], port_peer=column)
    with pytest.raises(ArtifactError, match=words):
        prove(torn, replace(world[1], fabric_digest=torn.digest), ProofRules())
