"""Transfers between ranks, the form that every algorithm is written in, and the flows that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import F64, I8, I32, I64, NIL
from weftline.model.traffic import Flows, Placement, Via, no_times

MAX_FLOWS = 2**25
"""Most flows of one run: some 4 GiB of memory."""


@dataclass(frozen=True, slots=True)
class Transfers:
    """T messages from rank to rank, with the needs and queues of flows; indices are transfers, not flows."""

    source: I32
    target: I32
    via: I8
    size: F64
    need_ptr: I64
    need: I32
    queue: I32
    tag: I32
    delay: F64 = field(default_factory=no_times)
    """Microseconds that each waits once it is ready, or works; empty where none does."""

    @property
    def count(self) -> int:
        """Count the transfers."""
        return len(self.source)


def check_count(transfers: int, planes: int, what: str) -> None:
    """Refuse what would not fit in memory, before anything is allocated.

    Raises:
        SpecError: ``spec.too-many-flows``.
    """
    if transfers * planes > MAX_FLOWS:
        raise SpecError(
            "spec.too-many-flows",
            f"{what} is {transfers:,} messages on {planes} planes, more than {MAX_FLOWS:,} flows",
            "simulate fewer ranks",
        )


def join_transfers(parts: Sequence[Transfers]) -> Transfers:
    """Put phases one after the other; their needs already count from the first of all."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part.need) for part in parts)])
    pointers = [part.need_ptr[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Transfers(
        source=np.concatenate([part.source for part in parts]),
        target=np.concatenate([part.target for part in parts]),
        via=np.concatenate([part.via for part in parts]),
        size=np.concatenate([part.size for part in parts]),
        need_ptr=np.concatenate((*pointers, ends[-1:])).astype(np.int64),
        need=np.concatenate([part.need for part in parts]),
        queue=np.concatenate([part.queue for part in parts]),
        tag=np.concatenate([part.tag for part in parts]),
        delay=join_times([part.delay for part in parts], [part.count for part in parts]),
    )


def join_times(times: Sequence[F64], counts: Sequence[int]) -> F64:
    """Put columns of times one after the other; an empty one stands for ``counts`` zeros, unless all are empty."""
    if not any(len(part) for part in times):
        return no_times()
    parts = [part if len(part) else np.zeros(count) for part, count in zip(times, counts, strict=True)]
    return np.concatenate(parts)


def needs_from(table: I32) -> tuple[I64, I32]:
    """Make a CSR pair of ``[transfers, k]`` needs, passing over NIL."""
    use = table != NIL
    return np.concatenate(([0], np.cumsum(use.sum(axis=1)))).astype(np.int64), table[use]


def make_flows(transfers: Transfers, placement: Placement) -> Flows:
    """Give ranks their ports; on several planes a transfer through the fabric becomes one flow per plane.

    What needs a transfer needs all of its flows. Each plane has queues of its own.
    """
    planes = placement.rank_port.shape[1]
    if planes == 1:
        port = np.ascontiguousarray(placement.rank_port[:, 0])
        return Flows(
            port[transfers.source],
            port[transfers.target],
            transfers.via,
            transfers.size,
            transfers.need_ptr,
            transfers.need,
            transfers.queue,
            transfers.tag,
            delay_us=transfers.delay,
        )
    copies = np.where(transfers.via == Via.FABRIC, planes, 1)
    first = np.concatenate(([0], np.cumsum(copies)))
    owner = np.repeat(np.arange(transfers.count), copies)
    plane = np.arange(len(owner)) - first[owner]
    need_ptr, need_flow = _spread_needs(transfers, copies, first, owner)
    queue = transfers.queue[owner]
    return Flows(
        source=placement.rank_port[transfers.source[owner], plane],
        target=placement.rank_port[transfers.target[owner], plane],
        via=transfers.via[owner],
        size_bytes=transfers.size[owner] / copies[owner],
        need_ptr=need_ptr,
        need_flow=need_flow,
        queue=np.where(queue == NIL, NIL, queue * planes + plane).astype(np.int32),
        tag=transfers.tag[owner],
        delay_us=transfers.delay[owner] if len(transfers.delay) else no_times(),
    )


def _spread_needs(transfers: Transfers, copies: I64, first: I64, owner: I64) -> tuple[I64, I32]:
    """Let every flow of a transfer need every flow of the transfers that it needs."""
    each = copies[transfers.need]
    begin = np.concatenate(([0], np.cumsum(each)))
    wide = np.repeat(first[transfers.need] - begin[:-1], each) + np.arange(int(begin[-1]))
    row_start, row_end = begin[transfers.need_ptr[:-1]], begin[transfers.need_ptr[1:]]
    length = (row_end - row_start)[owner]
    need_ptr = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    pick = np.repeat(row_start[owner] - need_ptr[:-1], length) + np.arange(int(need_ptr[-1]))
    return need_ptr, wide[pick].astype(np.int32)
