from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import csr as reference
from weftline.kernels.column import I32
from weftline.kernels.csr import label_components, spread_distance

graphs = st.integers(1, 12).flatmap(
    lambda nodes: st.tuples(
        st.just(nodes),
        st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=20),
        st.lists(st.integers(0, nodes - 1), max_size=4),
    )
)


def to_csr(nodes: int, edges: list[tuple[int, int]]) -> tuple[I32, I32]:
    both = sorted([*edges, *((b, a) for a, b in edges)])
    ptr = np.searchsorted([a for a, _ in both], np.arange(nodes + 1)).astype(np.int32)
    return ptr, np.array([b for _, b in both], dtype=np.int32)


@given(graphs)
def test_components_and_distances_match_the_twin(case: tuple[int, list[tuple[int, int]], list[int]]) -> None:
    nodes, edges, sources = case
    ptr, nbr = to_csr(nodes, edges)
    assert label_components(ptr, nbr).tolist() == reference.label_components(nodes, edges)
    got = spread_distance(ptr, nbr, np.array(sources, dtype=np.int32)).tolist()
    assert got == reference.spread_distance(nodes, edges, sources)
