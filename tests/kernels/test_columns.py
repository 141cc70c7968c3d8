from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import columns as reference
from tests.kernels.reference import outage as outage_twin
from tests.kernels.reference import repair as repair_twin
from tests.kernels.test_outage import TOKEN, Cut
from tests.kernels.test_updown import Case, cases
from weftline.kernels.columns import APART, FULL, count_misled, count_strays, find_spoilt, list_good, put_back, refill
from weftline.kernels.outage import NO_HOP, leads_down

NONE = 255
LOCAL = 254


class Filled(Cut):
    """A graph in which every switch is a destination, with a table of single links, counted row by row."""

    def __init__(self, case: Case, data: st.DataObject) -> None:
        super().__init__(case, data)
        self.home = np.arange(self.rows, dtype=np.int32)
        self.ptr = np.arange(self.rows + 1, dtype=np.int32)
        self.group_ptr = np.array([self.links_of(row).start for row in range(self.rows)] + [len(self.links)], np.int32)
        self.group_of_port = (np.arange(len(self.links)) - self.group_ptr[self.edge_from[self.port_edge]]).astype(
            np.int32
        )
        self.group_row = np.array(self.link_end, dtype=np.int32)
        self.local = np.full(self.rows, LOCAL, dtype=np.int32)
        self.hop = np.full((self.rows, self.rows), NO_HOP, dtype=np.uint8)
        self.falls = np.zeros((self.rows, self.rows), dtype=np.uint8)
        for home in range(self.rows):
            self.hop[home], self.falls[home] = self.climb(home, TOKEN + 1)
        self.table = np.full((self.rows, self.rows), NONE, dtype=np.uint8)
        for row in range(self.rows):
            for home in range(self.rows):
                good = [at for at in self.links_of(row) if self.leads(row, at, home)]
                if row == home:
                    self.table[row, home] = LOCAL
                elif good:
                    self.table[row, home] = self.group_of_port[data.draw(st.sampled_from(good))]

    def leads(self, row: int, link: int, home: int) -> bool:
        return leads_down(row, self.link_end[link], self.order, self.hop[home], self.falls[home])

    def count(self) -> int:
        return count_strays(
            self.home, self.ptr, self.home, self.local, self.component, self.order, self.hop, self.falls,
            self.group_ptr, self.group_row, self.table,
        )  # fmt: skip

    def spoil(self, stamp: np.ndarray) -> int:
        return find_spoilt(
            self.ports, TOKEN, self.port_edge, self.edge_from, self.edge_ptr, self.edge_stamp, self.group_of_port,
            self.home, self.component, self.table, stamp,
        )  # fmt: skip


@given(cases, st.data())
def test_entries_that_stray_are_counted_as_the_twin_does(case: Case, data: st.DataObject) -> None:
    filled = Filled(case, data)
    assert filled.count() == 0
    row, home = (data.draw(st.integers(0, filled.rows - 1)) for _ in range(2))
    entry = data.draw(st.integers(0, len(filled.links_of(row))))
    if filled.component[row] != filled.component[home] or entry == len(filled.links_of(row)):
        return
    filled.table[row, home] = entry
    ways = {home: outage_twin.hops(filled.order.tolist(), filled.edges, home)}
    want = reference.strays({home: {row: filled.link_end[filled.group_ptr[row] + entry]}}, filled.order.tolist(), ways)
    assert filled.count() == want


@given(cases, st.data())
def test_spoilt_columns_match_the_twin(case: Case, data: st.DataObject) -> None:
    filled = Filled(case, data)
    stamp = np.zeros(filled.rows, dtype=np.int32)
    found = filled.spoil(stamp)
    linked = {row for edge in filled.left for row in edge}
    lost = [
        (int(filled.edge_from[filled.port_edge[p]]), int(filled.group_of_port[p]))
        for p in filled.lost
        if int(filled.edge_from[filled.port_edge[p]]) in linked
    ]
    want = repair_twin.touched(filled.table.tolist(), lost, list(range(filled.rows)), filled.component.tolist())
    assert (stamp == TOKEN).tolist() == [one and home in linked for home, one in enumerate(want)]
    assert found == int((stamp == TOKEN).sum())


