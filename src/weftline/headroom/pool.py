"""Buffer pools that add up: what is left to share, and how many groups may pause at once without loss."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from weftline.errors import Problem
from weftline.model.headroom import PoolDemand, PoolPlan, Term


def plan_pools(demand: PoolDemand) -> PoolPlan:
    """Add up what groups have for themselves, the shared headroom and other reservations against the chip's buffer.

    With a shared headroom pool the sum of all groups' headroom may exceed it; the largest that fit at once are counted,
    so a plan says how many groups may pause together. Where neither a pool nor an over-subscribe ratio is given, a
    group has only the headroom within its own size. Source: sonic-net/sonic-swss, cfgmgr/buffer_pool_mellanox.lua.
    """
    own = sum(group.count * group.size for group in demand.groups)
    other = sum(term.amount for term in demand.reserved)
    drawn = _drawn(demand)
    asked = math.ceil(sum(count * amount for amount, count in drawn))
    shared = _shared_headroom(demand, asked)
    ports = sum(-(-group.count // max(group.per_port, 1)) for group in demand.groups)
    private = ports * demand.port_headroom
    usable = demand.total_bytes
    if demand.cell_bytes:
        usable -= usable % demand.cell_bytes
    left = math.floor(usable - own - private - other - shared)
    terms = (
        Term("buffer", usable, "" if usable == demand.total_bytes else f"whole cells of {demand.cell_bytes} B"),
        Term("reserved by lossless groups", -own, " + ".join(f"{g.count} * {g.size:,} B" for g in demand.groups)),
        *([Term("headroom of ports", -private, f"{ports} * {demand.port_headroom:,} B")] if private else []),
        *(Term(term.name, -term.amount, term.how) for term in demand.reserved),
        Term("shared headroom", -shared, _tell_shared(demand, asked)),
    )
    plan = PoolPlan(
        shared_pool=left,
        shared_headroom=shared,
        asked_headroom=asked,
        group_count=sum(count for _, count in drawn),
        paused_at_once=count_fitting(drawn, shared),
        most_held=own
        + private
        + shared
        + max(min(left, demand.pool_bytes if demand.pool_bytes is not None else left), 0),
        terms=terms,
    )
    return _judged(demand, plan)


def _drawn(demand: PoolDemand) -> list[tuple[Fraction, int]]:
    """List what groups take from the shared headroom pool and how many take so much, the largest first.

    The headroom of a port is taken first, in even parts: k groups on the fewest ports never take more than k parts.
    """
    parts = [
        (g.xon + g.xoff - g.size - Fraction(demand.port_headroom, max(g.per_port, 1)), g.count) for g in demand.groups
    ]
    return sorted(((max(part, Fraction(0)), count) for part, count in parts), reverse=True)


def _shared_headroom(demand: PoolDemand, asked: int) -> int:
    if demand.shared_headroom is not None:
        return demand.shared_headroom
    ratio = demand.over_subscribe_ratio
    if ratio is None or ratio <= 0 or not math.isfinite(ratio):
        return 0
    return math.ceil(asked / Fraction(str(ratio)))


def count_fitting(drawn: Iterable[tuple[Fraction | int, int]], shared: int) -> int:
    """Count the groups that may pause at once, whichever they are: amounts and how many take each, largest first."""
    fit, left = 0, Fraction(shared)
    for amount, count in drawn:
        many = count if amount == 0 else min(count, math.floor(left / amount))
        fit, left = fit + many, left - many * amount
        if many < count:
            break
    return fit


def _tell_shared(demand: PoolDemand, asked: int) -> str:
    if demand.shared_headroom is not None:
        return "as given"
    return f"{asked:,} B / {demand.over_subscribe_ratio:g}" if demand.over_subscribe_ratio else "none"


def _judged(demand: PoolDemand, plan: PoolPlan) -> PoolPlan:
    problems: list[Problem] = []
    if plan.shared_pool < 0:
        problems.append(
            Problem(
                "capability.pool-overdrawn",
                f"reservations and headroom take {-plan.shared_pool:,} B more than the chip's {demand.total_bytes:,} B",
                "fewer lossless classes or ports, shorter cables, or a shared headroom pool with a higher ratio",
            )
        )
    elif demand.pool_bytes is not None and demand.pool_bytes > plan.shared_pool:
        problems.append(
            Problem(
                "capability.pool-overdrawn",
                f"the ingress lossless pool has {demand.pool_bytes:,} B, and {plan.shared_pool:,} B are left for it",
                f"make it {plan.shared_pool:,} B or smaller",
            )
        )
    if plan.group_count and plan.paused_at_once == 0:
        problems.append(
            Problem(
                "capability.headroom-pool",
                f"no group can pause without loss: the shared headroom pool has {plan.shared_headroom:,} B, and one "
                f"group takes {math.ceil(_drawn(demand)[0][0]):,} B of it",
                "make the pool larger, or give each group its headroom within its own size",
            )
        )
    if demand.egress_bytes is not None and demand.egress_bytes < plan.most_held:
        problems.append(
            Problem(
                "capability.egress-pool",
                f"lossless groups can hold {plan.most_held:,} B, and the egress lossless pool has "
                f"{demand.egress_bytes:,} B: the rest is dropped on the way out",
                "make the egress lossless pool as large as the chip's buffer, so that only the way in decides",
            )
        )
    return replace(plan, problems=tuple(problems))
