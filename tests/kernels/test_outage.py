from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import outage as reference
from tests.kernels.test_updown import Case, Laid, cases
from weftline.kernels.column import I32
from weftline.kernels.outage import (
    NO_HOP,
    climb_rest,
    count_odd_sets,
    has_stranded,
    hold_ends,
    is_joined,
    keep_ways,
    leads_down,
    list_ways,
    mark_outage,
    mend_ways,
    stay_together,
)

TOKEN = 7


class Cut(Laid):
    """A graph with its lost links stamped; port p is link p, and the way back of a link is lost with it."""

    def __init__(self, case: Case, data: st.DataObject) -> None:
        super().__init__(case)
        starts = np.repeat(np.arange(self.rows), np.diff(self.edge_ptr))
        self.edge_from: I32 = starts.astype(np.int32)
        self.port_edge: I32 = np.repeat(np.arange(len(self.edge_row), dtype=np.int32), np.diff(self.link_ptr)).astype(
            np.int32
        )
        self.links = [(int(self.edge_from[e]), int(self.edge_row[e])) for e in self.port_edge]
        back: dict[int, int] = {}
        free: dict[tuple[int, int], list[int]] = {}
        for at, link in enumerate(self.links):
            free.setdefault(link, []).append(at)
        for at, (a, b) in enumerate(self.links):
            back[at] = free[b, a][free[a, b].index(at)]
        picked = data.draw(st.lists(st.sampled_from(range(len(self.links))), max_size=6)) if self.links else []
        self.lost = {end for at in picked for end in (at, back[at])}
        self.ports = np.array(sorted(self.lost), dtype=np.int32)
        self.port_stamp = np.zeros(max(1, len(self.links)), dtype=np.int32)
        self.edge_stamp = np.zeros(max(1, len(self.edge_row)), dtype=np.int32)
        dead = np.empty(max(1, len(self.edge_row)), dtype=np.int32)
        many = mark_outage(
            self.ports, TOKEN, self.port_edge, self.link_ptr, self.link_port, self.port_stamp, self.edge_stamp, dead
        )
        self.dead = dead[:many]
        self.left = reference.rest(self.edges, self.links, self.lost)

    def climb(self, home: int, token: int) -> tuple[np.ndarray, np.ndarray]:
        hop, falls = np.full(self.rows, NO_HOP, dtype=np.uint8), np.zeros(self.rows, dtype=np.uint8)
        part = int(self.component[home])
        first, last = (int(at) for at in self.component_ptr[part : part + 2])
        most = climb_rest(
            home, first, last, token, self.sequence, self.order, self.edge_ptr, self.edge_row, self.edge_stamp, hop,
            falls, np.empty(self.rows, dtype=np.int32),
        )  # fmt: skip
        assert most == max((int(one) for one in hop if one != NO_HOP), default=0)
        return hop, falls


@given(cases, st.data())
def test_edges_that_lost_every_link_are_dead_and_no_others(case: Case, data: st.DataObject) -> None:
    cut = Cut(case, data)
    dead = {(int(cut.edge_from[e]), int(cut.edge_row[e])) for e in cut.dead}
    assert dead == cut.edges - cut.left
    linked = {row for edge in cut.left for row in edge}
    assert [is_joined(row, TOKEN, cut.edge_ptr, cut.edge_stamp) for row in range(cut.rows)] == [
        row in linked for row in range(cut.rows)
    ]


@given(cases, st.data())
def test_what_stays_together_matches_the_twin(case: Case, data: st.DataObject) -> None:
    cut = Cut(case, data)
    stamp, queue = np.zeros(cut.rows, dtype=np.int32), np.empty(cut.rows, dtype=np.int32)
    found = stay_together(
        cut.dead, TOKEN, cut.edge_ptr, cut.edge_row, cut.edge_from, cut.edge_stamp, cut.component, stamp, queue
    )
    assert found == reference.together(cut.edges, cut.left, cut.rows)


