"""Lanes that lose patience, by hand: lives of heads, lanes that stall, watchdogs that drop or forward."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Literal

import pytest

from tests.kernels.packet_sketch import CREDIT, PAUSE, Flow, Sketch
from tests.kernels.reference.packets_world import NIL, Change, World
from tests.kernels.test_packet_twin import Told, change_links, run_kernel, run_twin
from weftline.model.packet import LaneProfile, Watchdog

US = 1_000_000
UNTIL_PS = 10_000 * US
DETECT_PS, RESTORE_PS = 2 * US, 50 * US


def tell(sheet: World) -> Told:
    """Run both machines, which agree."""
    told = run_kernel(sheet, UNTIL_PS)
    assert told == run_twin(sheet, UNTIL_PS)
    return told


class Bottleneck:
    """Hosts a, b and c send through a first switch (c past it) and a second one, to a slow host and a fast one."""

    def __init__(self, slow_mbps: int, between: LaneProfile, near: LaneProfile, far: LaneProfile) -> None:
        """Lay links; ``near`` is the sending end of that between the switches, and ``far`` the other end."""
        self.sketch = sketch = Sketch(profiles=(between, near, far))
        self.first, self.second = sketch.add_switch(), sketch.add_switch()
        self.a, self.b, self.c, self.slow, self.fast = (sketch.add_host() for _ in range(5))
        for host in (self.a, self.b):
            sketch.link(host, self.first)
        self.near, self.far = sketch.link(self.first, self.second)
        sketch.link(self.c, self.second)
        sketch.link(self.second, self.slow, slow_mbps)
        sketch.link(self.second, self.fast)
        sketch.profile_at = lambda port, _lane: {self.near: 1, self.far: 2}.get(port, 0)

    def add(self, source: int, target: int, size_bytes: int, at_ps: int = 0) -> None:
        self.sketch.add_flow(Flow(source, target, size_bytes, earliest_ps=at_ps))


def watched(action: Literal["drop", "forward"]) -> Bottleneck:
    """Make a watchdog at a lane that the second switch pauses from the third packet on."""
    room = replace(PAUSE, static_bytes=1 << 20)
    near = replace(room, watchdog=Watchdog(DETECT_PS, RESTORE_PS, action))
    return Bottleneck(1_000, room, near, replace(PAUSE, static_bytes=2_200))


def test_a_watchdog_that_forwards_loses_nothing() -> None:
    made = watched("forward")
    made.add(made.a, made.slow, 40_000)
    made.add(made.b, made.slow, 40_000, 5 * US)
    told = tell(made.sketch.make_world())
    assert told.ending == "done"
    assert sum(told.drops) == sum(told.discards) == 0
    assert told.held_ps[made.near] == DETECT_PS


def test_a_watchdog_that_drops_discards_what_waits_and_refuses_what_comes() -> None:
    made = watched("drop")
    made.add(made.a, made.slow, 40_000)
    made.add(made.b, made.slow, 10_000, 5 * US)
    told = tell(made.sketch.make_world())
    assert told.ending == "stuck"
    assert told.discards[made.near] > 0
    assert sum(told.drops) >= 10
    assert told.loss is not None


def make_bursts() -> Bottleneck:
    """Make three bursts of 87 us each, the second in the storm of the first."""
    made = watched("forward")
    for at_ps in (0, 100 * US, 300 * US):
        made.add(made.a, made.slow, 10_000, at_ps)
    return made


def test_a_lane_that_forwarded_obeys_again_when_there_was_no_pause_for_long_enough() -> None:
    """The second burst is not held, the third is."""
    made = make_bursts()
    told = tell(made.sketch.make_world())
    assert told.ending == "done"
    assert told.pauses[made.far] >= 3
    assert told.held_ps[made.near] == 2 * DETECT_PS


def aged(slow_mbps: int, life_ps: int, stall_count: int = 0, buffer_bytes: int = 1_088) -> Bottleneck:
    """Make a lane between the switches that has credit for one packet of 17 blocks, and perhaps a small one."""
    near = replace(CREDIT, lifetime_ps=life_ps, stall_count=stall_count)
    return Bottleneck(slow_mbps, CREDIT, near, replace(CREDIT, buffer_bytes=buffer_bytes))


def test_a_head_that_came_into_an_empty_queue_has_its_whole_life() -> None:
    """A packet takes 8.656 us to the slow host, and twice that is a life; the waits are 8.7 and 16.0 us."""
    made = aged(1_000, 17_312_000)
    made.add(made.a, made.slow, 2_000)
    made.add(made.c, made.slow, 1_250, 4 * US)
    made.add(made.b, made.slow, 1_000, 13 * US)
    told = tell(made.sketch.make_world())
    assert told.ending == "done"
    assert sum(told.discards) == 0


def test_what_stands_behind_a_discarded_head_goes_at_once_if_it_has_credit() -> None:
    """The second packet finds no credit at 173.12 ns; 83 bytes take 6.64 ns on each of the last two links."""
    made = aged(10, 100 * US, buffer_bytes=1_280)
    made.add(made.a, made.slow, 2_000)
    made.add(made.b, made.fast, 1, US)
    told = tell(made.sketch.make_world())
    assert told.discards[made.near] == 1
    assert told.finish_ps[1] == 173_120 + 100 * US + 2 * 6_640


@pytest.mark.parametrize(("sends_between", "is_stalled"), [(True, False), (False, True)])
def test_a_packet_sent_between_two_discards_begins_the_row_anew(*, sends_between: bool, is_stalled: bool) -> None:
    """Two discards in a row stall the lane: a small packet that comes next is dropped although it has credit."""
    made = aged(10, 100 * US, stall_count=2, buffer_bytes=1_280)
    made.add(made.a, made.slow, 2_000)
    made.add(made.b, made.fast, 1, 950 * US if sends_between else 2_000 * US)
    made.add(made.b, made.slow, 2_000 if sends_between else 1_000, 1_000 * US if sends_between else 400 * US)
    made.add(made.a, made.fast, 1, 1_300 * US if sends_between else 700 * US)
    told = tell(made.sketch.make_world())
    assert told.discards[made.near] == 2
    assert (told.finish_ps[3] == NIL) is is_stalled
    assert sum(told.drops) == int(is_stalled)


def test_a_stall_lasts_eight_lives() -> None:
    """One discard stalls the lane; what comes within eight lives is dropped, what comes later passes."""
    made = aged(10, 100 * US, stall_count=1, buffer_bytes=1_280)
    made.add(made.a, made.slow, 2_000)
    end = 173_120 + 9 * 100 * US
    made.add(made.b, made.fast, 1, end - 100_000)
    made.add(made.b, made.fast, 1, end)
    told = tell(made.sketch.make_world())
    assert told.finish_ps[1] == NIL
    assert told.finish_ps[2] == end + 3 * 6_640


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="what happens to links is done on narrow columns")
def test_a_link_that_comes_back_has_forgotten_its_stall() -> None:
    """The lane stalls at 100 us, the link is away from 200 to 210 us, and a head of 300 us is discarded at 400 us."""
    made = aged(10, 100 * US, stall_count=1, buffer_bytes=1_280)
    made.add(made.a, made.slow, 2_000)
    made.add(made.b, made.slow, 1_000, 300 * US)
    made.sketch.changes = [Change(200 * US, made.near), Change(210 * US, made.near, is_up=True)]
    sheet = made.sketch.make_world()
    told = run_kernel(sheet, 450 * US, change_links(sheet))
    assert told == run_twin(sheet, 450 * US)
    assert told.discards[made.near] == 2
