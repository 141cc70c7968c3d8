"""Deadlock: a ring with every tie clockwise locks, with opposite ties it cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.tables import change_entries, clockwise_routes, make_routes, minimal_routes, ring
from tests.unit.prove.cases import entry_of, group_by, judge, port_named, witness_of
from weftline.errors import ArtifactError
from weftline.kernels.column import Array, digest_parts
from weftline.model.lanes import Lanes
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, deadlock
from weftline.route import compute_routes

FOUR = ["leaf-001/2~leaf-002/2", "leaf-002/3~leaf-003/2", "leaf-003/3~leaf-004/2", "leaf-004/3~leaf-001/3"]


def test_ring_of_four_with_every_tie_clockwise_locks() -> None:
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="clockwise")
    proof = judge(fabric, routes, "deadlock")
    assert proof.verdict is Verdict.REFUTED
    assert (proof.bound, proof.bound_name) == (4, "channels on the cycle")
    assert proof.witness is not None
    assert proof.witness.detail["cycle"] == FOUR
    assert proof.witness.detail["is_shortest"]
    assert proof.witness.detail["steps"][0] == {
        "holds": FOUR[0],
        "waits_for": FOUR[1],
        "destination": "host-0003/nic1",
        "source_switch": "leaf-001",
    }
    assert proof.witness.summary == f"4 channels wait for each other in a cycle: {' -> '.join([*FOUR, FOUR[0]])}"
    assert not check_certificate(fabric, routes, proof)


@pytest.mark.parametrize("hosts", [2, 5])
def test_more_hosts_change_nothing(hosts: int) -> None:
    fabric = ring(4, hosts)
    witness = witness_of(fabric, clockwise_routes(fabric, 4, ties="clockwise"), "deadlock")
    assert len(witness.detail["cycle"]) == 4
    assert judge(fabric, clockwise_routes(fabric, 4, ties="opposite"), "deadlock").verdict is Verdict.PROVED


def test_ring_of_four_with_opposite_ties_for_opposite_pairs_is_free() -> None:
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="opposite")
    proof = judge(fabric, routes, "deadlock")
    assert proof.verdict is Verdict.PROVED
    assert (proof.detail["channels"], proof.detail["dependencies"], proof.detail["levels"]) == (8, 4, 2)
    assert check_certificate(fabric, routes, proof)


def test_opposite_pairs_may_also_share_a_switch() -> None:
    fabric = ring(4)
    by_name = {(0, 2): "leaf-001/2", (2, 0): "leaf-003/2", (1, 3): "leaf-002/3", (3, 1): "leaf-004/2"}
    routes = minimal_routes(
        fabric, tie=lambda r, d, ports: [port_named(fabric, by_name[r, d])] if (r, d) in by_name else ports[:1]
    )
    assert judge(fabric, routes, "deadlock").verdict is Verdict.PROVED


def test_longer_cycles_are_named_by_their_beginning() -> None:
    fabric = ring(12)
    witness = witness_of(fabric, clockwise_routes(fabric, 12, ties="clockwise"), "deadlock")
    assert len(witness.detail["cycle"]) == 12
    assert "in a cycle that begins leaf-001/" in witness.summary


def test_forwarding_loop_locks_too() -> None:
    fabric = ring(4, 2)
    routes = clockwise_routes(fabric, 4, ties="opposite")
    back = group_by(fabric, routes, "leaf-002", "leaf-002/3")
    looped = change_entries(routes, {entry_of(fabric, "leaf-002", "host-0005/nic1"): back})
    witness = witness_of(fabric, looped, "deadlock")
    assert witness.detail["cycle"] == ["leaf-001/3~leaf-002/3", "leaf-002/3~leaf-001/3"]
    assert {step["destination"] for step in witness.detail["steps"]} == {"host-0005/nic1"}


def test_loop_that_no_packet_enters_does_not_count() -> None:
    fabric = make_fabric("fat-tree", hosts=8, ports=4)
    routes = minimal_routes(fabric)
    last = len(fabric.endpoint_port) - 1
    away = fabric.switch_row[fabric.port_node[fabric.port_peer[fabric.endpoint_port[last]]]]

    def only_last_unused(row: int, d: int) -> list[int] | None:
        place = int(routes.group_ptr[row]) + int(routes.group[row, d])
        ports = routes.member_port[routes.member_ptr[place] : routes.member_ptr[place + 1]].tolist()
        return None if d == last and row != away and fabric.node_tier[fabric.switch_node[row]] == 1 else ports

    free = make_routes(fabric, only_last_unused)
    assert judge(fabric, free, "deadlock").verdict is Verdict.PROVED


def test_trees_are_free_whatever_they_choose() -> None:
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)
    routes = minimal_routes(fabric, tie=lambda _r, _d, ports: ports)
    proof = judge(fabric, routes, "deadlock")
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["levels"] == 2


def test_more_turns_than_memory_leave_the_claim_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlock, "MAX_TURN_BYTES", 3)
    fabric = ring(4)
    assert judge(fabric, clockwise_routes(fabric, 4, ties="opposite"), "deadlock").verdict is Verdict.UNKNOWN


def put_on_lanes(routes: Routes, lanes: Sequence[int], count: int, *, with_answers: bool = False) -> Routes:
    return replace(routes, lanes=Lanes(count, np.array(lanes, dtype=np.int8), with_answers))


def test_a_ring_of_five_is_free_on_two_lanes_and_locks_on_one() -> None:
    fabric = ring(5)
    routes = compute_routes(fabric, "layered", to_switches=False)
    proof = judge(fabric, routes, "deadlock")
    assert proof.verdict is Verdict.PROVED
    words = "(2 lanes each; packets are on the lane of their destination, answers on that of their source)"
    assert words in proof.statement
    assert (proof.detail["lanes"], proof.detail["channels"]) == (2, 20)
    assert proof.certificate is not None
    assert proof.certificate.columns["rank"].shape == (2, fabric.port_count)
    assert check_certificate(fabric, routes, proof)
    witness = witness_of(fabric, replace(routes, lanes=None), "deadlock")
    assert witness.detail["lane"] == 0
    assert len(witness.detail["cycle"]) == 5


@pytest.mark.parametrize("lane", [0, 1, 2])
def test_the_witness_names_the_lane_and_its_destinations(lane: int) -> None:
    fabric = ring(5, 2)
    routes = put_on_lanes(compute_routes(fabric, "layered", to_switches=False), [lane] * 10, 3)
    witness = witness_of(fabric, routes, "deadlock")
    assert witness.detail["lane"] == lane
    assert witness.summary.startswith(
        f"5 channels of lane {lane} wait for each other in a cycle: leaf-001/3~leaf-002/3"
    )
    # the first host of each switch is on another lane: only the second ones are to blame
    mixed = put_on_lanes(routes, [lane if d % 2 else (lane + 1) % 3 for d in range(10)], 3)
    steps = witness_of(fabric, mixed, "deadlock").detail["steps"]
    parity = 0 if (lane + 1) % 3 < lane else 1
    assert {int(step["destination"][5:9]) % 2 for step in steps} == {1 - parity}


def test_destinations_that_share_a_column_may_have_different_lanes() -> None:
    fabric = ring(4, 3)
    routes = clockwise_routes(fabric, 4, ties="clockwise")
    apart = put_on_lanes(routes, [d % 3 for d in range(12)], 3)
    assert judge(fabric, apart, "deadlock").verdict is Verdict.REFUTED
    # two destinations of four make no circle
    halves = put_on_lanes(routes, [int(d >= 6) for d in range(12)], 2)
    proof = judge(fabric, halves, "deadlock")
    assert proof.verdict is Verdict.PROVED
    assert check_certificate(fabric, halves, proof)
    assert not check_certificate(fabric, replace(halves, lanes=None), proof)
    assert not check_certificate(fabric, put_on_lanes(halves, [int(d < 3) for d in range(12)], 2), proof)


def turn_around(rank: Array) -> Array:
    held = rank.astype(np.int32)
    return np.where(held >= 0, held.max() - held, held).astype(np.int32)


FORGERIES: list[Callable[[Array], Array]] = [
    lambda rank: rank[::-1],
    lambda rank: rank[:1],
    lambda rank: rank[0],
    lambda rank: np.concatenate((rank, rank)),
    turn_around,
]


def test_answers_lock_where_requests_do_not() -> None:
    fabric = ring(6)
    routes = clockwise_routes(fabric, 6, ties="clockwise")
    # to 1, 2 and 3 clockwise no circle closes, nor to 4, 5 and 6
    halves = [0, 0, 0, 1, 1, 1]
    assert judge(fabric, put_on_lanes(routes, halves, 2), "deadlock").verdict is Verdict.PROVED
    both = put_on_lanes(routes, halves, 2, with_answers=True)
    witness = witness_of(fabric, both, "deadlock")
    assert {step["is_answer"] for step in witness.detail["steps"]} == {False, True}
    for step in witness.detail["steps"]:
        senders = {"leaf-001", "leaf-002", "leaf-003"}
        assert (step["source_switch"] in senders) or not step["is_answer"]
        assert (int(step["destination"][5:9]) <= 3) != step["is_answer"]
    # a proof of requests alone does not carry the answers
    proof = judge(fabric, put_on_lanes(routes, halves, 2), "deadlock")
    assert not check_certificate(fabric, both, replace(proof, of=both.digest))
    assert not check_certificate(fabric, both, replace(proof, of=both.digest, statement=deadlock.state(both)))


def test_answers_to_their_own_lane_are_requests() -> None:
    fabric = ring(5, 2)
    routes = compute_routes(fabric, "layered", to_switches=True)
    proof = judge(fabric, routes, "deadlock")
    assert proof.verdict is Verdict.PROVED
    assert check_certificate(fabric, routes, proof)
    alone = put_on_lanes(clockwise_routes(ring(4), 4, ties="opposite"), [0, 0, 0, 0], 2, with_answers=True)
    assert judge(ring(4), alone, "deadlock").verdict is Verdict.PROVED


@pytest.mark.parametrize("change", FORGERIES)
def test_forged_ranks_of_lanes_do_not_hold(change: Callable[[Array], Array]) -> None:
    fabric = ring(5)
    routes = compute_routes(fabric, "layered", to_switches=False)
    proof = judge(fabric, routes, "deadlock")
    assert proof.certificate is not None
    rank = np.ascontiguousarray(change(proof.certificate.columns["rank"]))
    forged = replace(proof.certificate, columns={"rank": rank}, digest=digest_parts((deadlock.CLAIM, rank)))
    assert not check_certificate(fabric, routes, replace(proof, certificate=forged))
    # the statement of one lane does not carry two
    assert not check_certificate(fabric, routes, replace(proof, statement=deadlock.state(replace(routes, lanes=None))))


@pytest.mark.parametrize(
    ("lanes", "count", "words"),
    [
        ([0, 0, 0, 2], 2, "a lane that is not there"),
        ([0, 0, 0, -1], 2, "a lane that is not there"),
        ([0, 0, 0], 2, "differ in number"),
        ([0, 0, 0, 0], 0, "1 to 15 lanes, not 0"),
        ([0, 0, 0, 0], 16, "1 to 15 lanes, not 16"),
    ],
)
def test_lanes_that_cannot_be_are_refused(lanes: list[int], count: int, words: str) -> None:
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="opposite")
    with pytest.raises(ArtifactError, match=words):
        judge(fabric, put_on_lanes(routes, lanes, count), "deadlock")
