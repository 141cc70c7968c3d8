"""The search for stages: as many units as fit go on together, and what is stuck comes first at the next attempt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weftline.enact.units import Yard
from weftline.enact.waits import Graph, OutOfStepsError, begin

ATTEMPTS = 8
MOST_FLIPS = 256
"""Entries that change, of a search step by step; its ways are as many as their subsets."""
MOST_NODES = 3000
"""Mixtures that a search step by step looks at."""
MOST_SINGLES = 64
"""Units that are tried as the only one to drain."""


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
    """Per stage how much of each unit is done after it."""
    drained: list[int]
    """Units to which nothing may be sent meanwhile; the stages hold only then."""
    is_complete: bool
    """Whether the budget was enough."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a search starts: how far each unit is, and which are drained already."""

    state: list[int]
    drained: list[int]
    budget: int


def search(yard: Yard, budget: int, start: Start | None = None, *, may_drain: bool = True) -> Found | None:
    """Look for stages within a number of steps; where there are none without it, for units to drain.

    Half of the budget goes to whole attempts, some more to a search that goes back, the rest to what to drain. None
    where not even the graph of what runs now can be made, or where nothing may be drained and something would have to.
    """
    start = start or Start([0] * len(yard.units), [], budget)
    begun = begin(yard, start.state, start.drained)
    if begun is None:
        return None
    graph, bad = begun
    if bad and not may_drain:
        return None
    bad = [*start.drained, *bad]
    run = find_whole(graph, yard, start, bad, share=0.5 if may_drain else 0.75)
    if not run.stuck:
        return Found(run.stages, bad, is_complete=True)
    if not may_drain:
        return None
    order = [*run.stuck, *(index for index in range(len(yard.units)) if index not in set(run.stuck))]
    try:
        run = _attempt(graph.copy(), yard, order, Start(start.state, bad, budget), may_drain=True)
    except OutOfStepsError:
        return Found([], list(range(len(yard.units))), is_complete=False)
    return _shrink(graph, yard, order, run, Start(start.state, bad, budget))


def find_whole(graph: Graph, yard: Yard, start: Start, bad: list[int], share: float = 0.5) -> Run:
    """Look for stages of all units but those that are drained; what it comes to is told by who is stuck.

    Whole attempts may take a share of the budget, and going back a quarter of it.
    """
    spent = yard.steps[0]
    part, more = (spent + int((start.budget - spent) * one) for one in (share, share + 0.25))
    part = Start(start.state, bad, part)
    order = list(range(len(yard.units)))
    run = Run(list(start.state), stuck=[index for index in order if index not in set(bad)])
    try:
        for _ in range(ATTEMPTS):
            run = _attempt(graph.copy(), yard, order, part)
            if not run.stuck:
                return run
            again = [*run.stuck, *(index for index in order if index not in set(run.stuck))]
            if again == order:
                break
            order = again
    except OutOfStepsError:
        return run
    try:
        flips = _go_back(graph.copy(), yard, order, Start(start.state, bad, more))
        if flips is not None:
            return _merge(graph.copy(), yard, flips, Start(start.state, bad, start.budget))
    except OutOfStepsError:
        pass
    return run


def _shrink(graph: Graph, yard: Yard, order: list[int], run: Run, start: Start) -> Found:
    """Try each unit as the only one to drain, then to do without each that is; more may be stuck than is to blame."""
    bad = start.drained
    try:
        if not bad:
            run = _drain_one(graph, yard, order, run, start)
        for index in run.drained.copy():
            if index in bad:
                continue
            less = [one for one in run.drained if one != index]
            tried = _attempt_without(graph, yard, [index, *order], less, start)
            if not tried.stuck:
                run = tried
        tried = _attempt_without(graph, yard, order, run.drained, start)
        # with all drained from the start fewer stages may do
        run = run if tried.stuck or len(tried.stages) > len(run.stages) else tried
    except OutOfStepsError:
        return Found(run.stages, run.drained, is_complete=False)
    return Found(run.stages, run.drained, is_complete=True)


def _drain_one(graph: Graph, yard: Yard, order: list[int], run: Run, start: Start) -> Run:
    """Drain a single unit of fewer destinations, where that does."""
    sizes = [len(unit.goals) for unit in yard.units]
    most = sum(sizes[index] for index in run.drained)
    singles = sorted((sizes[index], at, index) for at, index in enumerate(order) if sizes[index] < most)
    for _, _, index in singles[:MOST_SINGLES]:
        tried = _attempt_without(graph, yard, order, [index], start)
        if not tried.stuck:
            return tried
    return run


def _attempt_without(graph: Graph, yard: Yard, order: list[int], drained: list[int], start: Start) -> Run:
    """Attempt it with some drained from the start."""
    first = graph.copy()
    for one in drained:
        if one not in start.drained:
            first.remove(yard.list_turns(one, start.state[one], start.state[one]))
    return _attempt(first, yard, order, Start(start.state, drained, start.budget))


def _attempt(graph: Graph, yard: Yard, order: list[int], start: Start, *, may_drain: bool = False) -> Run:
    """Let units go on in stages until all are through, or none can."""
    run = Run(list(start.state), drained=list(start.drained))
    off = {*start.drained, *_list_through(yard, run)}
    waiting: list[int] = [index for index in dict.fromkeys(order) if index not in off]
    while waiting:
        moved = _go_on(graph, yard, run, waiting, start.budget) or _go_apart(graph, yard, run, waiting, start.budget)
        if not moved and not may_drain:
            run.stuck = waiting
            return run
        if not moved:
            chosen = min(waiting, key=lambda index: (len(yard.units[index].goals), index))
            graph.remove(yard.list_turns(chosen, run.state[chosen], run.state[chosen]))
            run.drained.append(chosen)
            waiting.remove(chosen)
            continue
        _commit(graph, yard, run, moved)
        through = _list_through(yard, run)
        waiting = [index for index in waiting if index not in through]
    return run


