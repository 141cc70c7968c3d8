"""A calendar of events: a wheel for the one next arrival and departure of each port, and a heap for everything else."""

from __future__ import annotations

from typing import Any

import numpy as np

from weftline.kernels._jit import inlined, lean_kernel
from weftline.kernels.column import I32, I64, NIL, U64

# Integers of the clock.
NOW = 0
PLACE = 1
"""Bucket whose events are in ``work``, counted from time 0."""
FIRST = 2
LAST = 3
"""Which part of ``work`` is still to come."""
PENDING = 4
"""Events in buckets."""
TIMERS = 5
"""Events in the heap."""
PORTS = 6
SHIFT = 7
"""A bucket is 2**SHIFT picoseconds wide."""
CLOCK = 8

KIND = 40
"""Bits of the subject in a code; kinds stand above it, so that codes order events of one time."""
WORD = 6
BITS = 63


@inlined
def code_of(event: int, ports: int) -> int:
    """Code of a wheel event: arrivals of all ports come before their departures."""
    return event if event < ports else (1 << KIND) | (event - ports)


@inlined
def move_timer(here: int, there: int, timer: I64) -> None:
    """Move an event within the heap."""
    timer[there, 0] = timer[here, 0]
    timer[there, 1] = timer[here, 1]
    timer[there, 2] = timer[here, 2]


@lean_kernel
def push_timer(time: int, code: int, extra: int, timer: I64, clock: I64) -> None:
    """Put an event into the heap; O(log timers)."""
    at = int(clock[TIMERS])
    clock[TIMERS] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if timer[above, 0] < time or (timer[above, 0] == time and timer[above, 1] <= code):
            break
        move_timer(above, at, timer)
        at = above
    timer[at, 0] = time
    timer[at, 1] = code
    timer[at, 2] = extra


@lean_kernel
def pop_timer(timer: I64, clock: I64) -> None:
    """Take the first event off the heap; O(log timers)."""
    count = int(clock[TIMERS] - 1)
    clock[TIMERS] = count
    time, code, extra = timer[count, 0], timer[count, 1], timer[count, 2]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        other = child + 1
        if other < count and (
            timer[other, 0] < timer[child, 0]
            or (timer[other, 0] == timer[child, 0] and timer[other, 1] < timer[child, 1])
        ):
            child = other
        if time < timer[child, 0] or (time == timer[child, 0] and code <= timer[child, 1]):
            break
        move_timer(child, at, timer)
        at = child
    timer[at, 0] = time
    timer[at, 1] = code
    timer[at, 2] = extra


@lean_kernel
def put_event(
    time: int, event: int, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64, timer: I64
) -> None:
    """Enter the arrival (``event`` < ports) or departure of a port; it must have none of that kind pending."""
    when[event] = time
    place = time >> clock[SHIFT]
    if place == clock[PLACE]:
        at = clock[LAST]
        if at == len(work):
            first = clock[FIRST]
            for turn in range(first, at):
                work[turn - first] = work[turn]
            clock[FIRST] = 0
            at -= first
        clock[LAST] = at + 1
        while at > clock[FIRST] and (
            when[work[at - 1]] > time or (when[work[at - 1]] == time and work[at - 1] > event)
        ):
            work[at] = work[at - 1]
            at -= 1
        work[at] = event
    elif place - clock[PLACE] < len(bucket):
        slot = place & (len(bucket) - 1)
        chain[event] = bucket[slot]
        bucket[slot] = event
        full[slot >> WORD] |= np.uint64(1) << np.uint64(slot & BITS)
        clock[PENDING] += 1
    else:
        push_timer(time, code_of(event, clock[PORTS]), 0, timer, clock)


@inlined
def lowest_bit(word: Any) -> int:
    """Find the place of the lowest bit that is set."""
    low = word & (~word + np.uint64(1))
    place = 0
    if low & np.uint64(0xFFFFFFFF00000000):
        place += 32
    if low & np.uint64(0xFFFF0000FFFF0000):
        place += 16
    if low & np.uint64(0xFF00FF00FF00FF00):
        place += 8
    if low & np.uint64(0xF0F0F0F0F0F0F0F0):
        place += 4
    if low & np.uint64(0xCCCCCCCCCCCCCCCC):
        place += 2
    if low & np.uint64(0xAAAAAAAAAAAAAAAA):
        place += 1
    return place


@inlined
def find_bucket(clock: I64, full: U64) -> int:
    """Find the next bucket with events after the current one, counted from time 0; there must be one."""
    start = clock[PLACE] + 1
    words = len(full)
    at = (start & (words * 64 - 1)) >> WORD
    word = full[at] & (~np.uint64(0) << np.uint64(start & BITS))
    base = start - (start & BITS)
    while word == 0:
        at += 1
        base += 64
        if at == words:
            at = 0
        word = full[at]
    return int(base + lowest_bit(np.uint64(word)))


@lean_kernel
def load_bucket(place: int, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64) -> None:
    """Bring the events of a bucket into order; it becomes the current one."""
    slot = place & (len(bucket) - 1)
    count = 0
    event = bucket[slot]
    while event != NIL:
        at = count
        time = when[event]
        while at > 0 and (when[work[at - 1]] > time or (when[work[at - 1]] == time and work[at - 1] > event)):
            work[at] = work[at - 1]
            at -= 1
        work[at] = event
        count += 1
        event = chain[event]
    bucket[slot] = NIL
    full[slot >> WORD] &= ~(np.uint64(1) << np.uint64(slot & BITS))
    clock[PENDING] -= count
    clock[PLACE] = place
    clock[FIRST] = 0
    clock[LAST] = count


@inlined
def next_event(  # noqa: PLR0911
    until: int, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64, timer: I64
) -> tuple[int, int]:
    """Take the first event up to ``until``: its code and extra number; code NIL where there is none.

    Events of one time come by their code, so that the order depends on nothing but the events. The time stands in
    ``clock[NOW]``.
    """
    while clock[FIRST] == clock[LAST]:
        has_timer = clock[TIMERS] > 0
        place = 0
        if clock[PENDING] > 0:
            place = find_bucket(clock, full)
        elif not has_timer:
            return NIL, 0
        if has_timer and (clock[PENDING] == 0 or timer[0, 0] >> clock[SHIFT] < place):
            if timer[0, 0] > until:
                return NIL, 0
            code, extra = timer[0, 1], timer[0, 2]
            clock[NOW] = timer[0, 0]
            clock[PLACE] = timer[0, 0] >> clock[SHIFT]
            pop_timer(timer, clock)
            return int(code), int(extra)
        if place << clock[SHIFT] > until:
            return NIL, 0
        load_bucket(place, clock, bucket, chain, when, work, full)
    event = int(work[clock[FIRST]])
    time = when[event]
    code = code_of(event, clock[PORTS])
    if clock[TIMERS] > 0 and (timer[0, 0] < time or (timer[0, 0] == time and timer[0, 1] < code)):
        if timer[0, 0] > until:
            return NIL, 0
        code, extra = timer[0, 1], timer[0, 2]
        clock[NOW] = timer[0, 0]
        pop_timer(timer, clock)
        return int(code), int(extra)
    if time > until:
        return NIL, 0
    clock[NOW] = time
    clock[FIRST] += 1
    return int(code), 0
