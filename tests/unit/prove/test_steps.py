"""Lane steps: a ring with a dateline is free on two lanes; what breaks it is named by port and lane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.tables import clockwise_routes, ring
from tests.unit.prove.cases import judge, port_named, witness_of
from weftline.errors import ArtifactError
from weftline.kernels.column import Array, digest_parts
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, deadlock, steps

SIZE = 6


def dated(fabric: Fabric, *, crossing: bool = True, with_answers: bool = False) -> Routes:
    """Route a ring clockwise on ties; class 1 where the way crosses the link from the last switch to the first."""
    routes = clockwise_routes(fabric, SIZE, ties="clockwise")
    goals = len(routes.destination_port)
    path_class = np.zeros((SIZE, goals), dtype=np.int8)
    for row in range(SIZE):
        for d in range(goals):
            home = d * SIZE // goals
            is_clockwise = (home - row) % SIZE * 2 <= SIZE
            path_class[row, d] = crossing and (row > home if is_clockwise else row < home)
    column = LaneSteps(path_class, np.zeros(fabric.port_count, dtype=np.int8), np.array([[[0]], [[1]]], dtype=np.int8))
    return replace(routes, lanes=Lanes(2, np.zeros(goals, dtype=np.int8), with_answers, column))


def change(routes: Routes, **columns: Any) -> Routes:
    assert routes.lanes is not None
    assert routes.lanes.steps is not None
    count = columns.pop("count", routes.lanes.count)
    return replace(routes, lanes=replace(routes.lanes, count=count, steps=replace(routes.lanes.steps, **columns)))


def test_a_ring_with_a_dateline_is_free_on_two_lanes() -> None:
    fabric = ring(SIZE, 2)
    routes = dated(fabric)
    proof = judge(fabric, routes, "deadlock")
    assert proof.verdict is Verdict.PROVED
    words = "(2 lanes each; the class of the path and of the ports in and out gives the lane of each hop)"
    assert words in proof.statement
    assert (proof.detail["lanes"], proof.detail["channels"]) == (2, 24)
    assert check_certificate(fabric, routes, proof)
    assert judge(fabric, routes, "reach").verdict is Verdict.PROVED


def test_without_the_dateline_the_cycle_is_named_by_port_and_lane() -> None:
    fabric = ring(SIZE)
    witness = witness_of(fabric, dated(fabric, crossing=False), "deadlock")
    assert witness.detail["cycle"][:2] == ["leaf-001/2~leaf-002/2 lane 0", "leaf-002/3~leaf-003/2 lane 0"]
    assert len(witness.detail["cycle"]) == SIZE
    assert witness.summary.startswith("6 channels wait for each other in a cycle: leaf-001/2~leaf-002/2 lane 0 -> ")
    first = witness.detail["steps"][0]
    assert first["destination"] == "host-0003/nic1"
    assert (first["source_switch"], first["path_class"]) == ("leaf-001", 0)
    assert witness.detail["is_shortest"]


def test_lanes_that_change_by_the_port_alone_hold_too() -> None:
    """One class: packets that came in by the link over the dateline go on in lane 1."""
    fabric = ring(SIZE)
    routes = dated(fabric)
    kinds = np.zeros(fabric.port_count, dtype=np.int8)
    for name in ("leaf-001/3", "leaf-006/3"):
        kinds[port_named(fabric, name)] = 1
    lane = np.array([[[0, 0], [1, 1]]], dtype=np.int8)
    goals = len(routes.destination_port)
    stepped = change(routes, path_class=np.zeros((1, goals), dtype=np.int8), port_class=kinds, lane=lane)
    # leaf-001 sends on in lane 1 and leaf-002 in lane 0 again, so that one lane is the rest of the circle
    assert judge(fabric, stepped, "deadlock").verdict is Verdict.REFUTED
    shortened = clockwise_routes(ring(5), 5, ties="clockwise")
    small = replace(shortened, lanes=Lanes(2, np.zeros(5, dtype=np.int8), False, _over(ring(5))))
    assert judge(ring(5), small, "deadlock").verdict is Verdict.PROVED


def _over(fabric: Fabric) -> LaneSteps:
    kinds = np.zeros(fabric.port_count, dtype=np.int8)
    for name in ("leaf-001/3", "leaf-005/3"):
        kinds[port_named(fabric, name)] = 1
    return LaneSteps(np.zeros((1, 5), dtype=np.int8), kinds, np.array([[[0, 0], [1, 1]]], dtype=np.int8))


def test_answers_are_judged_by_the_class_of_what_they_answer() -> None:
    fabric = ring(SIZE)
    assert judge(fabric, dated(fabric), "deadlock").verdict is Verdict.PROVED
    # every tie runs clockwise, so that answers to ties go round by the class of the other way
    proof = judge(fabric, dated(fabric, with_answers=True), "deadlock")
    assert "answers also by the class of what they answer" in proof.statement
    assert not check_certificate(fabric, dated(fabric, with_answers=True), judge(fabric, dated(fabric), "deadlock"))


def turn_around(rank: Array) -> Array:
    held = rank.astype(np.int32)
    return np.where(held >= 0, held.max() - held, held).astype(np.int32)


FORGERIES: list[Callable[[Array], Array]] = [lambda rank: rank[:1], np.zeros_like, turn_around]


@pytest.mark.parametrize("forge", FORGERIES)
def test_forged_ranks_do_not_hold(forge: Callable[[Array], Array]) -> None:
    fabric = ring(SIZE)
    routes = dated(fabric)
    proof = judge(fabric, routes, "deadlock")
    assert proof.certificate is not None
    rank = np.ascontiguousarray(forge(proof.certificate.columns["rank"]))
    forged = replace(proof.certificate, columns={"rank": rank}, digest=digest_parts((deadlock.CLAIM, rank)))
    assert not check_certificate(fabric, routes, replace(proof, certificate=forged))
    # the proof of packets that keep their lane does not carry packets that change it
    kept = replace(routes, lanes=None)
    assert not check_certificate(fabric, kept, proof)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"lane": np.array([[[0]], [[2]]], dtype=np.int8)}, "a step leads to a lane that is not there"),
        ({"lane": np.array([[[0]], [[-1]]], dtype=np.int8)}, "a step leads to a lane that is not there"),
        ({"lane": np.zeros((1, 1, 1), dtype=np.int8)}, "a path has a class that is not there"),
        ({"lane": np.zeros((2, 1, 2), dtype=np.int8)}, "no table by class, port in and port out"),
        ({"lane": np.zeros((2, 1), dtype=np.int8)}, "no table by class, port in and port out"),
        ({"lane": np.zeros((17, 1, 1), dtype=np.int8)}, "1 to 16 classes of paths, not 17"),
        ({"port_class": np.zeros(3, dtype=np.int8)}, "classes of ports and ports differ in number"),
        ({"port_class": np.ones(ring(SIZE).port_count, dtype=np.int8)}, "a port has a class that is not there"),
        ({"path_class": np.zeros((2, SIZE), dtype=np.int8)}, "neither per destination nor per switch"),
    ],
)
def test_steps_that_cannot_be_are_refused(columns: dict[str, Array], words: str) -> None:
    fabric = ring(SIZE)
    with pytest.raises(ArtifactError, match=words):
        judge(fabric, change(dated(fabric), **columns), "deadlock")


def test_more_turns_than_memory_leave_the_claim_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MAX_BYTES", 3)
    fabric = ring(SIZE)
    assert judge(fabric, dated(fabric), "deadlock").verdict is Verdict.UNKNOWN


def test_steps_are_part_of_the_digest_and_read_only() -> None:
    fabric = ring(SIZE)
    routes = dated(fabric)
    assert routes.lanes is not None
    assert routes.digest != replace(routes, lanes=replace(routes.lanes, steps=None)).digest
    other = change(routes, lane=np.array([[[1]], [[0]]], dtype=np.int8))
    assert other.digest != routes.digest
    assert routes.steps is not None
    with pytest.raises(ValueError, match="read-only"):
        routes.steps.lane[0] = 1


def test_the_lane_of_a_hop_can_be_asked_for() -> None:
    fabric = ring(SIZE)
    routes = dated(fabric)
    ahead, behind = port_named(fabric, "leaf-001/2"), port_named(fabric, "leaf-001/3")
    assert routes.lane_of_hop(0, 1, behind, ahead) == 0
    assert routes.lane_of_hop(5, 1, behind, ahead) == 1
    assert replace(routes, lanes=None).lane_of_hop(5, 1, behind, ahead) == 0
