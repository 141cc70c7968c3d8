"""Lives of packets on InfiniBand at the times that OpenSM sets: a circle of credits collapses, a deaf port stalls.

OpenSM's own defaults (``opensm -c`` of 3.3.23): 1.07 s at the head of a queue between switches, 268 ms towards a host,
and a lane stalls after seven discards in a row (IBTA volume 1, 18.2.5.4: for eight lives).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links
from tests.packets import CREDITED, ROCE, make_flows, make_machine
from tests.tables import clockwise_routes, ring
from tests.unit.prove.cases import judge
from weftline.model.packet import PacketOptions, PacketResult
from weftline.model.proof import Verdict
from weftline.route import compute_routes
from weftline.simulate.packet.run import simulate_packets
from weftline.technologies.infiniband.medium import LIVES

TICK_PS = 4_096_000
LIFE = TICK_PS << LIVES["head_of_queue_lifetime"][0]
LEAF_LIFE = TICK_PS << LIVES["leaf_head_of_queue_lifetime"][0]
STALL = LIVES["vl_stall_count"][0]
SECOND = 1_000_000_000_000
BARE = replace(
    ROCE, overhead_bytes=26, unstored_bytes=0, ack_bytes=30, notice_bytes=30, pause_bytes=0, ack_every=256,
    timeout_ps=TICK_PS << 20,
)  # fmt: skip
BLOCKS = 65
"""Of a full packet."""


def test_the_times_are_those_of_opensm() -> None:
    assert pytest.approx(1.0737 * SECOND, rel=1e-4) == LIFE
    assert pytest.approx(0.2684 * SECOND, rel=1e-3) == LEAF_LIFE
    assert STALL == 7


def turn(until_ps: int) -> PacketResult:
    """Let each host of a ring of four switches send to the one across, clockwise, with buffers of four packets."""
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="clockwise")
    buffer = 4 * BLOCKS * 64
    lane = replace(CREDITED, buffer_bytes=buffer, window_bytes=buffer, lifetime_ps=LIFE, stall_count=STALL)
    hosts = fabric.endpoint_port.tolist()
    flows = make_flows([(hosts[at], hosts[(at + 2) % 4]) for at in range(4)], 2**20)
    machine = make_machine(fabric, lane, BARE)
    return simulate_packets(flows, fabric, routes, machine, PacketOptions(samples=0, until_ps=until_ps))


@pytest.mark.parametrize("lives", [1, 2, 5, 20])
def test_a_circle_of_credits_collapses_to_a_discard_each_life(lives: int) -> None:
    """Just before the end of a life nothing new is discarded; just after, one head in each of the four lanes."""
    fabric = ring(4)
    assert judge(fabric, clockwise_routes(fabric, 4, ties="clockwise"), "deadlock").verdict is Verdict.REFUTED
    before, after = turn(lives * LIFE), turn(lives * LIFE + lives * 200_000_000)
    assert before.discarded == 4 * (lives - 1)
    assert after.discarded == 4 * lives
    assert sorted(after.lanes.discards.sum(axis=1).tolist())[-4:] == [lives] * 4
    # Collapse: of four messages that take some 20 us none has arrived.
    assert (after.finish_ps < 0).all()
    assert after.dropped == 0


def send_to_the_deaf(until_ps: int) -> tuple[PacketResult, int]:
    """Send through a leaf to a host whose credits never come back; returns the leaf's port to it, too."""
    fabric = from_links(1, 2, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    port = int(fabric.port_peer[1])
    response = np.zeros(fabric.port_count, dtype=np.int64)
    response[port] = 1_000 * SECOND
    lane = replace(CREDITED, lifetime_ps=LEAF_LIFE, stall_count=STALL)
    machine = make_machine(fabric, lane, BARE, response_ps=response)
    options = PacketOptions(samples=0, until_ps=until_ps)
    return simulate_packets(make_flows([(0, 1)], 8 * 2**20), fabric, routes, machine, options), port


@pytest.mark.parametrize("lives", range(1, STALL))
def test_a_head_is_discarded_at_the_end_of_each_leaf_life(lives: int) -> None:
    before, port = send_to_the_deaf(lives * LEAF_LIFE)
    after, _ = send_to_the_deaf(lives * LEAF_LIFE + 50_000_000)
    assert int(before.lanes.discards[port, 0]) == lives - 1
    assert int(after.lanes.discards[port, 0]) == after.discarded == lives
    assert after.dropped == 0


def test_the_seventh_in_a_row_stalls_the_lane_for_eight_lives() -> None:
    """The whole queue goes with the seventh; what comes in the next eight lives is lost at once, and said."""
    held = CREDITED.buffer_bytes // (BLOCKS * 64)
    result, port = send_to_the_deaf(STALL * LEAF_LIFE + 50_000_000)
    assert int(result.lanes.discards[port, 0]) == STALL - 1 + held
    later, _ = send_to_the_deaf(STALL * LEAF_LIFE + SECOND)
    assert int(later.lanes.discards[port, 0]) == STALL - 1 + held
    # All that the sender had left went into the stalled lane.
    assert later.dropped == 8 * 2**20 // 4096 - 2 * held - (STALL - 1)
    assert later.loss is not None
    # When the stall is over and the sender has tried again, heads wait once more.
    again, _ = send_to_the_deaf(20 * SECOND)
    assert int(again.lanes.discards[port, 0]) > int(later.lanes.discards[port, 0])
    assert again.finish_ps[0] < 0


def test_zero_is_no_limit() -> None:
    fabric = from_links(1, 2, [])
    routes = compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    response = np.zeros(fabric.port_count, dtype=np.int64)
    response[int(fabric.port_peer[1])] = 1_000 * SECOND
    machine = make_machine(fabric, CREDITED, replace(BARE, timeout_ps=0), response_ps=response)
    options = PacketOptions(samples=0, until_ps=500 * SECOND)
    result = simulate_packets(make_flows([(0, 1)], 8 * 2**20), fabric, routes, machine, options)
    assert result.discarded == result.dropped == 0
