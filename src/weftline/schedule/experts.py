"""Experts: each token goes to a few of them, on other GPUs, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import F64, I32, NIL
from weftline.model.traffic import Flows, Placement, Via
from weftline.schedule.transfers import Transfers, check_count, make_flows


@dataclass(frozen=True, slots=True)
class Experts:
    """Groups of ranks that hold the experts of one layer, and what they pass to each other."""

    ranks: I32
    """``[groups, members]``: each member holds as many experts as the others."""
    token_bytes: float
    """What one rank sends out in all, its own share included: tokens x experts per token x bytes of a token."""
    imbalance: float = 1.0
    """What the busiest member gets over what each gets on average."""
    work_us: float = 0.0
    """What a member with the average number of tokens works on them."""
    seed: int = 0


def draw_popularity(members: int, imbalance: float, seed: int) -> F64:
    """Draw how much each member gets, 1 on average, so that the largest is ``imbalance``.

    A seeded draw is raised to the power that gives the wanted largest value.

    Raises:
        SpecError: ``spec.load`` for an imbalance below 1 or above what one member could get alone.
    """
    if not 1 <= imbalance <= max(1.0, 0.9 * members):
        raise SpecError(
            "spec.load",
            f"an imbalance of {imbalance:g} over {members} members is out of range",
            f"choose 1 to {max(1.0, 0.9 * members):g}",
        )
    if imbalance == 1:
        return np.ones(members)
    draw = 0.05 + 0.95 * np.random.Generator(np.random.PCG64(seed)).random(members)
    draw /= draw.max()
    low, high = 0.0, 1.0
    while members / (draw**high).sum() < imbalance and high < 2**40:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if members / (draw**middle).sum() < imbalance else (low, middle)
    weight = draw**high
    return weight / weight.mean()


def expert_traffic(plan: Experts, placement: Placement) -> Flows:
    """Dispatch tokens to the members of each group, let them work, and combine the results where they came from.

    A member starts to work when all that is meant for it has arrived. Messages to members on the same host go over
    the network inside it. Each rank sends to the next member first, as in an all-to-all.

    Raises:
        SpecError: ``spec.load``, ``spec.too-many-flows``.
    """
    groups, members = plan.ranks.shape
    if not (plan.token_bytes > 0 and plan.work_us >= 0):
        raise SpecError("spec.load", "the bytes or the work of experts are out of range", "give more than 0")
    pairs = members * (members - 1)
    check_count(groups * (2 * pairs + members), placement.rank_port.shape[1], f"{groups} groups of {members} experts")
    weight = draw_popularity(members, plan.imbalance, plan.seed)
    at = np.arange(members, dtype=np.int64)
    step = np.repeat(np.arange(1, members, dtype=np.int64), members)
    sender = np.tile(at, max(members - 1, 0))
    receiver = (sender + step) % members
    # A group's transfers: dispatches by step, one work per member, and combines by step.
    source = np.concatenate((sender, at, sender))
    target = np.concatenate((receiver, at, receiver))
    is_work = np.repeat([False, True, False], [pairs, members, pairs])
    share = plan.token_bytes / members * weight
    size = np.concatenate((share[receiver], np.zeros(members), share[sender]))
    given = np.argsort(receiver, kind="stable")  # the dispatches to each member, members - 1 of them
    need_count = np.concatenate((np.zeros(pairs), np.full(members, members - 1), np.ones(pairs))).astype(np.int64)
    need = np.concatenate((given, pairs + sender))
    count = len(source)
    lane = np.arange(groups, dtype=np.int64).reshape(-1, 1)
    start, end = plan.ranks[:, source], plan.ranks[:, target]
    same = placement.rank_host[start] == placement.rank_host[end]
    via = np.where(is_work, Via.WORK, np.where(same, Via.HOST, Via.FABRIC)).astype(np.int8)
    return make_flows(
        Transfers(
            source=start.ravel().astype(np.int32),
            target=end.ravel().astype(np.int32),
            via=via.ravel(),
            size=np.tile(size, groups),
            need_ptr=np.concatenate(([0], np.cumsum(np.tile(need_count, groups)))).astype(np.int64),
            need=(need + lane * count).ravel().astype(np.int32),
            queue=np.where(is_work, NIL, 2 * start + via).ravel().astype(np.int32),
            tag=np.tile(np.repeat([0, 1, 2], [pairs, members, pairs]), groups).astype(np.int32),
            delay=np.tile(np.where(is_work, plan.work_us * weight[source], 0.0), groups),
        ),
        placement,
    )
