from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import pairs as reference
from weftline.kernels.chains import link_queues
from weftline.kernels.column import NIL
from weftline.kernels.pairs import (
    group_pairs,
    keep_resources,
    least_capacity,
    peak_demand,
    send_times,
    sum_pair_bytes,
    sum_resource_bytes,
)

KEYS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 1)), max_size=400)


@given(KEYS)
def test_pairs_are_numbered_in_order_of_first_use(keys: list[tuple[int, int, int]]) -> None:
    table = np.array(keys, dtype=np.int64).reshape(-1, 3)
    pair, first = group_pairs(table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), table[:, 2].astype(np.int8))
    assert (pair.tolist(), first.tolist()) == reference.group_pairs(keys)


def test_many_pairs_make_the_table_grow() -> None:
    source, target = np.divmod(np.arange(5000, dtype=np.int32), np.int32(50))
    pair, first = group_pairs(source, target, np.zeros(5000, dtype=np.int8))
    assert pair.tolist() == first.tolist() == list(range(5000))


@st.composite
def loads(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int], list[int]]:
    """Draw paths over five resources, capacities, and the pair and queue of some flows."""
    paths = draw(st.lists(st.lists(st.integers(0, 4), max_size=4, unique=True), min_size=1, max_size=5))
    flows = draw(st.integers(0, 12))
    pair = [draw(st.integers(0, len(paths) - 1)) for _ in range(flows)]
    return paths, [draw(st.integers(1, 9)) for _ in range(5)], pair, [draw(st.integers(NIL, 3)) for _ in range(flows)]


@given(loads())
def test_sums_over_paths_are_those_of_lists(load: tuple[list[list[int]], list[int], list[int], list[int]]) -> None:
    paths, capacity, pair, queue = load
    ptr = np.cumsum([0, *map(len, paths)]).astype(np.int32)
    resource = np.array([r for path in paths for r in path], dtype=np.int32)
    flow_pair, size = np.array(pair, dtype=np.int32), np.arange(1.0, len(pair) + 1)
    cap = least_capacity(ptr, resource, np.array(capacity, dtype=np.float64))
    caps = [min((float(capacity[r]) for r in path), default=np.inf) for path in paths]
    assert cap.tolist() == caps
    successor = link_queues(np.array(queue, dtype=np.int32), 4)
    demand = peak_demand(flow_pair, successor, ptr, resource, cap, 5)
    np.testing.assert_allclose(demand, reference.peak_demand(pair, queue, paths, caps, 5), rtol=1e-12)
    total = sum_pair_bytes(flow_pair, size, len(paths))
    assert total.tolist() == [sum(size[f] for f in range(len(pair)) if pair[f] == p) for p in range(len(paths))]
    crossing = sum_resource_bytes(total, ptr, resource, 5)
    assert crossing.tolist() == [sum(total[p] for p in range(len(paths)) if r in paths[p]) for r in range(5)]
    assert send_times(flow_pair, size, cap).tolist() == [size[f] / caps[pair[f]] for f in range(len(pair))]
    short_ptr, short = keep_resources(ptr, resource, np.array([0, NIL, 1, NIL, 2], dtype=np.int32))
    kept = [short[short_ptr[p] : short_ptr[p + 1]].tolist() for p in range(len(paths))]
    assert kept == [[r // 2 for r in path if r % 2 == 0] for path in paths]
