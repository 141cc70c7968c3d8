"""Dumps for the tests of adoption: fabrics with made-up addresses, and changes to their cables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weftline.adopt import build_fabric, read_discovery
from weftline.formats import ibnetdiscover
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.fabric import Fabric, NodeKind


def number(fabric: Fabric) -> Addresses:
    """Give every node and port a GUID and a LID."""
    nodes, ports = fabric.node_count, fabric.port_count
    is_switch = fabric.node_kind == NodeKind.SWITCH
    node_id = np.uint64(0x0002C90300100000) + np.arange(nodes, dtype=np.uint64) * np.uint64(0x1000)
    port_id = node_id[fabric.port_node] + fabric.port_number.astype(np.uint64)
    return Addresses(
        fabric_digest=fabric.digest,
        scheme="lid",
        node_id=node_id,
        port_id=port_id,
        node_address=np.where(is_switch, np.arange(nodes) + 1, NIL).astype(np.int64),
        port_address=np.where(is_switch[fabric.port_node], NIL, np.arange(ports) + nodes + 1).astype(np.int64),
        node_number=np.full(nodes, NIL, dtype=np.int64),
    )


def read(data: bytes | str, file: str = "dump.txt") -> Discovery:
    """Read a dump that can be read."""
    found = read_discovery(data.encode() if isinstance(data, str) else data, file)
    assert isinstance(found, Discovery), found
    return found


def adopt(data: bytes | str, file: str = "dump.txt") -> Adoption:
    """Adopt a dump that can be adopted."""
    found = build_fabric(read(data, file))
    assert isinstance(found, Adoption), found
    return found


def rediscover(fabric: Fabric) -> Adoption:
    """Write a fabric as a dump and adopt that."""
    return adopt(ibnetdiscover.write(fabric, number(fabric)))


def codes(adoption: Adoption, severity: str = "error") -> list[str]:
    """List the codes of the problems of a severity."""
    return [problem.code for problem in adoption.problems if problem.severity == severity]


def port(fabric: Fabric, name: str) -> int:
    """Find a port by its name."""
    return next(at for at in range(fabric.port_count) if fabric.port_name(at) == name)


def rewire(fabric: Fabric, *links: tuple[str, str | None]) -> Fabric:
    """Plug cables: each pair of port names is joined, what was there is unplugged; None leaves the port dark."""
    peer = fabric.port_peer.copy()
    for names in links:
        for name in names:
            if name is not None:
                at = port(fabric, name)
                if peer[at] != NIL:
                    peer[peer[at]] = NIL
                peer[at] = NIL
    for first, second in links:
        if second is not None:
            a, b = port(fabric, first), port(fabric, second)
            peer[a], peer[b] = b, a
    return replace(fabric, port_peer=peer)


def slow_down(fabric: Fabric, name: str, rate_gbps: float) -> Fabric:
    """Run the link of a port at another rate."""
    rate = fabric.port_rate_gbps.copy()
    at = port(fabric, name)
    rate[[at, int(fabric.port_peer[at])]] = rate_gbps
    return replace(fabric, port_rate_gbps=rate)
