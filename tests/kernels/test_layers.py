"""Turns, trees and lanes against slow twins, and their laws against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import layers, shortest
from tests.kernels.reference.turns import Lane
from weftline.kernels.column import NIL
from weftline.kernels.layers import fill_lanes, spread_layers
from weftline.kernels.shortest import grow_trees, measure_hops
from weftline.kernels.turns import NO_WAY, add_turn, drop_turn

Links = list[tuple[int, int]]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, Links, list[int]]:
    """Draw switches in one piece or several, links, and the endpoints on each switch."""
    rows = draw(st.integers(1, 7))
    ends = st.integers(0, rows - 1)
    links = [(draw(st.integers(0, row - 1)), row) for row in range(1, rows) if draw(st.integers(0, 5))]
    links += [pair for pair in draw(st.lists(st.tuples(ends, ends), max_size=9)) if pair[0] != pair[1]]
    return rows, links, draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))


class Laid:
    """A multigraph as the kernels want it; the links of a switch stand in the order in which they are given."""

    def __init__(self, world: tuple[int, Links, list[int]]) -> None:
        self.rows, links, sender = world
        ends: list[list[tuple[int, int, int]]] = [[] for _ in range(self.rows)]
        for name, (a, b) in enumerate(links):
            ends[a].append((b, name, 0))
            ends[b].append((a, name, 1))
        flat = [end for row in ends for end in row]
        self.sender = np.array(sender, dtype=np.int32)
        self.link_ptr = np.cumsum([0, *(len(row) for row in ends)]).astype(np.int32)
        self.link_row = np.array([other for other, _, _ in flat], dtype=np.int32)
        place = {(name, side): at for at, (_, name, side) in enumerate(flat)}
        self.link_back = np.array([place[name, 1 - side] for _, name, side in flat], dtype=np.int32)
        degree = np.diff(self.link_ptr).astype(np.int64)
        self.turn_ptr = np.concatenate(([0], np.cumsum(degree * degree))).astype(np.int64)
        self.twin = shortest.World(
            [
                [(at, int(self.link_row[at])) for at in range(self.link_ptr[row], self.link_ptr[row + 1])]
                for row in range(self.rows)
            ],
            sender,
        )
        self.graph = (self.turn_ptr, self.link_ptr, self.link_row, self.link_back)
        # several goals on a switch, some on one without endpoints
        self.home = np.repeat(np.arange(self.rows), [max(1, count) for count in sender]).astype(np.int32)

    def room(self, lanes: int) -> tuple[np.ndarray, ...]:  # type: ignore[type-arg]
        return (
            np.zeros((lanes, int(self.turn_ptr[-1])), dtype=np.int32),
            np.tile(np.arange(len(self.link_row), dtype=np.int32), (lanes, 1)),
            np.full((self.rows, len(self.home)), NO_WAY, dtype=np.uint16),
            np.zeros(len(self.home), dtype=np.int8),
        )


@given(worlds(), st.data())
def test_turns_are_refused_where_they_close_a_cycle(world: tuple[int, Links, list[int]], data: st.DataObject) -> None:
    laid = Laid(world)
    links = len(laid.link_row)
    turns = [
        (first, second)
        for first in range(links)
        for second in range(laid.link_ptr[laid.link_row[first]], laid.link_ptr[laid.link_row[first] + 1])
    ]
    if not turns:
        return
    used, order, _, _ = laid.room(1)
    seen, stack = np.zeros(links, dtype=np.int32), np.empty(links + 1, dtype=np.int32)
    twin = Lane()
    for first, second in data.draw(st.lists(st.sampled_from(turns), max_size=25)):
        if twin.held and data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(sorted(twin.held)))
            drop_turn(*gone, *laid.graph, used[0])
            twin.drop([gone])
        else:
            fits = add_turn(first, second, *laid.graph, used[0], order[0], seen, stack)
            assert fits == twin.fits([(first, second)])
        assert sorted(order[0].tolist()) == list(range(links))
        assert all(order[0][a] < order[0][b] for a, b in twin.held)
        assert not seen.any()
        assert used.sum() == sum(twin.turns.values())
        assert all(used[0][place_of(laid, a, b)] == twin.turns[a, b] for a, b in turns)


def place_of(laid: Laid, first: int, second: int) -> int:
    """Find a turn: at its switch, by the link that it comes from and the one that it leaves by."""
    row = int(laid.link_row[first])
    begin, end = int(laid.link_ptr[row]), int(laid.link_ptr[row + 1])
    return int(laid.turn_ptr[row]) + (int(laid.link_back[first]) - begin) * (end - begin) + second - begin


@given(worlds())
def test_hops_match_networkx(world: tuple[int, Links, list[int]]) -> None:
    laid = Laid(world)
    graph = nx.Graph(world[1])
    graph.add_nodes_from(range(laid.rows))
    hop, queue = np.empty(laid.rows, dtype=np.int32), np.empty(laid.rows, dtype=np.int32)
    for home in range(laid.rows):
        found = measure_hops(home, laid.link_ptr, laid.link_row, hop, queue)
        near = nx.single_source_shortest_path_length(graph, home)
        assert hop.tolist() == [near.get(row, NIL) for row in range(laid.rows)]
        assert found == len(near)


@pytest.mark.parametrize("balances", [0, 1])
@pytest.mark.parametrize("adapts", [0, 1])
@given(world=worlds(), most=st.integers(1, 3), speaks=st.booleans(), tolls=st.lists(st.integers(1, 4), max_size=4))
def test_trees_and_lanes_match_the_twins(
    balances: int, adapts: int, world: tuple[int, Links, list[int]], most: int, speaks: bool, tolls: list[int]
) -> None:
    laid = Laid(world)
    used, order, choice, lane = laid.room(most)
    homes = laid.home.tolist()
    toll = np.resize(np.array(tolls or [1], dtype=np.int64), len(laid.link_row))
    grow_trees(laid.home, *laid.graph, laid.sender, toll, balances, adapts, used[0].copy(), order[0].copy(), choice)
    trees = shortest.grow_all(laid.twin, homes, toll.tolist(), balances=bool(balances), adapts=bool(adapts))
    for goal, tree in enumerate(trees):
        offsets = {row: link - int(laid.link_ptr[row]) for row, (link, _) in tree.items()}
        assert choice[:, goal].tolist() == [offsets.get(row, NO_WAY) for row in range(laid.rows)]
    answers = np.array([speaks and world[2][home] > 0 for home in homes], dtype=np.uint8)
    lanes = fill_lanes(laid.home, answers, *laid.graph, laid.sender, used, order, choice, lane)
    made = layers.fill(laid.twin, homes, answers.tolist(), trees, most)
    if lanes < 0:
        assert len(made.lane) == -lanes - 1 < len(homes)
        return
    assert lane.tolist() == made.lane
    assert lanes == max(made.lane) + 1
    for level in range(lanes):
        turns: list[tuple[int, int]] = []
        for goal, home in enumerate(homes):
            if lane[goal] == level:
                turns += laid.twin.turns_of(trees[goal], home)
                turns += laid.twin.answers_of(trees, homes, home) if answers[goal] else []
        assert nx.is_directed_acyclic_graph(nx.DiGraph(turns))
        assert np.count_nonzero(used[level]) == len(set(turns))
        assert made.lanes[level].held == set(turns)


def test_entries_are_spread_to_destinations() -> None:
    # switch 1 of the tables is the first here; two destinations share goal 0, one has none
    group = np.full((2, 4), 255, dtype=np.uint8)
    choice = np.array([[NO_WAY, 0], [0, NO_WAY]], dtype=np.uint16)
    spread_layers(
        np.array([1, 0], dtype=np.int32),
        np.array([0, 1, 2], dtype=np.int32),
        np.array([7, 8], dtype=np.int32),
        choice,
        np.array([0, 0, 1, NIL], dtype=np.int32),
        np.array([0, 0, 1, NIL], dtype=np.int32),
        np.array([1, 2, 3, NIL], dtype=np.int32),
        group,
    )
    assert group.tolist() == [[8, 8, 3, 255], [1, 2, 7, 255]]
