"""The packet machine as its specification reads: objects, one heap of events, and no hurry.

Times are picoseconds, sizes bytes. A port is also the link to its peer. Events of one time are handled by kind and then
by subject, so that the same world and seed give the same outcome to the picosecond.
"""

from __future__ import annotations

from tests.kernels.reference import packets_change as change
from tests.kernels.reference.packets_fabric import Fabric
from tests.kernels.reference.packets_hosts import Hosts
from tests.kernels.reference.packets_loop import Event, Loop
from tests.kernels.reference.packets_port import NIL, Port
from tests.kernels.reference.packets_stuck import Place, find_cycle
from tests.kernels.reference.packets_world import Outcome, PortCount, World


def simulate(world: World, *, until_ps: int | None = None) -> Outcome:
    """Run a world until nothing happens any more, or up to and including a time."""
    return tell(*run(world, until_ps))


def run(world: World, until_ps: int | None = None, *, lingers: bool = True) -> tuple[Loop, Fabric, Hosts]:
    """Run a world, and leave everything as it stands then; if it does not linger, it ends with the last arrival."""
    loop = Loop()
    fabric = Fabric(world, loop)
    fabric.hosts = hosts = Hosts(world, loop, fabric)
    handlers = {
        Event.ARRIVE: fabric.arrive,
        Event.FREE: fabric.free,
        Event.CONTROL: fabric.control,
        Event.WAKE: fabric.wake,
        Event.TIMER: hosts.timer,
        Event.START: hosts.ready.append,
        Event.INSIDE: hosts.finish,
        Event.LIFE: fabric.patience.life,
        Event.WATCH: fabric.patience.watch,
        Event.RESTORE: fabric.patience.restore,
    }
    settle(fabric, hosts)
    changes = [*world.changes]
    while changes or (loop.heap and (until_ps is None or loop.heap[0][0] <= until_ps)):
        if not lingers and NIL not in hosts.finish_ps:
            break
        if changes and (not loop.heap or loop.heap[0][0] > changes[0].at_ps):
            change.apply(changes.pop(0), fabric)
            settle(fabric, hosts)
            continue
        kind, subject = loop.pop()
        handlers[kind](subject)
        settle(fabric, hosts)
    return loop, fabric, hosts


def settle(fabric: Fabric, hosts: Hosts) -> None:
    """Do what an event has made possible: flows that are ready begin, then ports look, and so on."""
    while hosts.ready or fabric.kicked:
        while hosts.ready:
            hosts.begin(hosts.ready.pop(0))
        fabric.look()


def tell(loop: Loop, fabric: Fabric, hosts: Hosts, end_ps: int | None = None) -> Outcome:
    """Say what came of it, up to a time: the last event unless it is given."""
    end = loop.now if end_ps is None else end_ps
    is_stuck = not loop.heap and NIL in hosts.finish_ps
    waits = find_waits(fabric, hosts) if is_stuck else {}
    return Outcome(
        start_ps=hosts.start_ps,
        finish_ps=hosts.finish_ps,
        ports=[count(port, end) for port in fabric.port],
        events=sum(loop.kinds.values()),
        end_ps=end,
        loss=fabric.loss,
        blocked=sorted(waits),
        cycle=find_cycle(waits),
    )


def count(port: Port, end: int) -> PortCount:
    """What one port did up to the end."""
    still = sum(end - since for since, is_held in zip(port.held_since, port.is_held, strict=True) if is_held)
    return PortCount(
        wire_bytes=port.wire_bytes,
        corrupted=port.corrupted,
        discards=port.discards,
        packets=port.packets,
        pauses=port.pauses,
        marks=port.marks,
        drops=port.drops,
        peak=port.peak,
        held_ps=port.held_ps + still,
        starved_ps=sum(lane.starved_ps for lane in port.credits if lane is not None),
    )


def find_waits(fabric: Fabric, hosts: Hosts) -> dict[Place, list[Place]]:
    """For each port and lane that cannot send what it has: the ones that stand in its way."""
    places = {(port.number, lane) for port in fabric.port for lane, queue in enumerate(port.queue) if queue}
    places |= {(port.number, hosts.lane(flow)) for port in fabric.port for flow in port.ring}
    waits: dict[Place, list[Place]] = {place: [] for place in places}
    for port, lane in sorted(places):
        for packet in fabric.port[port].queue[lane]:
            if packet.group is not None:
                behind = fabric.port[packet.group.port].peer, packet.group.lane
                if behind in waits:
                    waits[behind].append((port, lane))
    return waits
