"""Intents of a RoCE fabric: every switch routes and pauses, every host marks and pauses."""

from __future__ import annotations

import math

import numpy as np

from weftline.formats.eui import format_mac
from weftline.formats.ipv4 import format_ipv4
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind
from weftline.model.intent import (
    DeviceIntent,
    ForwardingIntent,
    HostIntent,
    NicIntent,
    PlatformIntent,
    PortIntent,
    QueueIntent,
    RoutingIntent,
    SettingIntent,
)
from weftline.model.routes import Routes
from weftline.technologies.roce.addresses import block_size
from weftline.technologies.roce.classes import make_queues, traffic_class_byte
from weftline.technologies.roce.limits import SWITCH_MTU, host_mtu

GID_INDEX = 3
"""Where mlx5 keeps the RoCEv2 GID of a port's only IPv4 address; 0 and 1 are link-local, 2 is RoCEv1."""
FIRST_ROUTE_TABLE = 100
HOST_SETTINGS = (
    # A host with a link per rail must answer and send on the link that owns the address.
    SettingIntent("net.ipv4.conf.all.arp_announce", "2"),
    SettingIntent("net.ipv4.conf.all.arp_ignore", "1"),
    SettingIntent("net.ipv4.conf.all.rp_filter", "2"),
)
NOTE_MACS = (
    "NIC names (mlx5_0, mlx5_1, ... in rail order) and MACs are placeholders; bind the inventory's own before "
    "deployment"
)
NOTE_BUFFERS = (
    "headroom and pools are the platform's own: SONiC derives them from PORT speed and CABLE_LENGTH (rounded up to a "
    "length that the platform knows); keep its BUFFER tables and merge these files into the running configuration"
)


NOTE_LENGTHS = (
    "no source says which cable lengths {} has headroom for: hold CABLE_LENGTH against its pg_profile_lookup.ini, for "
    "at a length that is missing there, and with static buffers, a port loses packets"
)

NOTE_TENANTS = "these files do not keep tenants apart: every host of one network reaches every other"


def list_intents(
    design: ResolvedSpec, fabric: Fabric, addresses: Addresses, routes: Routes
) -> tuple[DeviceIntent, ...]:
    """List what each switch and each host should do."""
    queues = make_queues(design.spec.lossless)
    block = block_size(fabric)
    switches = [
        _switch(design, fabric, addresses, row, queues, (_width(routes, row), block))
        for row in range(len(fabric.switch_node))
    ]
    hosts = [
        _host(design, fabric, addresses, node)
        for node in range(fabric.node_count)
        if fabric.node_kind[node] == NodeKind.HOST
    ]
    return (*switches, *hosts)


def _width(routes: Routes, row: int) -> int:
    first, last = int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])
    return int(np.diff(routes.member_ptr[first : last + 1]).max(initial=1))


def _switch(
    design: ResolvedSpec,
    fabric: Fabric,
    addresses: Addresses,
    row: int,
    queues: QueueIntent,
    sizes: tuple[int, int],
) -> DeviceIntent:
    node = int(fabric.switch_node[row])
    width, block = sizes
    tier = TIER_NAMES[int(fabric.node_tier[node])]
    part = {"leaf": design.leaf, "spine": design.spine, "core": design.core}[tier]
    ports = tuple(
        _switch_port(design, fabric, addresses, part, port)
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    )
    loopback = f"{format_ipv4(int(addresses.node_address[node]))}/32"
    own = addresses.port_address[int(fabric.port_ptr[node]) : int(fabric.port_ptr[node + 1])]
    blocks = [f"{format_ipv4(int(own[own >= 0].min()))}/{32 - (block.bit_length() - 1)}"] if (own >= 0).any() else []
    return DeviceIntent(
        device=fabric.node_name[node],
        role="switch",
        plane=int(fabric.node_plane[node]),
        tier=tier,
        fabric=fabric.name,
        ports=ports,
        platform=_platform(part),
        forwarding=ForwardingIntent(
            exchange=RoutingIntent(
                number=int(addresses.node_number[node]),
                router_address=loopback,
                width=width,
                announced=(loopback, *blocks),
            )
        ),
        queues=queues,
        notes=_notes(fabric, part),
    )


