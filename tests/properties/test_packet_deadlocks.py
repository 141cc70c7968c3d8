"""Loops of credit and pause: what the proof says of tables is what packets do on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.direct_designs import declare, design_of, fabric_of
from tests.packets import CREDITED, PAUSED, make_flows, make_machine, tell
from tests.tables import clockwise_routes, ring
from tests.unit.prove.cases import judge, witness_of
from weftline.kernels import packet_state as st
from weftline.kernels.column import NIL
from weftline.kernels.packet_run import DONE, MARGIN, WAITING_UNTIL, World
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.packet import LaneProfile, PacketOptions, PacketResult, Watchdog
from weftline.model.proof import Verdict
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.route import compute_routes
from weftline.simulate.packet import world as world_module
from weftline.simulate.packet.account import check_buffers, check_world
from weftline.simulate.packet.run import run_world, simulate_packets
from weftline.simulate.packet.ways import find_ways
from weftline.simulate.packet.world import lay_world, wire

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


def run_short_of_room(monkeypatch: pytest.MonkeyPatch, fabric: Fabric, profile: LaneProfile) -> tuple[World, int]:
    """Lock a ring in a world whose pools are small, and hold all its buffers and credits against its packets."""
    monkeypatch.setattr(world_module, "LEAST_PACKETS", 2 * MARGIN)
    hosts = fabric.endpoint_port.tolist()
    count = len(hosts)
    flows = make_flows([(hosts[turn], hosts[(turn + count // 2) % count]) for turn in range(count)], SIZE)
    routes = clockwise_routes(fabric, 4, ties="clockwise")
    machine = make_machine(fabric, profile)
    ways = find_ways(flows, fabric, routes, machine.medium, SimOptions(0.0))
    world = lay_world(flows, wire(fabric, routes), machine, ways, PacketOptions())
    room = world.lane.credit.astype(np.int64)
    world, status, _ = run_world(world, PacketOptions(samples=0, until_ps=3_000_000_000))
    check_world(world)
    check_buffers(world, room)
    return world, status


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


def test_a_stall_that_discards_more_than_a_pool_holds_loses_no_credit(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = replace(CREDITED, buffer_bytes=1 << 20, window_bytes=1 << 20, lifetime_ps=100_000_000, stall_count=1)
    world, status = run_short_of_room(monkeypatch, ring(4, 3), deep)
    assert status in {DONE, WAITING_UNTIL}
    assert world.number[st.DISCARDED] > 2 * MARGIN
    free, item = 0, int(world.number[st.OWED_FREE])
    while item != NIL:
        free, item = free + 1, int(world.owed[item, 2])
    assert free == world.number[st.OWED_LEFT]


def test_a_watchdog_that_drops_more_than_a_pool_holds_leaves_its_buffers_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    watchdog = Watchdog(100_000_000, 200_000_000, "drop")
    deep = replace(PAUSED, static_bytes=1 << 20, watchdog=watchdog, resume_offset_bytes=4_200)
    world, status = run_short_of_room(monkeypatch, ring(4, 3), deep)
    assert status in {DONE, WAITING_UNTIL}
    assert world.number[st.DISCARDED] > 2 * MARGIN
    assert world.number[st.STORMS] > 0


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
