"""Pauses and what heals them: victims, fair shares under DCQCN with the figures of its paper, and parking lots.

All at 40 Gb/s, the line of the paper's testbed (Zhu et al., SIGCOMM 2015), and with its marks: 5 kB, 200 kB, 1 %.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links
from tests.packets import PAUSED, ROCE, make_flows, make_machine, tell
from weftline.model.fabric import Fabric
from weftline.model.packet import Carriage, LaneProfile, Marking, PacketOptions, PacketResult
from weftline.model.routes import Routes
from weftline.route import compute_routes
from weftline.simulate.packet.run import simulate_packets
from weftline.technologies.roce.pacing import PACINGS

RATE = 40_000
MS = 1_000_000_000
LOSSLESS = replace(PAUSED, static_bytes=250_000, headroom_bytes=50_000, resume_offset_bytes=5_000)
MARKED = replace(LOSSLESS, marking=Marking(5_000, 200_000, 10_000))
PAPER = replace(ROCE, ack_every=64, pacing=PACINGS["paper"][0](RATE / 1000))
ENDLESS = 1 << 33


def run(
    world: tuple[Fabric, Routes], ends: list[tuple[int, int]], profile: LaneProfile, carriage: Carriage, until_ms: int
) -> PacketResult:
    """Run endless flows for some time."""
    fabric, routes = world
    machine = make_machine(fabric, profile, carriage, rate_mbps=np.full(fabric.port_count, RATE))
    flows = make_flows(ends, ENDLESS)
    return simulate_packets(flows, fabric, routes, machine, PacketOptions(until_ps=until_ms * MS, samples=100))


def gbps(result: PacketResult, ends: list[tuple[int, int]], from_ms: int) -> list[float]:
    """Take the mean rate of each sender from a time on to the end, in Gb/s on the wire."""
    series = result.series
    at = int(np.searchsorted(series.at_ps, from_ms * MS))
    span = int(series.at_ps[-1] - series.at_ps[at])
    assert span > 0
    sent = series.sent_bytes[-1] - series.sent_bytes[at]
    return [float(sent[a]) * 8000 / span for a, _ in ends]


def make_pair() -> tuple[Fabric, Routes]:
    """Make two switches with a trunk of one link; ports 0 to 7 are hosts of the first, 8 to 15 of the second."""
    fabric = from_links(2, 8, [(0, 1)])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


VICTIM = [(1, 9), (0, 8), *((host, 8) for host in range(10, 16))]
"""A victim between the switches to a free host; an incast on its neighbour, with one sender over the trunk."""


def test_pauses_alone_make_a_victim_and_marks_free_it() -> None:
    world = make_pair()
    paused = run(world, VICTIM, LOSSLESS, ROCE, 20)
    paced = run(world, VICTIM, MARKED, PAPER, 200)
    without, with_marks = gbps(paused, VICTIM, 10), gbps(paced, VICTIM, 100)
    tell(f"the victim gets {without[0]:.1f} Gb/s behind pauses and {with_marks[0]:.1f} with DCQCN")
    # It shares the trunk with one flow of the incast, and could have all that this leaves of it.
    assert without[0] <= 1.2 * max(without[1], RATE / 1000 / 7)
    assert with_marks[0] >= 0.8 * (RATE / 1000 - with_marks[1])
    assert with_marks[0] >= 3 * without[0]
    assert paused.loss is None
    assert paced.loss is None
    assert paused.dropped == paced.dropped == 0


def test_pause_frames_fall_by_orders_of_magnitude() -> None:
    """The paper counts millions without DCQCN and hundreds with it."""
    world = make_pair()
    paused = int(run(world, VICTIM, LOSSLESS, ROCE, 100).lanes.pauses.sum())
    paced = int(run(world, VICTIM, MARKED, PAPER, 100).lanes.pauses.sum())
    tell(f"{paused:,} pause frames without DCQCN in 0.1 s, {paced:,} with it")
    assert paused > 1_000
    assert paced <= paused / 100


@pytest.mark.parametrize("senders", [2, 4, 8])
def test_flows_share_a_port_fairly(senders: int) -> None:
    fabric = from_links(1, 9, [])
    world = fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))
    ends = [(host, 8) for host in range(senders)]
    result = run(world, ends, MARKED, PAPER, 600)
    rates = gbps(result, ends, 200)
    tell(" ".join(f"{one:.2f}" for one in rates))
    fair = sum(rates) / senders
    assert sum(rates) >= 0.9 * RATE / 1000
    assert max(abs(one - fair) for one in rates) <= 0.05 * fair


LOT = [(0, 8), (1, 8), (2, 8), (9, 8)]
"""Three senders behind the trunk and one beside the receiver."""


def test_a_parking_lot_is_unfair_behind_pauses_and_fair_with_marks() -> None:
    world = make_pair()
    without = gbps(run(world, LOT, LOSSLESS, ROCE, 20), LOT, 10)
    with_marks = gbps(run(world, LOT, MARKED, PAPER, 600), LOT, 200)
    tell("pauses:", *(f"{one:.2f}" for one in without), "DCQCN:", *(f"{one:.2f}" for one in with_marks))
    # A switch serves its inputs alike: the near sender gets about what the three get together.
    assert without[3] >= 1.8 * max(without[:3])
    fair = sum(with_marks) / 4
    assert fair >= 0.9 * RATE / 4000
    assert max(abs(one - fair) for one in with_marks) <= 0.05 * fair


def test_a_flow_over_two_bottlenecks_is_not_starved() -> None:
    """It shares the trunk with one flow and its receiver with another; half a line each would be max-min fair.

    It meets marks twice, so it gets less than half; the other two get what it leaves.
    """
    world = make_pair()
    ends = [(0, 8), (1, 9), (10, 9)]
    rates = gbps(run(world, ends, MARKED, PAPER, 400), ends, 200)
    tell(" ".join(f"{one:.2f}" for one in rates))
    assert rates[1] >= 0.5 * RATE / 2000
    assert rates[0] + rates[1] >= 0.9 * RATE / 1000
    assert rates[2] + rates[1] >= 0.9 * RATE / 1000
