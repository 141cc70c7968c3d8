"""Dumps of tables for the tests of adoption, written from routes in the forms of OpenSM and of ibdiagnet."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes, local_delivery


def lid_of(routes: Routes, addresses: Addresses, destination: int) -> int:
    """Find the LID of a destination."""
    port = int(routes.destination_port[destination])
    if port == NIL:
        return int(addresses.node_address[routes.destination_node[destination]])
    return int(addresses.port_address[port]) + int(routes.path[destination])


def ports(fabric: Fabric, routes: Routes, row: int, destination: int) -> list[int]:
    """List the numbers of the ports of an entry: 0 for the switch itself, none where there is no route."""
    entry = int(routes.group[row, destination])
    if entry == local_delivery(routes.group):
        return [0]
    first = int(routes.group_ptr[row])
    if entry >= int(routes.group_ptr[row + 1]) - first:
        return []
    span = slice(int(routes.member_ptr[first + entry]), int(routes.member_ptr[first + entry + 1]))
    return fabric.port_number[routes.member_port[span]].tolist()


def write_fdbs(fabric: Fabric, addresses: Addresses, routes: Routes, writer: str = "dump_ucast_routes: ") -> str:
    """Write the first port of each entry as opensm.fdbs, or as ibdiagnet2.fdbs."""
    out: list[str] = []
    for row, node in enumerate(fabric.switch_node.tolist()):
        out.append(f"{writer}Switch 0x{int(addresses.node_id[node]):016x}")
        out.append("LID    : Port : Hops : Optimal")
        for lid, found in _entries(fabric, addresses, routes, row):
            out.append(f"0x{lid:04X} : {found[0]:03d}  : 00   : yes" if found else f"0x{lid:04X} : UNREACHABLE")
    return "\n".join(out) + "\n"


def write_far(fabric: Fabric, addresses: Addresses, static: Routes, choice: Routes) -> str:
    """Write an adaptive dump: the static ports of some routes, and the sets of others where there are several ports."""
    out: list[str] = []
    for row, node in enumerate(fabric.switch_node.tolist()):
        groups: dict[tuple[int, ...], int] = {}
        lines: list[str] = []
        pairs = zip(_entries(fabric, addresses, static, row), _entries(fabric, addresses, choice, row), strict=True)
        for (lid, found), (_, many) in pairs:
            is_free = len(many) > 1
            number = groups.setdefault(tuple(many), len(groups)) if is_free else 0
            lines.append(f"0x{lid:04x}  {found[0] if found else 255}  {'Free' if is_free else 'Static'}  {number}")
        out += [
            f"Switch 0x{int(addresses.node_id[node]):016x}",
            "Groups Definition:",
            "Group SubGroup WHBF Ports",
            "----",
        ]
        out += [f"{number}  0  0  {','.join(map(str, many))}" for many, number in groups.items()]
        out += ["", "LFT Definition:", "LID StaticPort LidState Group", "----", *lines, ""]
    return "\n".join(out) + "\n"


def _entries(fabric: Fabric, addresses: Addresses, routes: Routes, row: int) -> Iterator[tuple[int, list[int]]]:
    """Go through the entries of a switch by LID."""
    lids = [(lid_of(routes, addresses, d), d) for d in range(len(routes.destination_node))]
    for lid, d in sorted(lids):
        yield lid, ports(fabric, routes, row, d)
