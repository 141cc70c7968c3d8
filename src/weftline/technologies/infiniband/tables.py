"""Forwarding tables: a port per switch and LID, from routes."""

from __future__ import annotations

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, I64, NIL, U8
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric
from weftline.model.intent import NO_PORT, ForwardingTable
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.technologies.infiniband.limits import MAX_TABLE_PORT


def make_table(fabric: Fabric, addresses: Addresses, routes: Routes, plane: int) -> ForwardingTable:
    """Make the forwarding table of one plane; O(switches * destinations), one byte per entry.

    Raises:
        CapabilityError: ``capability.several-ports`` when an entry has more than one port,
            ``capability.too-many-ports`` when a port number does not fit in an entry.
    """
    rows = np.flatnonzero(fabric.node_plane[fabric.switch_node] == plane)
    columns, base = _list_destinations(fabric, addresses, routes, plane)
    order = np.argsort(base, kind="stable")
    columns, base = columns[order], base[order]
    narrow = np.empty((len(rows), len(columns)), dtype=np.uint8)
    for index, row in enumerate(rows):
        narrow[index] = _fill_row(fabric, routes, int(row), columns)
    # Routes that know one path only lead all addresses of a port the same way.
    bits = addresses.multipath_bits if routes.destination_path is None else 0
    address, spread = _spread(base, routes.destination_port[columns] != NIL, bits)
    nodes = fabric.switch_node[rows]
    return ForwardingTable(
        switch_id=addresses.node_id[nodes],
        switch_name=tuple(fabric.node_name[int(node)] for node in nodes),
        switch_address=addresses.node_address[nodes],
        address=address,
        port=narrow if spread is None else narrow[:, spread],
    )


def _list_destinations(fabric: Fabric, addresses: Addresses, routes: Routes, plane: int) -> tuple[I64, I64]:
    port = routes.destination_port
    is_endpoint = port != NIL
    of_endpoint = np.where(is_endpoint, addresses.port_address[port], NIL)
    of_endpoint = np.where(of_endpoint > 0, of_endpoint + routes.path, of_endpoint)
    lid = np.where(is_endpoint, of_endpoint, addresses.node_address[routes.destination_node])
    home = np.where(is_endpoint, fabric.port_plane[port], fabric.node_plane[routes.destination_node])
    columns = np.flatnonzero((home == plane) & (lid > 0)).astype(np.int64)
    return columns, lid[columns]


def _spread(base: I64, is_endpoint: np.ndarray, bits: int) -> tuple[I64, I64 | None]:  # type: ignore[type-arg]
    """Give each endpoint all of its 2**bits addresses."""
    if bits == 0:
        return base, None
    times = np.where(is_endpoint, 2**bits, 1)
    spread = np.repeat(np.arange(len(base), dtype=np.int64), times)
    first = np.cumsum(times) - times
    address = base[spread] + (np.arange(len(spread), dtype=np.int64) - first[spread])
    return address, spread


def _fill_row(fabric: Fabric, routes: Routes, row: int, columns: I64) -> U8:
    """Look up the port of each entry; what an entry says is a table of at most 65,536 lines."""
    entry = routes.group[row, columns]
    first, last = int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])
    start = routes.member_ptr[first:last]
    number = fabric.port_number[routes.member_port[start]]
    is_used = np.zeros(no_route(routes.group) + 1, dtype=np.bool_)
    is_used[entry] = True
    used = np.flatnonzero(is_used[: last - first])
    _check_ports(fabric, routes, row, (routes.member_ptr[first + 1 : last + 1] - start)[used], number[used])
    port_of = np.full(no_route(routes.group) + 1, NO_PORT, dtype=np.uint8)
    port_of[used] = number[used]
    port_of[local_delivery(routes.group)] = 0
    return port_of[entry]


def _check_ports(fabric: Fabric, routes: Routes, row: int, size: I32, number: I32) -> None:
    """Refuse what an entry cannot say: several ports, and high numbers."""
    name = fabric.node_name[int(fabric.switch_node[row])]
    if int(size.max(initial=0)) > 1:
        raise CapabilityError(
            "capability.several-ports",
            f"{name} has groups of {int(size.max())} ports, and an entry of a forwarding table names one",
            f"the routes come from engine {routes.engine}; choose fat-tree or updown",
        )
    if int(number.max(initial=0)) > MAX_TABLE_PORT:
        raise CapabilityError(
            "capability.too-many-ports",
            f"{name} forwards by port {int(number.max())}, and an entry names ports 1 to {MAX_TABLE_PORT}",
            "choose a switch with fewer ports",
        )
