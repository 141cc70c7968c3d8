"""What a declaration asks of a subnet that OpenSM would take and then not do, or do unsafely: refused beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weftline.errors import Problem
from weftline.model.design import ResolvedSpec
from weftline.model.levels import LEVELS, MAX_LANES
from weftline.technologies.infiniband.isolation import DEFAULT_PKEY, number_partitions

MEMBER_BIT = 0x8000
ASSUMED_ADAPTER_KEYS = 64
ASSUMED_SWITCH_KEYS = 32
"""Places of P_Key tables where no part says how many: below that nothing is said of unknown tables."""
ASSUMED_LANES = 1
"""Data lanes that every port has. IBTA vol 1, 7.6.3."""


def list_refusals(design: ResolvedSpec) -> tuple[Problem, ...]:
    """List what stands against a declaration, each with its arithmetic."""
    return (
        *_judge_numbers(design),
        *_judge_openness(design),
        *_judge_memberships(design),
        *_judge_tables(design),
        *_judge_levels(design),
        *_judge_lanes(design),
        *_judge_lease(design),
        *_judge_foreign(design),
    )


def _judge_foreign(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse the section of another technology: it would mean nothing here."""
    if "roce" in design.places:
        message = "the section roce is given, and the technology is infiniband"
        hint = "remove the section, or write technology: roce"
        yield Problem("spec.other-technology", message, hint, design.places["roce"])


def _name_partition(name: str) -> str:
    if not name:
        return "that of endpoints of no tenant"
    return f"service {name[1:]}" if name.startswith("/") else f"tenant {name}"