def _list_through(yard: Yard, run: Run) -> set[int]:
    return {index for index, unit in enumerate(yard.units) if run.state[index] == unit.full}


def _commit(graph: Graph, yard: Yard, run: Run, moved: dict[int, int]) -> None:
    """End a stage: what moved is where it went to, and nowhere else."""
    for index, stop in moved.items():
        graph.add(yard.list_turns(index, stop, stop))
        graph.remove(yard.list_turns(index, run.state[index], stop))
        graph.remove(yard.list_turns(index, run.state[index], run.state[index]))
        run.state[index] = stop
    run.stages.append(run.state.copy())


def _go_on(graph: Graph, yard: Yard, run: Run, waiting: list[int], budget: int) -> dict[int, int]:
    """Let each unit go outwards from its destination as far as it can together with those before it."""
    moved: dict[int, int] = {}
    for index in waiting:
        state = run.state[index]
        for level in reversed(yard.units[index].levels):
            stop = state | level
            if stop != state and _may_go(graph, yard, index, (state, stop), budget):
                moved[index] = stop
                break
    return moved


def _go_apart(graph: Graph, yard: Yard, run: Run, waiting: list[int], budget: int) -> dict[int, int]:
    """Let single entries of units go on, whichever can: where none goes on from the destination outwards."""
    moved: dict[int, int] = {}
    for index in waiting:
        state = run.state[index]
        for bit in _list_bits(yard, index, state):
            stop = moved.get(index, state)
            if _extend(graph, yard, index, (state, stop, stop | bit), budget):
                moved[index] = stop | bit
    return moved


def _list_bits(yard: Yard, index: int, state: int) -> list[int]:
    """List what is left of a unit, entry by entry."""
    left = yard.units[index].full & ~state
    return [1 << at for at in range(left.bit_length()) if left >> at & 1]


def _may_go(graph: Graph, yard: Yard, index: int, span: tuple[int, int], budget: int) -> bool:
    if yard.steps[0] > budget:
        raise OutOfStepsError
    return yard.is_safe(index, *span) and graph.insert(yard.list_turns(index, *span))


def _extend(graph: Graph, yard: Yard, index: int, span: tuple[int, int, int], budget: int) -> bool:
    """Let a unit that goes from a state to another in this stage go further; what it took before stays where not."""
    state, stop, further = span
    if stop == state:
        return _may_go(graph, yard, index, (state, further), budget)
    graph.remove(yard.list_turns(index, state, stop))
    if _may_go(graph, yard, index, (state, further), budget):
        return True
    graph.insert(yard.list_turns(index, state, stop))
    return False


def _go_back(graph: Graph, yard: Yard, order: list[int], start: Start) -> list[tuple[int, int]] | None:
    """Look for an order of single entries, going back from where there is no way on; None where none was found.

    Each mixture is looked at once, so that small changes are searched to the end: what stays undone then has no order.
    """
    off = set(start.drained)
    units = [index for index in order if index not in off]
    goal = {index: yard.units[index].full for index in units}
    if sum((goal[index] & ~start.state[index]).bit_count() for index in units) > MOST_FLIPS:
        return None
    state = list(start.state)
    seen = {tuple(state)}
    taken: list[tuple[int, int]] = []
    trail = [_list_moves(yard, units, state)]
    while trail:
        if all(state[index] == goal[index] for index in units):
            return taken
        if not trail[-1]:
            trail.pop()
            if taken:
                index, bit = taken.pop()
                _flip(graph, yard, index, (state[index], state[index] ^ bit))
                state[index] ^= bit
            continue
        index, bit = trail[-1].pop()
        key = (*state[:index], state[index] | bit, *state[index + 1 :])
        if key in seen:
            continue
        if len(seen) > MOST_NODES:
            return None
        if _may_go(graph, yard, index, (state[index], state[index] | bit), start.budget):
            seen.add(key)
            graph.remove(yard.list_turns(index, state[index], state[index] | bit))
            _flip(graph, yard, index, (state[index], state[index] | bit))
            state[index] |= bit
            taken.append((index, bit))
            trail.append(_list_moves(yard, units, state))
    return None


def _list_moves(yard: Yard, units: list[int], state: list[int]) -> list[tuple[int, int]]:
    """List the entries that are left, the first to be tried last."""
    return [(index, bit) for index in units for bit in _list_bits(yard, index, state[index])][::-1]


def _flip(graph: Graph, yard: Yard, index: int, span: tuple[int, int]) -> None:
    """Put a unit from one state to another; that both at once close no cycle was seen before."""
    graph.insert(yard.list_turns(index, span[1], span[1]))
    graph.remove(yard.list_turns(index, span[0], span[0]))


def _merge(graph: Graph, yard: Yard, flips: list[tuple[int, int]], start: Start) -> Run:
    """Make stages of an order of single entries: as many one after another as are safe together."""
    run = Run(list(start.state), drained=list(start.drained))
    moved: dict[int, int] = {}
    for index, bit in flips:
        state = run.state[index]
        stop = moved.get(index, state)
        if not _extend(graph, yard, index, (state, stop, stop | bit), start.budget):
            _commit(graph, yard, run, moved)
            moved = {}
            state = run.state[index]
            _may_go(graph, yard, index, (state, state | bit), start.budget)
            stop = state
        moved[index] = stop | bit
    if moved:
        _commit(graph, yard, run, moved)
    return run


def count_goals(yard: Yard, drained: list[int]) -> int:
    """Count the destinations of units."""
    return int(np.sum([len(yard.units[index].goals) for index in drained], dtype=np.int64))
