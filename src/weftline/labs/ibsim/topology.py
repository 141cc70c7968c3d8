"""The part of a fabric that is one subnet, as ibsim takes it."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

import numpy as np

from weftline.errors import CapabilityError
from weftline.formats import topology
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric, NodeKind

TOO_NEW = re.compile(r"\b(\d+x)(?:NDR|XDR)\b")
"""Speeds that ibsim 0.10 does not know; such links run as HDR, and rates are not what the lab is for."""
_ADAPTER = re.compile(r"caguid=0x[0-9a-f]+\n(Ca\t[^\n]*\n)\[(\d+)\]\(([0-9a-f]+)\)")
_PORT_LINE = re.compile(r"^\[\d+\]\(([0-9a-f]+)\)")


@dataclass(frozen=True, slots=True)
class Topology:
    """One subnet as ibsim reads it, and how much of ibsim's tables it takes."""

    text: str
    nodes: int
    switches: int
    ports: int
    entry: str
    """Node id of the adapter at which the subnet manager runs."""
    entry_port: int
    """Port of the fabric at which it runs."""


def make_topology(fabric: Fabric, addresses: Addresses, plane: int) -> Topology:
    """Write one plane; the subnet manager stands on the first extra endpoint, or on the first host.

    Raises:
        CapabilityError: ``capability.lab-parts`` when a port of the plane cannot be reached from there.
    """
    entry = _choose_entry(fabric, plane)
    _check_reach(fabric, plane, entry)
    blocks = _cut_plane(topology.write(fabric, addresses), fabric, addresses, plane)
    text = TOO_NEW.sub(r"\1HDR", "\n".join(blocks))
    text = _ADAPTER.sub(_follow_port, text)
    switches = [n for n in fabric.switch_node.tolist() if fabric.node_plane[n] == plane]
    return Topology(
        text=text,
        nodes=len(blocks),
        switches=len(switches),
        ports=sum(int(fabric.port_ptr[n + 1] - fabric.port_ptr[n]) + 1 for n in switches) + 3 * len(blocks),
        entry=_name_entry(fabric, addresses, entry),
        entry_port=entry,
    )


def name_place(fabric: Fabric, addresses: Addresses, port: int) -> tuple[str, int]:
    """Name a port as the console of ibsim does: its node, and its number there."""
    node, number = int(fabric.port_node[port]), int(fabric.port_number[port])
    if fabric.node_kind[node] == NodeKind.SWITCH:
        return f"S-{int(addresses.node_id[node]):016x}", number
    if fabric.node_kind[node] == NodeKind.EXTRA:
        return f"H-{int(addresses.node_id[node]):016x}", number
    return f"H-{int(addresses.port_id[port]):016x}", 1


def _name_entry(fabric: Fabric, addresses: Addresses, port: int) -> str:
    return name_place(fabric, addresses, port)[0]


def _choose_entry(fabric: Fabric, plane: int) -> int:
    ports = fabric.endpoint_port
    lit = ports[(fabric.port_plane[ports] == plane) & (fabric.port_peer[ports] != NIL)]
    if not len(lit):
        raise CapabilityError(
            "capability.lab-parts", f"plane {plane + 1} has no endpoint with a cable", "declare hosts in it"
        )
    is_extra = fabric.node_kind[fabric.port_node[lit]] == NodeKind.EXTRA
    return int(lit[int(np.argmax(is_extra))])


def _check_reach(fabric: Fabric, plane: int, entry: int) -> None:
    """Walk over the switches of the plane; a host passes nothing on."""
    start = int(fabric.port_node[fabric.port_peer[entry]])
    seen = {start}
    queue = deque(seen)
    while queue:
        node = queue.popleft()
        peers = fabric.port_peer[fabric.port_ptr[node] : fabric.port_ptr[node + 1]]
        for far in np.unique(fabric.port_node[peers[peers != NIL]]).tolist():
            if far not in seen and fabric.node_kind[far] == NodeKind.SWITCH:
                seen.add(far)
                queue.append(far)
    ports = fabric.endpoint_port
    lit = ports[(fabric.port_plane[ports] == plane) & (fabric.port_peer[ports] != NIL)]
    lost = [port for port in lit.tolist() if int(fabric.port_node[fabric.port_peer[port]]) not in seen]
    if lost:
        raise CapabilityError(
            "capability.lab-parts",
            f"{len(lost):,} endpoints of plane {plane + 1}, such as {fabric.port_name(lost[0])}, are joined to "
            f"{fabric.port_name(entry)} by no switch: this is more than one subnet, and the lab runs one per plane",
            "a rail-only fabric has a subnet per rail; try one rail, or another topology, in the lab",
        )


def _cut_plane(text: str, fabric: Fabric, addresses: Addresses, plane: int) -> list[str]:
    """Keep the switches and the adapter ports of one plane."""
    if fabric.planes == 1:
        return [block.strip("\n") + "\n" for block in text.split("\n\n") if "guid=" in block]
    switches = fabric.switch_node[fabric.node_plane[fabric.switch_node] == plane]
    ports = fabric.endpoint_port[fabric.port_plane[fabric.endpoint_port] == plane]
    own_switches = {f"switchguid=0x{guid:x}" for guid in addresses.node_id[switches].tolist()}
    own_ports = {f"{guid:x}" for guid in addresses.port_id[ports].tolist()}
    kept: list[str] = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0].split("(")[0] in own_switches:
            kept.append(block.strip("\n") + "\n")
        elif lines[0].startswith("caguid="):
            links = [line for line in lines[2:] if (found := _PORT_LINE.match(line)) and found[1] in own_ports]
            if links:
                kept.append("\n".join([*lines[:2], *links]) + "\n")
    return kept


def _follow_port(match: re.Match[str]) -> str:
    """Name the adapter by its port: ibsim makes the id of a port from that of its adapter and the port's number."""
    return f"caguid=0x{int(match[3], 16) - int(match[2]):016x}\n{match[1]}[{match[2]}]({match[3]})"
