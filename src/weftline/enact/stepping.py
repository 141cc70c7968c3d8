"""Packets that change lanes on their way, while a change goes on: by which map, and of which classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, I64, U16
from weftline.kernels.mixture import list_column_turns
from weftline.kernels.reach import IS_SKIPPED
from weftline.model.routes import Routes
from weftline.prove.mixed import mix_steps
from weftline.prove.stage import Ground
from weftline.prove.steps import Maps, Walkers, list_answers, list_mixed, mark_classes, place_walkers


@dataclass(frozen=True, eq=False)
class Stepping:
    """What packets of old and new path records do under one map, or under a mixture of two."""

    ground: Ground
    maps: Maps
    unsaid: int
    """A bit for each class that the map does not name."""
    old: U16
    new: U16
    """``[1 or S, D]``: a bit for each class of forward packets."""
    answers: U16
    """The same of answers to what is asked for at this time, by old or by new records or by both."""
    told: tuple[U16, U16]
    """The same of what old records ask for, and new ones; units are told apart by both, whatever the time."""

    def tell(self, goal: int) -> tuple[bytes, ...]:
        """Tell destinations of other classes apart."""
        return tuple(one[:, goal].tobytes() for one in (self.old, self.new, *self.told))

    def moves(self, goal: int) -> bool:
        """Tell whether the class of some packet to a destination changes."""
        return bool((self.old[:, goal] != self.new[:, goal]).any())

    def is_named(self, goal: int, has_old: bool, has_new: bool) -> bool:  # noqa: FBT001
        """Tell whether the map names each class by which is sent to a destination."""
        used = np.zeros(len(self.ground.fabric.switch_node), dtype=np.uint16)
        for masks, counts in ((self.old, has_old), (self.new, has_new)):
            used |= masks[:, goal] if counts else np.uint16(0)
        return not (used & np.uint16(self.unsaid))[self.ground.mark_senders(goal) == 1].any()

    def list_turns(self, goal: int, columns: tuple[I32, I32], turn_ptr: I64, has_old: bool, has_new: bool) -> I64:  # noqa: FBT001
        """List the turns of the packets to a destination, from lane to lane; one may come twice."""
        tables, fabric, walkers = self.ground.tables, self.ground.fabric, self._walkers
        mask = self._masks[has_old + 2 * has_new]
        return list_column_turns(
            *columns, goal, mask, self.maps.held, self.maps.port_class, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row, tables.next_port, turn_ptr, fabric.port_ptr, fabric.switch_node,
            self.ground.lanes, tables.target_row, walkers.own_kind, tables.own_count, walkers.home_row,
            walkers.home_kind, walkers.home_count,
        )  # fmt: skip

    def list_waits(self, still: NDArray[np.bool_]) -> tuple[I64, I32] | None:
        """List which lane of which port waits on which for the destinations that do not change."""
        tables = self.ground.tables
        kind = np.where(still, tables.target_kind, IS_SKIPPED).astype(np.int8)
        read = replace(tables, target_kind=kind, same_as=np.arange(len(kind), dtype=np.int32))
        walkers = place_walkers(self.ground.fabric, read, self.old | self.answers, self.maps.port_class)
        return list_mixed(self.ground.fabric, read, self.maps, walkers, self.ground.lanes)

    @cached_property
    def _masks(self) -> tuple[U16, U16, U16, U16]:
        """Classes of nobody, of the old records, of the new ones and of both; answers always."""
        old, new = self.old | self.answers, self.new | self.answers
        return self.answers, old, new, old | new

    @cached_property
    def _walkers(self) -> Walkers:
        """Who sends where; the classes are looked up by themselves."""
        return place_walkers(self.ground.fabric, self.ground.tables, self._masks[3], self.maps.port_class)


def make_stepping(ground: Ground, maps: tuple[Routes, Routes], records: tuple[Routes, ...]) -> Stepping | None:
    """Tell how packets step while maps change from one to the other, or stay; None where they keep their lanes.

    Paths were asked for by ``records``.
    """
    old, new = ground.united.old.steps, ground.united.new.steps
    mixed = mix_steps(maps[0].steps, maps[1].steps)
    if old is None or new is None or mixed is None:
        return None
    masks = np.broadcast_arrays(mark_classes(old), mark_classes(new))
    first, last = (np.ascontiguousarray(one) for one in masks)
    none = np.zeros_like(first)
    told = tuple(list_answers(ground.tables, one) if ground.with_answers else none for one in (first, last))
    answers: U16 = np.zeros_like(told[0])
    for side, own in zip((ground.united.old, ground.united.new), told, strict=True):
        answers = answers | own if side in records else answers
    return Stepping(ground, mixed[0], mixed[2], first, last, answers, (told[0], told[1]))
