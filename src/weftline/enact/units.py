"""What can change by itself: the columns of destinations that all switches treat alike, level by level from the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.mixture import GOOD, LOOPS, list_turns, walk_column
from weftline.model.routes import Routes
from weftline.prove.stage import Ground
from weftline.prove.tables import read_tables
from weftline.prove.unite import lane_column


@dataclass(frozen=True, eq=False)
class Unit:
    """Destinations whose walks are the same before and after, one of which stands for all."""

    goal: int
    goals: I32
    level: I32
    """Per switch the step in which it changes, NIL where its entry stays."""
    levels: int
    """Steps; 1 at least, where the lane alone changes."""

    def pick(self, old: I32, new: I32, state: int) -> I32:
        """Give the entries where so many steps are done."""
        return np.where((self.level != NIL) & (self.level < state), new, old)


@dataclass(frozen=True, eq=False)
class Yard:
    """The ground of a change and its units, with what each unit's packets hold and wait for."""

    ground: Ground
    units: tuple[Unit, ...]
    turn_ptr: I64
    """Where the numbers of the turns of each switch begin; a lane further on they are as many more."""
    steps: list[int] = field(default_factory=lambda: [0])
    kept: dict[tuple[int, int, int], I64] = field(default_factory=dict[tuple[int, int, int], I64])

    def is_safe(self, index: int, start: int, stop: int) -> bool:
        """Tell whether no packet to a unit loops or is lost while it goes on from one step to another."""
        unit, tables = self.units[index], self.ground.tables
        before, after = self._columns(unit, start), self._columns(unit, stop)
        state, _, steps = walk_column(
            before, after, self.ground.mark_senders(unit.goal), tables.group_ptr, tables.member_ptr, tables.next_row,
            tables.next_port, tables.local, int(tables.target_kind[unit.goal]), int(tables.target_port[unit.goal]),
            int(tables.target_row[unit.goal]),
        )  # fmt: skip
        self.steps[0] += steps
        if (state == LOOPS).any():
            return False
        return bool((state <= GOOD).all()) or not (self.ground.find_owed(unit.goal) & (state != GOOD)).any()

    def list_turns(self, index: int, start: int, stop: int) -> I64:
        """List the turns that a unit's packets can take while it goes on, each once, by lane and number."""
        key = (index, start, stop)
        if key not in self.kept:
            unit = self.units[index]
            found = [
                self._list_turns(unit, (start, stop), marks) + lane * int(self.turn_ptr[-1])
                for lane, marks in self._list_senders(unit, (start, stop))
            ]
            self.kept[key] = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
        self.steps[0] += len(self.kept[key])
        return self.kept[key]

    def _columns(self, unit: Unit, state: int) -> I32:
        old, new = self.ground.united.old.group, self.ground.united.new.group
        return unit.pick(old[:, unit.goal].astype(np.int32), new[:, unit.goal].astype(np.int32), state)

    def _list_turns(self, unit: Unit, span: tuple[int, int], marks: NDArray[np.uint8]) -> I64:
        tables, fabric = self.ground.tables, self.ground.fabric
        return list_turns(
            self._columns(unit, span[0]), self._columns(unit, span[1]), marks, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row, tables.next_port, self.turn_ptr, fabric.port_ptr, fabric.switch_node,
        )  # fmt: skip

    def _list_senders(self, unit: Unit, span: tuple[int, int]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """List the lanes that packets to a unit are on, and the switches that send on each."""
        own = {self.lane_of(unit, state) for state in span}
        for lane in range(self.ground.lanes):
            marks = self.ground.mark_senders(unit.goal) if lane in own else self.ground.mark_speakers(lane)
            if marks.any():
                yield lane, marks

    def lane_of(self, unit: Unit, state: int) -> int:
        """Name the lane of the packets to a unit; it changes with the last step."""
        united = self.ground.united
        return int(lane_column(united.new if state == unit.levels else united.old)[unit.goal])


def lay_out(ground: Ground) -> Yard:
    """Find the units of a change."""
    fabric = ground.fabric
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths * widths)))
    return Yard(ground, tuple(_list_units(ground)), turn_ptr)


def _list_units(ground: Ground) -> Iterator[Unit]:
    old, new = ground.united.old, ground.united.new
    later = read_tables(ground.fabric, replace(new, lanes=None))
    same: dict[tuple[int, ...], list[int]] = {}
    lanes = lane_column(old), lane_column(new)
    for goal in ground.united.changed.tolist():
        key = (int(ground.tables.same_as[goal]), int(later.same_as[goal]), int(lanes[0][goal]), int(lanes[1][goal]))
        same.setdefault(key, []).append(goal)
    for goals in same.values():
        level = _find_levels(ground, goals[0], old, new)
        yield Unit(goals[0], np.array(goals, dtype=np.int32), level, max(int(level.max(initial=NIL)) + 1, 1))


def _find_levels(ground: Ground, goal: int, old: Routes, new: Routes) -> I32:
    """Number the steps of a column: who is nearest to the destination by the new tables first, who loses its way last.

    A switch then changes only when all that its new entry leads to have: what comes there goes the new way to the end.
    """
    state, longest, _ = ground.walk(goal, new, new)
    rank = np.where(state == GOOD, longest, np.iinfo(np.int32).max)
    changes = old.group[:, goal] != new.group[:, goal]
    level = np.full(len(rank), NIL, dtype=np.int32)
    level[changes] = np.unique(rank[changes], return_inverse=True)[1].reshape(-1)
    return level
