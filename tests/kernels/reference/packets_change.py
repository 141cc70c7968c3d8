"""What happens to links while packets are on them: they go down, come back, or get another rate."""

from __future__ import annotations

from heapq import heapify

from tests.kernels.reference.packets_fabric import Fabric
from tests.kernels.reference.packets_loop import Event
from tests.kernels.reference.packets_port import NIL, Port
from tests.kernels.reference.packets_world import Change
from weftline.model.packet import FlowControl


def apply(change: Change, fabric: Fabric) -> None:
    """Let something happen to a link; all events up to its time have been handled, none after it."""
    fabric.loop.now = change.at_ps
    port = fabric.port[change.port]
    ends = sorted((port, fabric.port[port.peer]), key=lambda end: end.number)
    if change.rate_mbps:
        for end in ends:
            made_for = fabric.made_for[end.number]
            fabric.rate[end.number] = min(made_for, change.rate_mbps)
            fabric.hosts.change_line(end.number, fabric.rate[end.number])
            # What comes slower than it goes cannot be cut through.
            was_stored = fabric.was_stored[end.number]
            fabric.is_stored[end.number] = was_stored or fabric.rate[end.number] < made_for
    elif change.is_up and fabric.is_dead[port.number]:
        for end in ends:
            fabric.is_dead[end.number] = False
        for end in ends:
            join(end, fabric)
            fabric.kick(end)
    elif not change.is_up and not fabric.is_dead[port.number]:
        cut(ends, fabric)


def cut(ends: list[Port], fabric: Fabric) -> None:
    """Take a link away: what waits for it is discarded, and pauses on it are over and forgotten."""
    now = fabric.loop.now
    numbers = {end.number for end in ends}
    events = fabric.loop.heap
    events[:] = [one for one in events if one[1] != Event.CONTROL or one[2] // 16 not in numbers]
    heapify(events)
    for end in ends:
        fabric.is_dead[end.number] = True
        fabric.patience.calm(end)
        for group, credits_ in zip(fabric.group[end.number], end.credits, strict=True):
            group.is_off = False
            if credits_ is not None and credits_.starves_since != NIL:
                credits_.starved_ps += now - credits_.starves_since
                credits_.starves_since = NIL
    for end in ends:
        for lane in range(len(end.queue)):
            fabric.patience.discard_all(end, lane)
            end.let_go(lane, now)


def join(port: Port, fabric: Fabric) -> None:
    """A link is back: where its input is still in its headroom, the other end is paused from the first moment."""
    for group in fabric.group[port.number]:
        if group.headroom > 0 and group.profile.control is FlowControl.PAUSE:
            group.is_off = True
            fabric.patience.asks(fabric.port[port.peer], group.lane)
