"""The queues of a tier: marks below what pauses, and a watchdog above the longest honest pause."""

from __future__ import annotations

from dataclasses import replace

from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.intent import QueueIntent
from weftline.technologies.roce.buffers import LOSSLESS_QUEUE, LOSSY_QUEUE, BufferPlan, total_bytes
from weftline.technologies.roce.classes import make_queues


def plan_queues(design: ResolvedSpec, tier: TierPart, buffers: BufferPlan) -> QueueIntent:
    """Derive the queues of a tier's switches."""
    queues = make_queues(design.spec, pause_ms=longest_pause_ms(design, tier))
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
