from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import climb as climb_twin
from tests.kernels.reference import updown as reference
from weftline.kernels.climb import climb
from weftline.kernels.column import I32, NIL
from weftline.kernels.csr import label_components
from weftline.kernels.updown import fill_updown

Case = tuple[int, list[tuple[int, int]], list[int]]

cases = st.integers(1, 8).flatmap(
    lambda rows: st.tuples(
        st.just(rows),
        st.lists(
            st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)).filter(lambda pair: pair[0] != pair[1]),
            max_size=16,
        ),
        st.permutations(range(rows)),
    )
)


class Laid:
    """A multigraph as the kernels want it; port numbers count the links, in the order of rows and neighbours."""

    def __init__(self, case: Case) -> None:
        rows, links, rank = case
        both = sorted([*links, *((b, a) for a, b in links)])
        pairs = sorted(set(both))
        self.rows, self.edges = rows, set(pairs)
        self.edge_ptr = self.point([a for a, _ in pairs], rows)
        self.edge_row = np.array([b for _, b in pairs], dtype=np.int32)
        self.link_ptr = self.point([pairs.index(pair) for pair in both], len(pairs))
        self.link_port = np.arange(len(both), dtype=np.int32)
        self.link_end = [b for _, b in both]
        self.component = label_components(self.edge_ptr, self.edge_row)
        self.sequence = np.array(sorted(range(rows), key=lambda row: (self.component[row], rank[row])), dtype=np.int32)
        self.order = np.argsort(self.sequence).astype(np.int32)
        self.component_ptr = self.point(sorted(self.component.tolist()), int(self.component.max()) + 1)

    def links_of(self, row: int) -> range:
        return range(self.link_ptr[self.edge_ptr[row]], self.link_ptr[self.edge_ptr[row + 1]])

    @staticmethod
    def point(keys: list[int], size: int) -> I32:
        return np.searchsorted(keys, np.arange(size + 1)).astype(np.int32)


def rates_of(laid: Laid) -> st.SearchStrategy[list[float]]:
    """Draw a rate for every link."""
    count = len(laid.link_port)
    return st.lists(st.sampled_from([100.0, 200.0, 400.0]), min_size=count, max_size=count)


@given(cases)
def test_climb_matches_the_twin(case: Case) -> None:
    laid = Laid(case)
    for home in range(laid.rows):
        hop, falls = np.full(laid.rows, NIL, dtype=np.int32), np.zeros(laid.rows, dtype=np.uint8)
        part = int(laid.component[home])
        first, last = (int(at) for at in laid.component_ptr[part : part + 2])
        queue = np.empty(laid.rows, dtype=np.int32)
        count = climb(home, first, last, laid.sequence, laid.order, laid.edge_ptr, laid.edge_row, hop, falls, queue)
        assert sorted(queue[:count].tolist()) == np.flatnonzero(falls).tolist()
        want_hop, want_falls = climb_twin.climb(laid.order.tolist(), laid.edges, home)
        assert hop.tolist() == want_hop
        assert falls.astype(bool).tolist() == want_falls


@given(cases, st.integers(1, 5), st.data())
def test_ports_match_the_twin(case: Case, per_home: int, data: st.DataObject) -> None:
    laid = Laid(case)
    home = np.arange(laid.rows, dtype=np.int32)
    goals = laid.rows * per_home
    goal = np.arange(goals, dtype=np.int32)
    ordinal = np.array(data.draw(st.permutations(range(goals))), dtype=np.int32)
    divisor = np.array(data.draw(st.lists(st.integers(1, 9), min_size=laid.rows, max_size=laid.rows)), dtype=np.int32)
    slots = np.full(laid.rows, data.draw(st.integers(1, laid.rows)), dtype=np.int32)
    slotted = data.draw(st.booleans())
    edge_slot = np.where(slotted & (laid.edge_row < slots[0]), laid.edge_row, NIL).astype(np.int32)
    group = np.full((laid.rows, goals), 255, dtype=np.uint8)
    fill_updown(
        home,
        np.arange(0, goals + 1, per_home, dtype=np.int32),
        goal,
        ordinal,
        np.full(goals, 254, dtype=np.int32),
        divisor,
        slots,
        edge_slot,
        laid.component,
        laid.component_ptr,
        laid.sequence,
        laid.order,
        laid.edge_ptr,
        laid.edge_row,
        laid.link_ptr,
        laid.link_port,
        np.array(data.draw(st.one_of(st.just([]), rates_of(laid))), dtype=np.float64),
        group,
    )
    for row in range(laid.rows):
        for at in range(laid.rows):
            wanted = reference.next_rows(laid.order.tolist(), laid.edges, at, row)
            ports = {link for link in laid.links_of(row) if laid.link_end[link] in wanted}
            entries = set(group[row, at * per_home : (at + 1) * per_home].tolist())
            assert entries <= ({254} if row == at else ports or {255})
