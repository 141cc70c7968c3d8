"""The fabric: nodes, ports and links as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property
from typing import cast

import numpy as np

from weftline.kernels.column import F64, I8, I32, NIL, Array, digest_parts, freeze


class NodeKind(IntEnum):
    """What a node is."""

    HOST = 0
    EXTRA = 1
    """A declared endpoint that is no host: a management server, storage, an aggregation node."""
    SWITCH = 2


class Tier(IntEnum):
    """How far from the hosts a node stands; torus and irregular switches are all leaves."""

    HOST = 0
    LEAF = 1
    SPINE = 2
    CORE = 3


TIER_NAMES = ("host", "leaf", "spine", "core")


@dataclass(frozen=True, eq=False)
class Fabric:
    """Nodes, ports and links of one fabric.

    Nodes are ordered hosts, extra endpoints, leaves, spines, cores. N nodes, P ports, C cables. The ports of node
    ``n`` are ``port_ptr[n]:port_ptr[n + 1]``, in the order of their numbers. A link is a pair of peers; a *directed*
    link is named by its transmitting port, so load, channels and capacities are columns over ports. Several links
    may share a cable. A host port is an **endpoint**; all scale figures count endpoints.
    """

    name: str
    shape: str
    """``rail-optimised``, ``fat-tree``, ``rail-only``, ``cabling``, ``dragonfly``, ``dragonfly-plus``, ``torus``,
    ``hyperx``, ``slim-fly``, or what adoption saw, as ``irregular``."""
    source_digest: str
    """Digest of the declaration or the dump that this was made from."""
    node_name: tuple[str, ...]
    node_kind: I8
    node_tier: I8
    node_plane: I32
    node_rail: I32
    """Rail of a leaf (or of a spine that serves one rail), counted from 0; NIL where it serves all."""
    node_unit: I32
    """Scalable unit of a host or leaf, counted from 0; NIL elsewhere."""
    node_group: I32
    """Group (pod) of a leaf or spine in a three-tier fabric, group of a switch in a dragonfly, counted from 0; NIL for
    hosts and cores, and in two tiers."""
    node_component: I32
    """Connected part that the design intends: pairs of endpoints of one component are connected, others are not.
    A host whose ports are in several components has NIL here; ``port_component`` rules."""
    node_tenant: I32
    """Index into ``tenant_name``, NIL for switches and undeclared hosts."""
    node_part: I32
    """Index into ``part_name``; NIL where unknown."""
    part_name: tuple[str, ...]
    tenant_name: tuple[str, ...]
    port_ptr: I32
    port_number: I32
    """The number printed on the device, from 1. On a host it is rail * planes + plane + 1."""
    port_peer: I32
    """The port at the other end, NIL when dark."""
    port_rate_gbps: F64
    port_rail: I32
    """Rail of an endpoint, counted from 0; NIL on switches."""
    port_plane: I32
    port_component: I32
    port_cable: I32
    cable_part: tuple[str, ...]
    """Part of each cable; empty where unknown."""
    cable_length_m: F64
    """NaN where unknown."""
    planes: int = 1
    node_place: I32 | None = None
    """Coordinates of each switch of a torus or HyperX, one column per dimension, NIL rows for what is no switch; None
    in other shapes."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                freeze(cast("Array", value))

    @property
    def node_count(self) -> int:
        """Count nodes."""
        return len(self.node_name)

    @property
    def port_count(self) -> int:
        """Count ports, dark ones too."""
        return len(self.port_number)

    @cached_property
    def port_node(self) -> I32:
        """The node of each port."""
        column = np.repeat(np.arange(self.node_count, dtype=np.int32), np.diff(self.port_ptr))
        freeze(column)
        return column

    @cached_property
    def switch_node(self) -> I32:
        """Node index of each switch; rows of routing tables follow this order."""
        column = np.flatnonzero(self.node_kind == NodeKind.SWITCH).astype(np.int32)
        freeze(column)
        return column

    @cached_property
    def switch_row(self) -> I32:
        """Row of each node among the switches, NIL for hosts and extra endpoints."""
        column = np.full(self.node_count, NIL, dtype=np.int32)
        column[self.switch_node] = np.arange(len(self.switch_node), dtype=np.int32)
        freeze(column)
        return column

    @cached_property
    def endpoint_port(self) -> I32:
        """Port index of every port of a host or extra endpoint, dark ones too, in host-then-rail order."""
        column = np.flatnonzero(self.node_kind[self.port_node] != NodeKind.SWITCH).astype(np.int32)
        freeze(column)
        return column

    @cached_property
    def networks(self) -> int:
        """Count the components that endpoints are in: with more than one, some endpoints never reach each other."""
        return len(np.unique(self.port_component[self.endpoint_port]))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every column, in hex."""
        parts: list[object] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "node_place" and value is None:  # younger than the digests of fabrics without it
                continue
            parts.extend((field.name, str(value) if isinstance(value, int) else value))
        return digest_parts(parts)  # type: ignore[arg-type]

    def port_name(self, port: int) -> str:
        """Name a port: ``leaf-003/17``, ``host-0001/nic3``, ``host-0001/nic3p2`` on a NIC of several planes."""
        node = int(self.port_node[port])
        number = int(self.port_number[port])
        name = self.node_name[node]
        if self.node_kind[node] != NodeKind.HOST:
            return f"{name}/{number}"
        if self.planes == 1:
            return f"{name}/nic{number}"
        return f"{name}/nic{(number - 1) // self.planes + 1}p{(number - 1) % self.planes + 1}"

    def link_name(self, port: int) -> str:
        """Name the link of a port, seen from it: ``leaf-003/33~spine-01/3``; a dark port is named alone."""
        peer = int(self.port_peer[port])
        return self.port_name(port) if peer == NIL else f"{self.port_name(port)}~{self.port_name(peer)}"
