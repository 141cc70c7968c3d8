"""Forwarding tables: a port per switch and LID, from routes."""

from __future__ import annotations

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I64, NIL, U8
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
    entry = routes.group[row, columns].astype(np.int64)
    forwards = (entry != no_route(routes.group)) & (entry != local_delivery(routes.group))
    first, last = int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])
    start = routes.member_ptr[first:last].astype(np.int64)
    size = routes.member_ptr[first + 1 : last + 1] - start
    used = entry[forwards]
    if len(used) and int(size[used].max()) > 1:
        name = fabric.node_name[int(fabric.switch_node[row])]
        raise CapabilityError(
            "capability.several-ports",
            f"{name} has groups of {int(size[used].max())} ports, and an entry of a forwarding table names one",
            f"the routes come from engine {routes.engine}; choose fat-tree or updown",
        )
    number = fabric.port_number[routes.member_port[start]]
    if len(used) and int(number[used].max()) > MAX_TABLE_PORT:
        name = fabric.node_name[int(fabric.switch_node[row])]
        raise CapabilityError(
            "capability.too-many-ports",
            f"{name} forwards by port {int(number[used].max())}, and an entry names ports 1 to {MAX_TABLE_PORT}",
            "choose a switch with fewer ports",
        )
    filled = np.full(len(columns), NO_PORT, dtype=np.uint8)
    filled[forwards] = number[used]
    filled[entry == local_delivery(routes.group)] = 0
    return filled
