"""What stands at which port, held against the declared links: what is gone, and what is cabled otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.driver import FarEnd
from weftline.model.fabric import Fabric, NodeKind

Place = tuple[int, int]
NOWHERE: Place = (NIL, NIL)


@dataclass(frozen=True, slots=True)
class LinkState:
    """The links of one subnet that are not as declared; ports of the fabric."""

    lost: frozenset[int]
    """The lower port of each declared link that does not lead where it should."""
    wrong: Mapping[int, str]
    """Ports behind which something else stands, with its name."""
    waiting: frozenset[int]
    """The lower port of each link that is up and carries no data yet."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The ports of one subnet by what devices call them."""

    fabric: Fabric
    addresses: Addresses
    within: I32
    """Ports of the fabric that are of the subnet."""

    @cached_property
    def of_switch(self) -> dict[Place, int]:
        """Port of each place of a switch, dark ones too."""
        fabric, node_id = self.fabric, self.addresses.node_id
        return {
            (int(node_id[fabric.port_node[port]]), int(fabric.port_number[port])): port
            for port in self.within.tolist()
            if fabric.node_kind[fabric.port_node[port]] == NodeKind.SWITCH
        }

    @cached_property
    def of_endpoint(self) -> dict[int, int]:
        """Port of each endpoint by its id."""
        fabric = self.fabric
        return {
            int(self.addresses.port_id[port]): port
            for port in self.within.tolist()
            if fabric.node_kind[fabric.port_node[port]] != NodeKind.SWITCH
        }

    @cached_property
    def declared(self) -> tuple[tuple[Place, int, int, Place, int], ...]:
        """What should stand at each place of a switch: its port, the peer, and the place or the id of the peer.

        Plain numbers, since every port is judged after every change, and columns cost more to ask one by one.
        """
        places = {port: place for place, port in self.of_switch.items()}
        ids = {port: name for name, port in self.of_endpoint.items()}
        peers = self.fabric.port_peer.tolist()
        return tuple(
            (place, port, peers[port], places.get(peers[port], NOWHERE), ids.get(peers[port], NIL))
            for place, port in self.of_switch.items()
        )

    @cached_property
    def switches(self) -> frozenset[int]:
        """Node ids of the switches."""
        return frozenset(self.switch_of.values())

    @cached_property
    def switch_of(self) -> dict[int, int]:
        """Node id of each switch by its address."""
        fabric, addresses = self.fabric, self.addresses
        nodes = np.unique(fabric.port_node[self.within])
        switches = nodes[fabric.node_kind[nodes] == NodeKind.SWITCH].tolist()
        return {int(addresses.node_address[node]): int(addresses.node_id[node]) for node in switches}


def judge_links(ground: Ground, links: Mapping[Place, FarEnd]) -> LinkState:
    """Judge each declared link by what the switches at its ends say; a switch that is cut off says nothing."""
    fabric = ground.fabric
    lost: set[int] = set()
    waiting: set[int] = set()
    wrong: dict[int, str] = {}
    for place, port, peer, there, port_id in ground.declared:
        far = links.get(place)
        if far is None:
            if peer != NIL:
                lost.add(min(port, peer))
            continue
        if peer != NIL and ((far.node, far.number) == there or (there == NOWHERE and far.port_id == port_id)):
            if not far.is_active:
                waiting.add(min(port, peer))
            continue
        met = _find(ground, far)
        if met is None or met != peer:
            wrong[port] = fabric.port_name(met) if met is not None else f"{far.port_id:#018x} port {far.number}"
            if peer != NIL:
                lost.add(min(port, peer))
        elif not far.is_active:
            waiting.add(min(port, peer))
    return LinkState(frozenset(lost), wrong, frozenset(waiting - lost))


def _find(ground: Ground, far: FarEnd) -> int | None:
    port = ground.of_switch.get((far.node, far.number))
    return port if port is not None else ground.of_endpoint.get(far.port_id)


def list_ports(state: LinkState) -> tuple[I32, I32]:
    """List the lost and the wrong ports as columns."""
    return np.array(sorted(state.lost), dtype=np.int32), np.array(sorted(state.wrong), dtype=np.int32)


def name_links(fabric: Fabric, ports: frozenset[int]) -> tuple[str, ...]:
    """Name links from their switch of the lower tier; a node all of whose links are among them is named alone."""
    ends = {end for port in ports for end in (port, int(fabric.port_peer[port]))}
    alone: list[int] = []
    for node in sorted({int(fabric.port_node[port]) for port in ends}):
        own = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        lit = [port for port in own if fabric.port_peer[port] != NIL]
        if fabric.node_kind[node] == NodeKind.SWITCH and len(lit) > 1 and all(port in ends for port in lit):
            alone.append(node)
    covered = {
        min(port, int(fabric.port_peer[port]))
        for node in alone
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        if fabric.port_peer[port] != NIL
    }
    rest = sorted(_from_switch(fabric, port) for port in ports if port not in covered)
    return (*(fabric.node_name[node] for node in alone), *(fabric.link_name(port) for port in rest))


def _from_switch(fabric: Fabric, port: int) -> int:
    is_switch = fabric.node_kind[fabric.port_node[port]] == NodeKind.SWITCH
    return port if is_switch else int(fabric.port_peer[port])
