"""The machine run to its end: pools grow when they are short, and somebody hears how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weftline.kernels import packet_state as st
from weftline.kernels.calendar import TIMERS
from weftline.kernels.column import NIL
from weftline.kernels.packet_run import MARGIN, PAUSED, SHORT, World, run

EVENTS_AT_ONCE = 1_000_000
"""About a quarter of a second."""


def drive(world: World, until_ps: int, hear: Callable[[World], None]) -> tuple[World, int]:
    """Run until a time, an end or a standstill; returns the world and the status of the kernel."""
    while True:
        status = run(world, until_ps, EVENTS_AT_ONCE)
        if status == SHORT:
            world = enlarge(world)
        elif status == PAUSED:
            hear(world)
        else:
            return world, status


def make_room(world: World, owed: int, timers: int) -> World:
    """Double pools until so many credits can be on their way and so many timers run besides those of today."""
    while world.number[st.OWED_LEFT] < owed + MARGIN:
        world = _more_owed(world)
    while len(world.timer) - world.clock[TIMERS] < timers + MARGIN:
        world = world._replace(timer=_double(world.timer))
    return world


def enlarge(world: World) -> World:
    """Double the pools that are nearly empty."""
    number = world.number
    if number[st.PACKETS_LEFT] < MARGIN:
        old = len(world.packet)
        packet = _double(world.packet)
        packet.next[old:] = np.arange(old + 1, 2 * old + 1)
        packet.next[-1] = number[st.PACKET_FREE]
        number[st.PACKET_FREE] = old
        number[st.PACKETS_LEFT] += old
        world = world._replace(packet=packet)
    if number[st.OWED_LEFT] < MARGIN:
        world = _more_owed(world)
    if number[st.SLOTS_LEFT] < 1:
        old = len(world.slot)
        slot = _double(world.slot)
        slot.flow[old:] = NIL
        slot.after[old:] = np.arange(old + 1, 2 * old + 1)
        slot.after[-1] = number[st.SLOT_FREE]
        number[st.SLOT_FREE] = old
        number[st.SLOTS_LEFT] += old
        burst = world.burst if len(world.burst) == 1 else _double(world.burst)
        world = world._replace(slot=slot, seen=_double(world.seen), burst=burst)
    if len(world.timer) - world.clock[TIMERS] < MARGIN:
        world = world._replace(timer=_double(world.timer))
    return world


def _more_owed(world: World) -> World:
    number, old = world.number, len(world.owed)
    owed = _double(world.owed)
    owed[old:, 2] = np.arange(old + 1, 2 * old + 1)
    owed[-1, 2] = number[st.OWED_FREE]
    number[st.OWED_FREE] = old
    number[st.OWED_LEFT] += old
    return world._replace(owed=owed)


def _double(array: Any) -> Any:
    if not array.dtype.names:
        return np.concatenate((array, np.zeros_like(array)))
    larger = st.make_records(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger
