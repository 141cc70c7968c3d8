"""The queues of a tier: marks below what pauses, and a watchdog above the longest honest pause."""

from __future__ import annotations

import math
from dataclasses import replace

from weftline.headroom import alpha_of, mark_limit
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.headroom import PauseLimit
from weftline.model.intent import QueueIntent
from weftline.technologies.roce.buffers import LOSSLESS_QUEUE, LOSSY_QUEUE, BufferPlan, total_bytes
from weftline.technologies.roce.classes import make_queues
from weftline.technologies.roce.headrooms import round_length

KIB = 1024


def plan_queues(design: ResolvedSpec, tier: TierPart, buffers: BufferPlan) -> QueueIntent:
    """Derive the queues of a tier's switches."""
    queues = make_queues(
        design.spec, mark_bound=find_mark_bound(design, tier, buffers), pause_ms=longest_pause_ms(design, tier)
    )
    if not buffers.model:
        return queues
    return replace(
        queues,
        classes=tuple(
            replace(one, share=LOSSY_QUEUE if one.priority is None else LOSSLESS_QUEUE) for one in queues.classes
        ),
    )


def longest_pause_ms(design: ResolvedSpec, tier: TierPart) -> float:
    """Bound the longest pause without a fault: a full buffer leaves by one port, at each hop."""
    total = total_bytes(design, tier)
    if total is None:
        return 0.0
    hops = 2 * int(design.spec.topology.tiers) - 1 if isinstance(design.spec.topology.tiers, int) else 5
    return hops * total * 8 / (tier.rate_gbps * 1e6)


def find_mark_bound(design: ResolvedSpec, tier: TierPart, buffers: BufferPlan) -> int | None:
    """Find the queue from which on a pause may come first, even where one group fills queues of all ports.

    None where the pool is not known. DCQCN, SIGCOMM 2015, section 4; whole KiB.
    """
    total = total_bytes(design, tier)
    if total is None or not buffers.model or not buffers.classes.lossless:
        return None
    longest, _ = round_length(design, tier, math.ceil(max(run.length_m for run in design.leaf_runs.values())))
    if buffers.find(longest) is None:
        return None
    pool = buffers.divide([longest] * tier.ports, total).shared_pool
    alpha = alpha_of(design.spec.roce.buffers.dynamic_th)
    limit = PauseLimit(pool_bytes=max(pool, 0), alpha=alpha, classes=len(buffers.classes.lossless))
    most = mark_limit(limit, tier.ports)
    return None if most is None else int(most) // KIB * KIB
