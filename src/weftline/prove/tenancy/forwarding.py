"""Forwarding: between which tables packets can go, and for whose addresses, by imports, leaks, statics and sessions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.admit.prefix import Prefix, is_inside
from weftline.kernels.column import I64
from weftline.prove.tenancy.ground import Step, Table, call_vrf

NO_STEP = Step("")
Mask: TypeAlias = NDArray[np.bool_]
ALL = -1
"""Every target, as bits."""


class Way(NamedTuple):
    """Packets at one point that are for some targets may go on to another."""

    to: int
    targets: int
    """Bits of the owners whose addresses it leads to; ``ALL`` for any address."""
    is_certain: bool
    """Whether devices do so by these files; else they may, and nobody here can tell."""
    step: Step
    within: Prefix | None = None
    """The prefix that leads there; None for any address."""


def _say_nothing(_: int) -> Step:
    return NO_STEP


@dataclass(frozen=True, slots=True)
class Crossings:
    """Ways between tables of neighbours, for packets to any address, as columns: a fabric has one or two per cable.

    They are sorted by where they start. Each has one back, as certain as itself.
    """

    start: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    to: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    is_certain: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    tell: Callable[[int], Step] = _say_nothing
    """Says why the way of a row is there."""

    def leave(self, point: int) -> Iterator[Way]:
        """List the ways from a point."""
        first, last = np.searchsorted(self.start, (point, point + 1)).tolist()
        for row in range(first, last):
            yield Way(int(self.to[row]), ALL, bool(self.is_certain[row]), self.tell(row))

    def group(self, points: int, *, is_certain: bool) -> list[int]:
        """Find for each point the one that stands for all that it is joined with, by all ways or by certain ones."""
        kept = self.is_certain if is_certain else slice(None)
        start, to = self.start[kept], self.to[kept].tolist()
        first = np.searchsorted(start, np.arange(points + 1)).tolist()
        group = list(range(points))
        seen: set[int] = set()
        for point in np.unique(start).tolist():
            waiting = [] if point in seen else [point]
            while waiting:
                here = waiting.pop()
                if here not in seen:
                    seen.add(here)
                    group[here] = point
                    waiting.extend(to[first[here] : first[here + 1]])
        return group


Fits: TypeAlias = Callable[[int, Prefix], bool]
"""Tells whether a point has an address in a prefix."""


@dataclass(slots=True)
class Graph:
    """Points where packets are looked up, and the ways between them.

    Each table has three: ``look`` (a packet arrives), ``hold`` (routes that it has not from a leak) and ``hand`` (the
    subnets of its own interfaces). A route target is a point too, so that the work grows with imports and exports,
    not with pairs of them.
    """

    ways: list[list[Way]] = field(default_factory=list[list[Way]])
    names: list[str] = field(default_factory=list[str])
    points: dict[tuple[str, object], int] = field(default_factory=dict[tuple[str, object], int])
    ends: dict[int, int] = field(default_factory=dict[int, int])
    """Point to the owners (bits) whose packets have arrived there."""
    handing: dict[int, Table] = field(default_factory=dict[int, Table])
    """The table at whose interfaces packets arrive at a point."""
    crossings: Crossings = field(default_factory=Crossings)
    _tables: dict[Table, tuple[int, int, int]] = field(default_factory=dict[Table, tuple[int, int, int]])
    _left: dict[int, list[Way]] = field(default_factory=dict[int, list[Way]])

    def point(self, kind: str, of: object, name: str = "") -> int:
        """Take a point, or make it."""
        key = (kind, of)
        if key not in self.points:
            self.points[key] = len(self.ways)
            self.ways.append([])
            self.names.append(name)
        return self.points[key]

    def table(self, table: Table) -> tuple[int, int, int]:
        """Take the points of a table: look, hold, hand."""
        known = self._tables.get(table)
        if known is None:
            name = f"{call_vrf(table[1])} of {table[0]}"
            look, hold, hand = known = (
                self.point("look", table, name), self.point("hold", table, name), self.point("hand", table, name)
            )  # fmt: skip
            self._tables[table] = known
            self.handing[hand] = table
            self.join(look, hold)
            self.join(hold, hand)
        return known

    def add(self, a: int, way: Way) -> None:
        """Add a way."""
        if a != way.to and way.targets:
            self.ways[a].append(way)

    def join(self, a: int, b: int, step: Step = NO_STEP, *, is_certain: bool = True) -> None:
        """Add a way for packets to any address."""
        self.add(a, Way(b, ALL, is_certain, step))

    def reach(self, *, is_certain: bool) -> list[int]:
        """Find, for each point, the targets that a packet there can reach, by all ways or by certain ones alone."""
        # neighbours that exchange everything reach the same, so that one point stands for all of them
        group = self.crossings.group(len(self.ways), is_certain=is_certain)
        back: list[list[tuple[int, int]]] = [[] for _ in self.ways]
        for a, ways in enumerate(self.ways):
            for way in ways:
                if way.is_certain or not is_certain:
                    back[group[way.to]].append((group[a], way.targets))
        found = [0] * len(self.ways)
        for point, bits in self.ends.items():
            found[group[point]] |= bits
        queue = deque(dict.fromkeys([group[point] for point in self.ends]))
        waiting = set(queue)
        while queue:
            here = queue.popleft()
            waiting.discard(here)
            for a, targets in back[here]:
                more = found[a] | (found[here] & targets)
                if more != found[a]:
                    found[a] = more
                    if a not in waiting:
                        waiting.add(a)
                        queue.append(a)
        return [found[point] for point in group]

    def _leave(self, point: int) -> list[Way]:
        """List all ways from a point; those of sessions are put into words here, when somebody asks for a path."""
        known = self._left.get(point)
        if known is None:
            known = self._left[point] = [*self.ways[point], *self.crossings.leave(point)]
        return known

    def trace(self, start: int, target: int, fits: Fits, *, is_certain: bool) -> tuple[int, tuple[Step, ...]] | None:
        """Find a shortest path from a point to one target bit: where it ends, and why each step is taken.

        Prefixes on the way narrow the addresses that packets may be for, down to where none is left.
        """
        first: _State = (start, None)
        came: dict[_State, tuple[_State, Step] | None] = {first: None}
        queue: deque[_State] = deque([first])
        while queue:
            here = queue.popleft()
            point, within = here
            if self.ends.get(point, 0) & target and (within is None or fits(point, within)):
                return point, tuple(reversed(list(_walk_back(came, here))))
            for way in self._leave(point):
                if not way.targets & target or (is_certain and not way.is_certain) or _are_apart(within, way.within):
                    continue
                there = (way.to, _narrow(within, way.within))
                if there not in came:
                    came[there] = (here, way.step)
                    queue.append(there)
        return None


_State: TypeAlias = tuple[int, "Prefix | None"]


def _are_apart(a: Prefix | None, b: Prefix | None) -> bool:
    return a is not None and b is not None and not (is_inside(a, b) or is_inside(b, a))


def _narrow(a: Prefix | None, b: Prefix | None) -> Prefix | None:
    if a is None or b is None:
        return a or b
    return a if is_inside(a, b) else b


def _walk_back(came: dict[_State, tuple[_State, Step] | None], at: _State) -> Iterator[Step]:
    while (way := came[at]) is not None:
        at = way[0]
        if way[1].says:
            yield way[1]
