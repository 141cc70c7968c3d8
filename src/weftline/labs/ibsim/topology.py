"""The parts of a fabric that are one subnet each, and what ibsim reads of them."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.errors import CapabilityError
from weftline.formats.speed import name_rate
from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric, NodeKind

TOO_NEW = re.compile(r"\b(\d+x)(?:NDR|XDR)\b")
"""Speeds that ibsim 0.10 does not know; such links run as HDR, and rates are not what the lab is for."""
KNOWN, SLOW = r"\1HDR", "4xSDR"
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
    """Write one part of a fabric; the subnet manager stands at its entry.

    ibsim reads its file byte by byte and looks nodes up by comparing their ids one by one, so the ids are short, and
    lines say no more than it takes.
    """
    within = part.within & (fabric.port_peer != NIL)
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    places = {port: name_place(fabric, port) for port in np.flatnonzero(within).tolist()}
    tails = _write_tails(fabric)
    nodes = np.unique(fabric.port_node[part.within & is_switch])
    blocks = [_write_switch(fabric, addresses, places, tails, node) for node in nodes.tolist()]
    for node in np.unique(fabric.port_node[within & ~is_switch]).tolist():
        first, end = int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])
        own = [port for port in range(first, end) if port in places]
        groups = [own] if fabric.node_kind[node] == NodeKind.EXTRA else [[port] for port in own]
        blocks += [_write_adapter(fabric, addresses, places, tails, group) for group in groups]
    return Topology(
        text="\n".join(blocks),
        nodes=len(blocks),
        switches=len(nodes),
        ports=int(np.count_nonzero(part.within & is_switch)) + len(nodes) + 3 * len(blocks),
        entry=places[part.entry_port][0],
        entry_port=part.entry_port,
    )


def name_place(fabric: Fabric, port: int) -> tuple[str, int]:
    """Name a port as the console of ibsim does: its node, and its number there.

    Each NIC port of a host is an adapter of its own; an extra endpoint is one adapter of several ports.
    """
    node, number = int(fabric.port_node[port]), int(fabric.port_number[port])
    if fabric.node_kind[node] == NodeKind.HOST:
        return f"H{port}", 1
    return f"{'S' if fabric.node_kind[node] == NodeKind.SWITCH else 'E'}{node}", number


def _write_tails(fabric: Fabric) -> list[str]:
    """Write the speed of the link at each port, the slower of its two ends."""
    rate = np.minimum(fabric.port_rate_gbps, fabric.port_rate_gbps[fabric.port_peer])
    rates, which = np.unique(rate, return_inverse=True)
    words = [f" # lid 0 {TOO_NEW.sub(KNOWN, name_rate(float(value)) or SLOW)}" for value in rates.tolist()]
    return [words[at] for at in which.tolist()]


def _write_switch(
    fabric: Fabric, addresses: Addresses, places: dict[int, tuple[str, int]], tails: list[str], node: int
) -> str:
    first, end = int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])
    count = int(fabric.port_number[first:end].max(initial=1))
    lid = max(int(addresses.node_address[node]), 0)
    out = [
        f"switchguid=0x{int(addresses.node_id[node]):x}",
        f'Switch\t{count} "S{node}" # "{_shorten(fabric.node_name[node], node)}" enhanced port 0 lid {lid} lmc 0',
    ]
    for port, peer in zip(range(first, end), fabric.port_peer[first:end].tolist(), strict=True):
        if peer in places:
            far, number = places[peer]
            out.append(f'[{places[port][1]}]"{far}"[{number}]{tails[port]}')
    return "\n".join(out) + "\n"


def _write_adapter(
    fabric: Fabric, addresses: Addresses, places: dict[int, tuple[str, int]], tails: list[str], ports: list[int]
) -> str:
    """Write one adapter; ibsim makes the id of a port from that of its adapter and the port's number."""
    node = int(fabric.port_node[ports[0]])
    key, number = places[ports[0]]
    name = _shorten(fabric.node_name[node], node)
    if fabric.node_kind[node] == NodeKind.HOST:
        name += f" HCA-{int(fabric.port_number[ports[0]])}"
    out = [
        f"caguid=0x{int(addresses.port_id[ports[0]]) - number:016x}",
        f'Ca\t{max(places[port][1] for port in ports)} "{key}" # "{name}"',
    ]
    for port in ports:
        far, at = places[int(fabric.port_peer[port])]
        lid = max(int(addresses.port_address[port]), 0)
        out.append(f'[{places[port][1]}]"{far}"[{at}] # lid {lid} lmc {addresses.multipath_bits}{tails[port][2:]}')
    return "\n".join(out) + "\n"


def _shorten(name: str, node: int) -> str:
    """Make a name plain and short, and different from those of other nodes: some programs know devices by it."""
    plain = NOT_PLAIN.sub("_", name)
    return name if plain == name and len(name) <= MAX_NAME else f"{plain[: MAX_NAME - 8]}.{node}"
