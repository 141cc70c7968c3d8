"""Cycle kernels against plain searches."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import cycles as reference
from weftline.kernels import cycles
from weftline.kernels.column import I32, I64

GRAPHS = st.lists(st.sets(st.integers(0, 8), max_size=3), min_size=9, max_size=9)


def csr(graph: list[set[int]]) -> tuple[I64, I32]:
    ptr = np.cumsum([0, *map(len, graph)]).astype(np.int64)
    return ptr, np.array([n for follows in graph for n in sorted(follows)], dtype=np.int32)


@settings(max_examples=300)
@given(GRAPHS)
def test_ranks_are_longest_ways(graph: list[set[int]]) -> None:
    rank, remaining = cycles.rank_channels(*csr(graph))
    assert (rank.tolist(), remaining) == reference.rank_channels(*csr(graph))


@settings(max_examples=300)
@given(GRAPHS)
def test_cycle_is_a_shortest_one_with_the_smallest_first_node(graph: list[set[int]]) -> None:
    ptr, after = csr(graph)
    rank, remaining = cycles.rank_channels(ptr, after)
    cycle, is_shortest = cycles.find_cycle(ptr, after, rank, 10**6)
    assert is_shortest
    found = cycle.tolist()
    assert ([len(found), found[0]] if found else []) == reference.shortest_cycle(ptr, after)
    assert bool(found) == (remaining > 0)
    assert len(set(found)) == len(found)
    assert all(found[(i + 1) % len(found)] in graph[found[i]] for i in range(len(found)))


@settings(max_examples=100)
@given(GRAPHS)
def test_cycle_without_steps_is_still_a_cycle(graph: list[set[int]]) -> None:
    ptr, after = csr(graph)
    rank, remaining = cycles.rank_channels(ptr, after)
    found = cycles.find_cycle(ptr, after, rank, -1)[0].tolist()
    assert bool(found) == (remaining > 0)
    assert all(found[(i + 1) % len(found)] in graph[found[i]] for i in range(len(found)))
