"""The parts of a fabric that are one subnet each, and what ibsim reads of them."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weftline.errors import CapabilityError
from weftline.formats import topology
from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric, NodeKind

TOO_NEW = re.compile(r"\b(\d+x)(?:NDR|XDR)\b")
"""Speeds that ibsim 0.10 does not know; such links run as HDR, and rates are not what the lab is for."""
_ADAPTER = re.compile(r"caguid=0x[0-9a-f]+\n(Ca\t[^\n]*\n)\[(\d+)\]\(([0-9a-f]+)\)")
MAX_NAME = 48
"""Characters of a name that are written: ibsim holds 63 of a description, and reads 255 of a line."""
NOT_PLAIN = re.compile(r"[^A-Za-z0-9._/-]")


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


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Switches of one plane that are joined to each other, with what hangs on them: a subnet of its own."""

    plane: int
    within: NDArray[np.bool_]
    """Per port of the fabric whether it belongs to the part."""
    entry_port: int
    """Where its subnet manager runs: the first extra endpoint with a cable, or the first host."""


def list_parts(fabric: Fabric, plane: int) -> tuple[Part, ...]:
    """List the parts of a plane that hold an endpoint, in the order of their first endpoints.

    Raises:
        CapabilityError: ``capability.lab-parts`` when there is none, or an endpoint is cabled to an endpoint.
    """
    ports = fabric.endpoint_port
    lit = ports[(fabric.port_plane[ports] == plane) & (fabric.port_peer[ports] != NIL)]
    if not len(lit):
        raise CapabilityError(
            "capability.lab-parts", f"plane {plane + 1} has no endpoint with a cable", "declare hosts in it"
        )
    far = fabric.port_node[fabric.port_peer[lit]]
    loose = lit[fabric.node_kind[far] != NodeKind.SWITCH]
    if len(loose):
        raise CapabilityError(
            "capability.lab-parts",
            f"{fabric.port_name(int(loose[0]))} is cabled to another endpoint and to no switch, so that no subnet "
            "manager of a switched subnet reaches it",
            "the lab runs switched subnets; leave such endpoints out",
        )
    part_of = _join_switches(fabric, plane)
    own = part_of[far]
    is_extra = fabric.node_kind[fabric.port_node[lit]] == NodeKind.EXTRA
    parts: list[Part] = []
    for number in own[np.sort(np.unique(own, return_index=True)[1])].tolist():
        within = part_of[fabric.port_node] == number
        within[lit[own == number]] = True
        entry = lit[own == number][int(np.argmax(is_extra[own == number]))]
        parts.append(Part(plane, within, int(entry)))
    return tuple(parts)


def _join_switches(fabric: Fabric, plane: int) -> I32:
    """Number the connected parts of the switches of a plane; NIL for every other node. A host passes nothing on."""
    part = np.full(fabric.node_count, NIL, dtype=np.int32)
    is_own = (fabric.node_kind == NodeKind.SWITCH) & (fabric.node_plane == plane)
    count = 0
    for start in np.flatnonzero(is_own).tolist():
        if part[start] != NIL:
            continue
        part[start] = count
        queue = deque([start])
        while queue:
            node = queue.popleft()
            peers = fabric.port_peer[fabric.port_ptr[node] : fabric.port_ptr[node + 1]]
            for far in np.unique(fabric.port_node[peers[peers != NIL]]).tolist():
                if is_own[far] and part[far] == NIL:
                    part[far] = count
                    queue.append(far)
        count += 1
    return part


def make_topology(fabric: Fabric, addresses: Addresses, part: Part) -> Topology:
    """Write one part of a fabric; the subnet manager stands at its entry."""
    shown = replace(fabric, node_name=tuple(_shorten(name, node) for node, name in enumerate(fabric.node_name)))
    blocks = list(topology.list_blocks(shown, addresses, part.within))
    text = TOO_NEW.sub(r"\1HDR", topology.HEAD + "\n".join(blocks))
    text = _ADAPTER.sub(_follow_port, text)
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    switches = len(np.unique(fabric.port_node[part.within & is_switch]))
    return Topology(
        text=text,
        nodes=len(blocks),
        switches=switches,
        ports=int(np.count_nonzero(part.within & is_switch)) + switches + 3 * len(blocks),
        entry=name_place(fabric, addresses, part.entry_port)[0],
        entry_port=part.entry_port,
    )


def name_place(fabric: Fabric, addresses: Addresses, port: int) -> tuple[str, int]:
    """Name a port as the console of ibsim does: its node, and its number there."""
    node, number = int(fabric.port_node[port]), int(fabric.port_number[port])
    if fabric.node_kind[node] == NodeKind.SWITCH:
        return f"S-{int(addresses.node_id[node]):016x}", number
    if fabric.node_kind[node] == NodeKind.EXTRA:
        return f"H-{int(addresses.node_id[node]):016x}", number
    return f"H-{int(addresses.port_id[port]):016x}", 1


def _shorten(name: str, node: int) -> str:
    """Make a name plain and short, and different from those of other nodes: some programs know devices by it."""
    plain = NOT_PLAIN.sub("_", name)
    return name if plain == name and len(name) <= MAX_NAME else f"{plain[: MAX_NAME - 8]}.{node}"


def _follow_port(match: re.Match[str]) -> str:
    """Name the adapter by its port: ibsim makes the id of a port from that of its adapter and the port's number."""
    return f"caguid=0x{int(match[3], 16) - int(match[2]):016x}\n{match[1]}[{match[2]}]({match[3]})"
