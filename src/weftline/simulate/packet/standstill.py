"""Where nothing moves any more, or nothing arrives: which lanes wait for which, and how long is too long."""

from __future__ import annotations

import numpy as np

from weftline.kernels import packet_state as st
from weftline.kernels.calendar import KIND, NOW, TIMERS
from weftline.kernels.column import NIL
from weftline.kernels.packet_run import World

IDLE = 5
"""Status of a world in which senders go on after timeouts, and nothing arrives; it follows those of the kernel."""
TRIES = 8
"""A sender tries once and seven times again: the retry counter of a queue pair has three bits; IBTA volume 1, 9.9.2."""
FRAMES = 64
"""Full packets of the slowest link for which one looks at least."""

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


class Vigil:
    """Looks from time to time whether anything arrives while nothing more is to happen to the fabric."""

    def __init__(self, world: World) -> None:
        """Begin to look now."""
        self.patience_ps = find_patience(world)
        self.look_ps = int(world.clock[NOW]) + self.patience_ps
        self._before = tell_progress(world)

    def is_idle(self, world: World) -> bool:
        """Tell whether nothing has arrived since the last look, and no flow waits for its time."""
        after = tell_progress(world)
        is_same = after == self._before and not waits_for_time(world)
        self._before = after
        self.look_ps += self.patience_ps
        return is_same


def find_patience(world: World) -> int:
    """Find for how many picoseconds nothing may arrive before a run counts as stuck.

    As long as adapters try, and no less than it takes a watchdog, an old packet's end or a slow link to change things.
    """
    number, profile, port, link = world.number, world.profile, world.port, world.link
    alive = link.rate[(port.fault & st.DEAD == 0) & (link.rate > 0)]
    full = int(number[st.MTU] + number[st.OVERHEAD]) * 8_000_000 // int(alive.min(initial=1 << 40))
    watched = int((profile.watch + profile.restore).max(initial=0))
    aged = TRIES * int(profile.lifetime.max(initial=0))
    return TRIES * int(number[st.TIMEOUT]) + FRAMES * full + 2 * (watched + aged)


def tell_progress(world: World) -> tuple[int, ...]:
    """Tell numbers that stay the same only while nothing new arrives anywhere; O(slots)."""
    slot, number = world.slot, world.number
    used = slot[slot.flow != NIL]
    counts = (used.acked, used.expected, used.arrived)
    sums = (int(column.astype(np.int64).sum()) for column in counts)
    return (int(number[st.FLOWS_LEFT]), int(number[st.READY_LAST]), len(used), *sums)


def waits_for_time(world: World) -> bool:
    """Tell whether a flow waits for its time, or for a message inside a host."""
    kinds = world.timer[: int(world.clock[TIMERS]), 1] >> KIND
    return bool(np.isin(kinds, (st.BEGIN, st.INSIDE)).any())
