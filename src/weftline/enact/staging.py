"""Old tables to new ones in stages, each proved for every mixture; where none are found, what to drain meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from weftline.enact.order import Stage
from weftline.enact.search import search
from weftline.enact.turning import Way, needs_turns, search_turns
from weftline.enact.units import Yard, lay_out
from weftline.enact.waits import find_feedback
from weftline.kernels.column import I32, I64
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.proof import Proof, Verdict
from weftline.model.routes import Routes
from weftline.prove.stage import Ground, list_waits, prove_stage
from weftline.prove.steps import mark_classes
from weftline.prove.unite import lane_column, unite_tables

BUDGET = 2_000_000_000
"""Steps of a search: members followed, turns put in, channels looked at. Some hundred million take a second."""
MOST_LINKS = 64
"""Links that are named as an alternative to destinations; a list that is longer helps nobody."""


@dataclass(frozen=True, eq=False)
class Drain:
    """What carries nothing while the stages go out; either is enough."""

    destinations: I32
    links: tuple[str, ...] | None
    """Channels by port, without which a change at once holds no cycle; None where that does not help, or are many."""


@dataclass(frozen=True, eq=False)
class Ordering:
    """How new tables go out."""

    old: Routes
    new: Routes
    """Both told by the same groups and destinations."""
    verdict: Verdict
    """Proved: by stages alone. Unknown: no stages were found without draining. Refuted: the new tables are no good."""
    why: str
    stages: tuple[Stage, ...]
    """They hold while nothing is sent to what is drained, if anything is."""
    drain: Drain | None
    direct: Proof
    """The judgement of a change at once."""
    steps: int
    """Steps that the search took, of the budget."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """In which pieces devices take tables: so many addresses of one switch at a time."""

    addresses: int = 1
    address_of: Callable[[Routes], I64] | None = field(default=None)
    """Address of each destination; None where each entry is a piece of its own."""


def order_change(
    fabric: Fabric, old: Routes, new: Routes, pieces: Pieces | None = None, budget: int = BUDGET
) -> Ordering:
    """Order the change from ``old`` to ``new`` into stages; deterministic, and bounded by ``budget`` steps.

    A change at once is best where every mixture is safe. Else units of destinations go on stage by stage, each as far
    as it can together with the others; a unit goes on from the switches near its destination outwards, so that alone
    it never loops nor loses a packet. Every stage is proved by itself afterwards: the search is not trusted. Where a
    part is stuck, it is drained: nothing may be sent there until the last stage is through.
    """
    ground = Ground(fabric, unite_tables(old, new))
    first, last = ground.united.old, ground.united.new
    size = _Size(fabric, pieces or Pieces())
    itself = prove_stage(ground, last, last)
    if itself.verdict is not Verdict.PROVED:
        said = itself.statement if itself.witness is None else itself.witness.summary
        return Ordering(first, last, itself.verdict, f"the new tables by themselves: {said}", (), None, itself, 0)
    direct = prove_stage(ground, first, last)
    if direct.verdict is Verdict.PROVED:
        stage = Stage("all at once", last, direct, *size.measure(first, last))
        return Ordering(first, last, Verdict.PROVED, "every mixture of old and new is safe", (stage,), None, direct, 0)
    found = _search(ground, budget)
    if found is None:
        why = "not judged: the turns of the fabric would not fit into a GiB"
        return Ordering(first, last, Verdict.UNKNOWN, why, (), None, direct, 0)
    return _conclude(*found, direct, size)


def _search(ground: Ground, budget: int) -> tuple[Yard, Way] | None:
    """Look for stages; those where lanes or maps are for all destinations at once only where these change."""
    if needs_turns(ground):
        return search_turns(ground, budget)
    yard = lay_out(ground)
    found = search(yard, budget)
    return None if found is None else (yard, Way(found))


@dataclass(frozen=True, eq=False)
class _Size:
    """How much of the tables a stage changes."""

    fabric: Fabric
    pieces: Pieces

    def measure(self, before: Routes, after: Routes) -> tuple[int, int]:
        """Count entries that change, and the pieces that devices take them in."""
        row, goal = np.nonzero(before.group != after.group)
        maps = count_maps(self.fabric, before, after)
        address = goal.astype(np.int64)
        if self.pieces.address_of is not None:
            address = self.pieces.address_of(before)[goal]
        piece = address // self.pieces.addresses
        return len(row), len(np.unique(row * (int(piece.max(initial=0)) + 1) + piece)) + maps


def count_maps(fabric: Fabric, before: Routes, after: Routes) -> int:
    """Count the pairs of ports of a switch whose map from class to lane changes; each is written by itself.

    IBTA vol 1, 14.2.5.8: SLtoVLMappingTable, one for each port in and port out.
    """
    old, new = before.steps, after.steps
    if old is None or new is None or np.array_equal(old.lane, new.lane):
        return 0
    row = fabric.switch_row[fabric.port_node]
    own = (row >= 0) & (fabric.port_peer >= 0)
    ports = np.zeros((len(fabric.switch_node), old.lane.shape[-1]), dtype=np.int64)
    np.add.at(ports, (row[own], old.port_class[own]), 1)
    differs = (old.lane != new.lane).any(axis=0).astype(np.int64)
    return int(((ports @ differs) * ports).sum())


def _conclude(yard: Yard, way: Way, direct: Proof, size: _Size) -> Ordering:
    """Make tables of what was found, and prove each stage."""
    ground, found = yard.ground, way.found
    first, last = ground.united.old, ground.united.new
    off = np.zeros(first.group.shape[1], dtype=bool)
    for index in found.drained:
        off[yard.units[index].goals] = True
    drain = None if not off.any() else Drain(np.flatnonzero(off).astype(np.int32), _find_links(ground, direct))
    states = found.stages or [[unit.full for unit in yard.units]]
    stages: list[Stage] = []
    before = first
    for number, state in enumerate(states, start=1):
        # what is drained changes with the first stage, and nobody notices
        done = [unit.full if off[unit.goal] else state[at] for at, unit in enumerate(yard.units)]
        after = last if number == len(states) else _make(yard, done, way.tell(number - 1))
        if number < len(states) and _is_same(before, after):
            continue  # what went on is drained, and has changed already
        proof = prove_stage(ground, before, after, off)
        stages.append(Stage(_say(before, after), after, proof, *size.measure(before, after)))
        before = after
    steps = yard.steps[0]
    if any(stage.proof.verdict is not Verdict.PROVED for stage in stages):
        why = "the stages that were found are not proved"
        return Ordering(first, last, Verdict.UNKNOWN, why, tuple(stages), drain, direct, steps)
    if drain is None:
        why = f"{len(stages):,} stages, and every mixture inside each is safe"
        return Ordering(first, last, Verdict.PROVED, why, tuple(stages), None, direct, steps)
    limit = "" if found.is_complete else f" within {steps:,} steps"
    why = f"no stages were found{limit} that keep every destination; they hold while nothing is sent to some"
    return Ordering(first, last, Verdict.UNKNOWN, why, tuple(stages), drain, direct, steps)


def _is_same(a: Routes, b: Routes) -> bool:
    return np.array_equal(a.group, b.group) and np.array_equal(lane_column(a), lane_column(b)) and _step_alike(a, b)


def _step_alike(a: Routes, b: Routes) -> bool:
    """Tell whether classes and maps are the same."""
    if a.steps is None or b.steps is None:
        return True
    return np.array_equal(a.steps.lane, b.steps.lane) and bool(np.all(mark_classes(a.steps) == mark_classes(b.steps)))


def _make(yard: Yard, done: list[int], turned: tuple[bool, bool | None]) -> Routes:
    """Make the tables in which each unit has gone so far."""
    old, new = yard.ground.united.old, yard.ground.united.new
    table = old.group.copy()
    moved = np.zeros(table.shape[1], dtype=bool)
    for unit, state in zip(yard.units, done, strict=True):
        rows = unit.find_done(state)
        table[np.ix_(rows, unit.goals)] = new.group[np.ix_(rows, unit.goals)]
        moved[unit.goals] = unit.has_moved(state) if turned[1] is None else turned[1]
    return replace(new, group=table, lanes=_make_lanes(old, new, moved, has_maps=turned[0]))


def _make_lanes(old: Routes, new: Routes, moved: NDArray[np.bool_], *, has_maps: bool) -> Lanes | None:
    """Make the lanes in which some destinations have moved, and the maps are those before or after."""
    shared = new.lanes or old.lanes
    if shared is None:
        return None
    lanes = np.where(moved, lane_column(new), lane_column(old)).astype(np.int8)
    steps = None
    if old.steps is not None and new.steps is not None:
        steps = _mix_classes(old.steps, new.steps, moved)
        steps = replace(steps, lane=new.steps.lane if has_maps else old.steps.lane)
    return replace(shared, count=max(old.lane_count, new.lane_count), of_destination=lanes, steps=steps)


def _mix_classes(old: LaneSteps, new: LaneSteps, moved: NDArray[np.bool_]) -> LaneSteps:
    """Give destinations that have moved the new classes."""
    columns = np.where(moved, *np.broadcast_arrays(new.path_class, old.path_class)).astype(np.int8)
    more = None
    if old.more is not None or new.more is not None:
        more = np.where(moved, mark_classes(new), mark_classes(old)).astype(np.uint16)
    return replace(new, path_class=columns, more=more)


def _say(before: Routes, after: Routes) -> str:
    changed = before.group != after.group
    goals, rows = int(changed.any(axis=0).sum()), int(changed.any(axis=1).sum())
    said: list[str] = []
    if goals:
        said.append(f"{goals:,} destination{'s' * (goals != 1)} at {rows:,} switch{'es' * (rows != 1)}")
    if before.steps is not None and after.steps is not None and not np.array_equal(before.steps.lane, after.steps.lane):
        said.append("maps from service level to lane")
    return " and ".join(said) or "move destinations to other lanes"


def _find_links(ground: Ground, direct: Proof) -> tuple[str, ...] | None:
    """Name a few links without which even a change at once holds no cycle; None where a cycle is not what is wrong."""
    if direct.witness is None or direct.witness.kind != "cycle" or ground.united.new.steps is not None:
        return None
    both = ground.united.old, ground.united.new
    found: dict[int, None] = {}
    none = np.zeros(len(ground.united.old.destination_node), dtype=bool)
    for lane in range(ground.lanes):
        waits = list_waits(ground, both, both, lane, none)
        ports = None if waits is None else find_feedback(*waits, MOST_LINKS - len(found))
        if ports is None:
            return None
        found |= dict.fromkeys(ports)
    return tuple(ground.fabric.link_name(port) for port in found)
