"""Dragonfly and dragonfly+: groups of switches, and the global links between every two groups, as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from weftline.compile.switches import SwitchGraph
from weftline.kernels.column import I32, I64
from weftline.model.fabric import Tier

Arrangement: TypeAlias = Literal["palmtree", "absolute"]
_LOCAL, _GLOBAL = 0, 1


@dataclass(frozen=True, slots=True)
class GroupShape:
    """One group: all its leaves joined to each other (dragonfly), or every leaf to every spine (dragonfly+)."""

    leaves: int
    spines: int = 0
    """0 in a dragonfly, where the leaves have the global links; else the spines have them."""
    parallel: int = 1
    """Links between every joined pair inside the group."""
    endpoints: int = 0
    """Ports for endpoints of each leaf."""
    leaf_ports: int = 0
    spine_ports: int = 0

    @property
    def edge(self) -> int:
        """Count the switches that have global links."""
        return self.spines or self.leaves

    @property
    def local_links(self) -> int:
        """Count the links inside the group."""
        if self.spines:
            return self.leaves * self.spines * self.parallel
        return self.leaves * (self.leaves - 1) // 2 * self.parallel


def group_graph(
    shape: str, groups: Sequence[GroupShape], pairs: I32, arrangement: Arrangement = "palmtree"
) -> SwitchGraph:
    """Wire groups: ``pairs[i, j]`` global links between groups i and j, spread as ``spread_ends`` says."""
    leaves = np.array([group.leaves for group in groups], dtype=np.int64)
    spines = np.array([group.spines for group in groups], dtype=np.int64)
    first_leaf = np.cumsum(leaves) - leaves
    first_spine = int(leaves.sum()) + np.cumsum(spines) - spines
    inside = [
        _local_links(group, int(low), int(high))
        for group, low, high in zip(groups, first_leaf, first_spine, strict=True)
    ]
    edge = np.array([group.edge for group in groups], dtype=np.int64)
    first_edge = np.where(spines > 0, first_spine, first_leaf)
    left, right, near, far = spread_ends(edge, pairs, arrangement)
    a = np.concatenate([ends[0] for ends in inside] + [first_edge[left] + near])
    b = np.concatenate([ends[1] for ends in inside] + [first_edge[right] + far])
    local = sum(len(ends[0]) for ends in inside)
    kind = np.where(np.arange(len(a)) < local, _LOCAL, _GLOBAL).astype(np.int32)
    numbers = np.arange(len(groups))
    total_leaves, total_spines = int(leaves.sum()), int(spines.sum())
    per_leaf = [np.array(column, dtype=np.int64) for column in _columns(groups)]
    return SwitchGraph(
        shape=shape,
        tier=np.repeat(np.array([Tier.LEAF, Tier.SPINE], dtype=np.int8), (total_leaves, total_spines)),
        group=np.concatenate((np.repeat(numbers, leaves), np.repeat(numbers, spines))).astype(np.int32),
        place=None,
        endpoints=np.concatenate((np.repeat(per_leaf[0], leaves), np.zeros(total_spines))).astype(np.int32),
        radix=np.concatenate((np.repeat(per_leaf[1], leaves), np.repeat(per_leaf[2], spines))).astype(np.int32),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        a_class=kind,
        b_class=kind,
    )


def _columns(groups: Sequence[GroupShape]) -> tuple[list[int], list[int], list[int]]:
    return (
        [group.endpoints for group in groups],
        [group.leaf_ports for group in groups],
        [group.spine_ports for group in groups],
    )


def _local_links(group: GroupShape, first_leaf: int, first_spine: int) -> tuple[I64, I64]:
    if group.spines:
        leaf, spine = np.divmod(np.arange(group.leaves * group.spines, dtype=np.int64), group.spines)
        a, b = first_leaf + leaf, first_spine + spine
    else:
        low, high = np.triu_indices(group.leaves, 1)
        a, b = first_leaf + low.astype(np.int64), first_leaf + high.astype(np.int64)
    return np.repeat(a, group.parallel), np.repeat(b, group.parallel)


def spread_ends(edge: I64, pairs: I32, arrangement: Arrangement) -> tuple[I64, I64, I64, I64]:
    """Spread the global links over the switches of both groups, and give group and switch of both ends of each.

    The ends in a group are put in a row: first the first link to every other group, then the second to every other,
    and so on. The other groups follow one another downwards from the own (``palmtree``: Camarero, Vallejo and Beivide,
    ACM TACO 11(4), 2014), or in the order of their numbers (``absolute``: Hastings et al., CLUSTER 2015). Of T ends in
    a group with a switches, end k is on switch ``k * a // T``: switches differ by one link at most, and links between
    the same two groups are on different switches while there are as many.
    """
    count = len(edge)
    group = np.arange(count)
    i, j = (index.ravel() for index in np.meshgrid(group, group, indexing="ij"))
    each = pairs[i, j].astype(np.int64)
    near, far = np.repeat(i, each), np.repeat(j, each)
    turn = np.arange(len(near)) - np.repeat(np.cumsum(each) - each, each)
    step = (near - far - 1) % count if arrangement == "palmtree" else far
    order = np.lexsort((step, turn, near))
    total = pairs.sum(axis=1, dtype=np.int64)
    place = np.empty(len(near), dtype=np.int64)
    place[order] = np.arange(len(near)) - (np.cumsum(total) - total)[near[order]]
    switch = place * edge[near] // np.maximum(total[near], 1)
    # Both directions of a pair hold its links in the same order, so sorting by (low, high, turn) matches the ends.
    up = np.flatnonzero(near < far)
    down = np.flatnonzero(near > far)
    down = down[np.lexsort((turn[down], near[down], far[down]))]
    return near[up], far[up], switch[up], switch[down]
