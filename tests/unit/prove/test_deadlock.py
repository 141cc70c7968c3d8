"""Deadlock: a ring with every tie clockwise locks, with opposite ties it cannot."""

from __future__ import annotations

import pytest

from tests.fabrics import make_fabric
from tests.tables import change_entries, clockwise_routes, make_routes, minimal_routes, ring
from tests.unit.prove.cases import entry_of, group_by, judge, port_named, witness_of
from weftline.model.proof import Verdict
from weftline.prove import check_certificate, deadlock

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
