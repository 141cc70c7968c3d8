"""What can change by itself: the columns of destinations that all switches treat alike, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from weftline.enact.stepping import Stepping
from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.mixture import GOOD, LOOPS, list_turns, walk_column
from weftline.model.routes import Routes
from weftline.prove.stage import Ground
from weftline.prove.tables import read_tables
from weftline.prove.unite import lane_column

MOST_KEPT = 1 << 24
"""Turns of units that are remembered; 8 bytes each."""


@dataclass(frozen=True, eq=False)
class Unit:
    """Destinations whose walks are the same before and after, one of which stands for all.

    How far it has changed is a number: a bit for each switch in ``rows``, and one more where its lane or class changes.
    """

    goal: int
    goals: I32
    rows: I32
    """Switches whose entry changes, those first that are nearest to the destination by the new tables."""
    ends: tuple[int, ...]
    """How many switches change up to each distance."""
    moves: bool
    """Whether its lane or class changes."""

    @property
    def full(self) -> int:
        """The number that says that all is new."""
        return (1 << (len(self.rows) + self.moves)) - 1

    @property
    def levels(self) -> tuple[int, ...]:
        """Numbers from the destination outwards: alone, a unit that goes by them never loops nor loses a packet."""
        found = [(1 << end) - 1 for end in self.ends]
        return (*found[:-1], self.full) if found else (self.full,)

    def find_done(self, state: int) -> I32:
        """List the switches that have changed."""
        data = np.frombuffer(state.to_bytes(len(self.rows) // 8 + 1, "little"), dtype=np.uint8)
        return self.rows[np.unpackbits(data, bitorder="little")[: len(self.rows)] == 1]

    def has_moved(self, state: int) -> bool:
        """Tell whether its packets are on the lane, or of the class, of the new tables."""
        return state == self.full if not self.moves else bool(state >> len(self.rows) & 1)

    def pick(self, old: I32, new: I32, state: int) -> I32:
        """Give the entries where so much is done."""
        done = self.find_done(state)
        picked = old.copy()
        picked[done] = new[done]
        return picked


@dataclass(frozen=True, eq=False)
class Yard:
    """The ground of a change and its units, with what each unit's packets hold and wait for."""

    ground: Ground
    units: tuple[Unit, ...]
    turn_ptr: I64
    """Where the numbers of the turns of each switch begin; a lane further on they are as many more."""
    stepping: Stepping | None = None
    """How packets change lanes, and by which map at this time; None where they keep them."""
    records: tuple[Routes, ...] | None = None
    """The tables whose lanes or classes packets are sent by at this time; None where each unit moves by itself."""
    steps: list[int] = field(default_factory=lambda: [0])
    kept: dict[tuple[int, int, int], I64] = field(default_factory=dict[tuple[int, int, int], I64])
    size: list[int] = field(default_factory=lambda: [0])

    @property
    def wide(self) -> int:
        """Count the lanes that wait for each other: where packets keep theirs, each stands alone."""
        return 1 if self.stepping is None else self.ground.lanes

    @property
    def turns(self) -> int:
        """Count the turns of channels that wait for each other."""
        return int(self.turn_ptr[-1]) * self.wide**2

    def is_safe(self, index: int, start: int, stop: int) -> bool:
        """Tell whether no packet to a unit loops or is lost while it goes on from one state to another."""
        unit, tables = self.units[index], self.ground.tables
        if self.stepping is not None and not self.stepping.is_named(unit.goal, *self._list_moved(unit, start, stop)):
            return False
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
            if self.size[0] > MOST_KEPT:
                self.kept.clear()
                self.size[0] = 0
            self.kept[key] = self._find_turns(self.units[index], (start, stop))
            self.size[0] += len(self.kept[key])
        self.steps[0] += len(self.kept[key])
        return self.kept[key]

    def _find_turns(self, unit: Unit, span: tuple[int, int]) -> I64:
        if self.stepping is not None:
            columns = (self._columns(unit, span[0]), self._columns(unit, span[1]))
            found = self.stepping.list_turns(unit.goal, columns, self.turn_ptr, *self._list_moved(unit, *span))
            return np.unique(found)
        lists = [
            self._list_turns(unit, span, marks) + lane * int(self.turn_ptr[-1])
            for lane, marks in self._list_senders(unit, span)
        ]
        return np.unique(np.concatenate(lists)) if lists else np.zeros(0, dtype=np.int64)

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
        united = self.ground.united
        sides = self.records
        if sides is None:
            was, is_new = self._list_moved(unit, *span)
            sides = (*((united.old,) * was), *((united.new,) * is_new))
        own = {int(lane_column(side)[unit.goal]) for side in sides}
        for lane in range(self.ground.lanes):
            marks = self.ground.mark_senders(unit.goal) if lane in own else self.ground.mark_speakers(lane, self.speak)
            if marks.any():
                yield lane, marks

    @property
    def speak(self) -> tuple[Routes, ...]:
        """List the tables by whose lanes may be answered: what one unit asked, another answers at any time."""
        return (self.ground.united.old, self.ground.united.new) if self.records is None else self.records

    def _list_moved(self, unit: Unit, start: int, stop: int) -> tuple[bool, bool]:
        """Tell whether packets of the old class and of the new one are on their way."""
        if self.records is not None:
            return self.ground.united.old in self.records, self.ground.united.new in self.records
        moved = {unit.has_moved(start), unit.has_moved(stop)}
        return False in moved, True in moved


def lay_out(ground: Ground, stepping: Stepping | None = None, records: tuple[Routes, ...] | None = None) -> Yard:
    """Find the units of a change; their lanes and classes stay where it is said what packets are sent by."""
    fabric = ground.fabric
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths * widths)))
    units = tuple(_list_units(ground, stepping, can_move=records is None))
    return Yard(ground, units, turn_ptr, stepping, records)


def _list_units(ground: Ground, stepping: Stepping | None, *, can_move: bool) -> Iterator[Unit]:
    old, new = ground.united.old, ground.united.new
    later = read_tables(ground.fabric, replace(new, lanes=None))
    lanes = lane_column(old), lane_column(new)
    same: dict[tuple[int | bytes, ...], list[int]] = {}
    for goal in ground.united.changed.tolist():
        key: tuple[int | bytes, ...] = (
            int(ground.tables.same_as[goal]), int(later.same_as[goal]), int(lanes[0][goal]), int(lanes[1][goal])
        )  # fmt: skip
        if stepping is not None:
            key = (*key, *stepping.tell(goal))
        same.setdefault(key, []).append(goal)
    for goals in same.values():
        goal = goals[0]
        moves = lanes[0][goal] != lanes[1][goal] if stepping is None else stepping.moves(goal)
        level = _find_levels(ground, goal, old, new)
        rows = np.flatnonzero(level != NIL)
        rows = rows[np.argsort(level[rows], kind="stable")].astype(np.int32)
        ends = np.cumsum(np.bincount(level[rows])) if len(rows) else np.zeros(0, dtype=np.int64)
        yield Unit(goal, np.array(goals, dtype=np.int32), rows, tuple(ends.tolist()), bool(moves) and can_move)


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