def _judge_numbers(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse numbers that mean something else, and two partitions of one number."""
    places = {f"{tenant.name}": f"tenants[{index}].partition" for index, tenant in enumerate(design.spec.tenants)}
    places |= {f"/{one.name}": f"shared[{index}].partition" for index, one in enumerate(design.spec.shared)}
    owners: dict[int, str] = {}
    for name, number in number_partitions(design).items():
        where = design.places.get(places.get(name, "")) or design.places.get("infiniband.partition_first_key")
        who = _name_partition(name)
        why = {
            0: "0x0000 is no key",
            DEFAULT_PKEY: "0x7fff is the default partition",
            0xFFFF: "0xffff is full membership of the default partition",
        }.get(number, f"{number:#06x} has the membership bit 0x8000 set" if number & MEMBER_BIT else "")
        if why:
            hint = "a partition has a number from 0x0001 to 0x7ffe; the membership bit comes from membership"
            yield Problem("spec.partition-number", f"partition of {who}: {why}", hint, where)
        elif number in owners:
            message = f"partitions of {owners[number]} and of {who} both have the number {number:#06x}: they are one"
            yield Problem("spec.partition-clash", message, "give each its own number, or auto", where)
        owners.setdefault(number, who)


def _judge_openness(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse what takes the walls between tenants away."""
    section, tenants = design.spec.infiniband, design.spec.tenants
    if not tenants:
        return
    if section.enforcement != "both":
        message = (
            f"infiniband.enforcement is {section.enforcement} with {len(tenants)} tenants: a host that rewrites its "
            "own table then reaches others, since the switch port lets it"
        )
        where = design.places.get("infiniband.enforcement")
        yield Problem("spec.partitions-open", message, "write both, or leave it out", where)
    if section.default_partition == "full":
        message = (
            f"infiniband.default_partition is full with {len(tenants)} tenants: every endpoint reaches every other "
            "one through the default partition"
        )
        where = design.places.get("infiniband.default_partition")
        yield Problem("spec.partitions-open", message, "write limited, or leave it out", where)


def _judge_memberships(design: ResolvedSpec) -> Iterator[Problem]:
    for index, tenant in enumerate(design.spec.tenants):
        if tenant.membership != "both":
            continue
        where = design.places.get(f"tenants[{index}].membership")
        if not design.spec.infiniband.allow_both:
            message = f"tenant {tenant.name} has both memberships, and infiniband.allow_both is false"
            hint = "choose full or limited, or set infiniband.allow_both: true; OpenSM would leave out one of the keys"
            yield Problem("spec.both-memberships", message, hint, where)
        else:
            message = (
                f"hosts of tenant {tenant.name} hold two keys of one partition, which few programs expect (TEN-04)"
            )
            yield Problem("spec.both-memberships", message, "choose full or limited", where, severity="warning")


def _judge_tables(design: ResolvedSpec) -> Iterator[Problem]:
    """Count the keys of the fullest endpoint; the switch port that faces it holds the same.

    A full switch table makes OpenSM clear the enforcement of the port, and say so only in its log.
    """
    spec = design.spec
    worst, who, sums = 2, "an endpoint", "1 (default) + 1 (its own)"
    for tenant in spec.tenants:
        own = 2 if tenant.membership == "both" else 1
        services = sum(one.tenants == "all" or tenant.name in one.tenants for one in spec.shared)
        if 1 + own + services > worst:
            worst, who = 1 + own + services, f"a host of tenant {tenant.name}"
            sums = f"1 (default) + {own} (tenant) + {services} (shared services)"
    for extra in {name for one in spec.shared for name in one.endpoints}:
        services = sum(extra in one.endpoints for one in spec.shared)
        if 1 + services > worst:
            worst, who, sums = 1 + services, extra, f"1 (default) + {services} (shared services)"
    tables = {
        "hosts.nic": (f"NIC {design.host.nic}", design.nic.partition_cap, ASSUMED_ADAPTER_KEYS, "PartitionCap"),
        "topology.leaf": (
            f"leaf {design.leaf.name}", design.leaf.part.partition_cap, ASSUMED_SWITCH_KEYS, "PartitionEnforcementCap",
        ),
    }  # fmt: skip
    for key, (what, cap, assumed, name) in tables.items():
        where = design.places.get("shared") or design.places.get(key)
        need = f"{who} needs {sums} = {worst} keys"
        hint = "share fewer services with one tenant, or put services into one"
        if cap is not None and worst > cap:
            yield Problem("capability.partition-table", f"{need}, and {what} holds {cap} ({name})", hint, where)
        elif cap is None and worst > assumed:
            message = f"{need}; how many {what} holds ({name}) is unknown, and {assumed} are common"
            yield Problem("capability.partition-table", message, hint, where, severity="warning")


def _judge_levels(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse levels and lanes that are none, and classes that contradict each other."""
    lanes: dict[int, tuple[str, tuple[int, bool]]] = {}
    levels: dict[int, str] = {}
    known = {tenant.name for tenant in design.spec.tenants}
    for index, one in enumerate(design.spec.infiniband.qos.classes):
        where = design.places.get(f"infiniband.qos.classes[{index}]")
        for word, number, most in (("sl", one.sl, LEVELS - 1), ("vl", one.vl, MAX_LANES - 1)):
            if number > most:
                message = f"class {one.name} has {word} {number}; there are {word} 0 to {most}"
                yield Problem("spec.service-level", message, f"choose {word} 0 to {most}", where)
        if one.sl in levels:
            message = f"classes {levels[one.sl]} and {one.name} both have sl {one.sl}"
            yield Problem("spec.class-clash", message, "give each class a service level of its own", where)
        levels.setdefault(one.sl, one.name)
        other, share = lanes.setdefault(one.vl, (one.name, (one.weight, one.high)))
        if share != (one.weight, one.high):
            message = f"classes {other} and {one.name} share vl {one.vl} and give it different weights"
            yield Problem("spec.class-clash", message, "weight and high belong to the lane: write the same", where)
        for tenant in one.tenants:
            if tenant not in known:
                message = f"class {one.name} is for tenant {tenant!r}, which is not declared"
                yield Problem(
                    "spec.unknown-tenant", message, f"tenants are {', '.join(sorted(known)) or 'none'}", where
                )


def _judge_lanes(design: ResolvedSpec) -> Iterator[Problem]:
    """Hold the lanes against what ports have: OpenSM folds a lane that a port lacks into another one, unsaid."""
    classes = design.spec.infiniband.qos.classes
    used = max((one.vl for one in classes), default=0) + 1
    if used > MAX_LANES:
        return  # said of the class
    what, where = "the classes use", design.places.get("infiniband.qos")
    routing = design.spec.routing
    if routing.engine == "layered" and routing.lanes != "auto" and routing.lanes > used:
        used, what, where = routing.lanes, "routing.lanes allows", design.places.get("routing.lanes")
    unknown: list[str] = []
    caps: Mapping[str, int | None] = {
        f"NIC {design.host.nic}": design.nic.data_lanes,
        **{f"switch {tier.name}": tier.part.data_lanes for tier in (design.leaf, design.spine, design.core)},
    }
    for name, cap in caps.items():
        if cap is None:
            unknown.append(name)
        elif used > cap:
            message = f"{what} {used} lanes (vl 0 to {used - 1}), and ports of {name} have {cap} (VLCap)"
            yield Problem("capability.lanes", message, f"use vl 0 to {cap - 1}", where)
    if unknown and used > ASSUMED_LANES:
        message = f"{what} {used} lanes; how many ports of {unknown[0]} have (VLCap) is unknown"
        hint = "look with smpquery portinfo (VLCap), and state data_lanes in parts"
        yield Problem("capability.lanes", message, hint, where, severity="warning")


def _judge_lease(design: ResolvedSpec) -> Iterator[Problem]:
    keys, sweep = design.spec.infiniband.keys, design.spec.infiniband.sweep_interval_s
    if keys.m_key_file is not None and keys.lease_s <= sweep:
        message = (
            f"infiniband.keys.lease_s is {keys.lease_s} s, and the manager renews it every sweep, {sweep} s: between "
            "the two devices let go of the M_Key, and anybody can read or set it"
        )
        where = design.places.get("infiniband.keys.lease_s") or design.places.get("infiniband.sweep_interval_s")
        yield Problem("spec.lease-too-short", message, f"write more than {sweep}, better {6 * sweep}", where)
