"""The channels that packets wait for while a change goes on: a graph that never holds a cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.enact.units import Yard
from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.kernels.waiting import insert_turns
from weftline.prove.stage import list_waits

MOST_BYTES = 1 << 30


class OutOfStepsError(Exception):
    """The budget is used up."""


@dataclass
class Graph:
    """The channels of all lanes, and how many units take each turn."""

    yard: Yard
    count: I32
    place: list[I32]
    """An order of the channels that wait for each other: of each lane, or of all lanes together."""

    def copy(self) -> Graph:
        """Make another that changes by itself."""
        return Graph(self.yard, self.count.copy(), [one.copy() for one in self.place])

    def insert(self, turns: I64) -> bool:
        """Put turns in, all or none; False where that would close a cycle."""
        yard, size = self.yard, self.yard.turns
        done = 0
        fabric = yard.ground.fabric
        for lane, place in enumerate(self.place):
            first, last = np.searchsorted(turns, [lane * size, (lane + 1) * size]).tolist()
            own = turns[first:last] - lane * size
            row = (np.searchsorted(yard.turn_ptr, own // yard.wide**2, side="right") - 1).astype(np.int32)
            put, steps = insert_turns(
                own, row, yard.wide, yard.turn_ptr, fabric.port_ptr, fabric.port_peer, fabric.switch_node,
                fabric.switch_row, fabric.port_node, self.count[lane * size : (lane + 1) * size], place,
            )  # fmt: skip
            yard.steps[0] += steps
            done += put
            if put < len(own):
                self.remove(turns[:done])
                return False
        return True

    def add(self, turns: I64) -> None:
        """Put turns in once more, each of which is in."""
        self.count[turns] += 1

    def remove(self, turns: I64) -> None:
        """Take turns out, each of which is in; the order stays right."""
        self.count[turns] -= 1


def begin(yard: Yard, state: list[int], drained: list[int]) -> tuple[Graph, list[int]] | None:
    """Make the graph of what runs before the change, and name the units that close a cycle in it already.

    None where the graph would take too much memory.
    """
    ground, size = yard.ground, yard.turns
    changed = np.zeros(ground.united.old.group.shape[1], dtype=bool)
    changed[ground.united.changed] = True
    lanes = 1 if yard.stepping is not None else ground.lanes
    if 4 * size * lanes > MOST_BYTES:
        return None
    count = np.zeros(size * lanes, dtype=np.int32)
    places: list[I32] = []
    for lane in range(lanes):
        if yard.stepping is not None:
            waits = yard.stepping.list_waits(~changed)
        else:
            waits = list_waits(ground, (ground.united.old, ground.united.old), yard.speak, lane, changed)
        if waits is None:
            return None
        rank, remaining = rank_channels(*waits)
        if remaining:
            return None
        count[lane * size + _number_turns(yard, *waits)] = 1
        place = np.empty(len(rank), dtype=np.int32)
        place[np.argsort(rank, kind="stable")] = np.arange(len(rank), dtype=np.int32)
        places.append(place)
    graph, off = Graph(yard, count, places), set(drained)
    bad = [
        index
        for index in range(len(yard.units))
        if index not in off
        and not (_is_named(yard, index, state[index]) and graph.insert(yard.list_turns(index, *(state[index],) * 2)))
    ]
    return graph, bad


def _is_named(yard: Yard, index: int, state: int) -> bool:
    """Tell whether the maps name the classes of a unit that does not move."""
    return yard.stepping is None or yard.is_safe(index, state, state)


def _number_turns(yard: Yard, ptr: I64, after: I32) -> NDArray[np.int64]:
    """Number the turns of dependencies."""
    fabric, ports = yard.ground.fabric, yard.ground.fabric.port_count
    source = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    came, out = fabric.port_peer[source % ports].astype(np.int64), after % ports
    node = fabric.port_node[out]
    base, width = fabric.port_ptr[node].astype(np.int64), np.diff(fabric.port_ptr)[node].astype(np.int64)
    turn = yard.turn_ptr[fabric.switch_row[node]] + (came - base) * width + out - base
    return turn * yard.wide**2 + source // ports * yard.wide + after // ports


def find_feedback(ptr: I64, after: I32, most: int) -> list[int] | None:
    """Choose channels without which there is no cycle: of each cycle found the one with most turns.

    None where there would be more than ``most``. They are few, not the fewest: to find these is as hard as any problem
    (Karp, 1972: feedback node set).
    """
    chosen: list[int] = []
    source = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    target = after
    while True:
        counts = np.bincount(source, minlength=len(ptr) - 1)
        now = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
        rank, remaining = rank_channels(now, target)
        if not remaining:
            return chosen
        if len(chosen) == most:
            return None
        cycle, _ = find_cycle(now, target, rank, 1_000_000)
        is_left = (rank[source] == NIL) & (rank[target] == NIL)
        turns = np.bincount(source[is_left], minlength=len(counts)) * np.bincount(
            target[is_left], minlength=len(counts)
        )
        port = int(cycle[np.argmax(turns[cycle])])
        chosen.append(port)
        kept = (source != port) & (target != port)
        source, target = source[kept], target[kept]
