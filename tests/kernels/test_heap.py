from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference.heap import Heap
from weftline.kernels.column import NIL
from weftline.kernels.heap import pop_item, put_item

ITEMS = 8


@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(0, ITEMS - 1), st.integers(0, 20))), max_size=60))
def test_keys_leave_in_order_however_they_change(steps: list[tuple[int, int] | None]) -> None:
    heap = np.zeros(ITEMS, dtype=np.int32)
    place = np.full(ITEMS, NIL, dtype=np.int32)
    key = np.zeros(ITEMS)
    count = 0
    wanted = Heap()
    for step in [*steps, *[None] * ITEMS]:
        if step is not None:
            key[step[0]] = step[1]
            count = put_item(heap, place, key, step[0], count)
            wanted.put(*step)
        elif count:
            item = pop_item(heap, place, key, count)
            count -= 1
            assert key[item] == wanted.pop(item)
            assert place[item] == NIL
    assert count == len(wanted.keys) == 0
