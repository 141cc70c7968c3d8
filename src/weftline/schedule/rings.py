"""Ring algorithms: flat over all NICs, and hierarchical with one ring per rail between hosts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import I8, I32, NIL
from weftline.model.traffic import CollectiveKind, Via
from weftline.schedule.transfers import Transfers, join_transfers, needs_from

RING_STEPS: dict[CollectiveKind, int] = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1}
"""How often a ring of n goes n - 1 steps."""


@dataclass(frozen=True, slots=True)
class RingPhase:
    """Rings that turn at the same time, ``rings[ring, member]`` being ranks."""

    rings: I32
    steps: int
    size: float
    """Bytes of each message."""
    via: Via | I8
    """The network that every member, or each one, sends through."""


def ring_phase(phase: RingPhase, enter: I32, base: int = 0, tag: int = 0) -> tuple[Transfers, I32]:
    """Let every member send a message to the next one in each step, after the one that it passes on has come.

    ``enter[rank]`` is a transfer that the rank's first message needs (NIL: none). The transfers count from ``base``,
    step by step, and tags from ``tag``. Returns them and, per rank, the transfer that ends the phase there
    (``enter`` where the phase is empty).
    """
    rings = phase.rings
    count, length = rings.shape
    members = rings.ravel()
    width = count * length
    own = np.arange(width, dtype=np.int32).reshape(count, length)
    before = np.roll(own, 1, axis=1).ravel()
    after = np.roll(rings, -1, axis=1).ravel()
    steps = phase.steps if length > 1 else 0
    step = np.arange(steps, dtype=np.int32)
    table = np.empty((steps, width), dtype=np.int32)
    table[:1] = enter[members]
    table[1:] = base + step[:-1, None] * width + before
    need_ptr, need = needs_from(table.reshape(-1, 1))
    channel = np.broadcast_to(np.asarray(phase.via, dtype=np.int8).ravel(), width)
    leave = enter.copy()
    if steps:
        leave[members] = base + (steps - 1) * width + before
    transfers = Transfers(
        source=np.tile(members, steps),
        target=np.tile(after, steps),
        via=np.tile(channel, steps),
        size=np.repeat(np.array([phase.size], dtype=np.float64), steps * width),
        need_ptr=need_ptr,
        need=need,
        queue=np.tile(members * 2 + channel, steps).astype(np.int32),
        tag=np.repeat(step + tag, width).astype(np.int32),
    )
    return transfers, leave


def flat_ring(kind: CollectiveKind, rings: I32, size_bytes: float, via: Via | I8 = Via.FABRIC) -> Transfers:
    """Send around rings ``[rings, members]`` in (members - 1) steps per pass, each of a member's share."""
    length = rings.shape[1]
    enter = np.full(int(rings.max(initial=-1)) + 1, NIL, dtype=np.int32)
    return ring_phase(RingPhase(rings, RING_STEPS[kind] * (length - 1), size_bytes / length, via), enter)[0]


def hierarchical_ring(kind: CollectiveKind, grids: I32, size_bytes: float) -> Transfers:
    """Work inside hosts over the network there, and between hosts on one ring per rail.

    ``grids[group, host, member]`` are ranks; members of one column stand on one rail. All-reduce: reduce-scatter
    inside, all-reduce on each rail's share, all-gather inside. All-gather: rails first. Reduce-scatter: inside first.
    """
    groups, hosts, members = grids.shape
    inside = grids.reshape(groups * hosts, members)
    rails = np.ascontiguousarray(grids.transpose(0, 2, 1)).reshape(groups * members, hosts)
    within = RingPhase(inside, members - 1, size_bytes / members, Via.HOST)
    between = RingPhase(rails, RING_STEPS[kind] * (hosts - 1), size_bytes / members / hosts, Via.FABRIC)
    plan = {
        "all-reduce": (within, between, within),
        "all-gather": (between, within),
        "reduce-scatter": (within, between),
    }[kind]
    enter = np.full(int(grids.max(initial=-1)) + 1, NIL, dtype=np.int32)
    parts: list[Transfers] = []
    base = tag = 0
    for phase in plan:
        part, enter = ring_phase(phase, enter, base, tag)
        parts.append(part)
        base += part.count
        tag += phase.steps
    return join_transfers(parts)
