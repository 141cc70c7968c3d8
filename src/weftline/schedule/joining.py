"""Loads side by side, and ranks that come late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import F64, I64, NIL
from weftline.model.traffic import Flows, Placement
from weftline.schedule.transfers import join_times

Spread = Literal["uniform", "exponential"]
MAX_TIME_US = 1e9
"""Latest start and longest wait: 1,000 s."""


def join_flows(parts: Sequence[Flows]) -> Flows:
    """Put loads side by side: none waits for another, and their flows stand one after the other."""
    if len(parts) == 1:
        return parts[0]
    counts = [part.count for part in parts]
    begins: I64 = np.cumsum([0, *counts])
    ends: I64 = np.cumsum([0, *(len(part.need_flow) for part in parts)])
    queues: I64 = np.cumsum([0, *(int(part.queue.max(initial=NIL)) + 1 for part in parts)])
    pointers = [part.need_ptr[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    needs = [part.need_flow + begin for part, begin in zip(parts, begins[:-1], strict=True)]
    queue = [np.where(part.queue == NIL, NIL, part.queue + at) for part, at in zip(parts, queues[:-1], strict=True)]
    return Flows(
        source=np.concatenate([part.source for part in parts]),
        target=np.concatenate([part.target for part in parts]),
        via=np.concatenate([part.via for part in parts]),
        size_bytes=np.concatenate([part.size_bytes for part in parts]),
        need_ptr=np.concatenate((*pointers, ends[-1:])).astype(np.int64),
        need_flow=np.concatenate(needs).astype(np.int32),
        queue=np.concatenate(queue).astype(np.int32),
        tag=np.concatenate([part.tag for part in parts]),
        start_us=join_times([part.start_us for part in parts], counts),
        delay_us=join_times([part.delay_us for part in parts], counts),
    )


def start_later(flows: Flows, start_us: float) -> Flows:
    """Let no flow start before ``start_us`` after it could have."""
    _check_times(np.array([start_us]))
    if start_us == 0 or flows.count == 0:
        return flows
    known = flows.start_us if len(flows.start_us) else np.zeros(flows.count)
    return replace(flows, start_us=known + start_us)


def delay_ranks(flows: Flows, placement: Placement, rank_us: F64) -> Flows:
    """Let every rank send, and work, only after its own time ``rank_us[rank]``.

    Ranks that share a NIC are as late as the latest of them, since flows know ports only.

    Raises:
        SpecError: ``spec.straggler`` for times out of range.
    """
    _check_times(rank_us)
    if not rank_us.any() or flows.count == 0:
        return flows
    ports = max(int(placement.rank_port.max()), int(flows.source.max())) + 1
    late = np.zeros(ports)
    np.maximum.at(late, placement.rank_port, rank_us[:, None])
    start = late[flows.source]
    return replace(flows, start_us=np.maximum(start, flows.start_us) if len(flows.start_us) else start)


def draw_delays(ranks: int, spread: Spread, us: float, seed: int) -> F64:
    """Draw how late each rank is: evenly from 0 to ``us``, or exponentially with ``us`` as its mean."""
    _check_times(np.array([us]))
    generator = np.random.Generator(np.random.PCG64(seed))
    if spread == "uniform":
        return generator.random(ranks) * us
    return np.minimum(generator.standard_exponential(ranks, method="inv") * us, MAX_TIME_US)


def _check_times(times: F64) -> None:
    if not (np.isfinite(times) & (times >= 0) & (times <= MAX_TIME_US)).all():
        raise SpecError("spec.straggler", "a start or a delay is out of range", "give microseconds from 0 to 1e9")
