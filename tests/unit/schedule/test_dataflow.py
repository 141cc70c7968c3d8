"""Every algorithm brings every byte where it must be, for every number of ranks, in whatever order messages arrive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.unit.schedule import dataflow as reference
from tests.unit.schedule.dataflow import Plan, holds, replay
from weftline.kernels.column import NIL
from weftline.model.traffic import Collective, CollectiveKind
from weftline.schedule import ALGORITHMS, pipelined_chunks
from weftline.schedule.direct import all_to_all, gather, scatter
from weftline.schedule.halving import halving_doubling
from weftline.schedule.rings import flat_ring, hierarchical_ring
from weftline.schedule.transfers import Transfers
from weftline.schedule.trees import broadcast_chain, broadcast_tree, double_binary_tree, double_parents, tree

RANKS = range(1, 34)
REDUCING: tuple[CollectiveKind, ...] = ("all-reduce", "all-gather", "reduce-scatter")
SIZE = 1_400_000
"""Bytes: three chunks of a tree, two of each half."""


def hold_together(plan: Plan, transfers: Transfers, seed: int) -> None:
    """Compare transfers with the slow twin, one by one, and replay the data."""
    assert transfers.source.tolist() == [message.source for message in plan.messages]
    assert transfers.target.tolist() == [message.target for message in plan.messages]
    np.testing.assert_allclose(transfers.size, [message.share * SIZE for message in plan.messages], rtol=1e-12)
    assert holds(replay(plan, transfers, seed), plan.after)


def ring(kind: CollectiveKind, ranks: int) -> Transfers:
    """Make a flat ring over all ranks."""
    return flat_ring(kind, np.arange(ranks, dtype=np.int32).reshape(1, -1), SIZE)


CASES: dict[tuple[str, str], tuple[Callable[[int], Plan], Callable[[int], Transfers]]] = {
    **{(k, "ring"): (lambda n, k=k: reference.ring_plan(k, n), lambda n, k=k: ring(k, n)) for k in REDUCING},
    **{
        (k, "halving-doubling"): (
            lambda n, k=k: reference.halving_plan(k, n),
            lambda n, k=k: halving_doubling(k, n, SIZE),
        )
        for k in REDUCING
    },
    ("all-reduce", "tree"): (lambda n: reference.tree_plan(n, 3), lambda n: tree(n, SIZE)),
    ("all-reduce", "double-binary-tree"): (
        lambda n: reference.double_plan(n, 2),
        lambda n: double_binary_tree(n, SIZE),
    ),
    ("broadcast", "tree"): (
        lambda n: reference.broadcast_plan(reference.heap(n), 3),
        lambda n: broadcast_tree(n, SIZE),
    ),
    ("broadcast", "ring"): (
        lambda n: reference.broadcast_plan([rank - 1 for rank in range(n)], 3),
        lambda n: broadcast_chain(n, SIZE),
    ),
    ("all-to-all", "ring"): (lambda n: reference.pairs_plan("all-to-all", n), lambda n: all_to_all(n, SIZE)),
    ("gather", "ring"): (lambda n: reference.pairs_plan("gather", n), lambda n: gather(n, SIZE)),
    ("scatter", "ring"): (lambda n: reference.pairs_plan("scatter", n), lambda n: scatter(n, SIZE)),
}


def test_no_algorithm_is_left_out() -> None:
    known = {(kind, way) for kind, ways in ALGORITHMS.items() for way in ways if way != "hierarchical"}
    assert set(CASES) == known - {("permutation", "ring")}
    assert pipelined_chunks(Collective("all-reduce", "tree", SIZE, 8)) == 3
    assert pipelined_chunks(Collective("all-reduce", "double-binary-tree", SIZE, 8)) == 2
    assert pipelined_chunks(Collective("broadcast", "ring", SIZE, 8)) == 3
    assert pipelined_chunks(Collective("all-reduce", "ring", SIZE, 8)) == 1


@pytest.mark.parametrize(("kind", "way"), list(CASES))
def test_every_rank_ends_with_what_it_should(kind: str, way: str) -> None:
    plan_of, transfers_of = CASES[kind, way]
    for ranks in RANKS:
        for seed in range(2):
            hold_together(plan_of(ranks), transfers_of(ranks), seed)


@pytest.mark.parametrize("kind", REDUCING)
def test_a_hierarchy_brings_everything_everywhere(kind: CollectiveKind) -> None:
    for hosts in range(1, 9):
        for members in range(1, 5):
            grid = np.arange(hosts * members, dtype=np.int32).reshape(1, hosts, members)
            hold_together(reference.hierarchical_plan(kind, hosts, members), hierarchical_ring(kind, grid, SIZE), 1)


def test_the_replay_notices_a_need_that_is_missing() -> None:
    """A tree whose inner ranks wait for one child only passes on less than it should."""
    full = tree(7, SIZE)
    none = Transfers(
        full.source, full.target, full.via, full.size, np.zeros(full.count + 1, dtype=np.int64), full.need[:0],
        full.queue, full.tag,
    )  # fmt: skip
    plan = reference.tree_plan(7, 3)
    assert holds(replay(plan, full, 0), plan.after)
    with pytest.raises(AssertionError, match="counted twice"):
        replay(plan, none, 0)


@pytest.mark.parametrize("ranks", [*RANKS, 64, 100, 127, 1000, 1024])
def test_two_trees_complement_each_other(ranks: int) -> None:
    """No rank is inner in both, none has more than two children, and neither is deeper than a logarithm."""
    first, second = (parent.tolist() for parent in double_parents(ranks))
    assert (first, second) == reference.double(ranks)
    inner = [set(parent) - {NIL} for parent in (first, second)]
    assert not inner[0] & inner[1]
    for parent in (first, second):
        assert parent.count(NIL) == 1
        assert max((parent.count(rank) for rank in set(parent) - {NIL}), default=0) <= 2
        steps = 0
        for rank in range(ranks):
            at, depth = rank, 0
            while parent[at] != NIL:
                at, depth = parent[at], depth + 1
            steps = max(steps, depth)
        assert steps <= max(ranks - 1, 0).bit_length()


@pytest.mark.parametrize("ranks", [2, 3, 8, 33])
def test_two_trees_send_no_more_than_a_ring_and_a_half(ranks: int) -> None:
    """Half of the array up twice, and down to two children once: two bytes per byte of the array at most."""
    transfers = double_binary_tree(ranks, SIZE)
    for end in (transfers.source, transfers.target):
        assert np.bincount(end, transfers.size).max() <= 2 * SIZE * (1 + 1e-12)
