"""Intents of a RoCE fabric: every switch routes and pauses, every host marks and pauses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.formats.ipv4 import format_ipv4
from weftline.kernels.column import I64, NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind
from weftline.model.intent import (
    DeviceIntent,
    ForwardingIntent,
    PlatformIntent,
    PortIntent,
    QueueIntent,
    RoutingIntent,
)
from weftline.model.rates import count_units
from weftline.model.routes import Routes
from weftline.model.spec import AUTO
from weftline.technologies.roce.addresses import block_size
from weftline.technologies.roce.buffers import BufferPlan, plan_buffers
from weftline.technologies.roce.classes import Classes, number_classes
from weftline.technologies.roce.hashing import make_hashing
from weftline.technologies.roce.headrooms import round_length
from weftline.technologies.roce.hosts import cable_length, make_host
from weftline.technologies.roce.mtu import SWITCH_MTU
from weftline.technologies.roce.platform import choose_fec, list_lanes
from weftline.technologies.roce.queues import plan_queues
from weftline.technologies.roce.refusals import WEIGHTED
from weftline.technologies.roce.tenancy import Tenancy, make_tenancy, plan_tenancy

NOTE_BUFFERS = (
    "headroom and pools are the platform's own: SONiC derives them from PORT speed and CABLE_LENGTH (rounded up to a "
    "length that the platform knows); keep its BUFFER tables and merge these files into the running configuration"
)
NOTE_POOLS = (
    "BUFFER tables replace those of the platform: take its own out first, and keep what these files do not name"
)
NOTE_LENGTHS = (
    "no source says which cable lengths {} has headroom for: hold CABLE_LENGTH against its pg_profile_lookup.ini, for "
    "at a length that is missing there, and with static buffers, a port loses packets"
)
NOTE_TENANTS = "these files do not keep tenants apart: every host of one network reaches every other"


@dataclass(frozen=True, slots=True)
class Tiered:
    """What all switches of one tier have in common."""

    name: str
    part: TierPart
    classes: Classes
    buffers: BufferPlan
    queues: QueueIntent


@dataclass(frozen=True, slots=True)
class Plan:
    """What switches are made of."""

    design: ResolvedSpec
    fabric: Fabric
    addresses: Addresses
    block: int
    """Addresses of the block of a switch with endpoints."""
    tenancy: Tenancy
    units: I64 | None
    """Per port the units of rate that are told over it; None where nothing is weighed."""


def list_intents(
    design: ResolvedSpec, fabric: Fabric, addresses: Addresses, routes: Routes
) -> tuple[DeviceIntent, ...]:
    """List what each switch and each host should do."""
    units = count_units(fabric) if routes.engine == WEIGHTED else None
    plan = Plan(design, fabric, addresses, block_size(fabric), plan_tenancy(design, fabric), units)
    tiers = {name: _plan_tier(design, name) for name in ("leaf", "spine", "core")}
    switches = [
        _make_switch(plan, tiers[TIER_NAMES[int(fabric.node_tier[fabric.switch_node[row]])]], row, routes)
        for row in range(len(fabric.switch_node))
    ]
    hosts = [
        make_host(design, fabric, addresses, node)
        for node in range(fabric.node_count)
        if fabric.node_kind[node] == NodeKind.HOST
    ]
    return (*switches, *hosts)


def _plan_tier(design: ResolvedSpec, name: str) -> Tiered:
    part = {"leaf": design.leaf, "spine": design.spine, "core": design.core}[name]
    classes = number_classes(design.spec)
    buffers = plan_buffers(design, part, classes)
    return Tiered(name, part, classes, buffers, plan_queues(design, part, buffers))


def _width(routes: Routes, row: int) -> int:
    first, last = int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])
    return int(np.diff(routes.member_ptr[first : last + 1]).max(initial=1))


def _make_switch(plan: Plan, tier: Tiered, row: int, routes: Routes) -> DeviceIntent:
    fabric, addresses = plan.fabric, plan.addresses
    node = int(fabric.switch_node[row])
    ports = tuple(
        _make_port(plan, tier, port) for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    )
    loopback = f"{format_ipv4(int(addresses.node_address[node]))}/32"
    own = addresses.port_address[int(fabric.port_ptr[node]) : int(fabric.port_ptr[node + 1])]
    prefix = 32 - (plan.block.bit_length() - 1)
    # The links of tenants are told in their own tables alone.
    has_blocks = (own >= 0).any() and not plan.tenancy.is_on
    blocks = [f"{format_ipv4(int(own[own >= 0].min()))}/{prefix}"] if has_blocks else []
    return DeviceIntent(
        device=fabric.node_name[node],
        role="switch",
        plane=int(fabric.node_plane[node]),
        tier=tier.name,
        fabric=fabric.name,
        ports=ports,
        platform=_make_platform(tier.part, plan.design.spec.roce.platform.release),
        forwarding=ForwardingIntent(
            exchange=RoutingIntent(
                number=int(addresses.node_number[node]),
                router_address=loopback,
                width=_width(routes, row),
                announced=(loopback, *blocks),
                carries_tenants=True if plan.tenancy.is_on else None,
            )
        ),
        queues=tier.queues,
        buffers=tier.buffers.make([port.length_m for port in ports]),
        hashing=make_hashing(plan.design, tier.name),
        tenancy=make_tenancy(plan.design, fabric, addresses, plan.tenancy, node),
        notes=_list_notes(plan, tier),
    )


def _list_notes(plan: Plan, tier: Tiered) -> tuple[str, ...]:
    notes = [NOTE_POOLS if tier.buffers.model else NOTE_BUFFERS]
    if not tier.buffers.model and not round_length(plan.design, tier.part, 1)[1]:
        notes.append(NOTE_LENGTHS.format(tier.part.name))
    if plan.fabric.tenant_name and not plan.tenancy.is_on:
        notes.append(NOTE_TENANTS)
    return tuple(notes)


def _make_platform(tier: TierPart, release: str) -> PlatformIntent:
    return PlatformIntent(
        part=tier.name,
        ports_per_cage=tier.per_cage,
        hwsku=tier.part.sonic_hwsku,
        asic=tier.part.asic,
        release=None if release == AUTO else release,
    )


def _make_port(plan: Plan, tier: Tiered, port: int) -> PortIntent:
    fabric, addresses = plan.fabric, plan.addresses
    peer = int(fabric.port_peer[port])
    own = int(addresses.port_address[port])
    number = NIL if peer == NIL else int(addresses.node_number[fabric.port_node[peer]])
    rate, key = float(fabric.port_rate_gbps[port]), int(fabric.port_number[port])
    real = cable_length(fabric, port)
    length = real if real is None or tier.buffers.model == "dynamic" else round_length(plan.design, tier.part, real)[0]
    priorities = tier.classes.priorities or None
    watched = priorities if tier.queues.watchdog is not None else None
    return PortIntent(
        key=key,
        peer="" if peer == NIL else fabric.port_name(peer),
        rate_gbps=rate,
        is_up=peer != NIL,
        mtu=SWITCH_MTU,
        length_m=length,
        address=None if own == NIL else f"{format_ipv4(own)}/31",
        neighbour_number=None if number == NIL else number,
        told_units=None if number == NIL or plan.units is None else int(plan.units[port]),
        pause_priorities=priorities,
        watched_priorities=watched,
        lanes=list_lanes(tier.part, key),
        fec=choose_fec(rate),
        groups=tier.buffers.list_groups(length),
        vrf=None if peer == NIL else plan.tenancy.vrf_of(int(fabric.port_node[peer])),
    )
