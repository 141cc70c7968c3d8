"""Algorithms without rings: messages straight to their receivers, and a pipelined tree."""

from __future__ import annotations

import math

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.model.traffic import Via
from weftline.schedule.transfers import Transfers, needs_from

CHUNK_BYTES = 512 * 1024
MAX_CHUNKS = 64


def all_to_all(ranks: int, size_bytes: float) -> Transfers:
    """Let rank i send to i + 1, i + 2, ... one after the other, a share of its array to each."""
    shift = np.repeat(np.arange(1, ranks, dtype=np.int32), ranks)
    source = np.tile(np.arange(ranks, dtype=np.int32), max(ranks - 1, 0))
    return _independent(source, (source + shift) % ranks, size_bytes / ranks, shift - 1)


def permutation(ranks: int, size_bytes: float, seed: int) -> Transfers:
    """Let every rank send its whole array to one other: along a seeded random cycle, so that none sends to itself."""
    if ranks < 2:
        none = np.empty(0, dtype=np.int32)
        return _independent(none, none, size_bytes, none)
    cycle = np.random.Generator(np.random.PCG64(seed)).permutation(ranks).astype(np.int32)
    target = np.empty(ranks, dtype=np.int32)
    target[cycle] = np.roll(cycle, -1)
    return _independent(np.arange(ranks, dtype=np.int32), target, size_bytes, np.zeros(ranks, dtype=np.int32))


def count_chunks(size_bytes: float) -> int:
    """Choose how many chunks of about 512 KiB a tree pipelines, at most 64."""
    return min(MAX_CHUNKS, max(1, math.ceil(size_bytes / CHUNK_BYTES)))


def tree(ranks: int, size_bytes: float) -> Transfers:
    """Reduce to rank 0 and broadcast from it over one binary tree, in chunks that follow each other.

    Rank i has the children 2i + 1 and 2i + 2. A rank passes a chunk up once both children's have arrived, and down
    once its parent's has. Each edge and direction is a queue of its own. The transfers of one chunk stand together:
    all reduces by falling rank, then all broadcasts by rising rank. An inner rank sends every byte up once and down
    twice, so a tree has a third of the NIC's rate at best; it wins where latency binds.
    """
    chunks = count_chunks(size_bytes)
    edges = max(ranks - 1, 0)
    child = np.arange(1, ranks, dtype=np.int32)
    parent = ((child - 1) // 2).astype(np.int32)
    # Of each chunk, number ranks - 1 - c reduces from rank c, and number edges + c - 1 broadcasts to rank c.
    giver = child[::-1]
    children = np.stack((2 * giver + 1, 2 * giver + 2), axis=1)
    up = np.where(children < ranks, ranks - 1 - children, NIL)
    root = parent == 0
    down = np.full((edges, 2), NIL, dtype=np.int64)
    down[:, 0] = np.where(root, ranks - 2, edges + parent - 1)
    down[:, 1] = np.where(root & (ranks > 2), ranks - 3, NIL)
    pattern = np.concatenate((up, down))
    offset = (np.arange(chunks) * 2 * edges)[:, None, None]
    table = np.where(pattern[None] == NIL, NIL, pattern[None] + offset).reshape(-1, 2).astype(np.int32)
    need_ptr, need = needs_from(table)
    count = chunks * 2 * edges
    return Transfers(
        source=np.tile(np.concatenate((giver, parent)), chunks),
        target=np.tile(np.concatenate((parent[::-1], child)), chunks),
        via=np.full(count, Via.FABRIC, dtype=np.int8),
        size=np.full(count, size_bytes / chunks),
        need_ptr=need_ptr,
        need=need,
        queue=np.tile(np.arange(2 * edges, dtype=np.int32), chunks),
        tag=np.repeat(np.arange(2 * chunks, dtype=np.int32), edges),
    )


def _independent(source: I32, target: I32, size: float, tag: I32) -> Transfers:
    return Transfers(
        source=source,
        target=target.astype(np.int32),
        via=np.full(len(source), Via.FABRIC, dtype=np.int8),
        size=np.full(len(source), size),
        need_ptr=np.zeros(len(source) + 1, dtype=np.int64),
        need=np.empty(0, dtype=np.int32),
        queue=source.copy(),
        tag=tag.astype(np.int32),
    )