@given(cases, st.data())
def test_hops_match_the_twin_and_are_kept_where_the_kernel_says_so(case: Case, data: st.DataObject) -> None:
    cut = Cut(case, data)
    for home in range(cut.rows):
        hop, falls = cut.climb(home, TOKEN)
        want = reference.hops(cut.order.tolist(), cut.left, home)
        assert (hop.tolist(), falls.astype(bool).tolist()) == want
        whole, whole_falls = cut.climb(home, TOKEN + 1)
        assert whole.tolist() == reference.hops(cut.order.tolist(), cut.edges, home)[0]
        linked = [row for row in range(cut.rows) if is_joined(row, TOKEN, cut.edge_ptr, cut.edge_stamp)]
        same = all(hop[row] == whole[row] and falls[row] == whole_falls[row] for row in linked)
        kept = keep_ways(
            cut.dead, TOKEN, cut.edge_ptr, cut.edge_row, cut.edge_from, cut.edge_stamp, cut.order, whole, whole_falls
        )
        assert not kept or same  # it may search again in vain, and never trusts what changed
        mended, mended_falls = np.empty_like(whole), np.empty_like(whole_falls)
        if mend_ways(
            cut.dead, TOKEN, cut.edge_ptr, cut.edge_row, cut.edge_from, cut.edge_stamp, cut.order, whole, whole_falls,
            mended, mended_falls,
        ):  # fmt: skip
            assert [(hop[row], falls[row]) for row in linked] == [(mended[row], mended_falls[row]) for row in linked]
        else:
            assert not kept
        for row, other in cut.edges:
            way = leads_down(row, other, cut.order, whole, whole_falls)
            assert way == (
                whole[row] != NO_HOP
                and whole[other] != NO_HOP
                and whole[other] + 1 == whole[row]
                and (bool(whole_falls[other]) if whole_falls[row] else cut.order[other] < cut.order[row])
                and (cut.order[other] > cut.order[row]) == bool(whole_falls[row])
            )


@given(cases, st.data())
def test_the_ways_of_all_homes_are_those_of_each(case: Case, data: st.DataObject) -> None:
    cut = Cut(case, data)
    home = np.arange(cut.rows, dtype=np.int32)
    hop, falls = np.empty((cut.rows, cut.rows), dtype=np.uint8), np.empty((cut.rows, cut.rows), dtype=np.uint8)
    list_ways(
        home, cut.component, cut.component_ptr, cut.sequence, cut.order, cut.edge_ptr, cut.edge_row,
        np.zeros_like(cut.edge_stamp), hop, falls, np.empty(cut.rows, dtype=np.int32),
    )  # fmt: skip
    for at in range(cut.rows):
        assert hop[at].tolist() == reference.hops(cut.order.tolist(), cut.edges, at)[0]


def test_endpoints_are_held_and_a_switch_alone_with_some_is_stranded() -> None:
    rests = np.array([2, 1], dtype=np.int32)
    row = np.array([0, 0, 1, -1], dtype=np.int32)
    assert hold_ends(np.array([1, 3], dtype=np.int32), -1, row, rests) == 1
    assert rests.tolist() == [1, 1]
    edge_ptr, edge_from = np.array([0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    stamp, dead = np.array([TOKEN, TOKEN], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    assert has_stranded(dead, TOKEN, edge_ptr, edge_from, stamp, rests)
    assert not has_stranded(dead, TOKEN, edge_ptr, edge_from, stamp, np.zeros(2, dtype=np.int32))


def test_a_set_with_a_port_too_few_or_too_many_is_odd() -> None:
    """A leaf 0 with an endpoint under spines 1 and 2, and a leaf 3: towards leaf 0 leaf 3 must use both spines."""
    laid = Laid((4, [(0, 1), (0, 2), (3, 1), (3, 2)], [2, 0, 1, 3]))
    hop = np.array([[0, 1, 1, 2]], dtype=np.uint8)
    falls = np.array([[1, 1, 1, 0]], dtype=np.uint8)
    own = np.array([100], dtype=np.int32)
    port = {(int(a), b): at for at, (a, b) in enumerate(zip(np.repeat(range(4), 2), laid.link_end, strict=True))}

    def odd(sets: list[list[int]]) -> int:
        members = [100, *(port[row + 1, 0] for row in range(2))]
        ptr = [0, 1, 2, 3]
        for one in sets:
            members += [port[3, to] for to in one]
            ptr.append(len(members))
        row = [-1, 0, 0, *(laid.link_end[one] for one in members[3:])]
        table = np.array([[0], [0], [0], [0]], dtype=np.uint8)
        return count_odd_sets(
            np.array([0], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([0], dtype=np.int32), own,
            laid.component, laid.order, laid.edge_ptr, laid.edge_row, laid.link_ptr, hop, falls,
            np.array([0, 1, 2, 3, 4], dtype=np.int32), np.array(ptr, dtype=np.int32),
            np.array(members, dtype=np.int32), np.array(row, dtype=np.int32), table,
        )  # fmt: skip

    assert odd([[1, 2]]) == 0
    assert odd([[1]]) == 1
