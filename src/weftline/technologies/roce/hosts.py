"""Intents of hosts: every NIC marks, pauses and answers by the classes of the declaration."""

from __future__ import annotations

import math

from weftline.formats.eui import format_mac
from weftline.formats.ipv4 import format_ipv4
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.intent import DeviceIntent, HostIntent, NicIntent, PortIntent, SettingIntent
from weftline.technologies.roce.classes import number_classes, traffic_class_byte
from weftline.technologies.roce.mtu import host_mtu

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


def make_host(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, node: int) -> DeviceIntent:
    """Make the intent of one host."""
    ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    nics = tuple(_make_nic(design, fabric, addresses, port) for port in ports)
    up = [nic.device for nic, port in zip(nics, ports, strict=True) if int(fabric.port_peer[port]) != NIL]
    pairs = design.spec.roce.queue_pairs
    return DeviceIntent(
        device=fabric.node_name[node],
        role="host",
        plane=NIL,
        tier="host",
        fabric=fabric.name,
        ports=tuple(_make_port(design, fabric, addresses, port) for port in ports),
        host=HostIntent(
            nics=nics,
            devices=tuple(up),
            gid_index=GID_INDEX,
            traffic_class=traffic_class_byte(design.spec),
            queue_pairs=None if pairs == 1 else pairs,
            keeps_rail=True if fabric.networks > 1 else None,
            settings=HOST_SETTINGS,
        ),
        notes=(NOTE_MACS,),
    )


def _make_port(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, port: int) -> PortIntent:
    peer, own = int(fabric.port_peer[port]), int(addresses.port_address[port])
    return PortIntent(
        key=int(fabric.port_number[port]),
        peer="" if peer == NIL else fabric.port_name(peer),
        rate_gbps=float(fabric.port_rate_gbps[port]),
        is_up=peer != NIL,
        mtu=host_mtu(design),
        length_m=cable_length(fabric, port),
        address=None if own == NIL else f"{format_ipv4(own)}/31",
        pause_priorities=number_classes(design.spec).priorities or None,
    )


def _make_nic(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, port: int) -> NicIntent:
    classes = number_classes(design.spec)
    number, own = int(fabric.port_number[port]), int(addresses.port_address[port])
    return NicIntent(
        key=number,
        device=f"mlx5_{number - 1}",
        port_id=format_mac(int(addresses.port_id[port])),
        gateway=None if own == NIL else format_ipv4(own - 1),
        route_table=None if own == NIL else FIRST_ROUTE_TABLE + number,
        trust="dscp",
        traffic_class=traffic_class_byte(design.spec),
        mark_priorities=classes.priorities or None,
        notify_dscp=classes.notification.dscp,
        notify_priority=classes.notification.priority,
    )


def cable_length(fabric: Fabric, port: int) -> int | None:
    """Find the length of a port's cable in whole metres, rounded up; None where it has none or nobody says it."""
    cable = int(fabric.port_cable[port])
    if cable == NIL or math.isnan(fabric.cable_length_m[cable]):
        return None
    return max(1, math.ceil(float(fabric.cable_length_m[cable])))
