"""The tables that devices hold, as routes: what a repair starts from is what runs, not what is written about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I64, NIL, U8
from weftline.model.addresses import Addresses
from weftline.model.routes import GroupTable, Routes, local_delivery, no_route
from weftline.route.repair import Standing

BLOCK = 64
NOWHERE = 255


def read_running(standing: Standing, addresses: Addresses, tables: Mapping[int, U8]) -> Routes:
    """Read tables by node id and address as routes; a switch without a table has no routes.

    An entry by a port without a declared cable counts as no route.
    """
    fabric, routes = standing.fabric, standing.routes
    table = routes.group.copy()
    address = list_addresses(standing, addresses)
    for row, node in enumerate(fabric.switch_node.tolist()):
        held = tables.get(int(addresses.node_id[node]))
        if held is None:
            table[row] = no_route(table)
            continue
        numbers = np.full(len(address), NOWHERE, dtype=np.int64)
        is_there = (address > 0) & (address < len(held))
        numbers[is_there] = held[address[is_there]]
        of_number = np.full(NOWHERE + 1, no_route(table), dtype=np.int64)
        first, last = int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])
        group = standing.groups.of_port[first:last]
        of_number[fabric.port_number[first:last][group != NIL]] = group[group != NIL]
        of_number[0] = local_delivery(table)
        table[row] = of_number[numbers]
    return replace(routes, group=table)


def blank_rows(routes: Routes, rows: NDArray[np.bool_]) -> Routes:
    """Let the switches of some rows hold nothing: what a switch holds that nobody can ask is not known."""
    if not rows.any():
        return routes
    table = routes.group.copy()
    table[rows] = no_route(table)
    return replace(routes, group=table)


def list_addresses(standing: Standing, addresses: Addresses) -> I64:
    """List the first address of every destination; 0 where it has none."""
    port = standing.goals.port
    of_port = addresses.port_address[np.maximum(port, 0)] if len(addresses.port_address) else np.zeros_like(port)
    address = np.where(port == NIL, addresses.node_address[standing.goals.node], of_port)
    return np.maximum(address.astype(np.int64), 0)


def list_blocks(
    standing: Standing, addresses: Addresses, before: GroupTable, after: GroupTable
) -> list[tuple[int, int]]:
    """List the blocks (node id, block) in which two tables differ."""
    address = list_addresses(standing, addresses)
    rows, goals = np.nonzero(before != after)
    pairs = np.unique(np.stack((rows, address[goals] // BLOCK), axis=1), axis=0)
    node_id = addresses.node_id[standing.fabric.switch_node]
    return [(int(node_id[row]), int(block)) for row, block in pairs.tolist()]


def count_unlike(
    standing: Standing,
    addresses: Addresses,
    wanted: GroupTable,
    held: Sequence[tuple[tuple[int, int], bytes | None]],
) -> int:
    """Count the entries of blocks that were read which are not as wanted; one that nobody answered for counts whole."""
    address = list_addresses(standing, addresses)
    fabric = standing.fabric
    row_of = {int(addresses.node_id[node]): row for row, node in enumerate(fabric.switch_node.tolist())}
    unlike = 0
    for (guid, block), data in held:
        row = row_of[guid]
        goals = np.flatnonzero((address // BLOCK == block) & (address > 0))
        entry = wanted[row, goals].astype(np.int64)
        first, last = int(standing.groups.group_ptr[row]), int(standing.groups.group_ptr[row + 1])
        numbers = np.full(len(goals), NOWHERE, dtype=np.int64)
        is_port = entry < last - first
        numbers[is_port] = fabric.port_number[standing.groups.member_port[first + entry[is_port]]]
        numbers[entry == local_delivery(wanted)] = 0
        if data is None:
            unlike += BLOCK
            continue
        unlike += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8)[address[goals] % BLOCK] != numbers))
    return unlike
