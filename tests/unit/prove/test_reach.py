"""Reach: proved where every pair arrives, refuted with a walk for every way to go wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import change_entries, change_member, clockwise_routes, cut, make_routes, minimal_routes, ring
from tests.unit.prove.cases import entry_of, group_by, judge, port_named, replay, witness_of
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove


@pytest.fixture
def square() -> tuple[Fabric, Routes]:
    """A ring of four with two hosts each, routed by fewest switches."""
    fabric = ring(4, 2)
    return fabric, clockwise_routes(fabric, 4, ties="opposite")


def test_ring_is_reached(square: tuple[Fabric, Routes]) -> None:
    proof = judge(*square, "reach", max_hops=3)
    assert proof.verdict is Verdict.PROVED
    assert (proof.bound, proof.bound_name) == (3, "switches on a path")
    assert proof.detail["connected_pairs"] == 8 * 7
    assert proof.of == square[1].digest
    assert "56 ordered pairs" in proof.statement
    assert check_certificate(*square, proof)


def test_hop_bound_missed_by_one(square: tuple[Fabric, Routes]) -> None:
    witness = witness_of(*square, "reach", max_hops=2)
    assert witness.kind == "too-long"
    assert len(witness.detail["hops"]) == 1 + 3 + 1
    replay(*square, witness)


def test_loop_of_two_switches(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    back = group_by(fabric, routes, "leaf-002", "leaf-002/3")
    looped = change_entries(routes, {entry_of(fabric, "leaf-002", "host-0005/nic1"): back})
    witness = witness_of(fabric, looped, "reach")
    assert witness.kind == "loop"
    assert witness.detail["cycle"] == ["leaf-001/3~leaf-002/3", "leaf-002/3~leaf-001/3"]
    assert witness.summary == "host-0001/nic1 to host-0005/nic1: it loops leaf-001 -> leaf-002 -> leaf-001"
    replay(fabric, looped, witness)


def test_missing_entry(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    holed = change_entries(routes, {entry_of(fabric, "leaf-002", "host-0005/nic1"): 255})
    witness = witness_of(fabric, holed, "reach")
    assert witness.kind == "no-route"
    assert witness.summary == "host-0001/nic1 to host-0005/nic1: leaf-002 has no route"
    proof = judge(fabric, holed, "reach")
    assert proof.detail["failed_pairs"] == 4
    assert (proof.bound, proof.bound_name) == (4, "wrong of 56 pairs")
    replay(fabric, holed, witness)


def test_misdelivery(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    other = group_by(fabric, routes, "leaf-003", "leaf-003/2")
    wrong = change_entries(routes, {entry_of(fabric, "leaf-003", "host-0005/nic1"): other})
    witness = witness_of(fabric, wrong, "reach")
    assert witness.kind == "misdelivered"
    assert "leaf-003/2 hands it to host-0006/nic1, another endpoint" in witness.summary
    replay(fabric, wrong, witness)


def test_endpoint_taken_for_the_switch_itself(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    wrong = change_entries(routes, {entry_of(fabric, "leaf-003", "host-0005/nic1"): 254})
    witness = witness_of(fabric, wrong, "reach")
    assert (witness.kind, "leaf-003 takes it for its own" in witness.summary) == ("misdelivered", True)


def test_dark_port(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    broken = cut(fabric, [port_named(fabric, "leaf-002/4")])
    kept = replace(routes, fabric_digest=broken.digest)
    witness = witness_of(broken, kept, "reach")
    assert witness.kind == "dark-port"
    assert witness.summary.endswith("host-0005/nic1 to host-0003/nic1: leaf-003/3 is dark")
    replay(broken, kept, witness)


def test_group_that_the_switch_does_not_have(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    wrong = change_entries(routes, {entry_of(fabric, "leaf-002", "host-0005/nic1"): 200})
    witness = witness_of(fabric, wrong, "reach")
    assert witness.kind == "bad-entry"
    assert "leaf-002 names group 200, but has only 4" in witness.summary


@pytest.mark.parametrize(
    ("port", "words"),
    [(-7, "a port that does not exist (-7)"), (10_000, "does not exist (10000)"), (0, "a port of another switch")],
)
def test_members_that_are_no_ports_of_the_switch(square: tuple[Fabric, Routes], port: int, words: str) -> None:
    fabric, routes = square
    wrong = change_member(routes, int(routes.member_ptr[routes.group_ptr[1]]), port)
    proofs = prove(fabric, wrong, ProofRules(balance_threshold=2.0)).proofs
    assert [p.verdict.value for p in proofs] == ["refuted", "proved", "unknown"]
    assert proofs[0].witness is not None
    assert proofs[0].witness.kind == "bad-entry"
    assert words in proofs[0].witness.summary


def test_empty_group_is_no_route(square: tuple[Fabric, Routes]) -> None:
    fabric, _ = square
    routes = make_routes(fabric, lambda _row, _d: [])
    witness = witness_of(fabric, routes, "reach")
    assert (witness.kind, "which has no port" in witness.summary) == ("no-route", True)


def test_one_bad_choice_of_many_is_enough() -> None:
    fabric = from_links(4, 1, [(0, 1), (1, 3), (0, 2), (2, 3)])
    routes = minimal_routes(fabric, tie=lambda _r, _d, ports: ports)
    assert judge(fabric, routes, "reach").verdict is Verdict.PROVED
    holed = change_entries(routes, {entry_of(fabric, "leaf-003", "host-0004/nic1"): 255})
    witness = witness_of(fabric, holed, "reach")
    assert [hop["node"] for hop in witness.detail["hops"]] == ["host-0001", "leaf-001", "leaf-003"]
    replay(fabric, holed, witness)


def split_ring() -> tuple[Fabric, Routes]:
    """A ring whose first two hosts are meant to be apart from the others."""
    fabric = ring(4)
    component = fabric.port_component.copy()
    component[:2] = 1
    fabric = replace(fabric, port_component=component)
    apart = {0: {0, 1}, 1: {0, 1}, 2: {2, 3}, 3: {2, 3}}

    def keep(row: int, d: int, ports: object) -> list[int]:
        return list(ports)[:1] if d in apart[row] else []  # type: ignore[call-overload]

    return fabric, minimal_routes(fabric, tie=keep)


def test_pairs_of_other_components_are_not_delivered() -> None:
    fabric, routes = split_ring()
    proof = judge(fabric, routes, "reach")
    assert proof.verdict is Verdict.PROVED
    assert (proof.detail["connected_pairs"], proof.detail["foreign_pairs"]) == (4, 8)
    assert "none of 8 pairs of different components is delivered" in proof.statement
    assert check_certificate(fabric, routes, proof)


def test_delivery_to_another_component() -> None:
    fabric, routes = split_ring()
    across = group_by(fabric, routes, "leaf-001", "leaf-001/2")
    leaky = change_entries(routes, {entry_of(fabric, "leaf-001", "host-0003/nic1"): across})
    assert judge(fabric, leaky, "reach").verdict is Verdict.PROVED  # leaf-002 drops it
    onward = make_routes(fabric, lambda row, d: _leak(fabric, routes, row, d))
    witness = witness_of(fabric, onward, "reach")
    assert witness.kind == "delivered"
    assert (
        witness.summary
        == "host-0001/nic1 to host-0003/nic1: it is delivered over 3 switches, though their components differ"
    )
    assert [hop["node"] for hop in witness.detail["hops"]] == [
        "host-0001",
        "leaf-001",
        "leaf-002",
        "leaf-003",
        "host-0003",
    ]
    replay(fabric, onward, witness)


def _leak(fabric: Fabric, routes: Routes, row: int, d: int) -> list[int] | None:
    """Keep the entries, but let leaf-001 and leaf-002 forward to host-0003."""
    if d == 2 and row in {0, 1}:
        return [port_named(fabric, ("leaf-001/2", "leaf-002/3")[row])]
    place = int(routes.group_ptr[row]) + int(routes.group[row, d])
    return routes.member_port[routes.member_ptr[place] : routes.member_ptr[place + 1]].tolist()


def test_rail_only_rails_are_apart() -> None:
    fabric = make_fabric("rail-only", hosts=8, rails=2, ports=4, unit_size=2)
    routes = minimal_routes(fabric)
    proof = judge(fabric, routes, "reach")
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["connected_pairs"] == 2 * 8 * 7
    assert proof.detail["foreign_pairs"] == 2 * 8 * 8


def test_dark_endpoints_are_nobody(square: tuple[Fabric, Routes]) -> None:
    fabric, _ = square
    unplugged = cut(fabric, [port_named(fabric, "host-0003/nic1")])
    proof = judge(unplugged, minimal_routes(unplugged), "reach")
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["connected_pairs"] == 7 * 6


def test_lit_endpoint_without_a_column(square: tuple[Fabric, Routes]) -> None:
    fabric, routes = square
    fewer = replace(
        routes,
        group=routes.group[:, 1:].copy(),
        destination_port=routes.destination_port[1:].copy(),
        destination_node=routes.destination_node[1:].copy(),
    )
    assert witness_of(fabric, fewer, "reach").summary == "host-0001/nic1 is no destination of the tables"


def test_switches_are_reached_or_absent(square: tuple[Fabric, Routes]) -> None:
    fabric, _ = square
    routes = minimal_routes(fabric, to_switches=True)
    proof = judge(fabric, routes, "reach")
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["switch_pairs_reached"] == 16
    absent = change_entries(routes, {(row, 8): 255 for row in range(4)})
    proof = judge(fabric, absent, "reach")
    assert proof.verdict is Verdict.PROVED
    assert (proof.detail["switch_pairs_reached"], proof.detail["switch_pairs_absent"]) == (12, 4)
    assert check_certificate(fabric, absent, proof)
    assert witness_of(fabric, absent, "reach", switches_required=True).detail["absent"] == 4


def test_switch_that_is_lost_on_the_way_is_refuted(square: tuple[Fabric, Routes]) -> None:
    fabric, _ = square
    routes = minimal_routes(fabric, to_switches=True)
    half = change_entries(routes, {(0, 8): 255})
    witness = witness_of(fabric, half, "reach")
    assert (witness.kind, witness.detail["destination"]) == ("no-route", "leaf-001")
    replay(fabric, half, witness)


def test_hosts_cabled_to_each_other() -> None:
    fabric = from_links(["leaf-001"], {"host-0001": "leaf-001", "host-0002": "leaf-001"}, [])
    peer = fabric.port_peer.copy()
    peer[:] = NIL
    peer[[0, 1]] = 1, 0
    back_to_back = replace(fabric, port_peer=peer)
    routes = make_routes(back_to_back, lambda _row, _d: None)
    assert judge(back_to_back, routes, "reach").verdict is Verdict.PROVED
    component = fabric.port_component.copy()
    component[0] = 1
    apart = replace(back_to_back, port_component=component)
    routes = replace(routes, fabric_digest=apart.digest)
    assert "cabled to host-0002/nic1 and to no switch" in witness_of(apart, routes, "reach").summary
    three = from_links(["leaf-001"], {f"host-000{i}": "leaf-001" for i in (1, 2, 3)}, [])
    peer = np.full_like(three.port_peer, NIL)
    peer[[0, 1, 2, 5]] = 1, 0, 5, 2
    mixed = replace(three, port_peer=peer)
    witness = witness_of(mixed, minimal_routes(mixed), "reach")
    assert witness.kind in {"misdelivered", "no-route"}


def test_two_pairs_of_hosts_cabled_to_each_other_do_not_meet() -> None:
    fabric = from_links(["leaf-001"], {f"host-000{i}": "leaf-001" for i in (1, 2, 3, 4)}, [])
    peer = np.full_like(fabric.port_peer, NIL)
    peer[:4] = 1, 0, 3, 2
    pairs = replace(fabric, port_peer=peer)
    proof = judge(pairs, make_routes(pairs, lambda _row, _d: None), "reach")
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert proof.witness.summary.startswith("host-0001/nic1 to host-0003/nic1: host-0001/nic1 is cabled to host-0002")
    assert (proof.detail["connected_pairs"], proof.detail["failed_pairs"]) == (12, 8)
    apart = replace(pairs, port_component=np.array([0, 1, 0, 1, *fabric.port_component[4:]], dtype=np.int32))
    counts = judge(apart, make_routes(apart, lambda _row, _d: None), "reach").detail
    assert (counts["connected_pairs"], counts["failed_pairs"]) == (4, 4)
    assert (counts["foreign_pairs"], counts["delivered_foreign_pairs"]) == (8, 4)


def test_where_nobody_sends_nothing_is_proved() -> None:
    fabric = from_links(2, {}, [(0, 1)])
    report = prove(fabric, minimal_routes(fabric), ProofRules())
    assert [p.verdict.value for p in report.proofs] == ["unknown"] * 3
    assert not report.is_accepted
    assert {p.statement for p in report.proofs} == {
        "Not judged: no endpoint is connected, so that nobody sends anything."
    }


def test_too_many_steps_leave_the_claim_unknown(square: tuple[Fabric, Routes]) -> None:
    report = prove(*square, ProofRules(max_steps=1))
    assert report.proofs[0].verdict is Verdict.UNKNOWN
    assert not report.is_accepted


def test_chain_longer_than_any_certificate_is_too_long() -> None:
    fabric = from_links(252, {"host-0001": "leaf-001", "host-0002": "leaf-252"}, [(i, i + 1) for i in range(251)])
    witness = witness_of(fabric, minimal_routes(fabric), "reach", max_hops=1000)
    assert witness.kind == "too-long"
    assert len(witness.detail["hops"]) == 254
