"""Intents of an InfiniBand fabric: a subnet manager per plane, and the hosts; switches take orders."""

from __future__ import annotations

import math

from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.intent import (
    DeviceIntent,
    EndpointKey,
    ForwardingIntent,
    HostIntent,
    KeyIntent,
    NicIntent,
    PortIntent,
)
from weftline.model.routes import Routes
from weftline.technologies.infiniband.export import list_export
from weftline.technologies.infiniband.isolation import isolate
from weftline.technologies.infiniband.lanes import list_notes, list_service
from weftline.technologies.infiniband.levels import find_level
from weftline.technologies.infiniband.managers import list_managers
from weftline.technologies.infiniband.risks import list_risks
from weftline.technologies.infiniband.tables import make_table

NOTE_GUIDS = "GUIDs are placeholders derived from device names; bind the inventory's own before deployment"
NOTE_ENGINE = "OpenSM's file engine neither checks nor heals: load these tables only while their proofs stand"
NOTE_MANAGER = (
    "upstream OpenSM is reported to fail on Quantum-2 and later (linux-rdma/opensm issue 38): manage those by the "
    "vendor's OpenSM; static tables do without its adaptive routing"
)


def list_intents(
    design: ResolvedSpec, fabric: Fabric, addresses: Addresses, routes: Routes
) -> tuple[DeviceIntent, ...]:
    """List what each subnet manager and each host should do."""
    managers = [_manager(design, fabric, addresses, routes, plane) for plane in range(max(fabric.planes, 1))]
    hosts = [
        _host(design, fabric, addresses, node)
        for node in range(fabric.node_count)
        if fabric.node_kind[node] == NodeKind.HOST
    ]
    return (*managers, *hosts)


def list_isolation(design: ResolvedSpec, fabric: Fabric, addresses: Addresses) -> tuple[DeviceIntent, ...]:
    """List what each subnet manager should do to keep tenants apart."""
    return tuple(
        DeviceIntent(
            device=f"subnet-{plane + 1}",
            role="manager",
            plane=plane,
            tier="",
            fabric=fabric.name,
            isolation=isolate(design, fabric, addresses, plane),
        )
        for plane in range(max(fabric.planes, 1))
    )


def list_lanes(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, routes: Routes) -> tuple[DeviceIntent, ...]:
    """List what each subnet manager should do about lanes; nothing where no file can say how packets change theirs."""
    if routes.lanes is not None and routes.lanes.steps is not None:
        return ()
    return tuple(
        DeviceIntent(
            device=f"subnet-{plane + 1}",
            role="manager",
            plane=plane,
            tier="",
            fabric=fabric.name,
            service=list_service(design, fabric, addresses, routes, plane),
        )
        for plane in range(max(fabric.planes, 1))
    )


def _manager(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, routes: Routes, plane: int) -> DeviceIntent:
    return DeviceIntent(
        device=f"subnet-{plane + 1}",
        role="manager",
        plane=plane,
        tier="",
        fabric=fabric.name,
        forwarding=ForwardingIntent(table=make_table(fabric, addresses, routes, plane)),
        manager=list_managers(design, fabric, addresses, plane),
        isolation=isolate(design, fabric, addresses, plane),
        keys=_list_keys(fabric, addresses, plane),
        service=list_service(design, fabric, addresses, routes, plane),
        export=list_export(design, fabric, addresses, plane),
        notes=(*_note_guids(design), NOTE_ENGINE, NOTE_MANAGER, *list_notes(routes)),
        risks=list_risks(design, fabric, plane),
    )


def _note_guids(design: ResolvedSpec) -> tuple[str, ...]:
    return (NOTE_GUIDS,) if design.inventory is None else ()


def _list_keys(fabric: Fabric, addresses: Addresses, plane: int) -> KeyIntent:
    last = 2**addresses.multipath_bits - 1
    endpoints = [
        EndpointKey(
            key=format_guid(int(addresses.port_id[port])),
            name=fabric.port_name(int(port)),
            first=int(addresses.port_address[port]),
            last=int(addresses.port_address[port]) + last,
        )
        for port in _endpoints(fabric, plane)
    ]
    switches = fabric.switch_node[fabric.node_plane[fabric.switch_node] == plane]
    endpoints += [
        EndpointKey(
            key=format_guid(int(addresses.node_id[node])),
            name=fabric.node_name[int(node)],
            first=int(addresses.node_address[node]),
            last=int(addresses.node_address[node]),
        )
        for node in switches
    ]
    top = switches[fabric.node_tier[switches] == fabric.node_tier[switches].max(initial=0)]
    return KeyIntent(
        multipath_bits=addresses.multipath_bits,
        roots=tuple(sorted(format_guid(int(addresses.node_id[node])) for node in top)),
        endpoints=tuple(endpoints),
    )


def _endpoints(fabric: Fabric, plane: int) -> list[int]:
    ports = fabric.endpoint_port
    return [int(port) for port in ports[fabric.port_plane[ports] == plane]]


def _host(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, node: int) -> DeviceIntent:
    ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    nics = tuple(
        NicIntent(
            key=int(fabric.port_number[port]),
            device=f"mlx5_{int(fabric.port_number[port]) - 1}",
            port_id=format_guid(int(addresses.port_id[port])),
        )
        for port in ports
    )
    return DeviceIntent(
        device=fabric.node_name[node],
        role="host",
        plane=NIL,
        tier="host",
        fabric=fabric.name,
        ports=tuple(_port(fabric, port) for port in ports),
        host=HostIntent(
            nics=nics,
            devices=tuple(nic.device for nic, port in zip(nics, ports, strict=True) if _is_up(fabric, port)),
            service_level=find_level(design, fabric, node),
            partition_index=0,
            keeps_rail=True if fabric.networks > 1 else None,
        ),
        notes=_note_guids(design),
    )


def _is_up(fabric: Fabric, port: int) -> bool:
    return int(fabric.port_peer[port]) != NIL


def _port(fabric: Fabric, port: int) -> PortIntent:
    peer = int(fabric.port_peer[port])
    return PortIntent(
        key=int(fabric.port_number[port]),
        peer="" if peer == NIL else fabric.port_name(peer),
        rate_gbps=float(fabric.port_rate_gbps[port]),
        is_up=peer != NIL,
        length_m=_length(fabric, port),
    )


def _length(fabric: Fabric, port: int) -> int | None:
    cable = int(fabric.port_cable[port])
    if cable == NIL or math.isnan(fabric.cable_length_m[cable]):
        return None
    return max(1, math.ceil(float(fabric.cable_length_m[cable])))
