"""The headroom of one lossless group: by the table of the platform that is declared, else by the published formula."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.headroom import headroom_asic, switch_headroom
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.headroom import HeadroomPort, LosslessTraffic
from weftline.model.headroom_table import ProfileRow
from weftline.model.spec import AUTO
from weftline.technologies.roce.mtu import SWITCH_MTU, host_mtu
from weftline.technologies.roce.platform import LANES_PER_CAGE


@dataclass(frozen=True, slots=True)
class Headroom:
    """The buffer of one lossless group, in bytes."""

    length_m: int
    """The length that it is sized for."""
    size: int
    xon: int
    xoff: int
    xon_offset: int | None = None


def find_headroom(design: ResolvedSpec, tier: TierPart, length_m: int) -> Headroom | None:
    """Size the headroom behind a cable of a length; None where no table has it and no figures of the chip are known."""
    return _compute(design, tier, length_m) if design.headroom_rows is None else _look_up(design, tier, length_m)


def lossless_mtu(design: ResolvedSpec) -> int:
    """Find the largest lossless packet that headroom is sized for."""
    declared = design.spec.roce.buffers.lossless_mtu
    return host_mtu(design) if declared == AUTO else declared


def _compute(design: ResolvedSpec, tier: TierPart, length_m: int) -> Headroom | None:
    """Size it by the formula; None for a chip or a rate of which a figure has no source."""
    chip, section = headroom_asic(tier.chip), design.spec.roce.buffers
    if chip is None:
        return None
    lanes = LANES_PER_CAGE // tier.per_cage
    port = HeadroomPort(round(tier.rate_gbps * 1000), length_m, SWITCH_MTU, lanes)
    traffic = LosslessTraffic(lossless_mtu(design), section.small_packet_percent)
    sized = switch_headroom(port, chip, traffic, is_pool_shared=section.shared_headroom)
    return None if sized is None else Headroom(length_m, sized.size, sized.xon, sized.xoff)


def _look_up(design: ResolvedSpec, tier: TierPart, length_m: int) -> Headroom | None:
    row = find_row(design, tier, length_m)
    return None if row is None else Headroom(row.cable_m, row.size, row.xon, row.xoff, row.xon_offset)


def find_row(design: ResolvedSpec, tier: TierPart, length_m: float) -> ProfileRow | None:
    """Find the row of the declared table for the rate of a tier and the next length that is enough."""
    speed = round(tier.rate_gbps * 1000)
    rows = [row for row in design.headroom_rows or () if row.speed_mbps == speed and row.cable_m >= length_m]
    return min(rows, key=lambda row: row.cable_m, default=None)


def round_length(design: ResolvedSpec, tier: TierPart, length_m: int) -> tuple[int, bool]:
    """Round a length up to one that the platform has headroom for, and say whether its lengths are known.

    At a length that a platform does not have, a port has no headroom, and packets are lost.
    """
    known = _known_lengths(design, tier)
    return min((step for step in known if step >= length_m), default=length_m), bool(known)


def _known_lengths(design: ResolvedSpec, tier: TierPart) -> tuple[int, ...]:
    if design.headroom_rows is not None:
        speed = round(tier.rate_gbps * 1000)
        return tuple(row.cable_m for row in design.headroom_rows if row.speed_mbps == speed)
    return next((ports.headroom_lengths_m for ports in tier.part.ports if ports.rate_gbps == tier.rate_gbps), ())
