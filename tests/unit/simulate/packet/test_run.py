"""Packets on small fabrics: closed forms, shares, losses, and what must be true of every world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links
from tests.packets import CREDITED, LINK_PS, LOSSY, PAUSED, ROCE, make_flows, make_machine
from weftline.errors import InternalError
from weftline.kernels import packet_state as st
from weftline.kernels.packet_run import World
from weftline.model.fabric import Fabric
from weftline.model.packet import PacketOptions, PacketResult
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.route import compute_routes
from weftline.simulate.packet.account import check_world
from weftline.simulate.packet.judge import find_bound, find_critical, hold_against, rank_holders
from weftline.simulate.packet.run import run_world, simulate_packets
from weftline.simulate.packet.ways import find_ways
from weftline.simulate.packet.world import lay_world, wire

FULL = 4096 + 82
BYTE_PS = 20
"""Picoseconds of a byte at 400 Gb/s."""
MTU = 4096
OPTIONS = PacketOptions()


@pytest.fixture(scope="module")
def star() -> tuple[Fabric, Routes]:
    """Sixteen hosts on one switch."""
    fabric = from_links(1, 16, [])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


def send(star: tuple[Fabric, Routes], ends: list[tuple[int, int]], size: float, **more: object) -> PacketResult:
    machine = more.pop("machine", None) or make_machine(star[0])
    flows = make_flows(ends, size, **more)  # type: ignore[arg-type]
    return simulate_packets(flows, *star, machine, OPTIONS)  # type: ignore[arg-type]


@pytest.mark.parametrize("packets", [1, 2, 1000])
def test_one_message_takes_its_closed_form(star: tuple[Fabric, Routes], packets: int) -> None:
    result = send(star, [(0, 1)], packets * MTU)
    wire_ps = FULL * BYTE_PS
    assert result.finish_ps.tolist() == [packets * wire_ps + wire_ps + 2 * LINK_PS]
    assert result.ending == "done"
    assert result.hops == 2 * packets
    assert result.port_bytes[0] == packets * FULL


def test_cut_through_saves_the_time_of_a_packet(star: tuple[Fabric, Routes]) -> None:
    through = make_machine(star[0], is_cut_through=np.ones(len(star[0].switch_row), dtype=np.int64))
    assert send(star, [(0, 1)], 1000 * MTU, machine=through).finish_ps[0] == 1000 * FULL * BYTE_PS + 2 * LINK_PS


@pytest.mark.parametrize("profile", [PAUSED, CREDITED])
def test_an_incast_ends_at_line_rate_and_loses_nothing(star: tuple[Fabric, Routes], profile: object) -> None:
    machine = make_machine(star[0], profile)  # type: ignore[arg-type]
    result = send(star, [(i, 15) for i in range(15)], 4 * 2**20, machine=machine)
    total = 15 * 1024 * FULL * BYTE_PS
    assert result.loss is None
    assert result.dropped == result.again == 0
    # In payload 97 % and in wire bytes 99 % of the line, as the issue of incast asks.
    assert total <= result.finish_ps.max() <= total / 0.99
    assert 15 * 4 * 2**20 * BYTE_PS / result.finish_ps.max() >= 0.97
    assert (result.lanes.pauses.sum() > 0) == (profile is PAUSED)
    assert (result.lanes.starved_ps.sum() > 0) == (profile is CREDITED)


def test_pauses_that_nobody_obeys_are_sent_in_vain(star: tuple[Fabric, Routes]) -> None:
    deaf = replace(PAUSED, headroom_bytes=20_000, obeys=False)
    result = send(star, [(i, 15) for i in range(15)], 2**20, machine=make_machine(star[0], deaf))
    assert result.lanes.pauses.sum() > 0
    assert result.lanes.held_ps.sum() == 0
    assert result.loss is not None


def test_a_lossy_incast_drops_and_still_arrives(star: tuple[Fabric, Routes]) -> None:
    result = send(star, [(i, 15) for i in range(15)], 2**20, machine=make_machine(star[0], LOSSY))
    assert result.ending == "done"
    assert result.dropped > 0
    assert result.again > 0
    assert result.loss is None


def test_a_lossless_lane_without_headroom_tells_its_first_loss(star: tuple[Fabric, Routes]) -> None:
    bare = replace(PAUSED, headroom_bytes=3000)
    result = send(star, [(i, 15) for i in range(15)], 2**20, machine=make_machine(star[0], bare))
    assert result.loss is not None
    assert result.loss.count == result.dropped > 0
    assert star[0].port_name(result.loss.port).startswith("leaf-001/")
    assert result.ending == "done"


def test_the_same_seed_gives_the_same_picoseconds(star: tuple[Fabric, Routes]) -> None:
    one, two = (send(star, [(i, (i + 7) % 16) for i in range(16)], 300_000) for _ in range(2))
    assert one.finish_ps.tolist() == two.finish_ps.tolist()
    assert one.events == two.events


def test_until_stops_and_leaves_flows_open(star: tuple[Fabric, Routes]) -> None:
    flows = make_flows([(0, 1)], 2**30)
    result = simulate_packets(flows, *star, make_machine(star[0]), PacketOptions(until_ps=5_000_000))
    assert result.ending == "until"
    assert result.end_ps == 5_000_000
    assert result.finish_ps.tolist() == [-1]
    assert result.series.at_ps[-1] == 5_000_000


def test_series_tell_what_was_sent_over_time(star: tuple[Fabric, Routes]) -> None:
    result = send(star, [(0, 1)], 1000 * MTU)
    sent = result.series.sent_bytes[:, 0]
    assert (np.diff(sent) >= 0).all()
    assert sent[-1] == 1000 * FULL
    half = np.searchsorted(result.series.at_ps, 40_000_000)
    assert sent[half] == pytest.approx(40_000_000 / BYTE_PS, rel=0.05)


def test_needs_queues_delays_and_starts(star: tuple[Fabric, Routes]) -> None:
    once = FULL * BYTE_PS
    ends = [(0, 1), (0, 2), (1, 3), (4, 5), (6, 7)]
    result = send(
        star, ends, MTU, needs=[[], [], [0], [], []], queue=[0, 0, -1, -1, -1],
        start=[0.0, 0.0, 0.0, 3.0, 0.0], delay=[0.0, 0.0, 0.0, 1.0, 2.0],
    )  # fmt: skip
    arrival = 2 * once + 2 * LINK_PS  # the receiver of the first sends its acknowledgement before the third
    assert result.start_ps.tolist() == [0, 0, arrival, 4_000_000, 2_000_000]
    assert result.finish_ps.tolist() == [
        arrival, arrival + once, 2 * arrival + ROCE.ack_bytes * BYTE_PS, 4_000_000 + arrival, 2_000_000 + arrival
    ]  # fmt: skip
    assert result.cause.tolist() == [-1, 0, 0, -1, -1]


def run_little(star: tuple[Fabric, Routes]) -> World:
    machine = make_machine(star[0])
    flows = make_flows([(i, 15) for i in range(15)], 2**20)
    ways = find_ways(flows, *star, machine.medium, SimOptions(0.0))
    world = lay_world(flows, wire(*star), machine, ways, OPTIONS)
    world, _, _ = run_world(world, PacketOptions(until_ps=20_000_000))
    return world


def test_a_packet_that_is_nowhere_is_our_bug(star: tuple[Fabric, Routes]) -> None:
    world = run_little(star)
    check_world(world)
    world.number[st.PACKETS_LEFT] -= 1
    with pytest.raises(InternalError) as caught:
        check_world(world)
    assert caught.value.code == "internal.packets-lost"


def test_more_bytes_than_the_line_carries_is_our_bug(star: tuple[Fabric, Routes]) -> None:
    world = run_little(star)
    world.port.bytes[3] += 10**7
    with pytest.raises(InternalError) as caught:
        check_world(world)
    assert caught.value.code == "internal.beats-line"


def test_all_selective_receivers_keep_what_comes_early(star: tuple[Fabric, Routes]) -> None:
    machine = make_machine(star[0], LOSSY, replace(ROCE, recovery="selective"))
    result = send(star, [(i, 15) for i in range(15)], 2**20, machine=machine)
    assert result.ending == "done"
    assert 0 < result.again <= 3 * result.dropped


def test_a_result_that_is_too_good_is_our_bug(star: tuple[Fabric, Routes]) -> None:
    flows, machine = make_flows([(i, 15) for i in range(15)], 2**20), make_machine(star[0])
    bound = find_bound(flows, star[0], machine)
    result = simulate_packets(flows, *star, machine, OPTIONS)
    assert (bound.at_ps, bound.name) == (15 * 256 * FULL * BYTE_PS, "bytes sent to host-0016/nic1")
    hold_against(result, bound)
    with pytest.raises(InternalError) as caught:
        hold_against(replace(result, end_ps=bound.at_ps - 2), bound)
    assert caught.value.code == "internal.beats-bound"


def test_the_critical_path_names_the_link_that_held_it(star: tuple[Fabric, Routes]) -> None:
    # 0 sends to 1, which sends on to 15, where seven others send too; then 15 tells 3.
    ends = [(0, 1), (1, 15), *((i, 15) for i in range(4, 11)), (15, 3)]
    needs = [[], [0], *([] for _ in range(4, 11)), [1]]
    result = send(star, ends, 2**20, needs=needs)
    legs = find_critical(result)
    assert [leg.flow for leg in legs] == [0, 1, len(ends) - 1]
    assert legs[-1].finish_ps == result.end_ps
    held = rank_holders(legs)
    assert star[0].port_name(held[0][0]) == "leaf-001/16"
    assert held[0][1] > 1_000_000
