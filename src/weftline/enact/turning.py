"""Stages in which something turns for all destinations at once: maps from classes to lanes, or the records of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from weftline.enact.search import Found, Start, count_goals, find_whole, search
from weftline.enact.stepping import make_stepping
from weftline.enact.units import Yard, lay_out
from weftline.enact.waits import begin
from weftline.model.routes import Routes
from weftline.prove.stage import Ground
from weftline.prove.steps import mark_classes
from weftline.prove.unite import lane_column

Turn = tuple[tuple[Routes, Routes], tuple[Routes, ...] | None]
"""Between which maps something turns, and by which records paths were asked for."""


@dataclass(frozen=True, slots=True)
class Way:
    """Stages, and in which of them something turns; counted from 0, None where nothing does."""

    found: Found
    maps: int | None = None
    records: int | None = None
    """None where each unit moves to its lane or class by itself."""

    def tell(self, number: int) -> tuple[bool, bool | None]:
        """Tell whether after a stage the maps are the new ones, and whether the records are."""
        has_maps = self.maps is not None and number >= self.maps
        return has_maps, None if self.records is None else number >= self.records


def needs_turns(ground: Ground) -> bool:
    """Tell whether packets change lanes, or answer on lanes that change: then units do not stand each for itself."""
    return ground.united.old.steps is not None or (ground.with_answers and _records_differ(ground))


def _records_differ(ground: Ground) -> bool:
    old, new = ground.united.old, ground.united.new
    if old.steps is not None and new.steps is not None:
        return bool((mark_classes(old.steps) != mark_classes(new.steps)).any())
    return bool((lane_column(old) != lane_column(new)).any())


def search_turns(ground: Ground, budget: int) -> tuple[Yard, Way] | None:
    """Look for stages of tables whose packets change lanes; None where not even what runs now can be told.

    Maps turn in a stage of their own. Where answers are on the lane of what they answer, records turn in one stage
    too; else each destination moves by itself. Columns of entries go before, after, or before as far as they can.
    Whichever way needs least to be drained, and then fewest stages, is taken.
    """
    steps = [0]

    def limit() -> int:
        return steps[0] + max((budget - steps[0]) // 2, 1)

    for way in _list_ways(ground, limit, steps, may_drain=False):
        return way
    best: tuple[tuple[int, int], Yard, Way] | None = None
    for yard, way in _list_ways(ground, limit, steps, may_drain=True):
        rank = (count_goals(yard, way.found.drained), len(way.found.stages))
        if best is None or rank < best[0]:
            best = (rank, yard, way)
    return None if best is None else (best[1], best[2])


def _list_ways(
    ground: Ground, limit: Callable[[], int], steps: list[int], *, may_drain: bool
) -> Iterator[tuple[Yard, Way]]:
    old, new = ground.united.old, ground.united.new
    before, turning, after = (old, old), (old, new), (new, new)
    if not ground.united.maps_differ:
        yard = _lay(ground, before, None, steps)
        found = None if yard is None else search(yard, limit(), may_drain=may_drain)
        if yard is not None and found is not None:
            yield yard, Way(found)
    ends: list[Turn] = [(before, (old,)), (after, (new,))]
    plans: list[list[Turn]] = []
    if ground.with_answers and _records_differ(ground):
        plans = [[(turning, (old,)), (after, (old, new))], [(before, (old, new)), (turning, (new,))]]
        plans = plans if ground.united.maps_differ else [[(after, (old, new))]]
    elif ground.united.maps_differ:
        ends, plans = [(before, None), (after, None)], [[(turning, None)]]
    for plan in plans:
        yards = [_lay(ground, maps, records, steps) for maps, records in (ends[0], *plan, ends[1])]
        known = [yard for yard in yards if yard is not None]
        turns = (
            next((at for at, (maps, _) in enumerate(plan) if maps == turning and ground.united.maps_differ), None),
            next((at for at, (_, records) in enumerate(plan) if records == (old, new)), None),
        )
        if len(known) == len(yards):
            for found, place in _turn_somewhere(known, limit, may_drain=may_drain):
                maps, records = (None if turn is None else place + turn for turn in turns)
                yield known[0], Way(found, maps, records)


def _lay(
    ground: Ground, maps: tuple[Routes, Routes], records: tuple[Routes, ...] | None, steps: list[int]
) -> Yard | None:
    """Lay out units where maps are, or turn, so, and paths were asked for by some records; all count the same steps."""
    if ground.united.old.steps is None:
        return replace(lay_out(ground, None, records), steps=steps)
    stepping = make_stepping(ground, maps, records or (ground.united.old, ground.united.new))
    return None if stepping is None else replace(lay_out(ground, stepping, records), steps=steps)


def _turn_somewhere(yards: list[Yard], limit: Callable[[], int], *, may_drain: bool) -> Iterator[tuple[Found, int]]:
    """Turn before all columns, after them, or where they are stuck; each gets half of what is left of the budget."""
    first = yards[0]
    nothing = [0] * len(first.units)
    yield from _turn(nothing, [], Found([], [], is_complete=True), yards, limit, may_drain=may_drain)
    found = search(first, limit(), may_drain=may_drain)
    if found is not None and found.stages:
        yield from _turn(found.stages[-1], found.drained, found, yards, limit, may_drain=may_drain)
    begun = begin(first, nothing, [])
    if found is None and begun is not None and (may_drain or not begun[1]):
        run = find_whole(begun[0], first, Start(nothing, begun[1], limit()), begun[1])
        half = Found(run.stages, begun[1], is_complete=True)
        yield from _turn(run.state, begun[1], half, yards, limit, may_drain=may_drain)


def _turn(
    state: list[int], drained: list[int], before: Found, yards: list[Yard], limit: Callable[[], int], *, may_drain: bool
) -> Iterator[tuple[Found, int]]:
    """Let everything turn where columns are so far, and the rest of them follow; with the stage of the first turn."""
    last, off = yards[-1], list(drained)
    for yard in yards[1:-1]:
        begun = begin(yard, state, off)
        if begun is None or (begun[1] and not may_drain):
            return
        off += begun[1]
    budget = limit()
    found = search(last, budget, Start(list(state), off, budget), may_drain=may_drain)
    if found is None:
        return
    turns = [list(state)] * len(yards[1:-1])
    stages = [*before.stages, *turns, *found.stages]
    is_complete = before.is_complete and found.is_complete
    yield Found(stages, found.drained, is_complete=is_complete), len(before.stages)