@given(cases, st.data())
def test_columns_are_filled_again_checked_and_put_back(case: Case, data: st.DataObject) -> None:
    """What is filled again is right by the definition on what is left; what is put back is as it was."""
    filled = Filled(case, data)
    stamp, before = np.zeros(filled.rows, dtype=np.int32), filled.table.copy()
    filled.spoil(stamp)
    new_hop, new_falls = np.empty_like(filled.hop), np.empty_like(filled.falls)
    new_of = np.full(filled.rows, -1, dtype=np.int32)
    room = data.draw(st.sampled_from([200, 1]))
    cells, entries = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int32)
    scratch = [np.empty(filled.rows + len(filled.links) + 1, dtype=np.int32) for _ in range(3)]
    no_port = np.full(filled.rows, -1, dtype=np.int32)
    used = refill(
        filled.ports, TOKEN, filled.dead, filled.home, filled.ptr, filled.home, stamp, no_port, filled.port_stamp,
        np.zeros(filled.rows, dtype=np.int32), filled.component, filled.component_ptr, filled.sequence, filled.order,
        filled.edge_ptr, filled.edge_row, filled.edge_from, filled.link_ptr, filled.link_port, filled.port_edge,
        filled.edge_stamp, filled.hop, filled.falls, new_hop, new_falls, new_of, filled.group_of_port, filled.group_ptr,
        filled.group_row, filled.link_port, filled.home, np.ones(filled.rows, dtype=np.int32),
        np.full(filled.rows, 3, dtype=np.int32), NONE, scratch[0], scratch[1], scratch[2], cells, entries,
        filled.table,
    )  # fmt: skip
    if used < 0:
        assert used == (FULL if room == 1 else APART)
        return
    linked = {row for edge in filled.left for row in edge}
    gone = filled.lost
    for home in np.flatnonzero(stamp == TOKEN).tolist():
        hop, falls = outage_twin.hops(filled.order.tolist(), filled.left, home)
        for row in sorted(linked):
            if filled.component[row] != filled.component[home]:
                continue
            entry = int(filled.table[row, home])
            link = None if entry >= LOCAL else int(filled.group_ptr[row]) + entry
            other = None if link is None else filled.link_end[link]
            assert link not in gone
            assert reference.is_right(row, other, home, filled.order.tolist(), (hop, falls))
    wrong, _ = count_misled(
        TOKEN, filled.home, filled.ptr, filled.home, stamp, filled.local, filled.component, filled.order,
        filled.edge_ptr, filled.edge_stamp, filled.hop, filled.falls, new_hop, new_falls, new_of, filled.group_ptr,
        filled.group_row, filled.link_port, filled.port_stamp, cells[:used], filled.home, filled.table,
    )  # fmt: skip
    assert wrong == 0
    if used:
        row, home = divmod(int(cells[0]), filled.rows)
        kept = int(filled.table[row, home])
        filled.table[row, home] = int(entries[0])  # the lost port again: no proof may pass over it
        wrong, _ = count_misled(
            TOKEN, filled.home, filled.ptr, filled.home, stamp, filled.local, filled.component, filled.order,
            filled.edge_ptr, filled.edge_stamp, filled.hop, filled.falls, new_hop, new_falls, new_of,
            filled.group_ptr, filled.group_row, filled.link_port, filled.port_stamp, cells[:used], filled.home,
            filled.table,
        )  # fmt: skip
        assert wrong == 1
        filled.table[row, home] = kept
    put_back(cells[:used], entries[:used], filled.table)
    assert np.array_equal(filled.table, before)


def test_good_ports_go_across_neighbours_first_and_pass_over_lost_links() -> None:
    """Row 2 goes up to 0 by three links and to 1 by one; the first link to 0 is lost."""
    edge_ptr, edge_row = np.array([0, 1, 2, 4], dtype=np.int32), np.array([2, 2, 0, 1], dtype=np.int32)
    link_ptr, link_port = np.array([0, 3, 4, 7, 8], dtype=np.int32), np.arange(8, dtype=np.int32)
    stamp, edge_stamp = np.zeros(8, dtype=np.int32), np.zeros(4, dtype=np.int32)
    stamp[4] = TOKEN
    hop, falls = np.array([1, 1, 2], dtype=np.uint8), np.array([0, 0, 0], dtype=np.uint8)
    good, lead = np.empty(8, dtype=np.int32), np.empty(4, dtype=np.int32)
    many = list_good(
        2, TOKEN, np.array([0, 1, 2], dtype=np.int32), edge_ptr, edge_row, link_ptr, link_port, stamp, edge_stamp, hop,
        falls, np.arange(10, 18, dtype=np.int32), lead, good,
    )  # fmt: skip
    assert good[:many].tolist() == [15, 17, 16]
