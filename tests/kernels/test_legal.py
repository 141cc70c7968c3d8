"""Goals that fit no lane, against slow twins; what goes up and then down closes no cycle, however much there is."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import legal, shortest
from tests.kernels.test_layers import Laid, Links, worlds
from weftline.kernels.column import NIL
from weftline.kernels.csr import label_components, spread_distance
from weftline.kernels.legal import compare_hops, fill_first, grow_legal
from weftline.kernels.shortest import grow_trees
from weftline.kernels.turns import NO_WAY
from weftline.route.graph import count_to_ptr


@given(world=worlds(), data=st.data())
def test_what_fits_no_lane_goes_up_and_then_down(world: tuple[int, Links, list[int]], data: st.DataObject) -> None:
    laid = Laid(world)
    used, orders, choice, lane = laid.room(data.draw(st.integers(0, 2)))
    homes = laid.home.tolist()
    toll = np.resize(np.array(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))), len(laid.link_row))
    toll = toll.astype(np.int64)
    scratch = np.zeros(int(laid.turn_ptr[-1]), dtype=np.int32)
    first = np.arange(len(laid.link_row), dtype=np.int32)
    grow_trees(laid.home, *laid.graph, laid.sender, toll, 1, 0, scratch, first, choice)
    trees = shortest.grow_all(laid.twin, homes, toll.tolist(), balances=True, adapts=False)
    wanted = [goal for goal in range(len(homes)) if data.draw(st.booleans())]
    lane[:] = NIL
    found = fill_first(
        np.array(wanted, dtype=np.int32), laid.home, *laid.graph, laid.sender, used, orders, choice, lane
    )
    assert lane.tolist() == legal.place(laid.twin, homes, trees, wanted, len(used))
    assert found == sum(at != NIL for at in lane.tolist())

    component = label_components(laid.link_ptr, laid.link_row)
    tops = [
        data.draw(st.sampled_from(np.flatnonzero(component == part).tolist())) for part in np.unique(component).tolist()
    ]
    rank = spread_distance(laid.link_ptr, laid.link_row, np.array(tops, dtype=np.int32))
    sequence = np.lexsort((rank, component)).astype(np.int32)
    order = np.argsort(sequence).astype(np.int32)
    placed = (component, count_to_ptr(component, len(tops)), sequence, order)
    rows = np.arange(laid.rows, dtype=np.int32)
    longer, extra = np.zeros(laid.rows, dtype=np.int64), np.zeros(laid.rows, dtype=np.int64)
    most = np.zeros(laid.rows, dtype=np.int32)
    compare_hops(rows, *placed, laid.link_ptr, laid.link_row, laid.sender, longer, extra, most)
    for row in range(laid.rows):
        assert (longer[row], extra[row], most[row]) == legal.compare(laid.twin, order.tolist(), row)

    grow_legal(laid.home, lane, *placed, laid.link_ptr, laid.link_row, laid.sender, toll, choice)
    made = legal.grow_legal(laid.twin, homes, trees, lane.tolist(), order.tolist(), toll.tolist())
    for goal, tree in enumerate(made):
        offsets = {row: link - int(laid.link_ptr[row]) for row, (link, _) in tree.items()}
        assert choice[:, goal].tolist() == [offsets.get(row, NO_WAY) for row in range(laid.rows)]
        assert set(tree) == set(np.flatnonzero(component == component[homes[goal]]).tolist()) - {homes[goal]}
    turns = {
        turn
        for goal, tree in enumerate(made)
        if lane[goal] == NIL
        for row in tree
        for turn in shortest.way_of(tree, row, homes[goal])
    }
    assert nx.is_directed_acyclic_graph(nx.DiGraph(turns))
