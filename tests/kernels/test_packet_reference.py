"""The slow packet machine against closed forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from tests.kernels.packet_sketch import CARRIAGE, CREDIT, LOSSY, MARKS, PAUSE, Flow, Sketch
from tests.kernels.reference.packets import simulate
from tests.kernels.reference.packets_pace import Pace
from tests.kernels.reference.packets_world import NIL, Outcome
from weftline.model.packet import FlowControl, LaneProfile, Marking, Pacing, Recovery

RATE = 100_000
WIRE = 1082
SER = WIRE * 80
"""Of a full packet at 100 Gb/s."""
STORED = 1062
RECOVERIES: tuple[Recovery, ...] = ("go-back-n", "selective")
TIMED = replace(CARRIAGE, timeout_ps=50_000_000)


def serialise(wire: int, rate_mbps: int) -> int:
    return -(-wire * 8_000_000 // rate_mbps)


def chain(rates: list[int], *, cut_through: bool = False) -> tuple[Sketch, int, int]:
    """Draw two hosts with switches between them; the links have these rates, and each its own length."""
    sketch = Sketch()
    nodes = [sketch.add_host(latency_ps=700, receive_ps=900)]
    nodes += [sketch.add_switch(500 + 10 * at, cut_through=cut_through) for at in range(len(rates) - 1)]
    nodes.append(sketch.add_host(latency_ps=700, receive_ps=900))
    for at, rate in enumerate(rates):
        sketch.link(nodes[at], nodes[at + 1], rate, propagation_ps=5_000 * (at + 1))
    return sketch, nodes[0], nodes[-1]


def latency_of(rates: list[int]) -> int:
    """Everything on the way of a chain but serialisation."""
    hops = len(rates)
    return 700 + 900 + sum(500 + 10 * at for at in range(hops - 1)) + sum(5_000 * (at + 1) for at in range(hops))


def star(profile: LaneProfile, senders: int, *, propagation_ps: int = 1_000, response_ps: int = 0) -> Sketch:
    """Draw hosts around one switch; the last receives, and its cable is the last."""
    sketch = Sketch(profiles=(profile,))
    switch = sketch.add_switch()
    for _ in range(senders + 1):
        sketch.link(sketch.add_host(), switch, RATE, propagation_ps, response_ps)
    return sketch


def drops(outcome: Outcome) -> int:
    return sum(port.drops for port in outcome.ports)


@pytest.mark.parametrize("packets", [1, 2, 37])
@pytest.mark.parametrize("rates", [[100_000], [100_000] * 4, [400_000, 100_000, 200_000], [25_000, 400_000]])
def test_stored_packets_follow_each_other_at_the_pace_of_the_slowest_link(rates: list[int], packets: int) -> None:
    sketch, source, target = chain(rates)
    sketch.add_flow(Flow(source, target, 1000 * packets))
    outcome = simulate(sketch.make_world())
    times = [serialise(WIRE, rate) for rate in rates]
    assert outcome.finish_ps == [latency_of(rates) + sum(times) + (packets - 1) * max(times)]
    assert [port.packets for port in outcome.ports[::2]] == [packets] * len(rates)


def test_the_last_packet_is_as_short_as_what_is_left() -> None:
    sketch, source, target = chain([RATE])
    sketch.add_flow(Flow(source, target, 1001))
    sketch.add_flow(Flow(source, target, 0, delay_ps=10_000_000))
    outcome = simulate(sketch.make_world())
    assert outcome.finish_ps[0] == latency_of([RATE]) + SER + 83 * 80
    assert outcome.finish_ps[1] == outcome.start_ps[1] == 10_000_000
    assert outcome.ports[0].wire_bytes == 1082 + 83


@pytest.mark.parametrize("packets", [1, 37])
def test_what_is_cut_through_is_stored_at_its_host_alone(packets: int) -> None:
    rates = [RATE] * 4
    sketch, source, target = chain(rates, cut_through=True)
    sketch.add_flow(Flow(source, target, 1000 * packets))
    assert simulate(sketch.make_world()).finish_ps == [latency_of(rates) + packets * SER]


def test_a_switch_with_a_faster_port_stores() -> None:
    """What comes in slowly cannot leave at once, for the wire would run dry."""
    rates = [100_000, 400_000, 400_000]
    sketch, source, target = chain(rates, cut_through=True)
    sketch.add_flow(Flow(source, target, 1000))
    assert simulate(sketch.make_world()).finish_ps == [latency_of(rates) + SER + SER // 4]


def test_two_flows_share_a_port_by_halves() -> None:
    sketch = star(LOSSY, 2)
    for source in (1, 2):
        sketch.add_flow(Flow(source, 3, 100_000))
    finish = simulate(sketch.make_world()).finish_ps
    assert max(finish) == 2 * 1_000 + SER + 200 * SER
    assert min(finish) == max(finish) - SER


def test_flows_of_one_host_take_turns() -> None:
    sketch = star(LOSSY, 1)
    for _ in range(3):
        sketch.add_flow(Flow(1, 2, 10_000))
    finish = simulate(sketch.make_world()).finish_ps
    assert finish == [2 * 1_000 + SER + at * SER for at in (28, 29, 30)]


@pytest.mark.parametrize(
    "profile", [LOSSY, PAUSE, replace(CREDIT, buffer_bytes=8_192)], ids=["lossy", "pause", "credit"]
)
def test_an_incast_lasts_as_long_as_its_wire(profile: LaneProfile) -> None:
    sketch = star(profile, 15)
    for source in range(1, 16):
        sketch.add_flow(Flow(source, 16, 50_000))
    outcome = simulate(sketch.make_world())
    assert drops(outcome) == 0
    assert outcome.loss is None
    assert max(outcome.finish_ps) == 2 * 1_000 + SER + 15 * 50 * SER
    assert (sum(port.pauses for port in outcome.ports) > 0) == (profile.control is FlowControl.PAUSE)


@pytest.mark.parametrize(("propagation", "response"), [(0, 0), (100_000, 50_000), (400_000, 300_000), (1_234_567, 7)])
def test_what_a_pause_needs_in_headroom_is_enough_and_one_packet_less_is_not(propagation: int, response: int) -> None:
    """The packet that asks left one serialisation and one cable before the frame does.

    From then until the frame takes effect packets leave back to back, and all of them come.
    """
    delay = serialise(84, RATE) + 2 * propagation + response
    late = 2 + delay // SER
    is_clean: list[bool] = []
    for room in (late, late - 1):
        profile = replace(PAUSE, headroom_bytes=room * STORED, static_bytes=3 * STORED)
        sketch = star(profile, 8, propagation_ps=propagation, response_ps=response)
        sketch.carriage = TIMED
        for source in range(1, 9):
            sketch.add_flow(Flow(source, 9, 100_000))
        outcome = simulate(sketch.make_world())
        assert NIL not in outcome.finish_ps
        assert (outcome.loss is None) == (drops(outcome) == 0)
        is_clean.append(drops(outcome) == 0)
    assert is_clean == [True, False]


def test_held_time_is_the_time_between_pause_and_resume() -> None:
    """Two senders at full rate into one port: each is held about half of the time, and neither loses anything."""
    sketch = star(replace(PAUSE, resume_offset_bytes=2 * STORED), 2)
    for source in (1, 2):
        sketch.add_flow(Flow(source, 3, 1_000_000))
    outcome = simulate(sketch.make_world())
    for port in (0, 2):
        assert 0.4 < outcome.ports[port].held_ps / max(outcome.finish_ps) < 0.55
    assert drops(outcome) == 0


def test_who_does_not_obey_is_never_held_and_loses() -> None:
    """The frames are sent and heard, and change nothing."""
    sketch = star(replace(PAUSE, static_bytes=3 * STORED, headroom_bytes=4 * STORED, obeys=False), 2)
    sketch.carriage = TIMED
    for source in (1, 2):
        sketch.add_flow(Flow(source, 3, 100_000))
    outcome = simulate(sketch.make_world())
    assert sum(port.pauses for port in outcome.ports) > 0
    assert [port.held_ps for port in outcome.ports] == [0] * len(outcome.ports)
    assert drops(outcome) > 0
    assert outcome.loss is not None


@pytest.mark.parametrize("window", [0, 2_240, 4_480, 8_960])
def test_credits_bound_what_is_on_a_long_cable(window: int) -> None:
    """In a round trip of the link only as many packets pass as were promised room for."""
    buffer = 6_720
    blocks = 17  # of 64 bytes, which 1,062 need
    propagation = 1_000_000
    profile = replace(CREDIT, buffer_bytes=buffer, window_bytes=window)
    sketch = Sketch(profiles=(profile,))
    switch, source, target = sketch.add_switch(), sketch.add_host(), sketch.add_host()
    sketch.link(source, switch, RATE, propagation, response_ps=70_000)
    sketch.link(switch, target, RATE, 0)
    sketch.add_flow(Flow(source, target, 600_000))
    at_once = min(buffer, window or buffer) // 64 // blocks
    round_trip = SER + propagation + SER + propagation + 70_000
    """On the wire, along it, out of the buffer, and the credit back and understood."""
    finish = simulate(sketch.make_world()).finish_ps[0]
    assert finish == (600 // at_once - 1) * round_trip + propagation + SER + at_once * SER


def test_what_is_lost_is_sent_again_in_order() -> None:
    """Two senders fill a queue of four packets; what does not fit is asked for again, and everything arrives once."""
    sketch = star(replace(LOSSY, limit_bytes=4 * STORED), 2)
    sketch.carriage = TIMED
    for source in (1, 2):
        sketch.add_flow(Flow(source, 3, 100_000))
    outcome = simulate(sketch.make_world())
    assert NIL not in outcome.finish_ps
    assert drops(outcome) > 0
    assert outcome.ports[5].packets >= 200
    assert max(port.peak_queue for port in outcome.ports) == 4 * STORED
    assert outcome.loss is None


def test_one_drop_costs_what_is_behind_it_or_itself() -> None:
    """The third packet of a message finds the queue full, once.

    In order everything behind it that was sent before the sender knew is sent again; in any order it alone.
    """
    sent: dict[str, int] = {}
    for recovery in RECOVERIES:
        sketch = star(replace(LOSSY, limit_bytes=3 * STORED), 4)
        sketch.carriage = replace(TIMED, recovery=recovery)
        sketch.add_flow(Flow(1, 5, 40_000))
        for source in (2, 3, 4):
            sketch.add_flow(Flow(source, 5, 1_000, delay_ps=2 * SER))
        outcome = simulate(sketch.make_world())
        assert drops(outcome) == 1
        assert outcome.ports[1].drops == 1
        sent[recovery] = outcome.ports[0].packets
        assert max(outcome.finish_ps) < 50_000_000
    assert sent["selective"] == 41
    assert sent["go-back-n"] > 42


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_a_lost_tail_is_found_by_its_timeout(recovery: Recovery) -> None:
    sketch = star(replace(LOSSY, limit_bytes=STORED), 3)
    sketch.carriage = replace(TIMED, recovery=recovery)
    for source in (1, 2, 3):
        sketch.add_flow(Flow(source, 4, 1_000))
    outcome = simulate(sketch.make_world())
    assert drops(outcome) == 1
    first = 2 * 1_000 + 2 * SER
    assert outcome.finish_ps == [first, first + SER, TIMED.timeout_ps + first]


def turn_ring(profile: LaneProfile, *, with_step: bool) -> Outcome:
    """Run a ring of four switches with a host each, in which everyone sends to the one across, clockwise."""
    sketch = Sketch(profiles=(profile, profile), lanes=2, ack_lane=1)
    switches = [sketch.add_switch() for _ in range(4)]
    hosts = [sketch.add_host() for _ in range(4)]
    up = [sketch.link(host, switch)[0] for host, switch in zip(hosts, switches, strict=True)]
    right = [sketch.link(switches[at], switches[(at + 1) % 4], 100_000, 1_000)[0] for at in range(4)]
    for at in range(4):
        far = (at + 2) % 4
        hops = (up[at], right[at], right[(at + 1) % 4], up[far] ^ 1)
        crossed = [with_step and at + hop >= 4 for hop in (0, 0, 1, 2)]
        sketch.add_flow(Flow(hosts[at], hosts[far], 200_000, hops=hops, lanes=tuple(map(int, crossed))))
    return simulate(sketch.make_world())


@pytest.mark.parametrize(
    "profile",
    [replace(PAUSE, static_bytes=4 * STORED), replace(CREDIT, buffer_bytes=4 * 1_088)],
    ids=["pause", "credit"],
)
def test_a_ring_locks_up_and_its_cycle_is_named(profile: LaneProfile) -> None:
    stuck = turn_ring(profile, with_step=False)
    assert stuck.finish_ps == [NIL] * 4
    assert stuck.cycle == [(8, 0), (10, 0), (12, 0), (14, 0)]
    assert set(stuck.blocked) >= {*stuck.cycle, (0, 0), (2, 0), (4, 0), (6, 0)}
    assert drops(stuck) == 0
    free = turn_ring(profile, with_step=True)
    assert NIL not in free.finish_ps
    assert free.cycle == free.blocked == []


def share(first: LaneProfile, second: LaneProfile) -> tuple[int, int]:
    """Say when each of two lanes that share a port is through with as much."""
    sketch = Sketch(profiles=(first, second), lanes=2)
    switch = sketch.add_switch()
    hosts = [sketch.add_host() for _ in range(3)]
    for host in hosts:
        sketch.link(host, switch)
    for lane, source in enumerate(hosts[:2]):
        sketch.add_flow(Flow(source, hosts[2], 1_000_000, lanes=(lane, lane)))
    finish = simulate(sketch.make_world()).finish_ps
    return finish[0], finish[1]


def test_weighted_lanes_share_by_weight() -> None:
    """The lane with three shares of four is through when the other has sent a third of that."""
    light, heavy = share(LOSSY, replace(LOSSY, weight=3))
    assert light == 2000 * SER + SER
    assert heavy / SER == pytest.approx(1000 * 4 / 3, rel=0.01)


def test_a_strict_lane_goes_first() -> None:
    low, high = share(replace(LOSSY, weight=100), replace(LOSSY, is_strict=True))
    assert high <= 1002 * SER
    assert low == 2001 * SER
    assert share(replace(LOSSY, is_strict=True), replace(LOSSY, is_strict=True)) == (low, high)


def test_a_reserve_comes_before_the_pool_and_the_pool_before_the_headroom() -> None:
    """The dynamic threshold of a lane alone is a share of what is free: it takes a half of the pool, then it pauses."""
    profile = replace(PAUSE, reserve_bytes=2 * STORED, dynamic_th=0)
    sketch = Sketch(profiles=(profile,))
    switch = sketch.add_switch(pool_bytes=20 * STORED)
    source, target = sketch.add_host(), sketch.add_host()
    sketch.link(source, switch, 400_000)
    sketch.link(switch, target, 1_000)
    sketch.add_flow(Flow(source, target, 50_000))
    outcome = simulate(sketch.make_world(), until_ps=20 * SER)
    assert outcome.ports[1].pauses == 1
    # One is on the wire, two in the reserve, ten in the pool (10 + 1 > 20 - 10), and two came before the pause did:
    # the first asks, the second had started.
    assert outcome.ports[2].peak_queue == (2 + 10 + 2) * STORED


def test_marks_follow_the_length_of_the_queue() -> None:
    sketch = star(replace(LOSSY, marking=MARKS), 4)
    for source in range(1, 5):
        sketch.add_flow(Flow(source, 5, 200_000))
    outcome = simulate(sketch.make_world())
    marks = outcome.ports[9].marks
    assert 0 < marks < 800
    assert sum(port.marks for port in outcome.ports) == marks
    lone = star(replace(LOSSY, marking=MARKS), 1)
    lone.add_flow(Flow(1, 2, 200_000))
    assert sum(port.marks for port in simulate(lone.make_world()).ports) == 0


def test_chances_are_as_often_as_they_say() -> None:
    """A queue that stays between the bounds marks about the share that lies between."""
    sketch = star(replace(LOSSY, marking=Marking(min_bytes=0, max_bytes=4_000_000, chance_ppm=1_000_000)), 2)
    for source in (1, 2):
        sketch.add_flow(Flow(source, 3, 2_000_000))
    marks = simulate(sketch.make_world()).ports[5].marks
    expected = sum(min(1.0, at * STORED / 4_000_000) for at in range(2_000)) * 2
    assert marks == pytest.approx(expected, rel=0.1)


PACING = Pacing(
    name="test",
    gain=1 / 16,
    alpha_ps=5_000_000,
    decrease_ps=4_000_000,
    increase_ps=10_000_000,
    increase_bytes=0,
    stages=2,
    additive_mbps=500.0,
    hyper_mbps=2_000.0,
    least_mbps=100.0,
    notice_ps=4_000_000,
)


def test_a_notice_halves_the_rate_and_time_brings_it_back() -> None:
    pace = Pace(PACING, RATE)
    pace.sent(0, WIRE)
    assert pace.next_time == 0
    pace.notice(1_000)
    assert (pace.current, pace.target, pace.alpha) == (50_000.0, 100_000.0, 1.0)
    pace.notice(2_000)
    assert pace.current == 50_000.0
    pace.sent(3_000, WIRE)
    assert pace.next_time == 3_000 + 2 * SER
    pace.advance(10_001_000)
    assert (pace.current, pace.alpha) == (75_000.0, (15 / 16) ** 2)
    pace.notice(10_001_000)
    assert pace.target == 75_000.0
    assert pace.current == 75_000.0 * (1 - (15 / 16) ** 2 / 2)


def test_increases_go_halfway_then_by_steps_then_by_large_steps() -> None:
    pace = Pace(PACING, RATE)
    pace.notice(0)
    pace.notice(4_000_000)
    low = pace.current
    pace.advance(14_000_000)
    assert pace.current == (low + 50_000) / 2
    targets: list[float] = []
    for period in range(2, 6):
        pace.advance(4_000_000 + period * 10_000_000)
        targets.append(pace.target)
    assert targets == [50_500.0, 52_500.0, 56_500.0, 62_500.0]
    pace.advance(4_000_000 + 500 * 10_000_000)
    assert pace.current == pace.target == RATE


def test_bytes_count_like_time() -> None:
    """Only when both counters are beyond the stages does the target make large steps."""
    pace = Pace(replace(PACING, increase_bytes=2 * WIRE), RATE)
    pace.notice(0)
    pace.notice(4_000_000)
    for _ in range(8):
        pace.sent(4_000_001, WIRE)
    assert (pace.byte_stage, pace.time_stage) == (4, 0)
    assert pace.target == 50_000 + 3 * 500
    pace.advance(34_000_000)
    assert pace.target == 51_500 + 2 * 500 + 2_000


def test_pacing_saves_pauses() -> None:
    """Senders that hear of marks pause their links far less, and lose little time and nothing else."""
    pauses: list[int] = []
    for pacing in (None, PACING):
        sketch = star(replace(PAUSE, static_bytes=40 * STORED, marking=MARKS, resume_offset_bytes=2 * STORED), 4)
        sketch.carriage = replace(CARRIAGE, pacing=pacing)
        for source in range(1, 5):
            sketch.add_flow(Flow(source, 5, 2_000_000))
        outcome = simulate(sketch.make_world())
        assert drops(outcome) == 0
        assert max(outcome.finish_ps) < 1.3 * 8_000 * SER
        pauses.append(sum(port.pauses for port in outcome.ports))
    assert pauses[1] < pauses[0] / 5


def cross(spread: Literal["spray", "adaptive"] | None) -> Outcome:
    """Run four senders and receivers behind two switches with four links between them; by hash all take one link."""
    sketch = Sketch(carriage=replace(CARRIAGE, recovery="selective", reorder_packets=32))
    left, right = sketch.add_switch(), sketch.add_switch()
    for _ in range(4):
        sketch.link(left, right)
    ends = [(sketch.add_host(), sketch.add_host()) for _ in range(4)]
    for source, target in ends:
        sketch.link(source, left)
        sketch.link(target, right)
    for source, target in ends:
        sketch.add_flow(Flow(source, target, 100_000))
    return simulate(sketch.make_world(spread))


def test_spraying_and_adapting_use_every_link() -> None:
    fixed = cross(None)
    assert max(fixed.finish_ps) == 3 * SER + 399 * SER
    assert [port.packets for port in fixed.ports[:8:2]] == [400, 0, 0, 0]
    sprayed = cross("spray")
    assert [port.packets for port in sprayed.ports[:8:2]] == [100] * 4
    # Each takes its own turns, so that a packet may find those of others before it.
    assert 102 * SER <= max(sprayed.finish_ps) < 1.1 * 102 * SER
    adaptive = cross("adaptive")
    assert sum(port.packets for port in adaptive.ports[:8:2]) == 400
    assert max(adaptive.finish_ps) < 1.1 * 102 * SER


def test_what_overtakes_is_lost_to_a_receiver_in_order() -> None:
    """Sprayed over links of different length, packets overtake each other."""
    packets: dict[str, int] = {}
    for recovery in RECOVERIES:
        sketch = Sketch(carriage=replace(TIMED, recovery=recovery, reorder_packets=40))
        left, right = sketch.add_switch(), sketch.add_switch()
        sketch.link(left, right, RATE, 0)
        sketch.link(left, right, RATE, 5 * SER)
        source, target = sketch.add_host(), sketch.add_host()
        up = sketch.link(source, left)[0]
        sketch.link(right, target)
        sketch.add_flow(Flow(source, target, 100_000))
        outcome = simulate(sketch.make_world("spray"))
        assert NIL not in outcome.finish_ps
        packets[recovery] = outcome.ports[up].packets
    assert packets["selective"] == 100
    assert packets["go-back-n"] > 200


def test_flows_wait_for_data_at_their_receiver_and_for_their_queue() -> None:
    sketch, source, target = chain([RATE, RATE])
    once = latency_of([RATE, RATE]) + 2 * SER
    first = sketch.add_flow(Flow(source, target, 1000, queue=0))
    sketch.add_flow(Flow(target, source, 1000, needs=(first,)))
    sketch.add_flow(Flow(source, target, 1000, queue=0, delay_ps=7))
    sketch.add_flow(Flow(source, target, 1000, needs=(0, 1), queue=0, delay_ps=10))
    outcome = simulate(sketch.make_world())
    assert outcome.start_ps[:2] == [0, once]
    assert outcome.start_ps[2] == 7  # its predecessor started its only packet at 0
    assert outcome.finish_ps[2] == once + SER
    # The answer waits for the acknowledgement that the first receiver sends before it.
    assert outcome.finish_ps[1] == 2 * once + serialise(86, RATE)
    assert outcome.start_ps[3] == outcome.finish_ps[1] + 10


def test_a_cycle_of_needs_never_starts() -> None:
    sketch, source, target = chain([RATE])
    sketch.add_flow(Flow(source, target, 1000, needs=(1,)))
    sketch.add_flow(Flow(source, target, 1000, needs=(0,)))
    outcome = simulate(sketch.make_world())
    assert (outcome.start_ps, outcome.finish_ps) == ([NIL, NIL], [NIL, NIL])
    assert outcome.blocked == outcome.cycle == []


def test_a_run_can_end_before_the_end() -> None:
    sketch, source, target = chain([RATE])
    sketch.add_flow(Flow(source, target, 10_000))
    outcome = simulate(sketch.make_world(), until_ps=5 * SER)
    assert outcome.finish_ps == [NIL]
    assert outcome.ports[0].packets == 6
    assert outcome.end_ps <= 5 * SER


def test_the_same_seed_gives_the_same() -> None:
    def run(seed: int) -> Outcome:
        sketch = star(replace(LOSSY, marking=MARKS), 4)
        sketch.seed = seed
        for source in range(1, 5):
            sketch.add_flow(Flow(source, 5, 200_000))
        return simulate(sketch.make_world())

    assert run(1) == run(1)
    assert run(1) != run(2)
