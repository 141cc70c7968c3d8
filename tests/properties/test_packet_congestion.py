"""Congestion control of InfiniBand: who is marked, how long senders wait, whom it frees, and where it cannot help."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.packets import CREDITED, ROCE, make_flows, make_machine, tell
from tests.properties.test_packet_pauses import ENDLESS, LOT, MS, VICTIM, gbps, make_pair
from weftline.model.packet import Carriage, DelayTable, LaneProfile, PacketOptions, PacketResult, RootMarking
from weftline.model.parameters import Figure
from weftline.simulate.packet.run import simulate_packets
from weftline.technologies.infiniband.congestion import SETS, make_marking

LINE = 400.0
RATE = 400_000
BARE = replace(
    ROCE, overhead_bytes=26, unstored_bytes=0, ack_bytes=30, notice_bytes=30, pause_bytes=0, ack_every=256, timeout_ps=0
)
FULL_PS = (4096 + 26) * 8_000_000 // RATE


def controlled(name: str) -> tuple[LaneProfile, Carriage]:
    """Make lanes and adapters as a published set says."""
    control = SETS[name][0](Figure(name, "default", ""))
    marking, _ = make_marking(control, 1, CREDITED.buffer_bytes)
    return replace(CREDITED, marking=marking), replace(BARE, pacing=control.table)


def run(
    ends: list[tuple[int, int]],
    profile: LaneProfile = CREDITED,
    carriage: Carriage = BARE,
    size: float = ENDLESS,
    until_ps: int = 10 * MS,
) -> PacketResult:
    fabric, routes = make_pair()
    machine = make_machine(fabric, profile, carriage, rate_mbps=np.full(fabric.port_count, RATE))
    options = PacketOptions(until_ps=until_ps, samples=100)
    return simulate_packets(make_flows(ends, size), fabric, routes, machine, options)


def test_credits_alone_make_a_victim_and_delays_free_it() -> None:
    """A flow that shares only the trunk with an incast is as slow as that, until its senders are slowed down."""
    alone = gbps(run(VICTIM), VICTIM, 5)
    result = run(VICTIM, *controlled("ofed"))
    freed = gbps(result, VICTIM, 5)
    tell(f"the victim gets {alone[0]:.0f} Gb/s behind credits and {freed[0]:.0f} with the set ofed")
    assert alone[0] == pytest.approx(alone[1], rel=0.01)
    assert freed[0] >= 3 * alone[0]
    # The port of the incast is still nearly full.
    assert sum(freed[1:]) >= 0.8 * LINE
    assert result.notices > 0
    assert result.loss is None
    assert result.dropped == result.discarded == 0


@pytest.mark.parametrize("name", SETS)
def test_a_parking_lot_is_fair_with_delays(name: str) -> None:
    """The near sender has half of the port behind credits alone, and about a quarter as the others with a table."""
    alone, shared = gbps(run(LOT), LOT, 5), gbps(run(LOT, *controlled(name)), LOT, 5)
    tell("credits:", *(f"{one:.0f}" for one in alone), f"{name}:", *(f"{one:.0f}" for one in shared))
    assert alone[3] == pytest.approx(LINE / 2, rel=0.02)
    fair = sum(shared) / 4
    assert fair >= 0.85 * LINE / 4
    assert max(abs(one - fair) for one in shared) <= 0.2 * fair


def test_a_table_that_is_too_short_cannot_help() -> None:
    """The longest delay of simula is 5.75 packets: a sender keeps 1/6.75 of its line, and seven fill a port."""
    _, carriage = controlled("simula")
    assert isinstance(carriage.pacing, DelayTable)
    shift, multiplier = carriage.pacing.entries[-1]
    assert multiplier / 2**shift == 5.75
    result = run(VICTIM, *controlled("simula"))
    rates = gbps(result, VICTIM, 5)
    assert rates[0] == pytest.approx(LINE / 7.4, rel=0.05)
    assert int(result.lanes.marks.sum()) > 50_000


EVERY = RootMarking(threshold_bytes=-1, least_bytes=0, chance_ppm=1_000_000)
"""Marks every packet, so that what a sender does is known in advance."""


def test_a_sender_waits_as_its_entry_says() -> None:
    """Every packet is marked. The table ends at once, so all but the packets before the first notice wait as long."""
    table = DelayTable("one", ((0, 0), (2, 6)), increase=1, timer_ps=1_000 * MS)
    count = 400
    size = 4096 * count
    free = run([(0, 1)], CREDITED, BARE, size).finish_ps[0]
    result = run([(0, 1)], replace(CREDITED, marking=EVERY), replace(BARE, pacing=table), size)
    assert result.notices == count
    delay = FULL_PS // 4 * 6
    late, rest = divmod(int(result.finish_ps[0] - free), delay)
    # What was sent before the first notice was here did not wait: a packet, two links there and back, and a notice.
    before = (4 * 500_000 + 2 * FULL_PS) // FULL_PS + 1
    assert count - before - 2 <= late < count
    # Each waits after its own last byte, so that the rest is the time of packets that overlap their notice: none.
    assert rest == pytest.approx(0, abs=FULL_PS)


def test_steps_are_taken_back_by_the_timer() -> None:
    """A burst of marks, then none: the flow is at line rate again after as many timers as it took steps."""
    table = DelayTable("steps", tuple((0, at) for at in range(9)), increase=8, timer_ps=20_000_000)
    ends = [(0, 1), (2, 1)]
    fabric, routes = make_pair()
    profile = replace(CREDITED, marking=RootMarking(30_000, 0, 1_000_000))
    machine = make_machine(fabric, profile, replace(BARE, pacing=table), rate_mbps=np.full(fabric.port_count, RATE))
    # The second flow is short: when it is over, nothing is marked any more.
    flows = make_flows(ends, [float(ENDLESS), 4096.0 * 100])
    options = PacketOptions(until_ps=2 * MS, samples=400)
    result = simulate_packets(flows, fabric, routes, machine, options)
    series = result.series
    rate = np.diff(series.sent_bytes[:, 0]) * 8000 / np.diff(series.at_ps)
    over = int(result.finish_ps[1])
    at = int(np.searchsorted(series.at_ps, over + 9 * 20_000_000 + 40_000_000))
    assert rate[:at].min() < 0.3 * LINE
    # A moment is a packet sooner or later: 1 % of what is sent between two.
    assert rate[at:-1] == pytest.approx(LINE, rel=0.015)


def test_only_the_root_of_congestion_marks() -> None:
    """The trunk has no credit while its packets wait for the port of the incast: it is a victim, not a root."""
    fabric, _ = make_pair()
    names = [fabric.port_name(at) for at in range(fabric.port_count)]
    trunk, port = names.index("leaf-001/9"), names.index("leaf-002/1")
    marking = RootMarking(8_192, 0, 1_000_000)
    ends = [(0, 8), *((host, 8) for host in range(10, 16))]
    marked = {
        victims: run(ends, replace(CREDITED, marking=replace(marking, marks_victims=victims))).lanes.marks[:, 0]
        for victims in (False, True)
    }
    assert marked[False][port] > 0.9 * marked[True][port] > 10_000
    assert marked[False][trunk] <= 0.2 * marked[True][trunk]


def test_marks_without_senders_that_hear_them_change_nothing() -> None:
    plain, marked = (run(VICTIM, replace(CREDITED, marking=one), BARE, 4e6) for one in (None, EVERY))
    assert plain.finish_ps.tolist() == marked.finish_ps.tolist()
    assert plain.port_bytes.tolist() == marked.port_bytes.tolist()
    assert marked.notices == 0


def test_the_higher_the_weight_the_more_is_marked() -> None:
    marks: list[int] = []
    for weight in range(16):
        control = replace(SETS["simula"][0](Figure("", "default", "")), weight=Figure(weight, "default", ""))
        marking, _ = make_marking(control if weight else replace(control, weight=None), 1, CREDITED.buffer_bytes)
        result = run(LOT, replace(CREDITED, marking=marking), size=2e6)
        marks.append(int(result.lanes.marks.sum()))
    assert marks[0] == 0
    assert all(low <= high for low, high in pairwise(marks))
    assert marks[15] > marks[1]


def test_the_marking_rate_is_the_mean_between_marks() -> None:
    marking = RootMarking(threshold_bytes=-1, least_bytes=0, chance_ppm=1_000_000 // 11)
    result = run([(0, 1)], replace(CREDITED, marking=marking), size=4096.0 * 20_000)
    assert int(result.lanes.marks.sum()) == pytest.approx(20_000 / 11, rel=0.1)


def test_short_packets_are_not_marked() -> None:
    marking = replace(EVERY, least_bytes=449)
    assert int(run([(0, 1)], replace(CREDITED, marking=marking), size=300.0).lanes.marks.sum()) == 0
    assert int(run([(0, 1)], replace(CREDITED, marking=marking), size=423.0).lanes.marks.sum()) == 1


def test_the_same_seed_waits_the_same() -> None:
    first, again = (run(VICTIM, *controlled("ofed"), size=4e6) for _ in range(2))
    assert first.finish_ps.tolist() == again.finish_ps.tolist()
    assert first.port_bytes.tolist() == again.port_bytes.tolist()
