"""The fluid simulation: the kernel's state, run in slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weftline.errors import InternalError
from weftline.kernels.chains import count_waits
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.fluid import STUCK, advance
from weftline.kernels.sharing import (
    ENTRY_COLUMNS,
    FREE,
    HEAD,
    NUMBERS,
    OWNER,
    READY,
    RESOURCE_COLUMNS,
    SENT,
    SLOT_COLUMNS,
    STAMP,
)

SLICE = 65_536
"""Flows per call of the kernel: a fraction of a second, so that progress is seen and an interrupt is heard."""
FIRST_STAMP = 0
"""Where the kernel's stamps start."""

Progress = Callable[[int, int], None]
"""Called with the number of flows that have been sent, and of all flows."""


@dataclass(frozen=True, slots=True)
class Load:
    """Everything that a fluid run reads: flows, how they follow each other, and the paths that they share."""

    flow_path: I32
    """Path of each flow, NIL where it needs no network, ``WORKS`` where it is work."""
    flow_size: F64
    earliest: F64
    delay: F64
    """Times of flows as ``Flows`` has them: empty where no flow has one."""
    slots: int
    """The most flows that can be sent at one time: one per queue, and each flow that is in none."""
    successor: I32
    need_ptr: I64
    after_ptr: I64
    after_flow: I32
    path_ptr: I32
    path_resource: I32
    """Resources of each path that may bind; those that never can are left out."""
    path_cap: F64
    """Least capacity on the whole path in bytes per microsecond, counting resources that were left out."""
    capacity: F64


def run_fluid(load: Load, latency_us: float, progress: Progress | None) -> tuple[F64, F64]:
    """Return when each flow starts and when its last byte leaves, in microseconds.

    Raises:
        InternalError: ``internal.flow-circle`` where flows wait for each other.
    """
    flows = len(load.flow_size)
    start, sent = np.empty(flows), np.empty(flows)
    waiting = count_waits(load.need_ptr, load.successor)
    ready = np.empty(flows, dtype=np.int32)
    first = np.flatnonzero(waiting == 0)
    ready[: len(first)] = first
    number = np.zeros(NUMBERS, dtype=np.int64)
    number[READY], number[FREE], number[STAMP] = len(first), load.slots, FIRST_STAMP
    timed = flows if len(load.earliest) or len(load.delay) else 0
    state = (
        load.flow_path, load.flow_size, load.earliest, load.delay, load.successor, waiting, load.after_ptr,
        load.after_flow, start, sent, np.empty(flows, dtype=np.int32), ready, np.empty(timed),
        np.empty(timed, dtype=np.int32), np.full(timed, NIL, dtype=np.int32), load.path_ptr, load.path_resource,
        load.path_cap, load.capacity,
        *_resource_state(len(load.capacity)), *_slot_state(load), number,
    )  # fmt: skip
    limit = 0
    while number[SENT] < flows:
        limit += SLICE
        if advance(limit, latency_us, *state) == STUCK:
            raise InternalError("internal.flow-circle", f"{flows - int(number[SENT])} flows wait for each other")
        if progress is not None:
            progress(int(number[SENT]), flows)
    return start, sent


def _resource_state(resources: int) -> tuple[F64, F64, I32, I32, I32, I32, I32]:
    """Make demand, spare, open_count, tight, filling_tight, dirty and the integers of each resource."""
    table = np.zeros((resources, RESOURCE_COLUMNS), dtype=np.int32)
    table[:, HEAD] = NIL
    numbers = [np.zeros(resources, dtype=np.int32) for _ in range(4)]
    return np.zeros(resources), np.zeros(resources), numbers[0], numbers[1], numbers[2], numbers[3], table


def _slot_state(load: Load) -> tuple[int, I32, I32, I32, F64, F64, F64, F64, F64, I32, I32, I32, I32, I32, I32]:
    """Make hops, entry, slot, slot_path, five floats per slot, bind, heap, place, free, members and filling."""
    slots = load.slots
    hops = int(np.diff(load.path_ptr).max(initial=1))
    entry = np.full((slots * hops, ENTRY_COLUMNS), NIL, dtype=np.int32)
    entry[:, OWNER] = np.repeat(np.arange(slots, dtype=np.int32), hops)
    values = [np.zeros(slots) for _ in range(5)]
    lists = [np.zeros(slots, dtype=np.int32) for _ in range(5)]
    free = np.arange(slots, dtype=np.int32)[::-1].copy()
    return (
        hops, entry, np.zeros((slots, SLOT_COLUMNS), dtype=np.int32), lists[0], values[0], values[1], values[2],
        values[3], values[4], lists[1], lists[2], np.full(slots, NIL, dtype=np.int32), free, lists[3], lists[4],
    )  # fmt: skip
