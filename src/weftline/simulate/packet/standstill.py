"""Where nothing moves any more: which lanes wait for which, and the cycle among them."""

from __future__ import annotations

from weftline.kernels import packet_state as st
from weftline.kernels.column import NIL
from weftline.kernels.packet_run import World

Place = tuple[int, int]
"""A port and a lane of its output."""


def find_cycle(world: World) -> tuple[Place, ...]:
    """Find ports and lanes of which each waits for the next, and the last for the first; () where there are none.

    A lane with something to send that is paused, or has no credit, waits for the lanes in whose queues the packets
    stand that it sent and that fill the buffer behind its link. O(packets that stand).
    """
    waits = list_waits(world)
    done: set[Place] = set()
    for start in sorted(waits):
        way: list[Place] = []
        place: dict[Place, int] = {}
        turns = [(start, iter(sorted(waits.get(start, ()))))]
        place[start] = 0
        way.append(start)
        while turns:
            here, rest = turns[-1]
            after = next((one for one in rest if one not in done), None)
            if after is None:
                turns.pop()
                way.pop()
                place.pop(here)
                done.add(here)
            elif after in place:
                cycle = way[place[after] :]
                least = cycle.index(min(cycle))
                return tuple(cycle[least:] + cycle[:least])
            elif after in waits:
                place[after] = len(way)
                way.append(after)
                turns.append((after, iter(sorted(waits[after]))))
            else:
                done.add(after)
    return ()


def list_waits(world: World) -> dict[Place, set[Place]]:
    """List for each lane that cannot send what it has the lanes that hold what it sent before."""
    lanes = int(world.number[st.LANES])
    blocked: dict[Place, set[Place]] = {}
    for at in range(len(world.port)):
        for turn in range(lanes):
            if world.lane.head[at * lanes + turn] != NIL:
                blocked[at, turn] = set()
        first = of = int(world.port.ring[at])
        while of != NIL:
            blocked.setdefault((at, int(world.path_lane[world.slot.forth[of]])), set())
            of = int(world.slot.after[of])
            if of == first:
                break
    for (at, turn), _ in list(blocked.items()):
        item = int(world.lane.head[at * lanes + turn])
        while item != NIL:
            holder = int(world.packet.holder[item])
            if holder != NIL:
                behind = (int(world.port.peer[holder // lanes]), holder % lanes)
                if behind in blocked:
                    blocked[behind].add((at, turn))
            item = int(world.packet.next[item])
    return blocked
