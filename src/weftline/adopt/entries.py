"""The entries of one switch in the making: static ports of several files, and the choices that go with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import GroupTable, local_delivery, no_route

I16: TypeAlias = NDArray[np.int16]
B1: TypeAlias = NDArray[np.bool_]

NONE = -1
"""No port: the entry drops, or there is none."""
LOCAL = -2
"""The switch itself."""
MOST_NARROW = 253
"""Groups that one byte can name, beside 'delivered here' and 'no route'."""


@dataclass(slots=True)
class Row:
    """The entries of one switch, by destination; ports are counted from the first of the switch."""

    static: I16
    """The port of the table, ``NONE`` or ``LOCAL``."""
    is_listed: B1
    """Whether a table has an entry for the destination."""
    choice: I32 | None = None
    """Which set of further ports packets may leave by, NIL where there is none; absent on a switch without any."""
    sets: list[frozenset[int]] = field(default_factory=list[frozenset[int]])
    number: dict[frozenset[int], int] = field(default_factory=dict[frozenset[int], int])

    def add_choice(self, at: I64, ports: frozenset[int]) -> None:
        """Let packets to some destinations leave by some more ports."""
        if not len(at) or not ports:
            return
        if self.choice is None:
            self.choice = np.full(len(self.static), NIL, dtype=np.int32)
        before = self.choice[at]
        for old in [int(value) for value in np.unique(before)]:
            merged: frozenset[int] = ports if old == NIL else ports | self.sets[old]
            number = self.number.setdefault(merged, len(self.sets))
            if number == len(self.sets):
                self.sets.append(merged)
            self.choice[at[before == old]] = number

    @property
    def adaptive_entries(self) -> int:
        """Count the entries with more than the port of the table."""
        return 0 if self.choice is None else int(np.count_nonzero(self.choice != NIL))


def new_row(destinations: int) -> Row:
    """Make a row without entries."""
    return Row(np.full(destinations, NONE, dtype=np.int16), np.zeros(destinations, dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Groups:
    """The entries of all switches, with the groups of ports that they name."""

    group: GroupTable
    group_ptr: I32
    member_ptr: I32
    member_port: I32


def make_groups(fabric: Fabric, rows: Iterable[Row | None], destinations: int) -> Groups:
    """Make the tables: group ``g`` of a switch is its port ``g`` in the order of the numbers, then come larger groups.

    Packets with a choice may take the port of the table too, so a group is that port and the others together.
    """
    switches = fabric.switch_node
    width = np.diff(fabric.port_ptr)[switches].astype(np.int64)
    made = [(np.full(destinations, NONE, dtype=np.int64), list[frozenset[int]]()) for _ in switches]
    for at, row in enumerate(rows):
        if row is not None:
            made[at] = _number_groups(row, int(width[at]))
    count = width + np.array([len(sets) for _, sets in made], dtype=np.int64)
    shape = (len(switches), destinations)
    is_narrow = count.max(initial=0) <= MOST_NARROW
    group: GroupTable = np.empty(shape, dtype=np.uint8) if is_narrow else np.empty(shape, dtype=np.uint16)
    for at, (entry, _) in enumerate(made):
        group[at] = np.where(entry == NONE, no_route(group), np.where(entry == LOCAL, local_delivery(group), entry))
    sizes: list[int] = []
    ports: list[NDArray[np.int64]] = []
    for at, (_, sets) in enumerate(made):
        first = int(fabric.port_ptr[switches[at]])
        sizes.extend([1] * int(width[at]) + [len(members) for members in sets])
        ports.append(first + np.arange(int(width[at])))
        ports.extend(first + np.array(sorted(members), dtype=np.int64) for members in sets)
    return Groups(
        group=group,
        group_ptr=np.concatenate([[0], np.cumsum(count)]).astype(np.int32),
        member_ptr=np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))]).astype(np.int32),
        member_port=np.concatenate([np.empty(0, dtype=np.int64), *ports]).astype(np.int32),
    )


def _number_groups(row: Row, width: int) -> tuple[NDArray[np.int64], list[frozenset[int]]]:
    """Give each pair of a static port and a choice its group; returns the entries and the groups of several ports."""
    entry = row.static.astype(np.int64)
    sets: list[frozenset[int]] = []
    if row.choice is None:
        return entry, sets
    number: dict[frozenset[int], int] = {}
    at = np.flatnonzero((row.choice != NIL) & (entry != LOCAL))
    key = entry[at] * len(row.sets) + row.choice[at]
    for pair in [int(value) for value in np.unique(key)]:
        static, choice = divmod(pair, len(row.sets))
        own: frozenset[int] = frozenset((static,) if static >= 0 else ())
        members = row.sets[choice] | own
        if len(members) == 1:
            (value,) = members
        else:
            value = width + number.setdefault(members, len(sets))
            if value == width + len(sets):
                sets.append(members)
        entry[at[key == pair]] = value
    return entry, sets
