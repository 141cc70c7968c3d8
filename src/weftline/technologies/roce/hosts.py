"""Intents of hosts: every NIC marks, pauses and answers by the classes of the declaration."""

from __future__ import annotations

import math
from dataclasses import replace

from weftline.formats.eui import format_mac
from weftline.formats.ipv4 import format_ipv4
from weftline.headroom import nic_headroom
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.intent import (
    ClassIntent,
    DeviceIntent,
    HostIntent,
    NicIntent,
    PortIntent,
    QueueIntent,
    SettingIntent,
)
from weftline.technologies.roce.classes import COUNT, DSCPS, Classes, number_classes, traffic_class_byte
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
            splits_data=True if design.spec.roce.split_data else None,
            keeps_rail=True if fabric.networks > 1 else None,
            settings=HOST_SETTINGS,
        ),
        queues=QueueIntent(list_host_classes(number_classes(design.spec))),
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
        buffer_bytes=_size_buffer(design, fabric, port) if classes.priorities else None,
        is_willing=False,
        pauses_link=False,
    )


def _size_buffer(design: ResolvedSpec, fabric: Fabric, port: int) -> int | None:
    """Size a lossless receive buffer for the real cable; the driver assumes 7 m."""
    need = nic_headroom(float(fabric.port_rate_gbps[port]), cable_length(fabric, port), host_mtu(design))
    return None if need is None else need.buffer


def list_host_classes(classes: Classes) -> tuple[ClassIntent, ...]:
    """List the classes of a NIC, which has one number for class and priority: that in the pause frame.

    Each lossless priority has a receive buffer of its own, all others share the first.
    """
    made: dict[int, ClassIntent] = {}
    buffers = {priority: min(place, COUNT - 1) for place, priority in enumerate(classes.priorities, start=1)}
    for one in classes.declared:
        _add_class(
            made,
            ClassIntent(
                key=one.priority,
                dscps=tuple(sorted(one.section.dscps)),
                group=buffers.get(one.priority, 0),
                queue=one.queue,
                schedule=one.section.schedule,
                priority=one.priority if one.section.lossless else None,
                weight=one.weight,
            ),
        )
    note = classes.notification
    _add_class(made, ClassIntent(note.priority, (note.dscp,), buffers.get(note.priority, 0), note.queue, "strict"))
    special = {dscp for one in made.values() for dscp in one.dscps}
    rest = tuple(dscp for dscp in range(DSCPS) if dscp not in special)
    key = next((number for number in (classes.rest, *range(COUNT)) if number is not None and number not in made), None)
    if rest and key is not None:
        _add_class(made, ClassIntent(key, rest, 0, classes.rest_queue, "weighted", weight=classes.rest_weight))
    return tuple(made[number] for number in sorted(made))


def _add_class(made: dict[int, ClassIntent], one: ClassIntent) -> None:
    """Add a class; two classes of one priority are one for a NIC, lossless if one of them is."""
    before = made.get(one.key)
    if before is None:
        made[one.key] = one
        return
    priority = one.priority if before.priority is None else before.priority
    made[one.key] = replace(before, dscps=tuple(sorted({*before.dscps, *one.dscps})), priority=priority)


def cable_length(fabric: Fabric, port: int) -> int | None:
    """Find the length of a port's cable in whole metres, rounded up; None where it has none or nobody says it."""
    cable = int(fabric.port_cable[port])
    if cable == NIL or math.isnan(fabric.cable_length_m[cable]):
        return None
    return max(1, math.ceil(float(fabric.cable_length_m[cable])))
