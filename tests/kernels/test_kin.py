"""Ways by kin against every switch for itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import climb as climb_twin
from tests.kernels.reference import kin as reference
from tests.kernels.reference.updown import next_rows
from tests.kernels.test_updown import Case, Laid, cases
from weftline.kernels import kin as kernels
from weftline.kernels.column import I32, NIL
from weftline.route.graph import SwitchGraph
from weftline.route.kin import Kin, find_kin, list_runs


def lay(case: Case) -> tuple[Laid, SwitchGraph, Kin]:
    laid = Laid(case)
    graph = SwitchGraph(
        edge_ptr=laid.edge_ptr, edge_row=laid.edge_row, link_ptr=laid.link_ptr, link_port=laid.link_port,
        component=laid.component, tier=np.zeros(laid.rows, dtype=np.int32),
    )  # fmt: skip
    return laid, graph, find_kin(graph, laid.sequence, laid.order, len(laid.component_ptr) - 1)


def collect(laid: Laid, kin: Kin, home: I32, run: I32) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Collect the sets as engine ecmp does: per switch the numbers towards each home, and the ports of each set."""
    choice = np.full((laid.rows, len(home)), NIL, dtype=np.int32)
    list_ptr, list_item = kernels.name_sets(
        home, run, laid.component, laid.component_ptr, laid.sequence, laid.edge_ptr, kin.up_ptr, kin.up_row,
        kin.up_back, kin.part, kin.of, kin.ptr, kin.row, choice,
    )  # fmt: skip
    symbols = len(laid.edge_row) + len(kin.ptr) - 1 + len(list_ptr) - 1
    row_ptr, symbol = kernels.number_sets(symbols, choice)
    row = np.repeat(np.arange(laid.rows), np.diff(row_ptr)).astype(np.int32)
    ptr, port = kernels.spell_sets(
        row, symbol, list_ptr, list_item, kin.up_ptr, kin.up_edge, kin.of, kin.ptr, len(kin.row), laid.link_ptr,
        laid.link_port,
    )  # fmt: skip
    sets = [port[ptr[at] : ptr[at + 1]].tolist() for at in range(len(ptr) - 1)]
    return choice.tolist(), [sets[row_ptr[at] : row_ptr[at + 1]] for at in range(laid.rows)]


@given(cases)
def test_kin_share_their_upper_neighbours(case: Case) -> None:
    laid, _, kin = lay(case)
    order = laid.order.tolist()
    for row in range(laid.rows):
        upper = reference.upper_rows(order, laid.edges, row)
        at = slice(int(kin.up_ptr[row]), int(kin.up_ptr[row + 1]))
        assert tuple(kin.up_row[at].tolist()) == upper
        assert laid.edge_row[kin.up_edge[at]].tolist() == list(upper)
        assert laid.edge_row[kin.up_back[at]].tolist() == [row] * len(upper)
        if not upper:
            assert kin.of[row] == NIL
            continue
        own = int(kin.of[row])
        assert tuple(kin.row[kin.ptr[own] : kin.ptr[own + 1]].tolist()) == upper
        part = int(laid.component[row])
        assert kin.part[part] <= own < kin.part[part + 1]
        assert all(kin.of[other] < own for other in upper), "upper ones come first"
    told = [tuple(kin.row[kin.ptr[at] : kin.ptr[at + 1]].tolist()) for at in range(len(kin.ptr) - 1)]
    assert len(set(told)) == len(told)


@given(cases)
def test_hops_and_falling_edges_match_the_twin(case: Case) -> None:
    laid, _, kin = lay(case)
    scratch = [np.full(max(laid.rows, len(laid.edge_row), len(kin.ptr)), NIL, dtype=np.int32) for _ in range(7)]
    falls, hop, queue, lead, leads, kin_hop, kin_best = scratch
    for home in range(laid.rows):
        part = int(laid.component[home])
        kernels.climb_kin(
            home, home, int(kin.part[part]), int(kin.part[part + 1]), kin.up_ptr, kin.up_row, kin.up_back,
            laid.edge_ptr, kin.of, kin.ptr, kin.row, falls, hop, queue, lead, leads, kin_hop, kin_best,
        )  # fmt: skip
        want_hop, want_falls = climb_twin.climb(laid.order.tolist(), laid.edges, home)
        for row in np.flatnonzero(laid.component == part).tolist():
            assert (falls[row] == home) == want_falls[row]
            assert kernels.measure_kin(row, home, kin.of, falls, hop, kin_hop) == want_hop[row]
            wanted = next_rows(laid.order.tolist(), laid.edges, home, row)
            if want_falls[row]:
                edges = lead[laid.edge_ptr[row] : laid.edge_ptr[row] + leads[row]]
                assert sorted(laid.edge_row[edges].tolist()) == sorted(wanted)
            elif kin.of[row] != NIL and want_hop[row] != NIL:
                assert kin_best[kin.of[row]] == len(wanted)


@given(cases, st.data())
def test_unreached_components_match_the_twin(case: Case, data: st.DataObject) -> None:
    laid, _, kin = lay(case)
    flags = st.lists(st.integers(0, 3), min_size=laid.rows, max_size=laid.rows)
    sender, need = (np.array(data.draw(flags), dtype=np.uint8) for _ in range(2))
    fails = kernels.find_unreached(
        np.arange(laid.rows, dtype=np.int32), need, sender, laid.component, laid.component_ptr, laid.sequence,
        laid.edge_ptr, kin.up_ptr, kin.up_row, kin.up_back, kin.part, kin.of, kin.ptr, kin.row,
    )  # fmt: skip
    for part in range(len(fails)):
        inside = np.flatnonzero(laid.component == part)
        wanted = any(
            climb_twin.climb(laid.order.tolist(), laid.edges, int(home))[0][row] < 0 and sender[row] & need[home]
            for home in inside
            for row in inside
        )
        assert bool(fails[part]) == wanted


