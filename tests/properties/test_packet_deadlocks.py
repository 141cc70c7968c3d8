"""Loops of credit and pause: what the proof says of tables is what packets do on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.direct_designs import declare, design_of, fabric_of
from tests.packets import CREDITED, PAUSED, make_flows, make_machine, tell
from tests.tables import clockwise_routes, ring
from tests.unit.prove.cases import judge, witness_of
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.packet import LaneProfile, PacketOptions, PacketResult
from weftline.model.proof import Verdict
from weftline.model.routes import Routes
from weftline.route import compute_routes
from weftline.simulate.packet.run import simulate_packets

SIZE = 4 * 2**20
SHALLOW = pytest.mark.parametrize(
    "profile",
    [
        replace(PAUSED, static_bytes=20_000, resume_offset_bytes=4_200),
        replace(CREDITED, buffer_bytes=65 * 64 * 4, window_bytes=65 * 64 * 4),
    ],
    ids=["pause", "credit"],
)


def send_across(fabric: Fabric, routes: Routes, profile: LaneProfile, each: int, lanes: int = 1) -> PacketResult:
    """Let every host of a ring send to the host two switches further."""
    hosts = fabric.endpoint_port.tolist()
    count = len(hosts)
    flows = make_flows([(hosts[turn], hosts[(turn + 2 * each) % count]) for turn in range(count)], SIZE)
    machine = make_machine(fabric, profile, lanes=lanes)
    return simulate_packets(flows, fabric, routes, machine, PacketOptions(samples=0))


def name_cycle(fabric: Fabric, result: PacketResult) -> list[str]:
    """Name the links of a cycle, the least first."""
    names = [fabric.link_name(port) for port, _ in result.cycle]
    least = names.index(min(names))
    return names[least:] + names[:least]


@SHALLOW
@pytest.mark.parametrize("hosts", [1, 2])
def test_a_ring_whose_ties_all_turn_clockwise_locks_as_was_proved(profile: LaneProfile, hosts: int) -> None:
    fabric = ring(4, hosts)
    routes = clockwise_routes(fabric, 4, ties="clockwise")
    witness = witness_of(fabric, routes, "deadlock")
    result = send_across(fabric, routes, profile, hosts)
    names = name_cycle(fabric, result)
    tell(" -> ".join([*names, names[0]]))
    assert result.ending == "deadlock"
    assert (result.finish_ps < 0).all()
    assert result.dropped == 0
    assert result.loss is None
    assert sorted(names) == sorted(witness.detail["cycle"])


@SHALLOW
def test_opposite_ties_neither_lock_nor_are_refuted(profile: LaneProfile) -> None:
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="opposite")
    assert judge(fabric, routes, "deadlock").verdict is Verdict.PROVED
    result = send_across(fabric, routes, profile, 1)
    assert result.ending == "done"
    assert (result.finish_ps > 0).all()


def step_at_dateline(fabric: Fabric, routes: Routes) -> Routes:
    """Let packets that pass from the last switch to the first hold lane 1 from there on; no way goes round further."""
    row = fabric.switch_row[fabric.port_node]
    over = fabric.switch_row[fabric.port_node[fabric.port_peer]]
    is_dateline = ((row == 3) & (over == 0)) | ((row == 0) & (over == 3))
    count = len(routes.destination_port)
    steps = LaneSteps(
        path_class=np.zeros((1, count), dtype=np.int8),
        port_class=is_dateline.astype(np.int8),
        lane=np.array([[[0, 1], [1, 1]]], dtype=np.int8),
    )
    lanes = Lanes(2, np.zeros(count, dtype=np.int8), with_answers=True, steps=steps)
    return replace(routes, lanes=lanes)


@SHALLOW
@pytest.mark.parametrize("hosts", [1, 2])
def test_a_lane_step_at_the_dateline_unlocks_the_same_ways(profile: LaneProfile, hosts: int) -> None:
    fabric = ring(4, hosts)
    routes = step_at_dateline(fabric, clockwise_routes(fabric, 4, ties="clockwise"))
    assert judge(fabric, routes, "deadlock").verdict is Verdict.PROVED
    result = send_across(fabric, routes, profile, hosts, lanes=2)
    assert result.ending == "done"
    assert result.dropped == 0


@SHALLOW
def test_engine_torus_keeps_a_ring_of_five_free_by_its_lanes_alone(profile: LaneProfile) -> None:
    fabric = fabric_of(design_of(declare({"kind": "torus", "sizes": [5, 1], "endpoints": 1}, hosts=5)))
    routes = compute_routes(fabric, "torus", to_switches=False)
    assert routes.lanes is not None
    bare = replace(routes, lanes=None)
    assert judge(fabric, bare, "deadlock").verdict is Verdict.REFUTED
    locked = send_across(fabric, bare, profile, 1)
    assert locked.ending == "deadlock"
    assert len(locked.cycle) == 5
    assert judge(fabric, routes, "deadlock").verdict is Verdict.PROVED
    assert send_across(fabric, routes, profile, 1, routes.lanes.count).ending == "done"
