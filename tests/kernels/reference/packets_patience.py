"""Lanes that lose patience: heads of queues that outlive their time, lanes that stall, pauses that last too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.kernels.reference.packets_loop import Event, Loop
from tests.kernels.reference.packets_port import NIL, Packet, Port

LIVES_OF_A_STALL = 8


@dataclass(slots=True)
class Temper:
    """What one lane of one port has been through."""

    in_row: int = 0
    """Packets discarded for their age since the last one was sent."""
    is_stalled: bool = False
    is_storm: bool = False
    """Whether its watchdog has acted and not yet taken that back."""
    is_asked: bool = False
    """Whether the other end wants a pause now."""
    asked_at: int = 0
    over_at: int = 0
    """When the last pause ended."""


class Patience:
    """All lanes; the ports are asked to look, and packets given up, by those who made it."""

    def __init__(
        self, loop: Loop, ports: list[Port], kick: Callable[[Port], None], free: Callable[[Packet], None]
    ) -> None:
        self.loop = loop
        self.ports = ports
        self.kick = kick
        self.free = free
        """Gives back the buffer of a packet that goes nowhere."""
        self.temper = [[Temper() for _ in port.queue] for port in ports]

    def find(self, subject: int) -> tuple[Port, int, Temper]:
        """Find a lane by the subject of its events."""
        lanes = len(self.ports[0].queue)
        port, lane = self.ports[subject // lanes], subject % lanes
        return port, lane, self.temper[port.number][lane]

    def push(self, port: Port, lane: int, after: int, kind: Event) -> None:
        self.loop.push(self.loop.now + after, kind, port.number * len(port.queue) + lane)

    def calm(self, port: Port) -> None:
        """Forget what a port has been through."""
        self.temper[port.number] = [Temper() for _ in port.queue]

    def notice(self, port: Port) -> None:
        """A port has looked for something to send: heads that have no credit begin to age."""
        for lane, queue in enumerate(port.queue):
            credits_, life = port.credits[lane], port.profiles[lane].lifetime_ps
            if not queue or not life or port.is_held[lane] or credits_ is None or credits_.starves_since == NIL:
                continue
            if queue[0].short_since == NIL:
                queue[0].short_since = self.loop.now
                self.push(port, lane, life, Event.LIFE)

    def sent(self, port: Port, lane: int) -> None:
        """A lane has sent a packet."""
        self.temper[port.number][lane].in_row = 0

    def life(self, subject: int) -> None:
        """A stall may be over, or a head too old; too many of them in a row stall their lane."""
        port, lane, temper = self.find(subject)
        queue, profile = port.queue[lane], port.profiles[lane]
        if temper.is_stalled and self.loop.now >= temper.over_at:
            temper.is_stalled = False
            temper.in_row = 0
        if queue and queue[0].short_since != NIL and self.loop.now >= queue[0].short_since + profile.lifetime_ps:
            self.discard(port, lane)
            temper.in_row += 1
            if profile.stall_count and temper.in_row >= profile.stall_count:
                temper.is_stalled = True
                temper.over_at = self.loop.now + LIVES_OF_A_STALL * profile.lifetime_ps
                self.push(port, lane, LIVES_OF_A_STALL * profile.lifetime_ps, Event.LIFE)
                self.discard_all(port, lane)
        self.kick(port)

    def discard(self, port: Port, lane: int) -> None:
        """Give up the first packet of a queue."""
        self.free(port.take(lane))
        port.discards += 1

    def discard_all(self, port: Port, lane: int) -> None:
        while port.queue[lane]:
            self.discard(port, lane)

    def asks(self, port: Port, lane: int) -> None:
        """The other end wants a lane to pause; it does, if it obeys at all and does not ignore a storm."""
        temper, profile = self.temper[port.number][lane], port.profiles[lane]
        if not profile.obeys:
            return
        dog = profile.watchdog
        temper.is_asked = True
        temper.asked_at = self.loop.now
        if dog and dog.action == "forward" and temper.is_storm:
            return
        port.hold(lane, self.loop.now)
        if dog:
            self.push(port, lane, dog.detect_ps, Event.WATCH)

    def lets_go(self, port: Port, lane: int) -> None:
        """The other end wants no pause any more."""
        temper = self.temper[port.number][lane]
        port.let_go(lane, self.loop.now)
        dog = port.profiles[lane].watchdog
        if temper.is_asked and dog:
            temper.over_at = self.loop.now
            self.push(port, lane, dog.restore_ps, Event.RESTORE)
        temper.is_asked = False

    def watch(self, subject: int) -> None:
        """A pause may have lasted too long: the lane drops what it has, or goes on."""
        port, lane, temper = self.find(subject)
        dog = port.profiles[lane].watchdog
        assert dog is not None
        if port.is_held[lane] and self.loop.now - temper.asked_at >= dog.detect_ps:
            temper.is_storm = True
            if dog.action == "drop":
                self.discard_all(port, lane)
            else:
                port.let_go(lane, self.loop.now)
        self.kick(port)

    def restore(self, subject: int) -> None:
        """There may have been no pause for long enough."""
        port, lane, temper = self.find(subject)
        dog = port.profiles[lane].watchdog
        assert dog is not None
        if not temper.is_asked and self.loop.now - temper.over_at >= dog.restore_ps:
            temper.is_storm = False
        self.kick(port)

    def refuses(self, port: Port, lane: int) -> bool:
        """Tell whether a lane drops whatever comes for it."""
        temper, dog = self.temper[port.number][lane], port.profiles[lane].watchdog
        return temper.is_stalled or bool(temper.is_storm and dog and dog.action == "drop")
