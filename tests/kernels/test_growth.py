from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import growth as reference
from tests.tables import random_world
from weftline.kernels.growth import count_new_waits
from weftline.prove.tables import read_tables


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_ranks_are_checked_as_the_twin_checks_them(seed: int) -> None:
    fabric, routes = random_world(seed)
    if not routes.group.size:
        return
    tables = read_tables(fabric, routes)
    picks = random.Random(seed)
    rank = np.array([picks.randrange(-1, 40) for _ in range(fabric.port_count)], dtype=np.int32)
    if picks.randrange(2):
        rank = np.arange(fabric.port_count, dtype=np.int32)
    for _ in range(4):
        row, d = (picks.randrange(size) for size in routes.group.shape)
        wrong = count_new_waits(
            np.array([row], dtype=np.int32), np.array([d], dtype=np.int32), rank, fabric.port_ptr, fabric.port_peer,
            fabric.port_node, fabric.switch_row, fabric.switch_node, tables.group, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row,
        )  # fmt: skip
        names = (tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row)
        assert (wrong == 0) == reference.grows(row, d, rank, *names)
