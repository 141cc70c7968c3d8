"""Pipelined trees: one binary tree, two that complement each other, and a chain."""

from __future__ import annotations

import math

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.model.traffic import Collective, Via
from weftline.schedule.transfers import Transfers, join_transfers, needs_from

CHUNK_BYTES = 512 * 1024
MAX_CHUNKS = 64


def count_chunks(size_bytes: float) -> int:
    """Choose how many chunks of about 512 KiB a tree pipelines, at most 64."""
    return min(MAX_CHUNKS, max(1, math.ceil(size_bytes / CHUNK_BYTES)))


def pipelined_chunks(collective: Collective) -> int:
    """Say in how many chunks a collective goes through its tree, each of them or chain; 1 where it has none."""
    if collective.algorithm == "double-binary-tree":
        return count_chunks(collective.size_bytes / 2)
    is_chunked = collective.algorithm == "tree" or collective.kind == "broadcast"
    return count_chunks(collective.size_bytes) if is_chunked else 1


def tree(ranks: int, size_bytes: float) -> Transfers:
    """Reduce to rank 0 and broadcast from it over one binary tree, in chunks that follow each other.

    Rank i has the children 2i + 1 and 2i + 2. A rank passes a chunk up once both children's have arrived, and down
    once its parent's has. Each edge and direction is a queue of its own. The transfers of one chunk stand together:
    all reduces, the deepest first, then all broadcasts. An inner rank sends every byte up once and down
    twice, so a tree has a third of the NIC's rate at best; it wins where latency binds.
    """
    return _climb(heap_parents(ranks), size_bytes)


def double_binary_tree(ranks: int, size_bytes: float) -> Transfers:
    """Reduce and broadcast half of the data over each of two binary trees, of which no rank is inner in both.

    So a rank sends two bytes for each of the array at most, as in a ring, after a number of steps that grows with the
    logarithm of the ranks. Source: Sanders, Speck, Traeff, Parallel Computing 35 (2009), 581-594.
    """
    first, second = double_parents(ranks)
    one = _climb(first, size_bytes / 2)
    edges = max(ranks - 1, 0)
    return join_transfers([one, _climb(second, size_bytes / 2, base=one.count, queue=2 * edges)])


def broadcast_tree(ranks: int, size_bytes: float) -> Transfers:
    """Pass chunks down a binary tree from rank 0; a rank sends to both children at once."""
    return _climb(heap_parents(ranks), size_bytes, reduces=False)


def broadcast_chain(ranks: int, size_bytes: float) -> Transfers:
    """Pass chunks from rank 0 along a chain of all ranks."""
    return _climb(np.arange(-1, ranks - 1, dtype=np.int32), size_bytes, reduces=False)


def heap_parents(ranks: int) -> I32:
    """Give rank i the parent (i - 1) // 2; NIL for rank 0."""
    parent = (np.arange(ranks, dtype=np.int32) - 1) // 2
    parent[:1] = NIL
    return parent.astype(np.int32)


def double_parents(ranks: int) -> tuple[I32, I32]:
    """Give every rank its parent in each of two trees, NIL for the root.

    Numbered from 1 in order, a binary tree has its odd numbers as leaves. An odd count of ranks is such a tree, and
    the other one is shifted by one rank; of an even count, one rank more stands above the root, and the other tree is
    mirrored. Then a rank that is inner in one is a leaf in the other.
    """
    rank = np.arange(ranks, dtype=np.int32)
    if ranks % 2:
        above = _inorder_parents(ranks) - 1  # the root's 0 becomes NIL
        shifted = np.roll(np.where(above == NIL, NIL, (above + 1) % ranks), 1)
        return above, shifted.astype(np.int32)
    above = np.concatenate((np.full(min(ranks, 1), NIL, dtype=np.int32), _inorder_parents(max(ranks - 1, 0))))
    mirrored = np.where(above == NIL, NIL, ranks - 1 - above)[ranks - 1 - rank]
    return above.astype(np.int32), mirrored.astype(np.int32)


def _inorder_parents(count: int) -> I32:
    """Give each number 1..count its parent in an in-order binary tree, 0 for the root: no deeper than log2(count)."""
    number = np.arange(1, count + 1, dtype=np.int32)
    low = number & -number
    above = (number ^ low) | (low << 1)
    return np.where(above > count, number ^ low, above).astype(np.int32)


def _climb(parent: I32, size_bytes: float, *, reduces: bool = True, base: int = 0, queue: int = 0) -> Transfers:
    """Send chunks up a tree (where ``reduces``) and down again; needs count from ``base``, queues from ``queue``."""
    ranks = len(parent)
    edges = max(ranks - 1, 0)
    chunks = count_chunks(size_bytes)
    rank = np.arange(ranks, dtype=np.int32)
    depth = _depths(parent)
    inner = rank[parent != NIL]
    giver = inner[np.lexsort((-inner, -depth[inner]))]
    taker = inner[np.lexsort((inner, depth[inner]))]
    ups = edges if reduces else 0
    # Of each chunk, transfer up_at[c] reduces from rank c, and down_at[c] broadcasts to rank c.
    up_at, down_at = np.full((2, ranks), NIL, dtype=np.int64)
    up_at[giver] = np.arange(edges)
    down_at[taker] = ups + np.arange(edges)
    child = _children(parent)
    gathered = np.where(child == NIL, NIL, up_at[child]) if reduces else np.full((ranks, 2), NIL)
    given = np.stack((down_at, np.full(ranks, NIL)), axis=1)
    above = parent[taker]
    down = np.where((parent[above] == NIL)[:, None], gathered[above], given[above])
    pattern = np.concatenate((gathered[giver], down)) if reduces else down
    width = len(pattern)
    offset = (base + np.arange(chunks) * width)[:, None, None]
    table = np.where(pattern[None] == NIL, NIL, pattern[None] + offset).reshape(-1, 2).astype(np.int32)
    need_ptr, need = needs_from(table)
    source = np.concatenate((giver, above)) if reduces else above
    target = np.concatenate((parent[giver], taker)) if reduces else taker
    steps = 2 if reduces else 1
    return Transfers(
        source=np.tile(source, chunks),
        target=np.tile(target, chunks),
        via=np.full(chunks * width, Via.FABRIC, dtype=np.int8),
        size=np.full(chunks * width, size_bytes / chunks),
        need_ptr=need_ptr,
        need=need,
        queue=np.tile(np.arange(queue, queue + width, dtype=np.int32), chunks),
        tag=np.repeat(np.arange(steps * chunks, dtype=np.int32), edges),
    )


def _depths(parent: I32) -> I32:
    depth = np.zeros(len(parent), dtype=np.int32)
    above = parent.copy()
    while (above != NIL).any():
        depth += above != NIL
        above = np.where(above == NIL, NIL, parent[above]).astype(np.int32)
    return depth


def _children(parent: I32) -> I32:
    """List the children of each rank, ``[ranks, 2]``, the lower one first."""
    child = np.full((len(parent), 2), NIL, dtype=np.int32)
    of = np.flatnonzero(parent != NIL)
    of = of[np.argsort(parent[of], kind="stable")]
    above = parent[of]
    second = np.concatenate((np.zeros(min(len(of), 1), dtype=bool), above[1:] == above[:-1]))
    child[above, second.astype(np.int32)] = of
    return child
