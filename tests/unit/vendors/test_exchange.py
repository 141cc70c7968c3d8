"""One file of forwarding tables exchanged for another: what is written anew is what writing all of it gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weftline.model.intent import ForwardingTable
from weftline.vendors.opensm.tables import exchange_table, write_table

HEAD = b"# Forwarding tables of subnet-1\n# Unicast lids are not here\n"


def make(port: np.ndarray, first: int = 5) -> ForwardingTable:  # type: ignore[type-arg]
    rows, columns = port.shape
    return ForwardingTable(
        switch_id=np.arange(first, first + rows, dtype=np.uint64),
        switch_name=tuple(f"leaf-{row:03d}" for row in range(rows)),
        switch_address=np.arange(100, 100 + rows, dtype=np.int64),
        address=np.arange(1, columns + 1, dtype=np.int64),
        port=port,
    )


@given(st.integers(0, 5), st.integers(1, 6), st.data())
def test_exchanging_gives_what_writing_gives(rows: int, columns: int, data: st.DataObject) -> None:
    ports = st.lists(st.sampled_from([1, 2, 255]), min_size=rows * columns, max_size=rows * columns).map(
        lambda flat: np.array(flat, dtype=np.uint8).reshape(rows, columns)
    )
    before, after = make(data.draw(ports)), make(data.draw(ports))
    content = HEAD + write_table(before)
    assert exchange_table(after, content, before) == HEAD + write_table(after)
    assert exchange_table(after, content, None) == HEAD + write_table(after)


def test_tables_of_other_switches_are_written_whole() -> None:
    one = np.ones((2, 3), dtype=np.uint8)
    before, after = make(one), make(one, first=9)
    assert exchange_table(after, HEAD + write_table(before), before) == HEAD + write_table(after)
    assert exchange_table(after, b"", before) == write_table(after)
