"""Faults in the packet kernels, one at a time: some small world must come out otherwise than by the slow twin."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.kernels.packet_plain import Fault, load, run_plain
from tests.kernels.packet_worlds import make_scene
from tests.kernels.reference.packets_world import World as Sheet
from tests.kernels.test_calendar import PORTS, Calendar
from tests.kernels.test_packet_patience import make_bursts
from tests.kernels.test_packet_twin import Told, run_kernel, run_twin
from weftline.kernels.packet_run import World
from weftline.model.packet import FlowControl

ANY, PAUSE, CREDIT = None, FlowControl.PAUSE, FlowControl.CREDIT
UNTIL_PS = 60_000_000
"""Worlds are small: what happens in them happens early, or again and again."""
SCENES: tuple[tuple[int, FlowControl | None, bool], ...] = (
    (12, ANY, True), (31, ANY, True), (6, PAUSE, False), (8, ANY, True), (0, CREDIT, False), (7, PAUSE, False),
    (10, CREDIT, False), (29, ANY, True), (11, PAUSE, False), (36, ANY, True), (2, PAUSE, False), (37, ANY, True),
    (17, ANY, True), (8, PAUSE, False), (8, CREDIT, False), (51, ANY, True),
    (202, ANY, True), (26, ANY, True),
)  # fmt: skip
"""Seed, control and patience of scenes that show much in little time."""


CALENDAR_FAULTS = {
    "a timer of the same time comes in any order": Fault(
        "calendar",
        "if timer[above, 0] < time or (timer[above, 0] == time and timer[above, 1] <= code):",
        "if timer[above, 0] <= time:",
    ),
    "a timer overtakes the events of its bucket": Fault(
        "calendar", "timer[0, 0] >> clock[SHIFT] < place", "timer[0, 0] >> clock[SHIFT] <= place"
    ),
    "departures and arrivals of one time come in any order": Fault(
        "calendar",
        "            when[work[at - 1]] > time or (when[work[at - 1]] == time and work[at - 1] > event)\n        ):",
        "            when[work[at - 1]] > time\n        ):",
    ),
    "what is pending is not counted": Fault("calendar", "clock[PENDING] += 1", "pass"),
    "the last child of a timer is never first": Fault(
        "calendar", "if other < count and (", "if other < count - 1 and ("
    ),
    "a bucket behind the horizon is entered": Fault(
        "calendar", "place - clock[PLACE] < len(bucket)", "place - clock[PLACE] < 2 * len(bucket)"
    ),
    "events of a bucket come as they were entered": Fault(
        "calendar", "while at > 0 and (when[work", "while False and (when[work"
    ),
    "a timer after the time that was asked for comes": Fault(
        "calendar", "        if timer[0, 0] > until:\n            return NIL, 0\n        code", "        code"
    ),
    "a departure comes before an arrival": Fault("calendar", "(1 << KIND) | (event - ports)", "event - ports"),
}  # fmt: skip

FAULTS = {
    "time on the wire is rounded down": Fault(
        "packet_lanes", "(wire * 8_000_000 + rate - 1) // rate", "wire * 8_000_000 // rate"
    ),
    "preamble and gap are stored": Fault("packet_lanes", "wire - number[UNSTORED] + cell", "wire + cell"),
    "every share is a half": Fault("packet_lanes", "free >> -shift", "free >> 1"),
    "a group stays below its share": Fault(
        "packet_lanes", "if shared <= threshold(kept, free, profile)", "if shared < threshold(kept, free, profile)"
    ),
    "headroom is not used up": Fault(
        "packet_lanes",
        "lane[into].headroom + size <= profile[kept].headroom",
        "lane[into].headroom + size < profile[kept].headroom",
    ),
    "the pool forgets what it took": Fault("packet_lanes", "node[where].used += size", "pass"),
    "the pool forgets what it gave back": Fault("packet_lanes", "node[where].used -= part", "pass"),
    "every packet asks for a pause": Fault("packet_lanes", "if lane[into].xoff == 0:", "if True:"),
    "a pause ends only when all is gone": Fault(
        "packet_lanes", "if shared == 0 or shared + profile[kept].offset <=", "if shared == 0 or -1 >="
    ),
    "the offset of a resume is forgotten": Fault("packet_lanes", "shared + profile[kept].offset", "shared"),
    "a pause waits as long as a packet in the switch": Fault("packet_lanes", "effect - link[at].inner", "effect"),
    "a pause frame overtakes the one before": Fault(
        "packet_lanes", "effect - link[at].inner, link[at].told_at", "effect - link[at].inner"
    ),
    "a credit counts one moment late": Fault("packet_lanes", "owed[item, 0] <= now", "owed[item, 0] < now"),
    "strict lanes the other way round": Fault("packet_lanes", "range(lanes - 1, -1, -1)", "range(lanes)"),
    "a strict lane sends while it is held": Fault(
        "packet_lanes", "        if open_lanes >> turn & 1 and profile", "        if profile"
    ),
    "a held lane gains deficit": Fault(
        "packet_lanes",
        "        turn = turn + 1 if turn + 1 < lanes else 0\n        if open_lanes >> turn & 1:",
        "        turn = turn + 1 if turn + 1 < lanes else 0\n        if True:",
    ),
    "a deficit must be more than the packet": Fault(
        "packet_lanes", "lane[of].deficit >= packet", "lane[of].deficit > packet"
    ),
    "a sending lane pays nothing": Fault(
        "packet_lanes", "lane[of].deficit -= packet[lane[of].head].wire", "pass"
    ),
    "the block that is not full costs nothing": Fault("packet_lanes", "(wire + 63) >> 6", "wire >> 6"),
    "a credit goes back with the first byte": Fault(
        "packet_sending", "comes = now + length + link[entry]", "comes = now + link[entry]"
    ),
    "a packet takes no credit": Fault("packet_sending", "lane[of].credit -= blocks_of(wire)", "pass"),
    "a queue forgets the size of what left": Fault("packet_sending", "lane[of].waiting -= size", "pass"),
    "a port forgets the size of what left": Fault("packet_sending", "port[at].queued -= size", "pass"),
    "an empty lane keeps its deficit": Fault("packet_sending", "lane[of].deficit = 0", "pass"),
    "nothing is cut through": Fault("packet_sending", "(length if port[at].stored == 1 else 0)", "length"),
    "one flow keeps the turn": Fault(
        "packet_sending", "port[at].ring = slot[of_slot].after", "port[at].ring = of_slot"
    ),
    "the last packet is as long as the others": Fault(
        "packet_sending",
        "    wire = slot[of_slot].last_wire if is_last else number[MTU] + number[OVERHEAD]",
        "    wire = number[MTU] + number[OVERHEAD]",
    ),
    "the life of a head goes on with the next": Fault("packet_sending", "hold[of].head_since = NIL", "pass"),
    "a packet that was sent does not end a row": Fault("packet_sending", "hold[of].in_row = 0", "pass"),
    "a bound of marks counts as long": Fault(
        "packet_arriving", "queue <= profile[rule].mark_least", "queue < profile[rule].mark_least"
    ),
    "the upper bound of marks counts as longer": Fault(
        "packet_arriving", "is_marked = queue > profile", "is_marked = queue >= profile"
    ),
    "a packet is held by the lane that it leaves by": Fault(
        "packet_arriving",
        "    into = entry * number[LANES] + came\n    of = to",
        "    into = entry * number[LANES] + turn\n    of = to",
    ),
    "a queue stays below its limit": Fault(
        "packet_arriving", "lane[of].waiting + size > profile", "lane[of].waiting + size >= profile"
    ),
    "a buffer counts the cells of the queue": Fault(
        "packet_arriving", "size if rule == kept else stored_size(wire, kept, profile, number)", "size"
    ),
    "a credit comes without the time of an answer": Fault(
        "packet_arriving", "link[port[at].peer].propagation + link[at].response", "link[port[at].peer].propagation"
    ),
    "every packet in order is answered": Fault(
        "packet_arriving", "before // every < expected // every", "before // every <= expected // every"
    ),
    "a gap is told again and again": Fault("packet_arriving", "if slot[of_slot].naked == 1:", "if False:"),
    "a confirmation is no progress": Fault(
        "packet_arriving",
        "        slot[of_slot].acked = seq\n        slot[of_slot].progress = now",
        "        slot[of_slot].acked = seq",
    ),
    "a stalled lane takes packets": Fault("packet_arriving", "hold[of].shut != STALLED and", ""),
    "a lane that forwards drops": Fault("packet_arriving", "and profile[rule].watch_drops == 0", "and False"),
    "recovery is one stage too long": Fault(
        "packet_sender", "if max(times, sizes) >= stages:", "if max(times, sizes) > stages:"
    ),
    "a rate is cut by all of the estimate": Fault("packet_sender", "slot[of].alpha / 2.0", "slot[of].alpha"),
    "a step back comes a period late": Fault("packet_sender", "// number[STEP_PS] + 1,", "// number[STEP_PS],"),
    "a stall lasts seven lives": Fault("packet_timing", "STALL_LIFETIMES = 8", "STALL_LIFETIMES = 7"),
    "a lane stalls one discard late": Fault(
        "packet_timing", "hold[of].in_row >= profile", "hold[of].in_row > profile"
    ),
    "a pause that ended counts for the watchdog": Fault("packet_timing", "or hold[of].since != since", ""),
    "a storm is over with its pause": Fault("packet_timing", "hold[of].shut = CALM", "hold[of].shut = OPEN"),
    "nobody looks after a discard": Fault(
        "packet_run",
        "            add_kick(at // lanes, port, kick, number)\n        elif kind == WATCHING:",
        "        elif kind == WATCHING:",
    ),
    "nobody looks after a pause": Fault("packet_run", "            if is_on == 0:\n", "            if False:\n"),
    "a short packet is spoiled as often as a long one": Fault(
        "packet_run",
        "loss_ppb * packet[item].wire // (number[MTU] + number[OVERHEAD])",
        "loss_ppb",
    ),
    "of equal queues the last is taken": Fault(
        "packet_choice", "port[at].queued < least", "port[at].queued <= least"
    ),
    "all flows are sprayed from one port on": Fault(
        "packet_choice", "(rest % members + word) % members", "rest % members"
    ),
    "a flowlet never stays": Fault("packet_choice", "if not is_known or", "if True or"),
}  # fmt: skip


def list_worlds() -> Iterator[tuple[Sheet, int]]:
    """List the worlds, and until when each runs."""
    for seed, control, is_patient in SCENES:
        yield make_scene(seed, None, control, is_patient=is_patient).make_world(), UNTIL_PS
    yield make_bursts().sketch.make_world(), 10 * UNTIL_PS


@cache
def foresee() -> tuple[tuple[Sheet, int, Told], ...]:
    """Make all worlds, and run the twin on them."""
    return tuple((sheet, until_ps, run_twin(sheet, until_ps)) for sheet, until_ps in list_worlds())


def differs(fault: Fault | None, at: int) -> bool:
    """Tell whether plain kernels, perhaps with a fault, come to something else in a world, or to nothing."""
    run = load(fault)["packet_run"].run

    def run_world(world: World, until_ps: int) -> tuple[World, int]:
        return world, run_plain(run, world, until_ps)

    sheet, until_ps, told = foresee()[at]
    try:
        return run_kernel(sheet, until_ps, run_world) != told
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError):
        return True


def shuffle_events(machine: Any) -> None:
    """Put events and timers into a calendar and take them, by the dice of a seed, against a sorted list."""
    rng = random.Random(1)
    delays = (0, 0, 1, 2, 15, 16, 17, 100, 1023, 1024, 1025, 5_000, 1 << 20)
    for _ in range(150):
        calendar = Calendar(rng.randint(0, 6), rng.choice([64, 128]), rng.choice([2 * PORTS, 64]), machine=machine)
        earliest = 0
        for number in range(60):
            time = max(earliest, calendar.now) + rng.choice(delays)
            match rng.randint(0, 4):
                case 0 | 1:
                    calendar.put(time, rng.randrange(2 * PORTS))
                case 2:
                    calendar.push(time, rng.choice([3, (5 << machine.KIND) + 3, (9 << machine.KIND) + 3]), number)
                case _:
                    earliest = earliest if calendar.take(time) else time
        while calendar.take(1 << 50):
            pass
        assert not calendar.expected
        assert calendar.parts[0][machine.PENDING] == 0


def test_the_plain_calendar_keeps_the_order() -> None:
    shuffle_events(load()["calendar"])


@pytest.mark.parametrize("name", CALENDAR_FAULTS)
def test_a_fault_of_the_calendar_is_noticed(name: str) -> None:
    machine = load(CALENDAR_FAULTS[name])["calendar"]
    with pytest.raises((AssertionError, LookupError, ValueError)):
        shuffle_events(machine)


@pytest.mark.parametrize("at", range(len(SCENES) + 1))
def test_plain_kernels_agree_with_the_twin(at: int) -> None:
    assert not differs(None, at)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(name: str) -> None:
    assert any(differs(FAULTS[name], at) for at in range(len(SCENES) + 1))
