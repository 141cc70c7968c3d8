"""Cabling: endpoints and links of a fabric bound to the ports that the files of its switches have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.isolation import NOBODY, Owners
from weftline.model.observed import ObservedDevice
from weftline.model.separation import EdgePort, PortRef, SeparationFiles, SwitchLink


def bind_files(
    fabric: Fabric, owners: Owners, devices: Sequence[ObservedDevice], *, source: str, of: str = ""
) -> SeparationFiles:
    """Say which port of which file each endpoint and each cable between switches is at.

    A port is found by the number printed on the device, else by whom it says that it faces.
    """
    find = find_ports(fabric, devices)
    peer_of = fabric.port_peer.tolist()
    is_switch = (fabric.switch_row[fabric.port_node] != NIL).tolist()
    ends: list[EdgePort] = []
    for port in fabric.endpoint_port.tolist():
        peer = peer_of[port]
        is_cabled = peer != NIL and is_switch[peer]
        facing = fabric.port_name(peer) if is_cabled else ""
        owner = owners.of_port.get(port, NOBODY)
        ends.append(EdgePort(fabric.port_name(port), owner, facing, find(peer) if is_cabled else None))
    links: list[SwitchLink] = []
    for port, peer in enumerate(peer_of):
        if peer > port and is_switch[port] and is_switch[peer]:
            links.append(SwitchLink(fabric.link_name(port), find(port), find(peer)))
    return SeparationFiles(
        devices=tuple(devices),
        ends=tuple(ends),
        links=tuple(links),
        sharings=owners.sharings,
        of=of or hashlib.sha256(repr((fabric.digest, tuple(devices))).encode()).hexdigest(),
        source=source,
        premise=owners.premise,
    )


def find_ports(fabric: Fabric, devices: Sequence[ObservedDevice]) -> Callable[[int], PortRef | None]:
    """Return what finds a port of the fabric in the files; None is returned for one that no file has."""
    ports = {device.name: _index_ports(device) for device in devices if device.role != "host"}
    # columns as lists: each port is looked at by itself
    node_of: list[int] = fabric.port_node.tolist()
    peer_of: list[int] = fabric.port_peer.tolist()
    number_of: list[int] = fabric.port_number.tolist()

    def find(port: int) -> PortRef | None:
        device = fabric.node_name[node_of[port]]
        known = ports.get(device)
        if known is None:
            return None
        name = known.get(number_of[port])
        if name is None and peer_of[port] != NIL:
            name = known.get(fabric.port_name(peer_of[port]))
        return None if name is None else (device, name)

    return find


def _index_ports(device: ObservedDevice) -> dict[int | str, str]:
    found: dict[int | str, str] = {}
    for port in device.ports:
        if port.number is not None:
            found.setdefault(port.number.value, port.name)
    for port in device.ports:
        if port.peer is not None and port.peer.value.strip():
            # some descriptions say more before it, as 'port 9 to spine-01/1'
            found.setdefault(port.peer.value.split()[-1], port.name)
    return found
