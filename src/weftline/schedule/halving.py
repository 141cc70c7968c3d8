"""Recursive halving and doubling: a number of steps that grows with the logarithm of the ranks."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import F64, I32, NIL
from weftline.model.traffic import CollectiveKind, Via
from weftline.schedule.transfers import Transfers, needs_from


def halving_doubling(kind: CollectiveKind, ranks: int, size_bytes: float) -> Transfers:
    """Reduce-scatter in ceil(log2 N) steps, all-gather in as many, or one after the other for an all-reduce.

    A power of two exchanges with rank XOR 1, 2, 4, ..., half of what it still works on in each step, so that the
    largest messages go to the nearest ranks (Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), 49-66). Other counts
    shift by powers of two around all ranks (Bruck et al., IEEE TPDS 8 (1997), 1143-1156; the reduction is its mirror
    image in time). Either way each rank sends (N-1)/N of the array per pass, and every step is a permutation.
    """
    scatter, share = _steps(ranks)
    # Where rank r has sent in a step of the reduction, that rank sends back in the same step of the all-gather.
    gather = np.argsort(scatter, axis=1)[::-1]
    target = {
        "all-reduce": np.concatenate((scatter, gather)),
        "reduce-scatter": scatter,
        "all-gather": gather,
    }[kind]
    size = {
        "all-reduce": np.concatenate((share, share[::-1])),
        "reduce-scatter": share,
        "all-gather": share[::-1],
    }[kind]
    steps = len(target)
    place = np.argsort(target, axis=1)  # [step, rank]: who sends to the rank
    table = np.full((steps, ranks), NIL, dtype=np.int32)
    table[1:] = np.arange(max(steps - 1, 0))[:, None] * ranks + place[:-1]
    need_ptr, need = needs_from(table.reshape(-1, 1))
    rank = np.arange(ranks, dtype=np.int32)
    return Transfers(
        source=np.tile(rank, steps),
        target=target.ravel().astype(np.int32),
        via=np.full(steps * ranks, Via.FABRIC, dtype=np.int8),
        size=np.repeat(size * size_bytes / ranks, ranks),
        need_ptr=need_ptr,
        need=need,
        queue=np.tile(rank, steps),
        tag=np.repeat(np.arange(steps, dtype=np.int32), ranks),
    )


def _steps(ranks: int) -> tuple[I32, F64]:
    """List to whom each rank sends in each step of a reduce-scatter, and how many of N shares."""
    rank = np.arange(ranks, dtype=np.int64)
    count = max(ranks - 1, 0).bit_length()
    if ranks & (ranks - 1) == 0:
        apart = [1 << step for step in range(count)]
        target = [rank ^ distance for distance in apart]
        share = [ranks // (2 * distance) for distance in apart]
    else:
        apart = [1 << step for step in reversed(range(count))]
        target = [(rank + distance) % ranks for distance in apart]
        share = [min(distance, ranks - distance) for distance in apart]
    table = np.array(target, dtype=np.int32).reshape(count, ranks)
    return table, np.array(share, dtype=np.float64)
