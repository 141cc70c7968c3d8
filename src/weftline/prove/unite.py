"""Two tables of one fabric told in the same words: the same destinations, and the same groups of ports by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from weftline.kernels.column import I8, I32, I64, NIL
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.routes import GroupTable, Routes, local_delivery, no_route
from weftline.prove.steps import mark_classes

MOST_OF_A_BYTE = 253
"""Groups of a switch that an entry of 8 bits can name: two numbers say that there is no route, and that it is here."""

MOST_PORT_CLASSES = 127
"""Classes of ports that a number of 8 bits tells apart."""


@dataclass(frozen=True, eq=False)
class United:
    """Old and new tables whose columns and entries mean the same."""

    old: Routes
    new: Routes

    @property
    def changed(self) -> I32:
        """List the destinations whose entries, lane or class change."""
        differ = (self.old.group != self.new.group).any(axis=0) | (lane_column(self.old) != lane_column(self.new))
        if self.old.steps is not None and self.new.steps is not None:
            differ |= (mark_classes(self.old.steps) != mark_classes(self.new.steps)).any(axis=0)
            differ |= self.maps_differ
        return np.flatnonzero(differ).astype(np.int32)

    @property
    def maps_differ(self) -> bool:
        """Tell whether some class of paths has another lane somewhere, which concerns every destination."""
        old, new = self.old.steps, self.new.steps
        return old is not None and new is not None and not np.array_equal(old.lane, new.lane)


def lane_column(routes: Routes) -> I8:
    """Name the lane of each destination, as a column."""
    if routes.lanes is None:
        return np.zeros(len(routes.destination_node), dtype=np.int8)
    return routes.lanes.of_destination


def unite_tables(old: Routes, new: Routes) -> United:
    """Tell two tables of one fabric in the same words; O(entries).

    A destination that only one of them has gets a column without entries in the other. Where packets of either change
    lanes on their way, the maps of both are told by the same classes of ports; see ``_unite_steps``.
    """
    old, new = _unite_steps(*_unite_destinations(old, new))
    same = all(
        np.array_equal(a, b)
        for a, b in (
            (old.group_ptr, new.group_ptr),
            (old.member_ptr, new.member_ptr),
            (old.member_port, new.member_port),
            (_weigh(old), _weigh(new)),
        )
    )
    return United(old, new) if same and old.group.dtype == new.group.dtype else _unite_groups(old, new)


def _unite_destinations(old: Routes, new: Routes) -> tuple[Routes, Routes]:
    first, second = list(_list_destinations(old)), list(_list_destinations(new))
    if first == second:
        return old, new
    place = {one: at for at, one in enumerate(dict.fromkeys((*first, *second)))}
    every = np.array(list(place), dtype=np.int32).reshape(-1, 3)
    return (
        _spread(old, every, np.array([place[one] for one in first], dtype=np.int64)),
        _spread(new, every, np.array([place[one] for one in second], dtype=np.int64)),
    )


def _list_destinations(routes: Routes) -> Iterator[tuple[int, int, int]]:
    yield from zip(
        routes.destination_node.tolist(), routes.destination_port.tolist(), routes.path.tolist(), strict=True
    )


def _spread(routes: Routes, every: I32, place: I64) -> Routes:
    """Put the columns at their places among all."""
    table = np.full((routes.group.shape[0], len(every)), no_route(routes.group), dtype=routes.group.dtype)
    table[:, place] = routes.group
    lanes = routes.lanes
    if lanes is not None:
        of_destination = np.zeros(len(every), dtype=np.int8)
        of_destination[place] = lanes.of_destination
        lanes = replace(lanes, of_destination=of_destination)
        if lanes.steps is not None:
            path_class = np.zeros((lanes.steps.path_class.shape[0], len(every)), dtype=np.int8)
            path_class[:, place] = lanes.steps.path_class
            more = None
            if lanes.steps.more is not None:
                more = np.zeros((lanes.steps.more.shape[0], len(every)), dtype=np.uint16)
                more[:, place] = lanes.steps.more
            lanes = replace(lanes, steps=replace(lanes.steps, path_class=path_class, more=more))
    return replace(
        routes,
        destination_node=every[:, 0].copy(),
        destination_port=every[:, 1].copy(),
        destination_path=every[:, 2].copy(),
        group=table,
        lanes=lanes,
    )


def _unite_steps(old: Routes, new: Routes) -> tuple[Routes, Routes]:
    """Tell both maps from class to lane by the same classes of ports; tables whose packets keep lanes get a map too.

    A class of paths that only one of both maps names has lane NIL in the other: what a device does with it is not
    known, and a packet may be dropped there (IBTA vol 1, 7.6.6: to VL15). Tables come back as they are where the
    classes of ports would be more than a number of 8 bits can tell.
    """
    ports = next((one.steps.port_class.shape for one in (old, new) if one.steps is not None), None)
    if ports is None:
        return old, new
    sides = [_read_steps(routes, ports) for routes in (old, new)]
    width = sides[1].lane.shape[-1]
    pair = sides[0].port_class.astype(np.int64) * width + sides[1].port_class
    known, joint = np.unique(pair, return_inverse=True)
    if len(known) > MOST_PORT_CLASSES:
        return old, new
    classes = max(len(one.lane) for one in sides)
    told: list[Routes] = []
    for routes, steps, kind in zip((old, new), sides, (known // width, known % width), strict=True):
        lane = np.full((classes, len(known), len(known)), NIL, dtype=np.int8)
        lane[: len(steps.lane)] = steps.lane[:, kind][:, :, kind]
        own = replace(steps, port_class=joint.reshape(-1).astype(np.int8), lane=lane)
        none = np.zeros(len(routes.destination_node), dtype=np.int8)
        answers = routes.lanes is not None and routes.lanes.with_answers
        told.append(replace(routes, lanes=Lanes(routes.lane_count, none, with_answers=answers, steps=own)))
    return told[0], told[1]


def _read_steps(routes: Routes, ports: tuple[int, ...]) -> LaneSteps:
    """Read how packets come to their lanes; where they keep them, a class is a lane (IBTA vol 1, 7.6.6)."""
    if routes.steps is not None:
        return routes.steps
    lane = np.arange(routes.lane_count, dtype=np.int8).reshape(-1, 1, 1)
    return LaneSteps(lane_column(routes).reshape(1, -1), np.zeros(ports, dtype=np.int8), lane)


def _unite_groups(old: Routes, new: Routes) -> United:
    """Number the sets of ports of each switch anew, those of both tables together; other weights are another set."""
    weighs = old.member_weight if new.member_weight is None else new.member_weight
    tables: tuple[Routes, Routes] = (old, new)
    numbers: list[list[I64]] = [[], []]
    counts: list[int] = []
    sizes: list[int] = []
    members: list[tuple[int, int]] = []
    for row in range(old.group.shape[0]):
        known: dict[tuple[tuple[int, int], ...], int] = {}
        for routes, lists in zip(tables, numbers, strict=True):
            sets = list(_list_sets(routes, row))
            lists.append(np.array([known.setdefault(one, len(known)) for one in sets], dtype=np.int64))
        counts.append(len(known))
        for one in known:
            sizes.append(len(one))
            members += one
    wide = max(counts, default=0) > MOST_OF_A_BYTE
    columns = {
        "group_ptr": np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        "member_ptr": np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        "member_port": np.array([port for port, _ in members], dtype=np.int32),
        "member_weight": None if weighs is None else np.array([weight for _, weight in members], dtype=np.int32),
    }
    first, second = (
        replace(routes, group=_translate(routes, lists, wide=wide), **columns)
        for routes, lists in zip(tables, numbers, strict=True)
    )
    return United(first, second)


def _list_sets(routes: Routes, row: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """List the ports of each group with their weights."""
    weights = _weigh(routes)
    for group in range(int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])):
        own = slice(int(routes.member_ptr[group]), int(routes.member_ptr[group + 1]))
        yield tuple(sorted(dict(zip(routes.member_port[own].tolist(), weights[own].tolist(), strict=True)).items()))


def _weigh(routes: Routes) -> I32:
    """Weigh each member of each group; all alike where nothing is said."""
    weights = routes.member_weight
    return np.ones(len(routes.member_port), dtype=np.int32) if weights is None else weights


def _translate(routes: Routes, numbers: list[I64], *, wide: bool) -> GroupTable:
    """Write the entries by the new numbers; an entry that names no group names none."""
    table: GroupTable = (
        np.full_like(routes.group, 0, dtype=np.uint16) if wide else np.zeros(routes.group.shape, np.uint8)
    )
    table[:] = no_route(table)
    for row, own in enumerate(numbers):
        entry = routes.group[row].astype(np.int64)
        is_group = entry < len(own)
        table[row, is_group] = own[entry[is_group]]
        table[row, entry == local_delivery(routes.group)] = local_delivery(table)
    return table
