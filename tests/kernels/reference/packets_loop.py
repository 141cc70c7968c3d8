"""The events to come, in their order."""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush


class Event(IntEnum):
    """Kinds of events, in the order in which those of one time are handled."""

    ARRIVE = 0
    """A packet reaches the far end of a link: the link's port."""
    FREE = 1
    """A port has sent its packet."""
    CONTROL = 2
    """A pause frame takes effect at a port: port * 16 + lane * 2 + 1 to stop, + 0 to go on."""
    WAKE = 3
    """A port looks whether it can send before its departure: credit has come, or a pace allows it."""
    TIMER = 4
    """Perhaps a flow has made no progress for too long: its slot."""
    START = 5
    """The time has come at which a flow may start."""
    INSIDE = 6
    """A flow inside a host has arrived: the flow."""
    LIFE = 7
    """The head of a queue may be too old, or a stall over: port * lanes + lane."""
    WATCH = 8
    """A pause may have lasted too long."""
    RESTORE = 9
    """A lane may have been without a pause for long enough."""


class Loop:
    """What time it is, and what happens next."""

    def __init__(self) -> None:
        self.now = 0
        self.kinds = dict.fromkeys(Event, 0)
        """How many events there were so far."""
        self.heap: list[tuple[int, int, int]] = []

    def push(self, time: int, kind: Event, subject: int) -> None:
        heappush(self.heap, (time, kind, subject))

    def pop(self) -> tuple[Event, int]:
        """Go to the time of the next event."""
        self.now, kind, subject = heappop(self.heap)
        self.kinds[Event(kind)] += 1
        return Event(kind), subject