@given(cases, st.booleans(), st.data())
def test_sets_match_the_twin(case: Case, shares: bool, data: st.DataObject) -> None:
    laid, _, kin = lay(case)
    homes = sorted(data.draw(st.sets(st.integers(0, laid.rows - 1), min_size=1)))
    home = np.array(homes, dtype=np.int32)
    run = list_runs(kin, home) if shares else np.arange(len(homes) + 1, dtype=np.int32)
    numbers, sets = collect(laid, kin, home, run)
    want_numbers, want_sets = reference.collect_sets(laid.order.tolist(), laid.edges, homes)
    assert numbers == want_numbers
    for row in range(laid.rows):
        assert len(sets[row]) == len(want_sets[row])
        for ports, wanted in zip(sets[row], want_sets[row], strict=True):
            assert ports == [link for link in laid.links_of(row) if laid.link_end[link] in wanted]


@given(cases, st.data())
def test_homes_of_a_run_are_of_one_kin_and_have_none_below(case: Case, data: st.DataObject) -> None:
    laid, _, kin = lay(case)
    home = np.array(sorted(data.draw(st.sets(st.integers(0, laid.rows - 1)))), dtype=np.int32)
    run = list_runs(kin, home)
    assert run[0] == 0
    assert run[-1] == len(home)
    for first, last in zip(run[:-1].tolist(), run[1:].tolist(), strict=True):
        if last > first + 1:
            assert len(set(kin.of[home[first:last]].tolist())) == 1
            assert kin.of[home[first]] != NIL
            assert not set(kin.row.tolist()) & set(home[first:last].tolist())


def test_leaves_of_a_pod_are_climbed_once() -> None:
    # two pods of three leaves and two spines under two cores; a leaf without one spine is of a kin of its own
    links = [(leaf, 6 + 2 * (leaf // 3) + spine) for leaf in range(6) for spine in range(2)]
    links += [(6 + spine, 10 + core) for spine in range(4) for core in range(2)]
    rank = [*range(6, 12), *range(2, 6), 0, 1]
    home = np.arange(6, dtype=np.int32)
    kin = lay((12, links, rank))[2]
    assert list_runs(kin, home).tolist() == [0, 3, 6]
    kin = lay((12, links[1:], rank))[2]
    assert list_runs(kin, home).tolist() == [0, 1, 3, 6]


def test_many_sets_grow_every_store() -> None:
    # A star of pairs: every leaf hangs on its own two of many middles, so the hub needs a set for each leaf.
    leaves = 200
    hub, links = 0, list[tuple[int, int]]()
    for leaf in range(leaves):
        middles = (1 + 2 * leaf, 2 + 2 * leaf)
        links += [(hub, middle) for middle in middles] + [(middle, 1 + 2 * leaves + leaf) for middle in middles]
    laid, _, kin = lay((1 + 3 * leaves, links, list(range(1 + 3 * leaves))))
    home = np.arange(1 + 2 * leaves, 1 + 3 * leaves, dtype=np.int32)
    numbers, sets = collect(laid, kin, home, list_runs(kin, home))
    assert numbers[hub] == list(range(leaves))
    assert [len(one) for one in sets[hub]] == [2] * leaves


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), max_size=12, unique_by=tuple), st.data())
def test_a_hash_table_finds_every_list(lists: list[list[int]], data: st.DataObject) -> None:
    ptr = np.concatenate(([0], np.cumsum([len(one) for one in lists]))).astype(np.int32)
    item = np.array([value for one in lists for value in one], dtype=np.int32)
    bucket = kernels.hash_lists(len(lists), ptr, item, 32)
    assert sorted(bucket[bucket != NIL].tolist()) == list(range(len(lists)))
    asked = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    found = int(bucket[kernels.find_list(np.array(asked, dtype=np.int32), ptr, item, bucket)])
    assert found == (lists.index(asked) if asked in lists else NIL)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@given(data=st.data())
def test_choices_are_copied_to_the_destinations_of_a_home(dtype: type[np.uint8], data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 5))
    home = data.draw(st.permutations(range(rows)))[: data.draw(st.integers(1, rows))]
    size = data.draw(st.integers(0, 12)) * (data.draw(st.booleans()) or 4)
    home_of = sorted(data.draw(st.lists(st.integers(-1, len(home) - 1), min_size=size, max_size=size)))
    if data.draw(st.booleans()):
        home_of = data.draw(st.permutations(home_of))
    choice = [[data.draw(st.integers(-1, 7)) for _ in home] for _ in range(rows)]
    own = [100 + goal for goal in range(size)]
    group = np.full((rows, size), 99, dtype=dtype)
    column = np.array(home_of, dtype=np.int32)
    goal = np.argsort(column, kind="stable").astype(np.int32)
    goal = goal[column[goal] != NIL]
    ptr = np.searchsorted(column[goal], np.arange(len(home) + 1)).astype(np.int32)
    run = np.append(np.flatnonzero(np.diff(column, prepend=-2)), size).astype(np.int32)
    half = data.draw(st.integers(0, rows))
    for begin, end in ((0, half), (half, rows)):
        kernels.spread_choice(
            begin, end, np.array(choice, dtype=np.int32), run, column, np.array(home, dtype=np.int32), ptr, goal,
            np.array(own, dtype=np.int32), 250, group,
        )  # fmt: skip
    assert group.tolist() == reference.spread_choice(choice, home_of, home, own, 250)
