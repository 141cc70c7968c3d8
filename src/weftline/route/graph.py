"""What every engine needs of a fabric: the graph of switches, the destinations, and a group per port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, NIL
from weftline.kernels.csr import label_components
from weftline.model.fabric import Fabric

Whole: TypeAlias = NDArray[np.signedinteger[Any]]
"""Whole numbers of any width, on their way to a column."""


@dataclass(frozen=True, eq=False)
class SwitchGraph:
    """The links between switches; rows follow ``fabric.switch_node``, parallel links are one edge.

    The edges of row ``r`` are ``edge_ptr[r]:edge_ptr[r + 1]``, ordered by the row at the other end; the transmitting
    ports of edge ``e`` are ``link_port[link_ptr[e]:link_ptr[e + 1]]``, ordered by number. A cable from a switch to
    itself is no link.
    """

    edge_ptr: I32
    edge_row: I32
    link_ptr: I32
    link_port: I32
    component: I32
    """Connected component per row."""
    tier: I32
    """Tier per row, as the fabric says."""

    @property
    def switch_count(self) -> int:
        """Count switches."""
        return len(self.tier)


@dataclass(frozen=True, eq=False)
class Destinations:
    """What packets are sent to: endpoint ports, then switches where the technology addresses them."""

    node: I32
    port: I32
    """The endpoint port; NIL for a switch."""
    home: I32
    """Row of the switch that the destination hangs on, or is; NIL where a port is dark or its peer is no switch."""
    home_port: I32
    """The switch port that delivers; NIL for a switch and where there is no home."""
    path: I32
    """Which of its port's addresses it is; 0 for the base. Further addresses come last."""
    base: I32
    """The destination of the same port and path 0; itself for most."""

    @property
    def paths(self) -> int:
        """Count the addresses of an endpoint."""
        return int(self.path.max(initial=0)) + 1


@dataclass(frozen=True, eq=False)
class PortGroups:
    """A group of one per lit port of each switch, in the order of the ports."""

    group_ptr: I32
    member_ptr: I32
    member_port: I32
    of_port: I32
    """Group of each port of the fabric, local to its switch; NIL where dark or no switch's."""


def read_graph(fabric: Fabric) -> SwitchGraph:
    """Read the graph of switches; O(links log links)."""
    node, peer = fabric.port_node, fabric.port_peer
    ports = np.flatnonzero((fabric.switch_row[node] != NIL) & (peer != NIL)).astype(np.int32)
    row = fabric.switch_row[node[ports]]
    other = fabric.switch_row[node[peer[ports]]]
    keep = (other != NIL) & (other != row)
    ports, row, other = ports[keep], row[keep], other[keep]
    order = np.lexsort((ports, other, row))
    ports, row, other = ports[order], row[order], other[order]
    first = np.flatnonzero(np.diff(row, prepend=-1).astype(bool) | np.diff(other, prepend=-1).astype(bool))
    switches = len(fabric.switch_node)
    edge_ptr = count_to_ptr(row[first], switches)
    edge_row = other[first].astype(np.int32)
    return SwitchGraph(
        edge_ptr=edge_ptr,
        edge_row=edge_row,
        link_ptr=np.append(first, len(ports)).astype(np.int32),
        link_port=ports,
        component=label_components(edge_ptr, edge_row),
        tier=fabric.node_tier[fabric.switch_node].astype(np.int32),
    )


def read_destinations(fabric: Fabric, *, to_switches: bool, paths: int = 1) -> Destinations:
    """List the destinations: every endpoint port in host-then-rail order, then the switches if asked for.

    Then come the further addresses of the endpoint ports, path by path, where each has ``paths`` of them.
    """
    port = fabric.endpoint_port
    peer = fabric.port_peer[port]
    home = np.where(peer == NIL, NIL, fabric.switch_row[fabric.port_node[peer]]).astype(np.int32)
    home_port = np.where(home == NIL, NIL, peer).astype(np.int32)
    node = fabric.port_node[port]
    if to_switches:
        switches = len(fabric.switch_node)
        nil = np.full(switches, NIL, dtype=np.int32)
        node = np.concatenate((node, fabric.switch_node))
        port, home_port = np.concatenate((port, nil)), np.concatenate((home_port, nil))
        home = np.concatenate((home, np.arange(switches, dtype=np.int32)))
    ends, first = len(fabric.endpoint_port), len(node)
    base = np.concatenate((np.arange(first), np.tile(np.arange(ends), paths - 1))).astype(np.int32)
    path = np.concatenate((np.zeros(first), np.repeat(np.arange(1, paths), ends))).astype(np.int32)
    return Destinations(node[base], port[base], home[base], home_port[base], path, base)


def list_port_groups(fabric: Fabric) -> PortGroups:
    """Make a group of one of every lit switch port; O(ports)."""
    row = fabric.switch_row[fabric.port_node]
    ports = np.flatnonzero((row != NIL) & (fabric.port_peer != NIL)).astype(np.int32)
    group_ptr = count_to_ptr(row[ports], len(fabric.switch_node))
    of_port = np.full(fabric.port_count, NIL, dtype=np.int32)
    of_port[ports] = np.arange(len(ports), dtype=np.int32) - group_ptr[row[ports]]
    return PortGroups(
        group_ptr=group_ptr,
        member_ptr=np.arange(len(ports) + 1, dtype=np.int32),
        member_port=ports,
        of_port=of_port,
    )


def count_to_ptr(keys: Whole, size: int) -> I32:
    """Turn keys 0..size-1 into the pointer column (size + 1) of a CSR."""
    ptr = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(np.bincount(keys, minlength=size), out=ptr[1:])
    return ptr


def sort_by_key(keys: Whole, items: Whole, size: int) -> tuple[I32, I32]:
    """Sort items by key 0..size-1, in order within a key: the pointer column (size + 1) and the items."""
    return count_to_ptr(keys, size), items[np.argsort(keys, kind="stable")].astype(np.int32)


def rank_within(keys: Whole, *order: Whole) -> I32:
    """Rank each item among those of the same key, by the columns of ``order``, the first being the most important."""
    sequence = np.lexsort((*reversed(order), keys))
    ordered = keys[sequence]
    start = np.flatnonzero(np.diff(ordered, prepend=-2).astype(bool))
    counts = np.diff(np.append(start, len(ordered)))
    rank = np.empty(len(keys), dtype=np.int32)
    rank[sequence] = np.arange(len(ordered)) - np.repeat(start, counts)
    return rank
