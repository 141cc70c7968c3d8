"""Pipeline stages that pass activations on and gradients back, microbatch by microbatch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I32, NIL
from weftline.model.traffic import Flows, Placement, Via
from weftline.schedule.transfers import Transfers, check_count, make_flows, needs_from


@dataclass(frozen=True, slots=True)
class Stages:
    """Pipelines that work side by side, and what a microbatch costs in each stage."""

    ranks: I32
    """``[pipelines, stages]``: the rank of each stage of each pipeline."""
    microbatches: int
    size_bytes: float
    """What one rank sends to the next for one microbatch; the gradient is as large."""
    forward_us: float
    backward_us: float


def list_work(stage: int, stages: int, microbatches: int) -> list[tuple[bool, int]]:
    """List what a stage works on in the order 1F1B: (whether backward, microbatch).

    Source: Narayanan et al., SOSP 2019 and SC 2021: as many forward passes as stages follow, then one forward and one
    backward in turn, then the backward passes that are left.
    """
    ahead = min(stages - 1 - stage, microbatches)
    order = [(False, batch) for batch in range(ahead)]
    for batch in range(ahead, microbatches):
        order += [(False, batch), (True, batch - ahead)]
    return order + [(True, batch) for batch in range(microbatches - ahead, microbatches)]


def pipeline(plan: Stages, placement: Placement) -> Flows:
    """Let every stage work in the order 1F1B, on what has arrived, and send on what it has done.

    Each rank works on one thing at a time, and sends while it works. Its works stand first, then what it sends.

    Raises:
        SpecError: ``spec.load``, ``spec.too-many-flows``.
    """
    lanes, stages = plan.ranks.shape
    batches = plan.microbatches
    if batches < 1 or not (plan.size_bytes >= 0 and plan.forward_us >= 0 and plan.backward_us >= 0):
        raise SpecError("spec.load", "a microbatch, size or time of the pipeline is out of range", "give 1 or more")
    check_count(lanes * 4 * stages * batches, placement.rank_port.shape[1], f"{lanes} pipelines of {stages} stages")
    one = _one_pipeline(stages, batches)
    count = len(one.source)
    host = placement.rank_host[plan.ranks]
    source, target = plan.ranks[:, one.source], plan.ranks[:, one.target]
    same = host[:, one.source] == host[:, one.target]
    via = np.where(one.is_work, Via.WORK, np.where(same, Via.HOST, Via.FABRIC)).astype(np.int8)
    offset = np.arange(lanes, dtype=np.int64).reshape(-1, 1)
    table = np.where(one.needs[None] == NIL, NIL, one.needs[None] + (offset * count)[:, :, None])
    need_ptr, need = needs_from(table.reshape(-1, 2).astype(np.int32))
    work_us = np.where(one.is_backward, plan.backward_us, plan.forward_us)
    return make_flows(
        Transfers(
            source=source.ravel().astype(np.int32),
            target=target.ravel().astype(np.int32),
            via=via.ravel(),
            size=np.tile(np.where(one.is_work, 0.0, plan.size_bytes), lanes),
            need_ptr=need_ptr,
            need=need,
            queue=(one.queue + offset * 3 * stages).ravel().astype(np.int32),
            tag=np.tile(one.batch, lanes),
            delay=np.tile(np.where(one.is_work, work_us, 0.0), lanes),
        ),
        placement,
    )


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Works and messages of one pipeline; ends are stages."""

    source: I32
    target: I32
    is_work: np.ndarray
    is_backward: np.ndarray
    needs: I32
    queue: I32
    batch: I32


def _one_pipeline(stages: int, batches: int) -> _Pattern:
    rows: list[tuple[int, int, bool, bool, int, int]] = []
    at = np.full((2, 2, stages, batches), NIL, dtype=np.int32)  # work or message, backward, stage, batch
    for stage in range(stages):
        for backward, batch in list_work(stage, stages, batches):
            at[0, int(backward), stage, batch] = len(rows)
            rows.append((stage, stage, True, backward, 3 * stage, batch))
    for stage in range(stages):
        for backward, batch in list_work(stage, stages, batches):
            to = stage - 1 if backward else stage + 1
            if 0 <= to < stages:
                at[1, int(backward), stage, batch] = len(rows)
                rows.append((stage, to, False, backward, 3 * stage + 1 + int(backward), batch))
    needs = np.full((len(rows), 2), NIL, dtype=np.int32)
    for index, (stage, _, is_work, backward, _, batch) in enumerate(rows):
        if not is_work:
            needs[index, 0] = at[0, int(backward), stage, batch]
            continue
        before = stage + 1 if backward else stage - 1
        if 0 <= before < stages:
            needs[index, 0] = at[1, int(backward), before, batch]
    source, target, works, backwards, queue, batch = (np.array(column) for column in zip(*rows, strict=True))
    return _Pattern(
        source, target, works.astype(bool), backwards.astype(bool), needs, queue.astype(np.int32),
        batch.astype(np.int32),
    )  # fmt: skip
