"""What the devices of running subnets hold becomes Routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weftline.adopt.tables import place_tables
from weftline.errors import Problem
from weftline.formats.lft import NO_PORT, LftDump, TableRecord
from weftline.kernels.column import I32, U8, U16
from weftline.model.addresses import Addresses
from weftline.model.adoption import Tables
from weftline.model.driver import SubnetState
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes

MISSING = "artifact.table-missing"


def place_states(states: Sequence[SubnetState], fabric: Fabric, addresses: Addresses) -> Tables | tuple[Problem, ...]:
    """Put the tables that were read from subnets onto their fabric, by the addresses that the subnets gave.

    Subnets that are apart may give the same address to different ports, so each is placed by its own.
    """
    merged: Routes | None = None
    seen: set[int] = set()
    problems: list[Problem] = []
    for state in states:
        found = place_tables(_list_tables(state), fabric, _read_addresses(state, fabric, addresses))
        if isinstance(found, tuple):
            return found
        problems += [problem for problem in found.problems if problem.code != MISSING]
        rows = [
            row for row, node in enumerate(fabric.switch_node.tolist()) if int(addresses.node_id[node]) in state.tables
        ]
        seen |= set(rows)
        merged = found.routes if merged is None else _take_rows(merged, found.routes, rows)
    for row, node in enumerate(fabric.switch_node.tolist()):
        if row not in seen:
            message = f"there is no table of {fabric.node_name[node]}, so it forwards nothing"
            problems.append(Problem(MISSING, message, "no subnet manager reached it", severity="warning"))
    return tuple(problems) if merged is None else Tables(merged, tuple(problems))


def _take_rows(routes: Routes, others: Routes, rows: Sequence[int]) -> Routes:
    """Take the rows of some switches from other routes of the same fabric, whose groups are alike."""
    group = routes.group.copy()
    group[rows] = others.group[rows]
    return replace(routes, group=group)


def _list_tables(state: SubnetState) -> LftDump:
    """Write the tables of one subnet as a dump of them."""
    heads: list[TableRecord] = []
    lids: list[U16] = []
    ports: list[U8] = []
    for guid, table in sorted(state.tables.items()):
        known = np.flatnonzero(table != NO_PORT)
        port = state.ports.get((guid, 0))
        heads.append(TableRecord(guid, 0 if port is None else port.address, "", len(heads) + 1))
        lids.append(known.astype(np.uint16))
        ports.append(table[known])
    sizes = np.array([0, *(len(part) for part in lids)], dtype=np.int64)
    empty: U16 = np.zeros(0, dtype=np.uint16)
    lines: I32 = np.repeat(np.arange(len(heads), dtype=np.int32) + 1, sizes[1:])
    return LftDump(
        file="the subnet that ran",
        digest="",
        tables=tuple(heads),
        table_ptr=np.cumsum(sizes),
        entry_lid=np.concatenate([empty, *lids]),
        entry_port=np.concatenate([empty.astype(np.uint8), *ports]),
        entry_line=lines,
        problems=(),
    )


def _read_addresses(state: SubnetState, fabric: Fabric, addresses: Addresses) -> Addresses:
    """Take the LIDs from the devices: a manager replaces those that it cannot use."""
    node_address = np.zeros_like(addresses.node_address)
    port_address = np.zeros_like(addresses.port_address)
    for node in fabric.switch_node.tolist():
        port = state.ports.get((int(addresses.node_id[node]), 0))
        if port is not None:
            node_address[node] = port.address
    for end in fabric.endpoint_port.tolist():
        place = state.endpoints.get(int(addresses.port_id[end]))
        if place is not None and place in state.ports:
            port_address[end] = state.ports[place].address
    return replace(addresses, node_address=node_address, port_address=port_address)
