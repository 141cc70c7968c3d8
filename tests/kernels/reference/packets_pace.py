"""The pace of one sender: its rate under DCQCN (Zhu et al., SIGCOMM 2015), or delays between its packets by a table."""

from __future__ import annotations

from weftline.model.packet import DelayTable, Pacing

NEVER = -1
NEARLY = 0.999999
"""Share of the line from which on the rate is that of the line."""


class Pace:
    """Current and target rate in Mb/s, the estimate of congestion, and the timers of one flow."""

    def __init__(self, pacing: Pacing, line_mbps: int) -> None:
        self.pacing = pacing
        self.line = float(line_mbps)
        self.current = self.line
        self.target = self.line
        self.alpha = 1.0
        self.noticed = NEVER
        """When it last slowed down."""
        self.alpha_from = 0
        self.increase_from = 0
        self.bytes = 0
        self.time_stage = 0
        self.byte_stage = 0
        self.next_time = 0

    def notice(self, now: int) -> None:
        """Slow down, unless that was done a moment ago."""
        if self.noticed != NEVER and now - self.noticed < self.pacing.decrease_ps:
            return
        if self.noticed != NEVER:
            self.advance(now)
        self.target = self.current
        self.current = max(self.current * (1 - self.alpha / 2), self.pacing.least_mbps)
        self.alpha = (1 - self.pacing.gain) * self.alpha + self.pacing.gain
        self.noticed = self.alpha_from = self.increase_from = now
        self.bytes = self.time_stage = self.byte_stage = 0

    def allowed_from(self, now: int) -> int:
        """When the next packet may go."""
        if self.noticed != NEVER:
            self.advance(now)
        return self.next_time

    def sent(self, now: int, wire: int) -> None:
        """Count a packet that starts now, and say when the next may start."""
        if self.noticed != NEVER:
            self.advance(now)
            self.bytes += wire
            while self.pacing.increase_bytes and self.bytes >= self.pacing.increase_bytes:
                self.bytes -= self.pacing.increase_bytes
                self.byte_stage += 1
                self.increase()
        self.next_time = now + int(wire * 8_000_000 / self.current) if self.current < self.line else now

    def advance(self, now: int) -> None:
        """Let every period end that ends up to now; as fast as the line again, a flow may send at once."""
        while now - self.alpha_from >= self.pacing.alpha_ps:
            self.alpha_from += self.pacing.alpha_ps
            self.alpha *= 1 - self.pacing.gain
        while now - self.increase_from >= self.pacing.increase_ps:
            self.increase_from += self.pacing.increase_ps
            self.time_stage += 1
            self.increase()
        if min(self.current, self.target) >= self.line:
            self.next_time = 0

    def increase(self) -> None:
        """Go half the way to the target, after the target itself has moved: not at all, by steps, or by large steps."""
        least, most = sorted((self.time_stage, self.byte_stage))
        if not self.pacing.increase_bytes:
            least = most = self.time_stage
        if least > self.pacing.stages:
            self.target += (least - self.pacing.stages) * self.pacing.hyper_mbps
        elif most >= self.pacing.stages:
            self.target += self.pacing.additive_mbps
        self.target = min(self.target, self.line)
        self.current = (self.target + self.current) / 2
        if self.current >= self.line * NEARLY:
            self.current = self.line


class Delays:
    """An entry of a table of delays, and the timer that takes steps back (IBTA volume 1, annex A10)."""

    def __init__(self, table: DelayTable, line_mbps: int, full_wire: int) -> None:
        self.table = table
        self.line_mbps = line_mbps
        self.full_wire = full_wire
        self.entry = table.least
        self.expires = NEVER
        """When the timer runs out next; NEVER while it does not run."""
        self.noticed = NEVER
        self.next_time = 0

    def serialise(self, wire: int) -> int:
        return -(-wire * 8_000_000 // self.line_mbps)

    def notice(self, now: int) -> None:
        """Step on, and start the timer unless it runs."""
        self.advance(now)
        self.noticed = now
        self.entry = min(len(self.table.entries) - 1, self.entry + self.table.increase)
        if self.expires == NEVER and self.entry > self.table.least:
            self.expires = now + self.table.timer_ps

    def allowed_from(self, now: int) -> int:
        """When the next packet may go."""
        self.advance(now)
        return self.next_time

    def sent(self, now: int, wire: int) -> None:
        """Wait after the last byte of a packet that starts now."""
        self.advance(now)
        shift, multiplier = self.table.entries[self.entry]
        self.next_time = now + self.serialise(wire) + self.serialise(self.full_wire) // 2**shift * multiplier

    def advance(self, now: int) -> None:
        """Let the timer run out as often as it does up to now; at the least entry it stops."""
        while self.expires != NEVER and self.expires <= now:
            self.entry -= 1
            self.expires += self.table.timer_ps
            if self.entry == self.table.least:
                self.expires = NEVER
