"""Ways of one switch against lists and sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import ways as reference
from weftline.kernels import ways
from weftline.kernels.column import I32, NIL

SETS = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=12)


def to_csr(sets: list[list[int]]) -> tuple[I32, I32]:
    ptr = np.concatenate(([0], np.cumsum([len(one) for one in sets]))).astype(np.int32)
    return ptr, np.array([port for one in sets for port in one], dtype=np.int32)


@given(SETS)
def test_equal_sets_are_kept_once(sets: list[list[int]]) -> None:
    number, ptr, port = ways.share_sets(*to_csr(sets))
    wanted, kept = reference.share_sets(sets)
    assert number.tolist() == wanted
    assert [port[ptr[at] : ptr[at + 1]].tolist() for at in range(len(ptr) - 1)] == kept


@given(SETS, st.data())
def test_one_port_is_counted_off(sets: list[list[int]], data: st.DataObject) -> None:
    homes = len(sets)
    goals = data.draw(st.lists(st.integers(-1, homes - 1), max_size=10))
    ordinal = data.draw(st.lists(st.integers(0, 40), min_size=len(goals), max_size=len(goals)))
    divisor, row = data.draw(st.integers(1, 4)), data.draw(st.integers(0, homes))
    entry = np.full(len(goals), 255, dtype=np.uint8)
    of_port = np.arange(10, dtype=np.int32) + 50
    ways.pick_ways(
        row, *to_csr(sets), np.array(goals, dtype=np.int32), np.arange(homes, dtype=np.int32),
        np.arange(len(goals), dtype=np.int32), np.array(ordinal, dtype=np.int32), divisor, of_port, entry,
    )  # fmt: skip
    for d, home in enumerate(goals):
        picked = None if home == NIL else reference.pick(sets[home], ordinal[d], divisor)
        wanted = d if home == row and home != NIL else 255 if picked is None else picked + 50
        assert entry[d] == wanted
