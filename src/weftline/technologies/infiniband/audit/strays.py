"""Endpoints on a leaf of another rail: on a rail-optimised fabric that is a crossed cable, or a host that was moved."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.finding import Finding

SHAPE = "rail-optimised"
RULE = "fabric.stray-rail"
_STEP = "see whether two cables of this host are exchanged; rings of a rail cross the spines there"


def find_strays(fabric: Fabric) -> Iterator[Finding]:
    """Name each endpoint whose leaf serves another rail than its number says; O(ports)."""
    if fabric.shape != SHAPE:
        return
    for port in fabric.endpoint_port.tolist():
        peer, node = int(fabric.port_peer[port]), int(fabric.port_node[port])
        if peer == NIL or fabric.node_kind[node] != NodeKind.HOST:
            continue
        leaf = int(fabric.port_node[peer])
        mine, its = int(fabric.port_rail[port]), int(fabric.node_rail[leaf])
        if NIL not in {mine, its} and mine != its:
            message = f"is NIC {mine + 1} of its host and hangs on {fabric.port_name(peer)}, a leaf of rail {its + 1}"
            yield Finding(RULE, "warning", fabric.port_name(port), message, _STEP)
