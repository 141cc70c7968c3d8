"""One subnet of a fabric as partitions see it: its end ports, the switch ports that face them, and their tables."""

from __future__ import annotations

from collections.abc import Mapping

from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.discovery import Discovery
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.partitions import End, EndKind, KeySubnet, PortPlace

ADAPTER_KEYS = 64
"""Places that an adapter has at least; ConnectX have 128."""
SWITCH_KEYS = 32
"""Places that an external port of a switch has at least."""


def describe_subnet(
    fabric: Fabric,
    addresses: Addresses,
    plane: int | None,
    manager: int = 0,
    capacities: tuple[int, int] | None = None,
) -> KeySubnet:
    """Describe a plane, or all planes together; the manager is a port id, 0 for a port that is none of these."""
    adapter_keys, switch_keys = capacities or (ADAPTER_KEYS, SWITCH_KEYS)
    ends: list[End] = []
    names: dict[int, str] = {}
    for port in lit_endpoints(fabric, plane):
        guid = int(addresses.port_id[port])
        node = int(addresses.node_id[fabric.port_node[port]])
        place = (node, int(fabric.port_number[port])) if node else (guid, 1)
        ends.append(End(guid, place, "adapter", adapter_keys, place_facing(fabric, addresses, port)))
        names[guid] = fabric.port_name(port)
    switches = [
        int(node) for node in fabric.switch_node.tolist() if plane is None or int(fabric.node_plane[node]) == plane
    ]
    for node in switches:
        guid = int(addresses.node_id[node])
        ends.append(End(guid, (guid, 0), "switch", adapter_keys))
        names[guid] = fabric.node_name[node]
    adapters = list_adapters(addresses, fabric)
    return KeySubnet(
        tuple(ends),
        manager,
        {int(addresses.node_id[node]): switch_keys for node in switches},
        nodes=frozenset(adapters - {end.guid for end in ends}),
        names=names,
    )


def describe_discovered(
    discovery: Discovery, names: Mapping[int, str], manager: int = 0, capacities: tuple[int, int] | None = None
) -> KeySubnet:
    """Describe what a dump lists: every port of an adapter or router that is up, and every switch."""
    adapter_keys, switch_keys = capacities or (ADAPTER_KEYS, SWITCH_KEYS)
    switches = {node.key: node.guid for node in discovery.nodes if node.kind == "switch"}
    ends: list[End] = []
    words = dict(names)
    for node in discovery.nodes:
        if node.kind == "switch":
            ends.append(End(node.guid, (node.guid, 0), "switch", adapter_keys))
            words.setdefault(node.guid, node.title)
            continue
        kind: EndKind = "router" if node.kind == "router" else "adapter"
        for port in node.ports:
            if port.guid and port.peer:
                peer = switches.get(port.peer)
                facing = None if peer is None else (peer, port.peer_number)
                ends.append(End(port.guid, (node.guid, port.number), kind, adapter_keys, facing))
                words.setdefault(port.guid, f"{node.title} port {port.number}")
    adapters = {node.guid for node in discovery.nodes if node.kind != "switch"} - {end.guid for end in ends}
    capacity = dict.fromkeys(switches.values(), switch_keys)
    return KeySubnet(tuple(ends), manager, capacity, frozenset(adapters), names=words)


def name_ends(fabric: Fabric, addresses: Addresses) -> dict[int, str]:
    """Name every endpoint and switch of a fabric by its port GUID."""
    names = {
        int(addresses.port_id[port]): fabric.port_name(port)
        for port in fabric.endpoint_port.tolist()
        if int(addresses.port_id[port])
    }
    for node in fabric.switch_node.tolist():
        names[int(addresses.node_id[node])] = fabric.node_name[node]
    return names


def list_adapters(addresses: Addresses, fabric: Fabric) -> set[int]:
    """List the node ids of everything that is no switch."""
    return {
        int(guid)
        for guid, kind in zip(addresses.node_id.tolist(), fabric.node_kind.tolist(), strict=True)
        if guid and kind != NodeKind.SWITCH
    }


def lit_endpoints(fabric: Fabric, plane: int | None) -> list[int]:
    """List the endpoint ports with a cable."""
    ports = fabric.endpoint_port
    chosen = fabric.port_peer[ports] != NIL
    if plane is not None:
        chosen &= fabric.port_plane[ports] == plane
    return ports[chosen].tolist()


def place_facing(fabric: Fabric, addresses: Addresses, port: int) -> PortPlace | None:
    """Find the switch port that an endpoint is cabled to; None where its cable ends at no switch."""
    peer = int(fabric.port_peer[port])
    if peer == NIL:
        return None
    node = int(fabric.port_node[peer])
    if fabric.node_kind[node] != NodeKind.SWITCH:
        return None
    return int(addresses.node_id[node]), int(fabric.port_number[peer])
