"""The parts of the slow packet machine, one rule at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kernels.packet_sketch import CARRIAGE, CREDIT, LOSSY, PAUSE, Flow, Sketch
from tests.kernels.reference.packets import run, simulate, tell
from tests.kernels.reference.packets_buffer import Group, Pool
from tests.kernels.reference.packets_ends import Receiver, Sender
from tests.kernels.reference.packets_loop import Event
from tests.kernels.reference.packets_pace import Pace
from tests.kernels.reference.packets_port import Credits, Kind, Packet, Port, promise
from tests.kernels.reference.packets_stuck import find_cycle
from tests.kernels.reference.packets_world import NIL
from tests.kernels.reference.tables import mix
from weftline.model.packet import Carriage, LaneProfile, Marking, Pacing

ANY_ORDER = replace(CARRIAGE, recovery="selective", ack_every=4, window_packets=8, reorder_packets=3)
PACING = Pacing("test", 1 / 16, 5_000_000, 4_000_000, 10_000_000, 5_000, 2, 500.0, 2_000.0, 10_000.0, 4_000_000)


@pytest.mark.parametrize(("power", "share"), [(-2, 225), (0, 900), (1, 1800), (None, 333)])
def test_a_threshold_is_a_share_of_what_is_free(power: int | None, share: int) -> None:
    profile = replace(PAUSE, dynamic_th=power, static_bytes=333)
    assert Group(0, 0, profile, Pool(1_000, used=100)).threshold == share


def test_a_part_of_a_share_does_not_count() -> None:
    assert Group(0, 0, replace(PAUSE, dynamic_th=-2), Pool(903)).threshold == 225


def test_packets_stand_where_they_fit_in_whole() -> None:
    """Reserve, then pool as far as the threshold, then headroom, then nowhere; a small packet may find a gap before."""
    profile = replace(PAUSE, reserve_bytes=100, static_bytes=200, headroom_bytes=150)
    group = Group(0, 0, profile, Pool(1_000))
    sizes = (60, 60, 140, 40, 1, 100, 50, 1)
    steps = [(group.admit(size), group.reserve, group.shared, group.headroom) for size in sizes]
    assert steps == [
        (True, 60, 0, 0), (True, 60, 60, 0), (True, 60, 200, 0), (True, 100, 200, 0), (True, 100, 200, 1),
        (True, 100, 200, 101), (False, 100, 200, 101), (True, 100, 200, 102),
    ]  # fmt: skip
    assert group.pool.used == 200
    assert group.wants_off
    group.is_off = True
    assert not group.wants_off


def test_a_full_pool_is_full_for_every_lane() -> None:
    pool = Pool(300)
    groups = [Group(0, lane, replace(LOSSY, static_bytes=200), pool) for lane in range(2)]
    assert [groups[0].admit(200), groups[1].admit(101), groups[1].admit(100), groups[1].admit(1)] == [
        True, False, True, False,
    ]  # fmt: skip


def test_a_dynamic_threshold_falls_as_the_pool_fills() -> None:
    """Of what is free without the packet: 50 of 100, then 25 of 50 on top of what it has, and so on."""
    group = Group(0, 0, replace(LOSSY, dynamic_th=0), Pool(100))
    assert [group.admit(size) for size in (50, 1)] == [True, False]
    group = Group(0, 0, replace(LOSSY, dynamic_th=1), Pool(90))
    assert [group.admit(size) for size in (30, 30, 1)] == [True, True, False]


def test_bytes_come_back_from_the_headroom_first() -> None:
    group = Group(0, 0, replace(PAUSE, reserve_bytes=100, static_bytes=200, headroom_bytes=100), Pool(1_000))
    for size in (100, 200, 70):
        group.admit(size)
    steps: list[tuple[int, int, int, int]] = []
    for size in (50, 50, 200, 70):
        group.release(size)
        steps.append((group.headroom, group.shared, group.reserve, group.pool.used))
    assert steps == [(20, 200, 100, 200), (0, 170, 100, 170), (0, 0, 70, 0), (0, 0, 0, 0)]


@pytest.mark.parametrize(
    ("headroom", "shared", "is_on"),
    [(1, 0, False), (0, 101, False), (0, 100, True), (0, 0, True), (1, 50, False)],
)
def test_it_asks_to_go_on_well_below_its_threshold(headroom: int, shared: int, *, is_on: bool) -> None:
    profile = replace(PAUSE, static_bytes=200, resume_offset_bytes=100)
    group = Group(0, 0, profile, Pool(1_000), shared=shared, headroom=headroom, is_off=True)
    assert group.wants_on is is_on
    group.is_off = False
    assert not group.wants_on


def test_an_empty_pool_share_asks_to_go_on_whatever_the_offset() -> None:
    profile = replace(PAUSE, static_bytes=10, resume_offset_bytes=100)
    assert Group(0, 0, profile, Pool(1_000), is_off=True).wants_on
    assert not Group(0, 0, profile, Pool(1_000), shared=1, is_off=True).wants_on


def fill(profiles: list[LaneProfile], wires: list[list[int]]) -> Port:
    """Make a port with packets of some sizes in each lane."""
    port = Port(0, 0, 1, profiles)
    for lane, sizes in enumerate(wires):
        for wire in sizes:
            port.queue[lane].append(Packet(Kind.DATA, 0, 0, NIL, wire, 0, [], lane))
    return port


def drain(port: Port, count: int) -> list[int]:
    order: list[int] = []
    for _ in range(count):
        lane = port.choose_lane(port.list_eligible(0))
        assert lane is not None
        order.append(lane)
        port.take(lane)
    return order


def test_deficits_by_hand() -> None:
    """Quanta of 64 and 192 bytes, packets of 128 bytes.

    Lane 1 has 192: sends, 64 left. Lane 0 has 64, lane 1 256: sends twice, none left. Lane 0 has 128: sends. And again.
    """
    port = fill([LOSSY, replace(LOSSY, weight=3)], [[128] * 20, [128] * 20])
    assert drain(port, 8) == [1, 1, 1, 0, 1, 1, 1, 0]
    assert port.deficit == [0, 0]
    assert port.pointer == 0


def test_a_lone_lane_pays_nothing_and_an_empty_one_loses_its_deficit() -> None:
    port = fill([LOSSY, replace(LOSSY, weight=4), LOSSY], [[], [100, 100], [64]])
    assert drain(port, 1) == [1]
    assert port.deficit == [0, 156, 0]
    port.queue[2].clear()
    assert drain(port, 1) == [1]
    assert port.deficit == [0, 0, 0]


def test_held_lanes_are_passed_over_and_keep_their_deficit() -> None:
    port = fill([LOSSY, LOSSY, LOSSY], [[64] * 4, [64] * 4, [64] * 4])
    port.is_held[1] = True
    port.deficit[1] = 10
    assert drain(port, 4) == [2, 0, 2, 0]
    assert port.deficit[1] == 10
    port.is_held = [True] * 3
    assert not port.list_eligible(0)


def test_strict_lanes_go_first_and_the_highest_of_them_before_the_others() -> None:
    strict = replace(LOSSY, is_strict=True)
    port = fill([strict, LOSSY, strict], [[64, 64], [64], [64]])
    assert drain(port, 4) == [2, 0, 0, 1]


def test_a_lane_starves_from_when_it_was_asked_in_vain_until_it_was_asked_again() -> None:
    credits_ = Credits(2)
    credits_.coming.extend([(100, 3), (200, 4)])
    assert [credits_.suffice(5, time) for time in (30, 60, 100, 150)] == [False, False, True, True]
    assert credits_.starved_ps == 70


def test_credits_are_there_when_they_have_come() -> None:
    credits_ = Credits(2)
    credits_.coming.extend([(100, 3), (200, 4)])
    assert [credits_.collect(time) for time in (99, 100, 199, 300)] == [2, 5, 5, 9]


@pytest.mark.parametrize(
    ("buffer", "window", "blocks"), [(1_000, 0, 15), (1_000, 640, 10), (640, 1_000, 10), (63, 0, 0)]
)
def test_a_receiver_promises_no_more_than_it_has_and_the_window_allows(buffer: int, window: int, blocks: int) -> None:
    promised = promise(replace(CREDIT, buffer_bytes=buffer, window_bytes=window))
    assert promised is not None
    assert promised.available == blocks
    assert promise(PAUSE) is promise(LOSSY) is None


def hear(receiver: Receiver, *numbers: int) -> list[tuple[int, int | None] | None]:
    replies = [receiver.take(number) for number in numbers]
    return [None if reply is None else (reply.first_missing, reply.end) for reply in replies]


def test_a_receiver_in_order_says_once_what_is_missing() -> None:
    receiver = Receiver(6, replace(CARRIAGE, ack_every=2))
    assert hear(receiver, 0, 1, 3, 4, 2, 2, 4, 5, 3) == [
        None, (2, None), (2, 3), None, None, (3, None), (3, 4), None, (4, None),
    ]  # fmt: skip
    assert hear(receiver, 4, 5) == [None, (6, None)]
    assert receiver.is_done
    assert hear(receiver, 1) == [(6, None)]


def test_a_receiver_in_any_order_waits_before_it_says_what_is_missing() -> None:
    receiver = Receiver(12, ANY_ORDER)
    assert hear(receiver, 0, 2, 3, 4, 5) == [None, None, None, (1, 2), None]
    assert hear(receiver, 4, 8, 9, 6) == [(1, None), None, None, None]
    assert hear(receiver, 1, 10, 7, 11) == [(7, None), (7, 8), (11, None), (12, None)]
    assert hear(receiver, 3) == [(12, None)]


def test_with_no_patience_every_hole_is_named_at_once() -> None:
    receiver = Receiver(9, replace(ANY_ORDER, reorder_packets=0, ack_every=100))
    assert hear(receiver, 1, 3, 0, 2, 8) == [(0, 1), None, (2, 3), (4, None), (4, 8)]


def test_marks_are_answered_now_and_then() -> None:
    receiver = Receiver(9, replace(CARRIAGE, pacing=PACING))
    assert [receiver.owes_notice(time) for time in (0, 1, 3_999_999, 4_000_000, 4_000_001)] == [
        True, False, False, True, False,
    ]  # fmt: skip
    assert not Receiver(9, CARRIAGE).owes_notice(0)


def send(sender: Sender, now: int, count: int) -> list[int]:
    """Send as many packets as it may, up to a count."""
    numbers: list[int] = []
    while sender.has_more and len(numbers) < count:
        numbers.append(sender.upcoming)
        sender.take(now, 100)
    return numbers


def make_sender(count: int, carriage: Carriage) -> Sender:
    return Sender(count, carriage, None)


def test_a_sender_in_order_goes_back() -> None:
    sender = make_sender(20, CARRIAGE)
    assert send(sender, 10, 12) == list(range(12))
    sender.hear_nak(20, 4, 6, "go-back-n")
    assert (sender.acked, send(sender, 30, 3)) == (4, [4, 5, 6])
    sender.hear_ack(40, 10)
    assert send(sender, 50, 3) == [10, 11, 12]
    sender.rewind(55, "go-back-n")
    assert sender.since == 55
    assert send(sender, 60, 99) == list(range(10, 20))
    assert sender.has_sent_all
    assert not sender.is_over
    sender.hear_ack(70, 20)
    assert sender.is_over
    assert not sender.has_more


def test_a_sender_in_any_order_sends_the_hole_and_no_further_than_its_window() -> None:
    sender = make_sender(20, ANY_ORDER)
    assert send(sender, 0, 99) == list(range(8))
    sender.hear_nak(1, 2, 5, "selective")
    assert send(sender, 2, 99) == [2, 3, 4, 8, 9]
    sender.hear_nak(3, 5, 7, "selective")
    sender.hear_ack(4, 6)
    assert send(sender, 5, 2) == [6, 10]
    sender.hear_nak(6, 6, 9, "selective")
    assert send(sender, 7, 1) == [6]
    sender.rewind(8, "selective")
    assert send(sender, 9, 99) == [6, 7, 8, 9, 10, 11, 12, 13]


def test_a_timeout_counts_from_progress_or_from_the_first_packet_on_its_way() -> None:
    sender = make_sender(20, CARRIAGE)
    send(sender, 10, 1)
    send(sender, 20, 3)
    assert sender.since == 10
    sender.hear_ack(30, 2)
    assert sender.since == 30
    sender.hear_ack(40, 2)
    assert sender.since == 30
    sender.hear_ack(50, 4)
    send(sender, 60, 1)
    assert sender.since == 60


def test_a_rate_has_a_floor() -> None:
    pace = Pace(PACING, 100_000)
    for at in range(20):
        pace.notice(at * 4_000_000)
    assert pace.current == 10_000.0


def test_a_notice_begins_every_count_anew() -> None:
    pace = Pace(replace(PACING, gain=0.5), 100_000)
    pace.notice(0)
    pace.sent(0, 4_000)
    pace.notice(9_000_000)
    assert (pace.bytes, pace.time_stage, pace.byte_stage) == (0, 0, 0)
    # The estimate fell once, at 5 us; it falls again 5 us after the notice, and not before.
    assert pace.alpha == 0.75
    pace.advance(13_999_999)
    assert (pace.alpha, pace.time_stage) == (0.75, 0)
    pace.advance(14_000_000)
    assert (pace.alpha, pace.time_stage) == (0.375, 0)
    pace.sent(14_000_000, 5_000)
    pace.advance(19_000_000)
    assert (pace.byte_stage, pace.time_stage) == (1, 1)
    pace.notice(22_999_999)
    assert (pace.byte_stage, pace.time_stage) == (0, 0)


def test_a_cycle_is_found_behind_those_that_wait_for_it() -> None:
    waits = {(1, 0): [(5, 0)], (5, 0): [(9, 1), (3, 0)], (3, 0): [(9, 0)], (9, 0): [(5, 0)], (9, 1): []}
    assert find_cycle(waits) == [(3, 0), (9, 0), (5, 0)]
    assert find_cycle({(1, 0): [(5, 0)], (5, 0): [(9, 1)], (9, 1): []}) == []
    assert find_cycle({(2, 0): [(2, 0)]}) == [(2, 0)]


def pair(profile: LaneProfile, carriage: Carriage = CARRIAGE, lanes: int = 1) -> Sketch:
    """Draw a host, a switch and a host; the second cable is ten times slower."""
    sketch = Sketch(profiles=(profile,) * lanes, lanes=lanes, carriage=carriage)
    switch, source, target = sketch.add_switch(), sketch.add_host(), sketch.add_host()
    sketch.link(source, switch, 100_000)
    sketch.link(switch, target, 10_000)
    sketch.add_flow(Flow(source, target, 20_000))
    return sketch


def test_a_flow_starts_after_its_earliest_time_and_then_its_delay() -> None:
    sketch = pair(LOSSY)
    sketch.flows = [replace(sketch.flows[0], earliest_ps=1_000, delay_ps=10)]
    sketch.add_flow(replace(sketch.flows[0], earliest_ps=5, delay_ps=7, needs=(0,)))
    outcome = simulate(sketch.make_world())
    assert outcome.start_ps == [1_010, outcome.finish_ps[0] + 7]


def test_notices_go_by_their_own_lane() -> None:
    sketch = pair(replace(LOSSY, marking=Marking(0, 0, 0)), replace(CARRIAGE, pacing=PACING), lanes=3)
    sketch.notice_lane = 2
    sketch.ack_lane = 1
    loop, fabric, hosts = run(sketch.make_world())
    assert hosts.sender[0].pace is not None
    assert hosts.sender[0].pace.noticed > 0
    # The switch has no room for the lane of notices, and only for that: the sender never hears of a mark.
    sketch.profiles = (*sketch.profiles[:2], replace(LOSSY, static_bytes=0))
    loop, fabric, hosts = run(sketch.make_world())
    assert hosts.sender[0].pace is not None
    assert hosts.sender[0].pace.noticed == NIL
    assert tell(loop, fabric, hosts).ports[2].drops > 0
    assert NIL not in hosts.finish_ps


def test_a_pause_that_has_not_ended_counts_to_the_end() -> None:
    """Without a pool the first packet asks, leaves at once, and takes that back; the second asks and has to wait."""
    sketch = pair(replace(PAUSE, static_bytes=0))
    outcome = simulate(sketch.make_world(), until_ps=900_000)
    arrivals = [86_560 * at for at in (1, 2, 3)]
    frame = 84 * 80
    assert outcome.ports[0].packets == 3
    assert outcome.ports[1].pauses == 2
    assert outcome.ports[1].wire_bytes == 3 * 84
    assert outcome.end_ps == arrivals[2]
    assert outcome.ports[0].held_ps == frame + outcome.end_ps - (arrivals[1] + frame)


def test_marks_begin_above_the_lower_bound_and_are_certain_above_the_upper() -> None:
    """A full packet is 1,062 bytes in a buffer; the queue behind the slow link grows by one at a time."""
    for least, most, marked in ((1062, 4 * 1062, 14), (1062, 4 * 1062 - 1, 15)):
        sketch = pair(replace(LOSSY, marking=Marking(least, most, 0)))
        assert simulate(sketch.make_world()).ports[2].marks == expected_marks(20, most) == marked


def expected_marks(count: int, most: int) -> int:
    """Count those that find more than ``most`` before them, when one leaves for ten that come."""
    waiting = [0] + [at - 1 - max(0, (at - 1) // 10) for at in range(1, count)]
    return sum(1062 * packets > most for packets in waiting)


def test_a_chance_is_drawn_by_flow_packet_and_place() -> None:
    sketch = pair(replace(LOSSY, marking=Marking(0, 40_000, 1_000_000)))
    sketch.seed = 5
    waiting = [0] + [at - 1 - max(0, (at - 1) // 10) for at in range(1, 20)]
    draws = [mix(mix(mix(5) + 0) + number * 64 + 1) % 1_000_000 for number in range(20)]
    marks = sum(draw < 1062 * packets * 25 for draw, packets in zip(draws, waiting, strict=True))
    assert simulate(sketch.make_world()).ports[2].marks == marks
    assert 0 < marks < 20


def test_ties_of_empty_queues_go_by_flow_and_packet() -> None:
    sketch = Sketch(seed=9)
    left, right, source, target = sketch.add_switch(), sketch.add_switch(), sketch.add_host(), sketch.add_host()
    for _ in range(3):
        sketch.link(left, right)
    sketch.link(source, left)
    sketch.link(right, target)
    for flow in range(12):
        sketch.add_flow(Flow(source, target, 1000, delay_ps=flow * 10_000_000))
    took = [port.packets for port in simulate(sketch.make_world("adaptive")).ports[:6:2]]
    chosen = [mix(mix(9 + flow)) % 3 for flow in range(12)]
    assert took == [chosen.count(member) for member in range(3)]
    assert len({*took}) > 1


def test_a_timer_waits_for_progress_and_does_not_count_the_whole_message() -> None:
    """The slow link takes 20 times 865.6 ns; each acknowledgement comes long before the time is up."""
    sketch = pair(LOSSY, replace(CARRIAGE, timeout_ps=4_000_000, ack_every=1))
    loop, fabric, hosts = run(sketch.make_world())
    assert fabric.port[0].packets == 20
    assert loop.kinds[Event.TIMER] > 2
    assert hosts.finish_ps == [1082 * (80 + 20 * 800)]


def test_a_port_wakes_for_pace_where_pace_alone_is_in_the_way() -> None:
    loop, fabric, hosts = run(pair(LOSSY, replace(CARRIAGE, pacing=PACING)).make_world(), 100_000)
    port, pace = fabric.port[0], hosts.sender[0].pace
    assert pace is not None
    pace.notice(loop.now)
    pace.next_time = 200_000
    assert hosts.make_data(port) == [200_000]
    port.is_held[0] = True
    assert hosts.make_data(port) == []
    port.is_held[0] = False
    pace.next_time = loop.now
    assert isinstance(hosts.make_data(port), Packet)


def test_a_port_looks_once_when_it_is_free_and_before_that_for_what_comes_earlier() -> None:
    loop, fabric, _ = run(pair(LOSSY, CARRIAGE).make_world(), 0)
    port = fabric.port[2]
    fabric.look_at(port, 900)
    fabric.look_at(port, 1_000)
    fabric.look_at(port, 500)
    fabric.look_at(port, 500)
    mine = [(time, kind) for time, kind, subject in sorted(loop.heap) if subject == 2]
    assert mine == [(500, Event.WAKE), (900, Event.FREE)]
