from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import strain as reference
from tests.kernels.test_columns import LOCAL, Filled
from tests.kernels.test_outage import TOKEN
from tests.kernels.test_updown import Case, cases
from weftline.kernels.outage import NO_HOP, leads_down
from weftline.kernels.strain import (
    add_flows,
    add_walk,
    find_most,
    list_redone,
    mark_units,
    renew_ways,
    restore,
    spread_unit,
    spread_units,
    touch,
)


class Room:
    """Room for the loads of two jobs."""

    def __init__(self, ports: int) -> None:
        self.load = np.zeros((2, max(1, ports)))
        self.stamp = np.zeros((2, max(1, ports)), dtype=np.int32)
        self.touched = np.empty((2, max(1, ports)), dtype=np.int32)
        self.counts = np.zeros(2, dtype=np.int32)

    @property
    def all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.load, self.stamp, self.touched, self.counts


def test_a_port_is_remembered_once() -> None:
    room = Room(3)
    for _ in range(2):
        touch(1, 2, 1.5, TOKEN, *room.all)
    assert room.load[1].tolist() == [0, 0, 3]
    assert room.touched[1, : room.counts[1]].tolist() == [2]


@given(cases, st.data())
def test_walks_and_whole_flows_match_the_twin(case: Case, data: st.DataObject) -> None:
    filled = Filled(case, data)
    room, port = Room(len(filled.links) + 1), len(filled.links)
    row, home = (data.draw(st.integers(0, filled.rows - 1)) for _ in range(2))
    want: dict[int, float] = {}

    def way(at: int) -> list[tuple[int, int]]:
        entry = int(filled.table[at, home])
        link = int(filled.group_ptr[at]) + entry
        return [] if entry >= LOCAL else [(link, filled.link_end[link])]

    reference.spread(row, home, 2.0, way, want)
    tables = (filled.group_ptr, filled.link_port, filled.group_row, filled.table)
    one = np.array([0], dtype=np.int32)
    ends = np.array([port], dtype=np.int32)
    # a walk that ends in a delivery of its own switch is no port: it counts as one that ends elsewhere
    lost = add_flows(
        one, 1.0, TOKEN, one, np.array([row], np.int32), np.array([home], np.int32), ends, np.array([2.0]), *tables,
        *room.all,
    )  # fmt: skip
    assert lost == 1
    assert room.load[0, :-1].tolist() == pytest.approx([want.get(at, 0.0) for at in range(len(filled.links))])
    assert room.load[0, port] == 2.0
    assert not add_walk(row, home, 0, -2.0, TOKEN, *tables, *room.all)
    assert not room.load[0, :-1].any()
    base = np.ones_like(room.load)
    restore(0, base, room.load, room.touched[0, : room.counts[0]])
    assert set(np.flatnonzero(room.load[0])) == {*want, port}


@given(cases, st.data())
def test_equal_shares_match_the_twin_on_what_is_left(case: Case, data: st.DataObject) -> None:
    filled = Filled(case, data)
    home = data.draw(st.integers(0, filled.rows - 1))
    sources = data.draw(st.lists(st.integers(0, filled.rows - 1), min_size=1, max_size=5))
    hop, falls = filled.climb(home, TOKEN)
    hop[[row for row in range(filled.rows) if filled.component[row] != filled.component[home]]] = NO_HOP
    carried = np.zeros(filled.rows)
    want: dict[int, float] = {}

    def ways(row: int) -> list[tuple[int, int]]:
        return [
            (at, filled.link_end[at])
            for at in filled.links_of(row)
            if at not in filled.lost and leads_down(row, filled.link_end[at], filled.order, hop, falls)
        ]

    for row in sources:
        carried[row] += 1.0
        reference.spread(row, home, 1.0, ways, want)
    room = Room(len(filled.links))
    waits = np.zeros(filled.rows, dtype=np.uint8)
    lost = spread_unit(
        1, home, TOKEN, -1.0, carried, np.array(sources, np.int32), filled.order, filled.edge_ptr, filled.edge_row,
        filled.link_ptr, filled.link_port, filled.port_stamp, TOKEN, hop, falls, np.full(256, -1, np.int32),
        np.full(filled.rows, -1, np.int32), waits, *room.all,
    )  # fmt: skip
    assert room.load[1].tolist() == pytest.approx([-want.get(at, 0.0) for at in range(room.load.shape[1])])
    assert lost == len({row for row in sources if row != home and hop[row] == NO_HOP})
    assert not carried.any()
    assert not waits.any()


@given(st.data())
def test_the_worst_is_that_of_all_ports(data: st.DataObject) -> None:
    ports = data.draw(st.integers(1, 8))
    loads = st.lists(st.integers(0, 9).map(float), min_size=ports, max_size=ports)
    base, load = np.array([data.draw(loads)]), np.array([data.draw(loads)])
    capacity = np.array(data.draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=ports, max_size=ports)))
    changed = data.draw(st.lists(st.integers(0, ports - 1), unique=True))
    load[0, [at for at in range(ports) if at not in changed]] = base[
        0, [at for at in range(ports) if at not in changed]
    ]
    stamp = np.zeros((1, ports), dtype=np.int32)
    stamp[0, changed] = TOKEN
    relative = base[0] / capacity
    order = np.lexsort((np.arange(ports), -relative))[: np.count_nonzero(relative)].astype(np.int32)
    worst, port = find_most(0, TOKEN, order, base, load, stamp, np.array(changed, np.int32), capacity)
    assert worst == (load[0] / capacity).max()
    assert port == (int((load[0] / capacity).argmax()) if worst else -1)


