"""The ports of a fabric that a name means."""

from __future__ import annotations

from weftline.errors import SpecError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric


def find_lit_ports(fabric: Fabric, name: str) -> list[int]:
    """Find the ports with a cable that a name means: one of a link or a port, all of a switch or host."""
    if name in fabric.node_name:
        node = fabric.node_name.index(name)
        ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        lit = [port for port in ports if int(fabric.port_peer[port]) != NIL]
        if lit:
            return lit
    return [find_link(fabric, name)]


def find_link(fabric: Fabric, name: str) -> int:
    """Find the port at the first end of a link, which may be named by one end alone.

    Raises:
        SpecError: ``spec.unknown-device``.
    """
    near, _, far = name.partition("~")
    node_name = near.rpartition("/")[0]
    if node_name in fabric.node_name:
        node = fabric.node_name.index(node_name)
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])):
            peer = int(fabric.port_peer[port])
            if fabric.port_name(port) == near and peer != NIL and far in {"", fabric.port_name(peer)}:
                return port
    raise SpecError(
        "spec.unknown-device",
        f"{name[:80]!r} names no switch, host or link with a cable in this fabric",
        "names are as in weftline cables: leaf-003, host-0001, leaf-003/33~spine-01/9",
    )