def _notes(fabric: Fabric, part: TierPart) -> tuple[str, ...]:
    notes = [NOTE_BUFFERS]
    if not _headroom_lengths(part):
        notes.append(NOTE_LENGTHS.format(part.name))
    if fabric.tenant_name:
        notes.append(NOTE_TENANTS)
    return tuple(notes)


def _platform(tier: TierPart) -> PlatformIntent:
    return PlatformIntent(
        part=tier.name, ports_per_cage=tier.per_cage, hwsku=tier.part.sonic_hwsku, asic=tier.part.asic
    )


def headroom_length(tier: TierPart, length: int | None) -> int | None:
    """Round a length up to one that the platform has headroom for; for any other it has none, and packets are lost."""
    steps = [] if length is None else [step for step in _headroom_lengths(tier) if step >= length]
    return min(steps, default=length)


def _headroom_lengths(tier: TierPart) -> tuple[int, ...]:
    return next((ports.headroom_lengths_m for ports in tier.part.ports if ports.rate_gbps == tier.rate_gbps), ())


def _switch_port(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, tier: TierPart, port: int) -> PortIntent:
    peer = int(fabric.port_peer[port])
    own = int(addresses.port_address[port])
    number = NIL if peer == NIL else int(addresses.node_number[fabric.port_node[peer]])
    priorities = (design.spec.lossless.priority,)
    return PortIntent(
        key=int(fabric.port_number[port]),
        peer="" if peer == NIL else fabric.port_name(peer),
        rate_gbps=float(fabric.port_rate_gbps[port]),
        is_up=peer != NIL,
        mtu=SWITCH_MTU,
        length_m=headroom_length(tier, _length(fabric, port)),
        address=None if own == NIL else f"{format_ipv4(own)}/31",
        neighbour_number=None if number == NIL else number,
        pause_priorities=priorities,
        watched_priorities=priorities,
    )


def _host(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, node: int) -> DeviceIntent:
    ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    nics = tuple(_nic(design, fabric, addresses, port) for port in ports)
    up = [nic.device for nic, port in zip(nics, ports, strict=True) if int(fabric.port_peer[port]) != NIL]
    return DeviceIntent(
        device=fabric.node_name[node],
        role="host",
        plane=NIL,
        tier="host",
        fabric=fabric.name,
        ports=tuple(_host_port(design, fabric, addresses, port) for port in ports),
        host=HostIntent(
            nics=nics,
            devices=tuple(up),
            gid_index=GID_INDEX,
            traffic_class=traffic_class_byte(design.spec.lossless),
            keeps_rail=True if fabric.networks > 1 else None,
            settings=HOST_SETTINGS,
        ),
        notes=(NOTE_MACS,),
    )


def _host_port(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, port: int) -> PortIntent:
    peer, own = int(fabric.port_peer[port]), int(addresses.port_address[port])
    return PortIntent(
        key=int(fabric.port_number[port]),
        peer="" if peer == NIL else fabric.port_name(peer),
        rate_gbps=float(fabric.port_rate_gbps[port]),
        is_up=peer != NIL,
        mtu=host_mtu(design),
        length_m=_length(fabric, port),
        address=None if own == NIL else f"{format_ipv4(own)}/31",
        pause_priorities=(design.spec.lossless.priority,),
    )


def _nic(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, port: int) -> NicIntent:
    lossless = design.spec.lossless
    number, own = int(fabric.port_number[port]), int(addresses.port_address[port])
    return NicIntent(
        key=number,
        device=f"mlx5_{number - 1}",
        port_id=format_mac(int(addresses.port_id[port])),
        gateway=None if own == NIL else format_ipv4(own - 1),
        route_table=None if own == NIL else FIRST_ROUTE_TABLE + number,
        trust="dscp",
        traffic_class=traffic_class_byte(lossless),
        mark_priorities=(lossless.priority,),
        notify_dscp=lossless.cnp_dscp,
        notify_priority=lossless.cnp_priority,
    )


def _length(fabric: Fabric, port: int) -> int | None:
    cable = int(fabric.port_cable[port])
    if cable == NIL or math.isnan(fabric.cable_length_m[cable]):
        return None
    return max(1, math.ceil(float(fabric.cable_length_m[cable])))