def test_flows_to_stamped_goals_are_done_again_unless_they_are_gone() -> None:
    goal = np.array([TOKEN, 0, TOKEN], dtype=np.int32)
    ptr, flows = np.array([0, 2, 3, 4], dtype=np.int32), np.array([5, 6, 7, 8], dtype=np.int32)
    stamp, found = np.zeros(9, dtype=np.int32), np.empty(9, dtype=np.int32)
    many = list_redone(TOKEN, goal, ptr, flows, np.array([6], dtype=np.int32), stamp, found)
    assert found[:many].tolist() == [5, 8]


def test_units_are_those_that_use_a_lost_port_or_whose_flows_change() -> None:
    found, stamp = np.empty(6, dtype=np.int32), np.zeros(6, dtype=np.int32)
    many = mark_units(
        np.array([1], np.int32), TOKEN, np.array([0, 1, 3], np.int32), np.array([5, 0, 2], np.int32),
        np.array([0, 1], np.int32), np.array([2, -1], np.int32), np.array([4, 0], np.int32), stamp, found,
    )  # fmt: skip
    assert found[:many].tolist() == [0, 2, 4]


@given(cases, st.data())
def test_units_before_and_after_are_those_of_the_twin(case: Case, data: st.DataObject) -> None:
    """Taken away on the whole graph and added on what is left, the loads are those of the rest."""
    filled = Filled(case, data)
    rows = filled.rows
    pairs = data.draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)), min_size=1, max_size=4))
    pairs = [(a, b) for a, b in pairs if filled.component[a] == filled.component[b] and a != b]
    new_hop, new_falls = np.empty_like(filled.hop), np.empty_like(filled.falls)
    new_of = np.full(rows, -1, dtype=np.int32)
    rests = np.ones(rows, dtype=np.int32)
    apart, _ = renew_ways(
        TOKEN, filled.dead, filled.home, rests, filled.component, filled.component_ptr, filled.sequence, filled.order,
        filled.edge_ptr, filled.edge_row, filled.edge_from, filled.edge_stamp, filled.hop, filled.falls, new_hop,
        new_falls, new_of, np.empty(rows, dtype=np.int32),
    )  # fmt: skip
    linked = {row for edge in filled.left for row in edge}
    if apart or not all(a in linked and b in linked for a, b in pairs):
        return
    room = Room(len(filled.links))
    want: dict[int, float] = {}
    before: dict[int, float] = {}
    for a, b in pairs:
        hop, falls = filled.climb(b, TOKEN)
        if hop[a] == NO_HOP:
            return
        for lost, ways_hop, ways_falls, load in (
            (filled.lost, hop, falls, want), (set[int](), filled.hop[b], filled.falls[b], before),
        ):  # fmt: skip
            reference.spread(a, b, 1.0, _ways(filled, lost, ways_hop, ways_falls), load)
    for at, value in before.items():
        room.load[0, at] = value
    unit = np.array([b for _, b in pairs], dtype=np.int32)
    by_unit = np.argsort(unit, kind="stable")
    chosen = np.unique(unit).astype(np.int32)
    flow_row = np.array([a for a, _ in pairs], dtype=np.int32)
    none = np.zeros(0, dtype=np.int32)
    for sign in (-1.0, 1.0):
        lost = spread_units(
            chosen, TOKEN, sign, np.searchsorted(unit[by_unit], np.arange(rows + 1)).astype(np.int32),
            by_unit.astype(np.int32), filled.home, np.zeros(rows, np.int32), np.zeros(len(pairs), np.int32), flow_row,
            np.ones(len(pairs)), none, none, np.zeros(0), filled.home, filled.order, filled.edge_ptr, filled.edge_row,
            filled.link_ptr, filled.link_port, filled.port_stamp, filled.hop, filled.falls, new_hop, new_falls, new_of,
            np.zeros(rows), np.empty(8, np.int32), np.full(256, -1, np.int32), np.full(rows, -1, np.int32),
            np.zeros(rows, np.uint8), *room.all,
        )  # fmt: skip
        assert lost == 0
    assert room.load[0].tolist() == pytest.approx([want.get(at, 0.0) for at in range(room.load.shape[1])], abs=1e-9)


def _ways(filled: Filled, lost: set[int], hop: np.ndarray, falls: np.ndarray):  # noqa: ANN202
    def ways(row: int) -> list[tuple[int, int]]:
        return [
            (at, filled.link_end[at])
            for at in filled.links_of(row)
            if at not in lost and leads_down(row, filled.link_end[at], filled.order, hop, falls)
        ]

    return ways
