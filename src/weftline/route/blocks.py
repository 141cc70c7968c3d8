"""Complete bipartite blocks between two tiers: which switches are joined all to all, by how many parallel links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.kernels.csr import label_components
from weftline.model.fabric import Fabric
from weftline.route.graph import Whole, count_to_ptr


@dataclass(frozen=True, eq=False)
class Block:
    """The blocks of one pair of tiers; ``reason`` says why they are none, where they are none."""

    port: I32
    """The links, each by its lower port."""
    of_row: I32
    """Block per switch row; NIL for switches without such links."""
    count: int
    parallel: I32
    """Parallel links of each joined pair; per block."""
    reason: str = ""


def join_blocks(fabric: Fabric, port: I32) -> Block:
    """Group the switches at the ends of the links of ``port`` (lower ports), and check that each group is complete."""
    rows = len(fabric.switch_node)
    low = fabric.switch_row[fabric.port_node[port]]
    high = fabric.switch_row[fabric.port_node[fabric.port_peer[port]]]
    pair, links = np.unique(low.astype(np.int64) * max(rows, 1) + high, return_counts=True)
    pair_low = (pair // max(rows, 1)).astype(np.int32)
    pair_high = (pair % max(rows, 1)).astype(np.int32)
    of_row = _label(pair_low, pair_high, rows)
    count = int(of_row.max()) + 1 if len(port) else 0
    block = of_row[pair_low]
    parallel = np.zeros(count, dtype=np.int32)
    np.maximum.at(parallel, block, links.astype(np.int32))
    lows = np.bincount(of_row[np.unique(low)], minlength=count)
    highs = np.bincount(of_row[np.unique(high)], minlength=count)
    reason = ""
    thin = np.flatnonzero(links < parallel[block])
    partial = np.flatnonzero(np.bincount(block, minlength=count) < lows * highs)
    if len(partial):
        lower = np.unique(low)
        upper = np.unique(high)
        inside = lower[of_row[lower] == partial[0]], upper[of_row[upper] == partial[0]]
        reason = _name_missing(fabric, inside, (pair_low, pair_high))
    elif len(thin):
        at = int(thin[0])
        name_low, name_high = _name(fabric, pair_low[at]), _name(fabric, pair_high[at])
        reason = f"{name_low} and {name_high} are joined by {links[at]} links, others by {parallel[block[at]]}"
    return Block(port=port, of_row=of_row, count=count, parallel=parallel, reason=reason)


def count_per_block(block: Block, rows: Whole) -> I32:
    """Count those of ``rows`` in each block."""
    of_row = block.of_row[rows]
    return np.bincount(of_row[of_row != NIL], minlength=block.count).astype(np.int32)


def refuse_uneven(fabric: Fabric, tree: I32, block: Block, counts: I32, what: str) -> str:
    """Say where two blocks of one tree have different counts; empty where none have."""
    rows = np.flatnonzero(block.of_row != NIL)
    most = np.zeros(len(tree), dtype=np.int32)
    np.maximum.at(most, tree[rows], counts[block.of_row[rows]])
    uneven = rows[counts[block.of_row[rows]] != most[tree[rows]]]
    if not len(uneven):
        return ""
    row = uneven[0]
    return f"{_name(fabric, row)} has {counts[block.of_row[row]]} {what}, others have {most[tree[row]]}"


def _label(low: I32, high: I32, rows: int) -> I32:
    """Number the connected groups of the pairs; NIL for rows in no pair."""
    ends, others = np.concatenate((low, high)), np.concatenate((high, low))
    order = np.argsort(ends, kind="stable")
    label = label_components(count_to_ptr(ends, rows), others[order])
    used = np.unique(ends)
    of_row = np.full(rows, NIL, dtype=np.int32)
    of_row[used] = np.unique(label[used], return_inverse=True)[1].astype(np.int32)
    return of_row


def _name_missing(fabric: Fabric, inside: tuple[I32, I32], pairs: tuple[I32, I32]) -> str:
    """Name the first pair of a block that is not joined."""
    lower, upper = inside
    joined = pairs[0].astype(np.int64) * len(fabric.switch_node) + pairs[1]
    for row in lower:
        missing = upper[~np.isin(np.int64(row) * len(fabric.switch_node) + upper, joined)]
        if len(missing):
            return f"{_name(fabric, row)} has no link to {_name(fabric, missing[0])}"
    return ""


def _name(fabric: Fabric, row: int) -> str:
    return fabric.node_name[int(fabric.switch_node[row])]
