"""The search for stages: as many units as fit go on together, and what is stuck comes first at the next attempt."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weftline.enact.units import Yard
from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.kernels.waiting import insert_turns
from weftline.prove.stage import list_waits

ATTEMPTS = 8


class OutOfStepsError(Exception):
    """The budget is used up."""


@dataclass
class Graph:
    """The channels of all lanes, and how many units take each turn; it never holds a cycle."""

    yard: Yard
    count: I32
    place: list[I32]

    def copy(self) -> Graph:
        """Make another that changes by itself."""
        return Graph(self.yard, self.count.copy(), [one.copy() for one in self.place])

    def insert(self, turns: I64) -> bool:
        """Put turns in, all or none; False where that would close a cycle."""
        size = int(self.yard.turn_ptr[-1])
        done = 0
        fabric = self.yard.ground.fabric
        for lane, place in enumerate(self.place):
            first, last = np.searchsorted(turns, [lane * size, (lane + 1) * size]).tolist()
            own = turns[first:last] - lane * size
            row = (np.searchsorted(self.yard.turn_ptr, own, side="right") - 1).astype(np.int32)
            put, steps = insert_turns(
                own, row, self.yard.turn_ptr, fabric.port_ptr, fabric.port_peer, fabric.switch_node, fabric.switch_row,
                fabric.port_node, self.count[lane * size : (lane + 1) * size], place,
            )  # fmt: skip
            self.yard.steps[0] += steps
            done += put
            if put < len(own):
                self.remove(turns[:done])
                return False
        return True

    def remove(self, turns: I64) -> None:
        """Take turns out, each of which is in; the order stays right."""
        self.count[turns] -= 1


@dataclass
class Run:
    """One attempt: how far each unit went, stage by stage."""

    state: list[int]
    stages: list[list[int]] = field(default_factory=list[list[int]])
    """The states after each stage."""
    drained: list[int] = field(default_factory=list[int])
    stuck: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    stages: list[list[int]]
    """Per stage how many steps of each unit are done after it."""
    drained: list[int]
    """Units to which nothing may be sent meanwhile; the stages hold only then."""
    is_complete: bool
    """Whether the budget was enough."""


def begin(yard: Yard) -> tuple[Graph, list[int]] | None:
    """Make the graph of what runs before the change, and name the units that close a cycle in it already.

    None where the graph would take too much memory.
    """
    ground, size = yard.ground, int(yard.turn_ptr[-1])
    changed = np.zeros(ground.united.old.group.shape[1], dtype=bool)
    changed[ground.united.changed] = True
    count = np.zeros(size * ground.lanes, dtype=np.int32)
    places: list[I32] = []
    for lane in range(ground.lanes):
        waits = list_waits(ground, ground.united.old, ground.united.old, lane, changed)
        if waits is None:
            return None
        rank, remaining = rank_channels(*waits)
        if remaining:
            return None
        count[lane * size + _number_turns(yard, *waits)] = 1
        place = np.empty(len(rank), dtype=np.int32)
        place[np.argsort(rank, kind="stable")] = np.arange(len(rank), dtype=np.int32)
        places.append(place)
    graph = Graph(yard, count, places)
    bad = [index for index in range(len(yard.units)) if not graph.insert(yard.list_turns(index, 0, 0))]
    return graph, bad


def _number_turns(yard: Yard, ptr: I64, after: I32) -> NDArray[np.int64]:
    """Number the turns of dependencies."""
    fabric = yard.ground.fabric
    came = fabric.port_peer[np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))].astype(np.int64)
    node = fabric.port_node[after]
    base, width = fabric.port_ptr[node].astype(np.int64), np.diff(fabric.port_ptr)[node].astype(np.int64)
    return yard.turn_ptr[fabric.switch_row[node]] + (came - base) * width + after - base


def search(yard: Yard, budget: int) -> Found | None:
    """Look for stages within a number of steps; where there are none without it, for units to drain.

    None where not even the graph of what runs now can be made.
    """
    begun = begin(yard)
    if begun is None:
        return None
    graph, bad = begun
    order = list(range(len(yard.units)))
    run = Run([])
    try:
        for _ in range(ATTEMPTS):
            run = _attempt(graph.copy(), yard, order, bad, budget)
            if not run.stuck or len(run.stuck) == len(order) - len(bad):
                break
            order = [*run.stuck, *(index for index in order if index not in set(run.stuck))]
        if not run.stuck:
            return Found(run.stages, bad, is_complete=True)
        run = _attempt(graph.copy(), yard, order, bad, budget, may_drain=True)
    except OutOfStepsError:
        return Found([], order, is_complete=False)
    return _shrink(graph, yard, order, run, bad, budget)


def _shrink(graph: Graph, yard: Yard, order: list[int], run: Run, bad: list[int], budget: int) -> Found:
    """Try to do without each unit that is drained."""
    for index in run.drained.copy():
        if index in bad:
            continue
        less = [one for one in run.drained if one != index]
        first = graph.copy()
        for one in less:
            if one not in bad:
                first.remove(yard.list_turns(one, 0, 0))
        try:
            tried = _attempt(first, yard, [index, *order], less, budget)
        except OutOfStepsError:
            return Found(run.stages, run.drained, is_complete=False)
        if not tried.stuck:
            run = tried
    return _start_drained(graph, yard, order, run, bad, budget)


def _start_drained(graph: Graph, yard: Yard, order: list[int], run: Run, bad: list[int], budget: int) -> Found:
    """Look once more with all drained from the start: fewer stages may do."""
    first = graph.copy()
    for one in run.drained:
        if one not in bad:
            first.remove(yard.list_turns(one, 0, 0))
    with contextlib.suppress(OutOfStepsError):
        tried = _attempt(first, yard, order, run.drained, budget)
        run = run if tried.stuck or len(tried.stages) > len(run.stages) else tried
    return Found(run.stages, run.drained, is_complete=True)


def _attempt(
    graph: Graph, yard: Yard, order: list[int], drained: list[int], budget: int, *, may_drain: bool = False
) -> Run:
    """Let units go on in stages until all are through, or none can."""
    run = Run([0] * len(yard.units), drained=list(drained))
    waiting: list[int] = [index for index in dict.fromkeys(order) if index not in set(drained)]
    while waiting:
        moved = _go_on(graph, yard, run, waiting, budget)
        if not moved and not may_drain:
            run.stuck = waiting
            return run
        if not moved:
            chosen = min(waiting, key=lambda index: (len(yard.units[index].goals), index))
            graph.remove(yard.list_turns(chosen, run.state[chosen], run.state[chosen]))
            run.drained.append(chosen)
            waiting.remove(chosen)
            continue
        for index, mixed in moved.items():
            stop = mixed[0]
            graph.count[yard.list_turns(index, stop, stop)] += 1
            graph.remove(yard.list_turns(index, run.state[index], stop))
            graph.remove(yard.list_turns(index, run.state[index], run.state[index]))
            run.state[index] = stop
        run.stages.append(run.state.copy())
        waiting = [index for index in waiting if run.state[index] < yard.units[index].levels]
    return run


def _go_on(graph: Graph, yard: Yard, run: Run, waiting: list[int], budget: int) -> dict[int, tuple[int]]:
    """Let each unit go as far as it can together with those before it."""
    moved: dict[int, tuple[int]] = {}
    for index in waiting:
        state = run.state[index]
        for stop in range(yard.units[index].levels, state, -1):
            if yard.steps[0] > budget:
                raise OutOfStepsError
            if yard.is_safe(index, state, stop) and graph.insert(yard.list_turns(index, state, stop)):
                moved[index] = (stop,)
                break
    return moved


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
