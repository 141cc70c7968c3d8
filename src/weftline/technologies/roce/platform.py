"""What a design knows of its switches' platform: who writes their files, how lanes are numbered, what chips can do."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.model.capability import Need
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.intent import WatchdogIntent
from weftline.model.parts import HashField
from weftline.model.spec import AUTO
from weftline.technologies.roce.classes import make_queues, number_classes

SYSTEMS: dict[str, tuple[str, ...]] = {
    "sonic": ("sonic", "frr", "host"),
    "nvue": ("nvue", "host"),
    "eos": ("eos", "host"),
}
"""Vendors that write the files of a fabric, by the operating system of its switches."""
LANES_PER_CAGE = 8
RS_FEC_GBPS = 200.0
"""From this rate on a port runs RS-FEC always. IEEE 802.3 clause 119."""
HASH_WORDS: dict[str, HashField] = {
    "source-address": "src-ip",
    "target-address": "dst-ip",
    "protocol": "protocol",
    "source-port": "src-port",
    "target-port": "dst-port",
    "queue-pair": "rdma-queue-pair",
    "ingress-port": "in-port",
    "inner-source-address": "inner-src-ip",
    "inner-target-address": "inner-dst-ip",
    "inner-protocol": "inner-protocol",
    "inner-source-port": "inner-src-port",
    "inner-target-port": "inner-dst-port",
}
"""Words of the declaration, and those of the catalogue."""


def list_vendors(design: ResolvedSpec) -> tuple[str, ...]:
    """Name the vendors that write the files of a design."""
    return SYSTEMS[design.spec.roce.platform.system]


def computes_headroom(tier: TierPart) -> bool:
    """Whether the switches of a tier can compute headroom and pools by themselves."""
    return tier.chip is not None and "dynamic" in tier.chip.buffer_models


def list_lanes(tier: TierPart, number: int) -> tuple[int, ...] | None:
    """List the lanes of a port; None where no source says how its platform numbers them."""
    width = LANES_PER_CAGE // tier.per_cage
    cage, place = divmod(number - 1, tier.per_cage)
    if cage < len(tier.part.cage_lanes):
        first = tier.part.cage_lanes[cage] + place * width
    elif tier.chip is not None and tier.chip.has_sequential_lanes:
        first = cage * LANES_PER_CAGE + place * width
    else:
        return None
    return tuple(range(first, first + width))


def choose_fec(rate_gbps: float) -> str | None:
    """Choose the error correction of a port; None leaves it to the platform, which knows the cable."""
    return "rs" if rate_gbps >= RS_FEC_GBPS else None


def list_needs(design: ResolvedSpec) -> tuple[str, tuple[Need, ...]]:
    """List what a design asks of the platform of its switches."""
    return design.spec.roce.platform.system, tuple(_list_needs(design))


def _list_needs(design: ResolvedSpec) -> Iterator[Need]:
    roce, places = design.spec.roce, design.places
    queues = make_queues(design.spec)
    where = places.get("roce.classes") or places.get("lossless")
    yield _flag("has_routing", "routes between switches (BGP)", places.get("technology"))
    yield _flag("has_pauses", "pauses by priority (PFC)", where)
    priorities = number_classes(design.spec).priorities
    yield Need("pause_priorities", priorities, f"pauses of priority {', '.join(map(str, priorities))}", where)
    yield _flag("has_dscp_map", "a map from DSCP to class", where)
    yield Need("schedules", tuple(sorted({one.schedule for one in queues.classes})), "these schedules", where)
    if any(one.mark_min_bytes is not None for one in queues.classes):
        yield _flag("has_marks", "marks (ECN) with thresholds", places.get("roce.ecn") or where)
    if roce.buffers.shared_headroom:
        what = "a shared headroom pool"
        yield _flag("has_shared_headroom", what, places.get("roce.buffers.shared_headroom"))
    yield from _list_watchdog_needs(design, queues.watchdog)
    hashing = roce.hashing
    if hashing.fields != AUTO:
        fields = tuple(HASH_WORDS[word] for word in hashing.fields)
        yield Need("hash_fields", fields, f"hashing of {', '.join(hashing.fields)}", places.get("roce.hashing.fields"))
    if {hashing.leaf_seed, hashing.spine_seed, hashing.core_seed} != {AUTO}:
        yield _flag("has_hash_seed", "a hash seed of one's own", places.get("roce.hashing"))
    if design.spec.roce.tenancy.kind != "none" and len(design.spec.tenants) > 1:
        yield _flag("has_vrfs", "tenants as VRFs", places.get("tenants"))
        yield _flag("has_vxlan", "tenants over VXLAN with EVPN", places.get("tenants"))
        if roce.tenancy.source_checks:
            yield _flag("has_filters", "filters at ports of hosts", places.get("tenants"))
        yield _flag("copies_dscp", "the DSCP of packets inside VXLAN on their outside", places.get("tenants"))
    if roce.adaptive_routing:
        yield _flag("has_adaptive_routing", "adaptive routing", places.get("roce.adaptive_routing"))


def _flag(field: str, what: str, where: Place | None) -> Need:
    return Need(field, wanted=True, what=what, where=where)


def _list_watchdog_needs(design: ResolvedSpec, watchdog: WatchdogIntent | None) -> Iterator[Need]:
    """Ask for what is declared of the watchdog; what is left to auto fits each platform's own."""
    section, base = design.spec.roce.watchdog, "roce.watchdog"
    if watchdog is None:
        return
    asked = {"action": ("watchdog_actions", section.action), "detect_ms": ("watchdog_detect_ms", section.detect_ms)}
    asked |= {key: (f"watchdog_{key}", getattr(section, key)) for key in ("restore_ms", "poll_ms")}
    for key, (field, value) in asked.items():
        where = design.places.get(f"{base}.{key}")
        if where is not None and value != AUTO:
            yield Need(field, value, f"a watchdog with {key.removesuffix('_ms')} {value}", where)
