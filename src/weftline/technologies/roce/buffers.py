"""How the packet buffer of a tier's switches is divided: pools that add up, and the headroom of each port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weftline.errors import CapabilityError
from weftline.headroom import plan_pools
from weftline.model.buffers import BufferIntent, GroupBufferIntent, PoolIntent, ShareIntent
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.headroom import BufferGroup, PoolDemand, PoolPlan
from weftline.model.spec import AUTO
from weftline.technologies.roce.classes import Classes
from weftline.technologies.roce.headrooms import Headroom, find_headroom, lossless_mtu
from weftline.technologies.roce.platform import computes_headroom

INGRESS, EGRESS, EGRESS_LOSSY = "ingress_lossless_pool", "egress_lossless_pool", "egress_lossy_pool"
"""Names that the programs of SONiC look for (cfgmgr/buffer_pool_mellanox.lua)."""
LOSSY_GROUP, LOSSLESS_QUEUE, LOSSY_QUEUE = "ingress_lossy_profile", "egress_lossless_profile", "egress_lossy_profile"
LOSSY_TH = 3
"""A lossy group or queue may take 8 times what is free, as SONiC's own templates let it."""
QUEUE_TH = 7
"""A lossless queue may take all: its senders are paused by their groups, and nothing may be dropped here."""


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """How the switches of one tier divide their buffer; ``model`` is empty where nothing can be said of it."""

    design: ResolvedSpec
    tier: TierPart
    classes: Classes
    model: str

    def find(self, length_m: int | None) -> Headroom | None:
        """Size the headroom of a lossless group behind a cable; None where nobody can."""
        return None if length_m is None else find_headroom(self.design, self.tier, length_m)

    def list_groups(self, length_m: int | None) -> tuple[GroupBufferIntent, ...]:
        """List the groups of a port: one that may lose packets, and those that may not."""
        if not self.model:
            return ()
        made = [GroupBufferIntent(key=self.classes.common_group, share=LOSSY_GROUP)]
        made += [self._make_group(group, length_m) for group in self._lossless_groups() if length_m is not None]
        return tuple(sorted(made, key=lambda group: group.key))

    def _lossless_groups(self) -> list[int]:
        return sorted({one.group for one in self.classes.lossless})

    def _make_group(self, group: int, length_m: int | None) -> GroupBufferIntent:
        headroom = None if self.model == "dynamic" else self.find(length_m)
        if headroom is None:
            return GroupBufferIntent(key=group, is_computed=True)
        return GroupBufferIntent(
            key=group,
            pool=INGRESS,
            size_bytes=headroom.size,
            xon_bytes=headroom.xon,
            xon_offset_bytes=headroom.xon_offset,
            xoff_bytes=headroom.xoff,
            dynamic_th=self.design.spec.roce.buffers.dynamic_th,
        )

    def make(self, lengths_m: Sequence[int | None]) -> BufferIntent | None:
        """Divide the buffer of one switch, given the cables of its ports."""
        section = self.design.spec.roce.buffers
        if not self.model:
            return None
        is_computed = self.model == "dynamic"
        return BufferIntent(
            model="dynamic" if is_computed else "traditional",
            pools=tuple(self._make_pools(lengths_m)),
            shares=(
                ShareIntent(LOSSLESS_QUEUE, EGRESS, 0, dynamic_th=QUEUE_TH),
                ShareIntent(LOSSY_QUEUE, EGRESS_LOSSY, 0, dynamic_th=LOSSY_TH),
                ShareIntent(LOSSY_GROUP, INGRESS, 0, dynamic_th=LOSSY_TH),
            ),
            over_subscribe_ratio=(section.over_subscribe_ratio if section.shared_headroom else 0)
            if is_computed
            else None,
            lossless_mtu=lossless_mtu(self.design) if is_computed else None,
            small_packet_percent=section.small_packet_percent if is_computed else None,
            dynamic_th=section.dynamic_th if is_computed else None,
        )

    def _make_pools(self, lengths_m: Sequence[int | None]) -> Iterator[PoolIntent]:
        total = total_bytes(self.design, self.tier)
        plan = None if self.model == "dynamic" or total is None else self.divide(lengths_m, total)
        yield PoolIntent(EGRESS, "egress", "dynamic", total)
        yield PoolIntent(EGRESS_LOSSY, "egress", "dynamic", None if plan is None else plan.shared_pool)
        if plan is None:
            yield PoolIntent(INGRESS, "ingress", "dynamic")
        elif plan.problems:
            problem = plan.problems[0]
            where = self.design.places.get("roce.buffers") or self.design.places.get("topology")
            raise CapabilityError(problem.code, f"{self.tier.name}: {problem.message}", problem.hint, where)
        else:
            yield PoolIntent(INGRESS, "ingress", "dynamic", plan.shared_pool, plan.shared_headroom or None)

    def divide(self, lengths_m: Sequence[int | None], total: int) -> PoolPlan:
        """Divide a buffer among what groups have for themselves, shared headroom, and the pool for all."""
        section = self.design.spec.roce.buffers
        groups = len(self._lossless_groups())
        found = Counter(headroom for length in lengths_m if (headroom := self.find(length)) is not None)
        return plan_pools(
            PoolDemand(
                total_bytes=total,
                groups=tuple(BufferGroup(groups * count, one.size, one.xon, one.xoff) for one, count in found.items()),
                # A group that reserves less than xon + xoff takes the rest from a pool, whoever shares that.
                over_subscribe_ratio=section.over_subscribe_ratio if section.shared_headroom else 1,
            )
        )


def plan_buffers(design: ResolvedSpec, tier: TierPart, classes: Classes) -> BufferPlan:
    """Decide who computes the headroom of a tier: the switch, or the files with every byte."""
    return BufferPlan(design, tier, classes, choose_model(design, tier))


def choose_model(design: ResolvedSpec, tier: TierPart) -> str:
    """Choose the buffer model; empty where neither the switch nor anybody here can size what is needed.

    ``auto`` prefers files that say every byte, since what they come to can be proved from them alone.
    """
    declared = design.spec.roce.buffers.model
    can_say = total_bytes(design, tier) is not None and find_headroom(design, tier, 1) is not None
    if can_say and declared != "dynamic":
        return "traditional"
    return "dynamic" if computes_headroom(tier) and declared != "traditional" else ""


def total_bytes(design: ResolvedSpec, tier: TierPart) -> int | None:
    """Find the packet buffer that pools may take; None where no source says it."""
    declared = design.spec.roce.buffers.total_bytes
    if declared != AUTO:
        return declared
    return None if tier.part.buffer_bytes is None else int(tier.part.buffer_bytes)
