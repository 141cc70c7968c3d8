"""A port: its queues by lane, which of them may send next, and what it has promised and been promised."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

from tests.kernels.reference.packets_buffer import Group
from weftline.model.packet import FlowControl, LaneProfile

NIL = -1
CREDIT_BYTES = 64


class Kind(IntEnum):
    """What a packet is."""

    DATA = 0
    ACK = 1
    NAK = 2
    NOTICE = 3


@dataclass(slots=True)
class Packet:
    """One packet on its way."""

    kind: Kind
    flow: int
    number: int
    """Of data: which packet of the message. Of an acknowledgement: the first that is missing."""
    end: int
    """Of a NAK: the first after the hole."""
    wire: int
    blocks: int
    """What it takes of credits."""
    way: list[tuple[int, int]]
    """Ports and lanes that it leaves by, where no table decides."""
    lane: int
    """The lane of the link it is on, or of the queue it stands in."""
    crossed: int = 0
    """Links behind it."""
    is_marked: bool = False
    group: Group | None = None
    """The input buffer that it stands in."""
    stored: int = 0
    """What it takes there."""
    queued: int = 0
    """What it counts for in the queue where it stands."""
    short_since: int = NIL
    """Since when it stands at the head of its queue and lacks credit."""


@dataclass(slots=True)
class Credits:
    """What the receiver at the other end of a link has promised for one lane."""

    available: int
    coming: deque[tuple[int, int]] = field(default_factory=deque[tuple[int, int]])
    """Promises on their way: when they are here, and how many blocks."""
    last: int = 0
    starves_since: int = NIL
    starved_ps: int = 0

    def collect(self, now: int) -> int:
        """Take what is here by now, and count it."""
        while self.coming and self.coming[0][0] <= now:
            self.available += self.coming.popleft()[1]
        return self.available

    def suffice(self, blocks: int, now: int) -> bool:
        """Tell whether there are that many; else the lane starves until it is asked again and there are."""
        if self.collect(now) < blocks:
            if self.starves_since == NIL:
                self.starves_since = now
            return False
        if self.starves_since != NIL:
            self.starved_ps += now - self.starves_since
            self.starves_since = NIL
        return True


class Port:
    """One port, which is also the link to its peer."""

    def __init__(self, number: int, node: int, peer: int, profiles: list[LaneProfile], weight_bytes: int = 64) -> None:
        lanes = len(profiles)
        self.number = number
        self.node = node
        self.peer = peer
        self.profiles = profiles
        """By lane; of its input buffer and of its output queue."""
        self.queue: list[deque[Packet]] = [deque() for _ in range(lanes)]
        self.weight_bytes = weight_bytes
        """What a weight of one may send in its turn."""
        self.bytes = [0] * lanes
        """Stored bytes that wait in each queue."""
        self.peak = [0] * lanes
        self.is_held = [False] * lanes
        self.held_since = [0] * lanes
        self.credits: list[Credits | None] = [None] * lanes
        self.deficit = [0] * lanes
        self.pointer = 0
        self.busy = 0
        self.told = 0
        """Until when it sends."""
        self.free_at: int = NIL
        """When its departure is due; NIL: none is."""
        self.wake_at: int = NIL
        self.ring: list[int] = []
        """Flows that have something to send, from the cursor on."""
        self.was_own = False
        """Whether a flow over this link sent last while others waited."""
        self.wire_bytes = self.packets = self.pauses = self.marks = self.drops = self.held_ps = 0
        self.corrupted = self.discards = 0

    @property
    def has_more(self) -> bool:
        """Whether anything stands here, held or not."""
        return any(self.queue) or bool(self.ring)

    def hold(self, lane: int, now: int) -> None:
        """Pause a lane."""
        self.is_held[lane] = True
        self.held_since[lane] = now

    def let_go(self, lane: int, now: int) -> None:
        """End the pause of a lane, if there is one."""
        if self.is_held[lane]:
            self.is_held[lane] = False
            self.held_ps += now - self.held_since[lane]

    def may_send(self, lane: int, blocks: int, now: int) -> bool:
        """Tell whether a packet of that many blocks may leave by a lane."""
        credits_ = self.credits[lane]
        return not self.is_held[lane] and (credits_ is None or credits_.suffice(blocks, now))

    def is_eligible(self, lane: int, now: int) -> bool:
        return bool(self.queue[lane]) and self.may_send(lane, self.queue[lane][0].blocks, now)

    def list_eligible(self, now: int) -> list[int]:
        """List the queues whose first packet may leave."""
        return [lane for lane in range(len(self.queue)) if self.is_eligible(lane, now)]

    def choose_lane(self, eligible: list[int]) -> int:
        """Choose the queue that sends: strict ones first, highest first, then weighted ones by deficit."""
        strict = [lane for lane in eligible if self.profiles[lane].is_strict]
        if strict:
            return max(strict)
        if len(eligible) < 2:
            return eligible[0]
        at = self.pointer
        while at not in eligible or self.deficit[at] < self.queue[at][0].wire:
            at = (at + 1) % len(self.queue)
            if at in eligible:
                self.deficit[at] += self.profiles[at].weight * self.weight_bytes
        self.deficit[at] -= self.queue[at][0].wire
        self.pointer = at
        return at

    def take(self, lane: int) -> Packet:
        """Take the head of a queue; an empty queue loses its deficit."""
        packet = self.queue[lane].popleft()
        self.bytes[lane] -= packet.queued
        if not self.queue[lane]:
            self.deficit[lane] = 0
        return packet


def promise(profile: LaneProfile) -> Credits | None:
    """What the receiver behind a link promises for one of its lanes at first."""
    if profile.control is not FlowControl.CREDIT:
        return None
    bound = min(profile.buffer_bytes, profile.window_bytes) if profile.window_bytes else profile.buffer_bytes
    return Credits(bound // CREDIT_BYTES)


def count_blocks(wire: int) -> int:
    """What a packet takes of credits."""
    return -(-wire // CREDIT_BYTES)
