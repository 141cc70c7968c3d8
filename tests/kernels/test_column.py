"""Values that are counted are those that sorting finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weftline.kernels.column import count_values, rank_values


@given(st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**40)), max_size=60))
def test_values_are_counted_and_numbered_as_sorting_does(values: list[int]) -> None:
    column = np.array(values, dtype=np.int64)
    found, count = count_values(column)
    distinct = sorted(set(values))
    assert found.tolist() == distinct
    assert count.tolist() == [values.count(value) for value in distinct]
    assert rank_values(column).tolist() == [distinct.index(value) for value in values]
