"""Groups of a dragonfly or dragonfly+ found from the graph alone, where cabling lists and dumps name none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, NIL
from weftline.kernels.csr import label_components
from weftline.model.fabric import Tier
from weftline.route.graph import SwitchGraph, Whole, count_to_ptr

MOST_PATHS = 1 << 26
"""Pairs of neighbours, over all switches: what it takes to count whom two switches both know."""


def recognise_cliques(graph: SwitchGraph) -> I32 | str:
    """Find groups that are joined all to all; why not, in words, where the graph does not say it.

    Two switches of a group of *a* know the *a* - 2 others both, and two switches of different groups few. So links
    whose ends know more than some number both are local, and what they join is a group. A number counts where all
    groups have the same size, of three or more, and each switch is joined to more than half of the others of its group
    and to fewer of any other group. Where no number does, or two say different things, nothing is known.
    """
    degree = np.diff(graph.edge_ptr).astype(np.int64)
    if int((degree * degree).sum()) > MOST_PATHS:
        return "its switches have too many links to find groups among them"
    row = np.repeat(np.arange(graph.switch_count), degree)
    known = _count_common(graph, row)
    found: I32 | None = None
    for least in np.unique(known[known > 0]).tolist():
        group = _join(graph, row, known >= least)
        if not _are_groups(graph, row, group):
            continue
        if found is not None and not np.array_equal(found, group):
            return "the fabric names no groups, and its links can be read as groups in two ways"
        found = group
    return (
        "the fabric names no groups, and no set of links joins groups of one size all to all"
        if found is None
        else found
    )


def recognise_blocks(graph: SwitchGraph) -> I32 | str:
    """Find groups of leaves and spines that are joined to each other; why not, in words.

    Links of a leaf and a spine are local, and what they join is a group, if more than half of its leaves and spines are
    joined. Links of two spines are global.
    """
    row = np.repeat(np.arange(graph.switch_count), np.diff(graph.edge_ptr))
    is_leaf = graph.tier == Tier.LEAF
    if is_leaf.all() or not is_leaf.any():
        return "the fabric names no groups, and does not tell leaves from spines"
    if np.any(is_leaf[row] & is_leaf[graph.edge_row]):
        return "the fabric names no groups, and some links join two leaves"
    local = is_leaf[row] != is_leaf[graph.edge_row]
    group = _join(graph, row, local)
    count = int(group.max()) + 1
    if count < 2:
        return "the fabric names no groups, and all leaves and spines are joined into one"
    leaves = np.bincount(group[is_leaf], minlength=count)
    spines = np.bincount(group[~is_leaf], minlength=count)
    joined = np.bincount(group[row[local & is_leaf[row]]], minlength=count)
    alone = np.bincount(group, minlength=count) == 1
    lit = np.bincount(group[row], minlength=count) > 0
    # a dead switch stands alone
    if np.any(lit & (alone | (2 * joined <= leaves * spines))):
        return "the fabric names no groups, and the leaves and spines that links join are not joined all to all"
    return group


def _count_common(graph: SwitchGraph, row: Whole) -> NDArray[np.int64]:
    """Count for each edge the switches that both its ends are joined to; O(pairs of neighbours)."""
    size = graph.switch_count
    edge = np.arange(len(row))
    degree = np.diff(graph.edge_ptr)[graph.edge_row]
    first = np.repeat(graph.edge_ptr[graph.edge_row].astype(np.int64), degree)
    step = np.arange(int(degree.sum())) - np.repeat(np.cumsum(degree) - degree, degree)
    owner = np.repeat(edge, degree)
    further = graph.edge_row[first + step].astype(np.int64)
    pairs = row.astype(np.int64) * size + graph.edge_row
    wanted = row[owner].astype(np.int64) * size + further
    at = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
    return np.bincount(owner[pairs[at] == wanted], minlength=len(row)) if len(pairs) else np.zeros(0, dtype=np.int64)


def _join(graph: SwitchGraph, row: Whole, local: NDArray[np.bool_]) -> I32:
    """Number what some edges join."""
    return label_components(count_to_ptr(row[local], graph.switch_count), graph.edge_row[local])


def _are_groups(graph: SwitchGraph, row: Whole, group: I32) -> bool:
    """Judge whether a partition is one into groups."""
    sizes = np.bincount(group)
    if len(sizes) < 2 or sizes.min() != sizes.max() or sizes[0] < 3:
        return False
    pairs = np.zeros((graph.switch_count, len(sizes)), dtype=np.int32)
    np.add.at(pairs, (row, group[graph.edge_row]), 1)
    own = pairs[np.arange(graph.switch_count), group]
    pairs[np.arange(graph.switch_count), group] = 0
    return bool(np.all(2 * own > sizes[0] - 1) and np.all(own > pairs.max(axis=1)))


def name_groups(graph: SwitchGraph, named: Whole, *, has_spines: bool) -> Whole | str:
    """Give each switch its group: as the fabric names it, else as the graph says."""
    if len(named) and not np.any(named == NIL):
        return named
    if not len(named) or np.any(named != NIL):
        return "the fabric does not say which group each switch is in"
    return recognise_blocks(graph) if has_spines else recognise_cliques(graph)
