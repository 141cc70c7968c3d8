"""The calendar of events against a list that is sorted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weftline.kernels import calendar as cal
from weftline.kernels._jit import lean_kernel
from weftline.kernels.column import I32, I64, NIL, U64

PORTS = 5
FAR = 1 << 20


@lean_kernel
def take_next(
    until: int, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64, timer: I64
) -> tuple[int, int]:
    """Take the next event; ``next_event`` stands only inside other kernels."""
    return cal.next_event(until, clock, bucket, chain, when, work, full, timer)


enter: Any = cal.put_event
take: Any = take_next


@dataclass
class Calendar:
    """The calendar with a list beside it that says what must come."""

    shift: int
    buckets: int
    work: int = 64
    now: int = 0
    machine: Any = None
    """A module of plain kernels; None: the compiled ones."""
    expected: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])

    def __post_init__(self) -> None:
        clock = np.zeros(cal.CLOCK, dtype=np.int64)
        clock[cal.PORTS], clock[cal.SHIFT] = PORTS, self.shift
        self.parts: tuple[Any, ...] = (
            clock,
            np.full(self.buckets, NIL, dtype=np.int32),
            np.zeros(2 * PORTS, dtype=np.int32),
            np.zeros(2 * PORTS, dtype=np.int64),
            np.zeros(self.work, dtype=np.int32),
            np.zeros(self.buckets >> 6, dtype=np.uint64),
        )
        self.timer = np.zeros((512, 3), dtype=np.int64)

    def put(self, time: int, event: int) -> None:
        """Enter an arrival or a departure, unless one is pending."""
        code = event if event < PORTS else (1 << cal.KIND) + event - PORTS
        if all(other != code for _, other, _ in self.expected):
            put = self.machine.put_event if self.machine else enter
            put(time, event, *self.parts, self.timer)
            self.expected.append((time, code, 0))

    def push(self, time: int, code: int, extra: int) -> None:
        if all((time, code) != (at, other) for at, other, _ in self.expected):
            (self.machine or cal).push_timer(time, code, extra, self.timer, self.parts[0])
            self.expected.append((time, code, extra))

    def take(self, until: int) -> bool:
        """Take an event, and tell whether there was one."""
        following = self.machine.next_event if self.machine else take
        code, extra = following(until, *self.parts, self.timer)
        self.expected.sort()
        if not self.expected or self.expected[0][0] > until:
            assert (code, extra) == (NIL, 0)
            return False
        first = self.expected.pop(0)
        assert (int(self.parts[0][cal.NOW]), code, extra) == first
        self.now = first[0]
        return True


DELAYS = st.sampled_from([0, 0, 1, 2, 15, 16, 17, 100, 1023, 1024, 1025, 5_000, FAR]) | st.integers(0, 3_000)
PUTS = st.tuples(st.just("put"), DELAYS, st.integers(0, 2 * PORTS - 1))
PUSHES = st.tuples(st.just("push"), DELAYS, st.integers(0, 7))
TAKES = st.tuples(st.just("take"), DELAYS | st.just(1 << 40), st.just(0))


@settings(max_examples=400, deadline=None)
@given(
    st.integers(0, 6),
    st.sampled_from([64, 128, 1024]),
    st.sampled_from([2 * PORTS, 64]),
    st.lists(PUTS | PUTS | PUSHES | TAKES | TAKES, max_size=120),
)
def test_events_come_by_time_and_then_by_code(
    shift: int, buckets: int, work: int, steps: list[tuple[str, int, int]]
) -> None:
    """Codes of timers stand between, before and behind those of ports; what is far off comes in its turn too.

    After a look up to a time in vain nothing is entered before that time.
    """
    calendar = Calendar(shift, buckets, work)
    earliest = 0
    for number, (what, delay, subject) in enumerate(steps):
        time = max(earliest, calendar.now) + delay
        if what == "put":
            calendar.put(time, subject)
        elif what == "push":
            calendar.push(time, subject // 4 * (5 << cal.KIND) + subject + 1, number)
        elif not calendar.take(time):
            earliest = time
    while calendar.take(1 << 50):
        pass
    assert not calendar.expected
    assert calendar.parts[0][cal.PENDING] == calendar.parts[0][cal.TIMERS] == 0


def test_the_lowest_bit_is_found() -> None:
    for place in range(64):
        for more in (0, 1 << 63, 0xFFFF << 48, (1 << 64) - 1):
            word = np.uint64((1 << place | more << place) & ((1 << 64) - 1))
            with np.errstate(over="ignore"):
                assert cal.lowest_bit.py_func(word) == place
