"""Headroom: the worst that an adversary finds is within the closed form and the vendors' formulas, and is needed.

The adversary fills a receiver's queue from three ports, so that nothing that a fourth brings later leaves again before
the pause takes effect; the fourth sends at line rate, in the smallest packets or in full ones; and a stream of full
packets the other way, in every position, delays the pause.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.fabrics import from_links
from tests.packets import PAUSED, ROCE, make_flows, make_machine, tell
from weftline.headroom import ONLY_SMALL, peer_response, switch_headroom
from weftline.model.fabric import Fabric
from weftline.model.headroom import HeadroomAsic, HeadroomPort
from weftline.model.packet import PacketOptions, PacketResult
from weftline.model.routes import Routes
from weftline.route import compute_routes
from weftline.simulate.packet.run import simulate_packets

SPEEDS = [100_000, 200_000, 400_000, 800_000]
LENGTHS = [1, 5, 40, 100, 300, 2000]
MTU, OVERHEAD, UNSTORED, PAUSE = 4096, 82, 20, 84
CELL = 192
"""Of Spectrum-4."""
SPECTRUM_4 = HeadroomAsic(cell_bytes=CELL, pipeline_kib=19, mac_phy_kib=0.8, is_tiled=True)
SMALL = 2
"""Payload of the smallest Ethernet frame, 64 bytes with all headers of RoCE."""
AHEAD = 4
"""Positions of the stream the other way, over the time of one packet."""
LATE = 3
"""The sender that comes late."""
TRIES = [(size, turn / AHEAD) for size in (SMALL, MTU) for turn in range(AHEAD)]


@cache
def make_star() -> tuple[Fabric, Routes]:
    fabric = from_links(1, 6, [])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


def cells(wire: int) -> int:
    return -(-(wire - UNSTORED) // CELL) * CELL


def spans(speed: int, metres: float) -> tuple[float, float, float]:
    """Take the time of a byte, the propagation and the response of a peer, in picoseconds."""
    byte = 8_000_000 / speed
    response = peer_response(speed)
    assert response is not None
    return byte, metres / 198e6 * 1e12, response * byte


def worst_case(speed: int, metres: float) -> float:
    """Bound what arrives at an input from the packet on that asks for a pause.

    That packet; what the peer sends while the pause waits for a full packet, is sent, travels, and is obeyed; what is
    on the cable by then; and a full packet that the peer has just begun. All but the last in the worst packets.
    """
    byte, propagation, response = spans(speed, metres)
    flying = (MTU + OVERHEAD + PAUSE) + (2 * propagation + response) / byte
    growth = max(cells(SMALL + OVERHEAD) / (SMALL + OVERHEAD), cells(MTU + OVERHEAD) / (MTU + OVERHEAD))
    return cells(MTU + OVERHEAD) + flying * growth + cells(MTU + OVERHEAD)


def attack(speed: int, metres: float, headroom: int, size: int, ahead: float) -> PacketResult:
    """Run one try of the adversary against a headroom."""
    fabric, routes = make_star()
    byte, propagation, response = spans(speed, metres)
    full_us = (MTU + OVERHEAD) * byte / 1e6
    bare = replace(PAUSED, cell_bytes=CELL, static_bytes=0, headroom_bytes=headroom, resume_offset_bytes=0)
    calm = replace(bare, static_bytes=1 << 28)
    inputs = [int(fabric.port_peer[host]) for host in range(4)]
    profile = np.ones((fabric.port_count, 1), dtype=np.int32)
    profile[inputs[LATE]] = 0
    machine = make_machine(
        fabric, carriage=replace(ROCE, ack_every=1 << 20, timeout_ps=1 << 50), profiles=(bare, calm),
        rate_mbps=np.full(fabric.port_count, speed), propagation_ps=np.full(fabric.port_count, round(propagation)),
        response_ps=np.full(fabric.port_count, round(response)),
    )  # fmt: skip
    machine = replace(machine, medium=replace(machine.medium, profile=profile))
    most = worst_case(speed, metres)
    count = int(most / cells(size + OVERHEAD)) + 40
    fill = 2 * most + 40 * MTU
    # Three fill the queue in front; the fourth comes when it is long enough that none of its packets leaves.
    late_us = fill * byte / 1e6 + 20 * full_us
    ends = [(0, 4), (1, 4), (2, 4), (5, LATE), *[(LATE, 4)] * count]
    sizes = [fill, fill, fill, fill + most + 200 * MTU, *[float(size)] * count]
    starts = [0.0, 0.0, 0.0, ahead * full_us, *[late_us] * count]
    queue = [-1] * 4 + [0] * count
    flows = make_flows(ends, sizes, start=starts, queue=queue)
    until = round((late_us + 2 * most * byte / 1e6 + 10 * full_us) * 1e6)
    return simulate_packets(flows, fabric, routes, machine, PacketOptions(samples=0, until_ps=until))


@cache
def find_worst(speed: int, metres: float) -> tuple[int, tuple[int, float]]:
    """Search the adversary's tries: the most headroom that one takes, and which."""
    roomy = round(4 * worst_case(speed, metres))
    taken: list[tuple[int, tuple[int, float]]] = []
    for one in TRIES:
        result = attack(speed, metres, roomy, *one)
        assert result.loss is None
        port = int(make_star()[0].port_peer[LATE])
        assert result.lanes.pauses[port, 0] >= 1
        taken.append((int(result.lanes.most_held[port, 0]), one))
    return max(taken)


CASES = pytest.mark.parametrize("metres", LENGTHS)
RATES = pytest.mark.parametrize("speed", SPEEDS)


@CASES
@RATES
def test_the_worst_found_is_near_the_closed_form_and_within_it(speed: int, metres: float) -> None:
    found, how = find_worst(speed, metres)
    tell(f"{speed // 1000}G {metres} m: {found:,} of {worst_case(speed, metres):,.0f} bytes by {how}")
    # The position that delays the pause most is met to a quarter of a packet; the last packet is a small one.
    growth = cells(SMALL + OVERHEAD) / (SMALL + OVERHEAD)
    assert worst_case(speed, metres) - 2 * cells(MTU + OVERHEAD) * (1 + growth / AHEAD) <= found
    assert found <= worst_case(speed, metres)


@CASES
@RATES
def test_vendors_ask_for_as_much(speed: int, metres: float) -> None:
    found, _ = find_worst(speed, metres)
    port = HeadroomPort(speed_mbps=speed, cable_m=metres, mtu=9216, lanes=8 if speed >= 800_000 else 4)
    switch = switch_headroom(port, SPECTRUM_4, ONLY_SMALL, is_pool_shared=True)
    assert switch is not None
    assert switch.xoff >= found


@CASES
@RATES
def test_nothing_drops_with_it_and_a_packet_less_drops(speed: int, metres: float) -> None:
    found, how = find_worst(speed, metres)
    for one in TRIES:
        assert attack(speed, metres, found, *one).dropped == 0
    short = attack(speed, metres, found - cells(MTU + OVERHEAD), *how)
    assert short.loss is not None
    assert short.loss.port == make_star()[0].port_peer[LATE]
    assert short.loss.count == short.dropped > 0
