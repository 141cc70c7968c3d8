"""What a design knows of its switches' platform: who writes their files, how lanes are numbered, what chips can do."""

from __future__ import annotations

from weftline.model.design import ResolvedSpec, TierPart

SYSTEMS: dict[str, tuple[str, ...]] = {
    "sonic": ("sonic", "frr", "host"),
    "nvue": ("nvue", "host"),
    "eos": ("eos", "host"),
}
"""Vendors that write the files of a fabric, by the operating system of its switches."""
SEQUENTIAL_LANES = ("spectrum-3", "spectrum-4")
"""Chips whose platforms number lanes as they number interfaces; on others the lanes are the platform's to say."""
COMPUTES_HEADROOM = ("spectrum",)
"""Chips for which SONiC computes headroom (files/build_templates/buffers_dynamic.json.j2 of their platforms)."""
LANES_PER_CAGE = 8
RS_FEC_GBPS = 200.0
"""From this rate on a port runs RS-FEC always. IEEE 802.3 clause 119."""


def list_vendors(design: ResolvedSpec) -> tuple[str, ...]:
    """Name the vendors that write the files of a design."""
    return SYSTEMS[design.spec.roce.platform.system]


def chip_name(tier: TierPart) -> str:
    """Name the chip of a tier's switch in small letters; empty where no source says it."""
    return (tier.part.asic or "").lower()


def computes_headroom(tier: TierPart) -> bool:
    """Whether the switches of a tier can compute headroom and pools by themselves."""
    return chip_name(tier).startswith(COMPUTES_HEADROOM)


def list_lanes(tier: TierPart, number: int) -> tuple[int, ...] | None:
    """List the lanes of a port, counted from 0; None where the platform numbers them in an order of its own."""
    if chip_name(tier) not in SEQUENTIAL_LANES:
        return None
    width = LANES_PER_CAGE // tier.per_cage
    cage, place = divmod(number - 1, tier.per_cage)
    first = cage * LANES_PER_CAGE + place * width
    return tuple(range(first, first + width))


def choose_fec(rate_gbps: float) -> str | None:
    """Choose the error correction of a port; None leaves it to the platform, which knows the cable."""
    return "rs" if rate_gbps >= RS_FEC_GBPS else None
