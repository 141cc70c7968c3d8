from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import rings as reference
from weftline.kernels.column import NIL
from weftline.kernels.rings import BROKEN, change_rings

TOKEN = 3


@given(st.data())
def test_rings_without_ranks_match_the_twin(data: st.DataObject) -> None:
    planes = data.draw(st.integers(1, 3))
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    ranks = sum(sizes)
    order = data.draw(st.permutations(range(ranks)))
    rings = [list(order[sum(sizes[:at]) : sum(sizes[: at + 1])]) for at in range(len(sizes))]
    host = data.draw(st.lists(st.integers(0, 3), min_size=ranks, max_size=ranks))
    port = np.arange(ranks * planes, dtype=np.int32).reshape(ranks, planes)
    own = {rank: port[rank].tolist() for rank in range(ranks)}
    after, before = np.zeros(ranks, dtype=np.int32), np.zeros(ranks, dtype=np.int32)
    for ring in rings:
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
            after[a], before[b] = b, a
    whole = reference.flows(rings, own, dict(enumerate(host)), set())
    assert whole is not None
    goal = np.full(ranks * planes, NIL, dtype=np.int32)
    for a, b, _ in whole[1]:
        goal[a] = b
    dead = data.draw(st.lists(st.integers(0, ranks * planes - 1), unique=True, max_size=6))
    stamp = np.zeros(ranks * planes, dtype=np.int32)
    stamp[dead] = TOKEN
    lists = [np.empty(ranks * planes + 1, dtype=np.int32) for _ in range(6)]
    rate = np.empty(ranks * planes + 1)
    gone, more, _, leave = change_rings(
        np.array(dead, dtype=np.int32), TOKEN, port, np.array(host, dtype=np.int32), after, before,
        np.full(ranks, planes, dtype=np.int32), np.arange(ranks * planes + 1, dtype=np.int32),
        np.repeat(np.arange(ranks, dtype=np.int32), planes), np.arange(ranks * planes, dtype=np.int32),
        np.zeros(ranks * planes, dtype=np.int32), stamp, np.ones(ranks * planes), np.ones((ranks, planes)), goal,
        np.zeros(ranks, dtype=np.int32), np.zeros(ranks, dtype=np.int32), np.zeros(ranks, dtype=np.int32), lists[0],
        lists[1], lists[2], lists[3], lists[4], lists[5], rate,
    )  # fmt: skip
    want = reference.flows(rings, own, dict(enumerate(host)), set(dead))
    if want is None:
        assert gone == BROKEN
        return
    assert set(lists[0][:leave].tolist()) == want[0]
    left = {flow for flow in whole[1] if flow[0] not in set(lists[2][:gone].tolist())}
    added = set(zip(lists[5][:more].tolist(), lists[4][:more].tolist(), rate[:more].tolist(), strict=True))
    assert left | added == want[1]
