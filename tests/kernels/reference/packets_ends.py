"""The two ends of a flow: what its sender sends next, and what its receiver answers."""

from __future__ import annotations

from dataclasses import dataclass

from tests.kernels.reference.packets_pace import Delays, Pace
from weftline.model.packet import Carriage, Pacing

NEVER = -1
MOST_AT_ONCE = 127
"""Packets that one NAK can ask for."""


class Sender:
    """How far one flow is at its source."""

    def __init__(self, count: int, carriage: Carriage, pace: Pace | Delays | None) -> None:
        self.count = count
        self.window = carriage.window_packets if carriage.recovery == "selective" else count
        self.pace = pace
        self.acked = 0
        self.next = 0
        self.again = range(0)
        """Packets that a selective receiver misses."""
        self.has_sent_all = False
        """Whether the last packet has been sent once."""
        self.since = 0
        """From when the timeout counts."""

    @property
    def is_over(self) -> bool:
        return self.acked == self.count

    @property
    def has_more(self) -> bool:
        """Whether there is something that it may send now, but for pace and lanes."""
        return len(self.again) > 0 or self.next < min(self.count, self.acked + self.window)

    @property
    def upcoming(self) -> int:
        """The packet that it sends next."""
        return self.again[0] if self.again else self.next

    def allowed_from(self, now: int) -> int:
        """When its pace lets it send."""
        return self.pace.allowed_from(now) if self.pace else 0

    def take(self, now: int, wire: int) -> None:
        """Send the upcoming packet."""
        if self.again:
            self.again = self.again[1:]
        else:
            if self.next == self.acked:
                self.since = now
            self.next += 1
            self.has_sent_all = self.has_sent_all or self.next == self.count
        if self.pace:
            self.pace.sent(now, wire)

    def hear_ack(self, now: int, first_missing: int) -> None:
        if first_missing > self.acked:
            self.acked = first_missing
            self.since = now
        self.next = max(self.next, self.acked)
        self.again = range(max(self.again.start, self.acked), max(self.again.stop, self.acked))

    def hear_nak(self, now: int, first_missing: int, end: int, recovery: str) -> None:
        self.hear_ack(now, first_missing)
        if recovery == "go-back-n":
            self.next = self.acked
        else:
            self.again = range(max(first_missing, self.acked), max(end, self.acked))

    def rewind(self, now: int, recovery: str) -> None:
        """Begin again where nothing is confirmed; all that was sent since is sent again."""
        self.since = now
        if recovery == "go-back-n":
            self.next = self.acked
        else:
            self.again = range(self.acked, self.next)


@dataclass(frozen=True, slots=True)
class Reply:
    """An acknowledgement; with an ``end`` it also says that packets up to there are missing."""

    first_missing: int
    end: int | None = None


class Receiver:
    """How far one flow is at its target."""

    def __init__(self, count: int, carriage: Carriage) -> None:
        self.count = count
        self.carriage = carriage
        self.expected = 0
        """The first packet that is missing."""
        self.has_nak = False
        self.got: set[int] = set()
        self.highest = -1
        self.nak_end = 0
        self.notice_at = NEVER

    @property
    def is_done(self) -> bool:
        return self.expected == self.count

    def owes_notice(self, now: int) -> bool:
        """Tell whether a mark is answered, which is not done too often."""
        pacing = self.carriage.pacing
        if pacing is None:
            return False
        pause = pacing.notice_ps if isinstance(pacing, Pacing) else 0
        if self.notice_at != NEVER and now - self.notice_at < pause:
            return False
        self.notice_at = now
        return True

    def take(self, seq: int) -> Reply | None:
        return self.take_in_order(seq) if self.carriage.recovery == "go-back-n" else self.take_any(seq)

    def take_in_order(self, seq: int) -> Reply | None:
        if seq < self.expected:
            return Reply(self.expected)
        if seq > self.expected:
            if self.has_nak:
                return None
            self.has_nak = True
            return Reply(self.expected, seq)
        self.expected += 1
        self.has_nak = False
        is_due = self.is_done or self.expected % self.carriage.ack_every == 0
        return Reply(self.expected) if is_due else None

    def take_any(self, seq: int) -> Reply | None:
        if seq in self.got:
            return Reply(self.expected)
        self.got.add(seq)
        self.highest = max(self.highest, seq)
        before = self.expected
        while self.expected in self.got:
            self.expected += 1
        if self.is_done:
            return Reply(self.expected)
        age = self.highest - self.expected
        if age >= max(1, self.carriage.reorder_packets) and self.expected >= self.nak_end:
            after = min(other for other in self.got if other > self.expected)
            self.nak_end = min(after, self.expected + MOST_AT_ONCE)
            return Reply(self.expected, self.nak_end)
        has_closed_hole = before < self.nak_end <= self.expected
        is_due = any(number % self.carriage.ack_every == 0 for number in range(before + 1, self.expected + 1))
        return Reply(self.expected) if is_due or has_closed_hole else None
