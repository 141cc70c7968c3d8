from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import waiting as reference
from tests.tables import random_world
from weftline.kernels.column import NIL
from weftline.kernels.waiting import insert_turns


@given(st.integers(0, 5000), st.integers(1, 3), st.data())
def test_turns_go_in_until_one_closes_a_cycle(seed: int, lanes: int, data: st.DataObject) -> None:
    fabric, _ = random_world(seed, sane=True)
    row_of = fabric.switch_row[fabric.port_node]
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths * widths)))
    channels = [
        port for port in range(fabric.port_count)
        if fabric.port_peer[port] != NIL and row_of[port] != NIL and row_of[fabric.port_peer[port]] != NIL
    ]  # fmt: skip
    pairs = [(a, b) for a, b in itertools.product(channels, repeat=2) if row_of[fabric.port_peer[a]] == row_of[b]]
    if not pairs:
        return
    every, ports = lanes * fabric.port_count, fabric.port_count
    pairs = [(a + i * ports, b + j * ports) for a, b in pairs for i in range(lanes) for j in range(lanes)]
    count, place = np.zeros(int(turn_ptr[-1]) * lanes**2, dtype=np.int32), np.arange(every, dtype=np.int32)
    edges: dict[int, set[int]] = {}
    for batch in data.draw(st.lists(st.lists(st.sampled_from(pairs), max_size=4), max_size=12)):
        numbers, rows = list[int](), list[int]()
        for first, last in batch:
            row = int(row_of[last % ports])
            base = int(fabric.port_ptr[fabric.switch_node[row]])
            came = int(fabric.port_peer[first % ports]) - base
            turn = int(turn_ptr[row]) + came * int(widths[row]) + last % ports - base
            numbers.append(turn * lanes**2 + first // ports * lanes + last // ports)
            rows.append(row)
        put, _ = insert_turns(
            np.array(numbers, dtype=np.int64), np.array(rows, dtype=np.int32), lanes, turn_ptr, fabric.port_ptr,
            fabric.port_peer, fabric.switch_node, fabric.switch_row, fabric.port_node, count, place,
        )  # fmt: skip
        wanted = 0
        for first, last in batch:
            if reference.closes(edges, first, last):
                break
            edges.setdefault(first, set()).add(last)
            wanted += 1
        assert put == wanted
        assert sorted(place.tolist()) == list(range(every))
        assert all(place[first] < place[last] for first, after in edges.items() for last in after)
