"""Algorithms without steps: messages straight to their receivers."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import I32
from weftline.model.traffic import Via
from weftline.schedule.transfers import Transfers


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


def gather(ranks: int, size_bytes: float) -> Transfers:
    """Let every rank send its share to rank 0, all at once."""
    source = np.arange(1, ranks, dtype=np.int32)
    return _independent(source, np.zeros_like(source), size_bytes / ranks, np.zeros_like(source))


def scatter(ranks: int, size_bytes: float) -> Transfers:
    """Let rank 0 send each rank its share, one after the other."""
    target = np.arange(1, ranks, dtype=np.int32)
    return _independent(np.zeros_like(target), target, size_bytes / ranks, target - 1)


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
