"""Programmed forwarding tables become Routes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.errors import Problem
from weftline.formats import lft
from weftline.formats.lft import LftDump, TableRecord
from weftline.formats.lid import MAX_LID
from weftline.formats.text import ProblemLog
from weftline.kernels.column import I32, I64, NIL, U8, U16
from weftline.model.addresses import Addresses
from weftline.model.adoption import Tables
from weftline.model.fabric import Fabric
from weftline.model.routes import GroupTable, Routes, local_delivery, no_route

ENGINE = "programmed"
GUARANTEE = "These are the tables that the switches hold; nothing is promised about them."
SHOWN = 1_000
"""Bad entries of one table that are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class _Targets:
    """What each LID leads to."""

    column: I32
    """Per LID the destination, NIL where nobody has it."""
    is_alternative: U8
    """Per LID whether it is another LID of a port (LMC above 0)."""
    node: I32
    port: I32


def read_tables(data: bytes, file: str, fabric: Fabric, addresses: Addresses) -> Tables | tuple[Problem, ...]:
    """Read a dump of forwarding tables onto a fabric; returns problems alone when no switch of it has a table.

    Destinations are the endpoint ports in the order of the fabric, then the switches. A port is a group of its own:
    group ``g`` of a switch is its port ``g`` in the order of the numbers. Of a port with several LIDs the base LID
    counts. Entries through ports that do not exist are problems and become 'no route'.
    """
    dump = lft.parse(data, file)
    return dump if isinstance(dump, tuple) else place_tables(dump, fabric, addresses)


def place_tables(dump: LftDump, fabric: Fabric, addresses: Addresses) -> Tables | tuple[Problem, ...]:
    """Put tables that were read already onto a fabric; see ``read_tables``."""
    log = ProblemLog(dump.file)
    rows = _switch_rows(dump, fabric, addresses, log)
    if all(row == NIL for row in rows):
        message = "no table belongs to a switch of this fabric"
        log.add("artifact.table-unknown-switch", message, "the tables are those of another subnet", dump.tables[0].line)
        return (*dump.problems, *log.close())
    targets = _targets(fabric, addresses)
    widest = int(np.diff(fabric.port_ptr)[fabric.switch_node].max(initial=0))
    size = (len(fabric.switch_node), len(targets.node))
    group: GroupTable = (
        np.full(size, 255, dtype=np.uint8) if widest <= lft.NO_PORT - 1 else np.full(size, 65_535, dtype=np.uint16)
    )
    unknown = 0
    for table, row in enumerate(rows):
        if row != NIL:
            node = int(fabric.switch_node[row])
            unknown += _fill(_table(dump, table, fabric, node, targets), fabric, targets, group[row], log)
    _report_unknown(dump, unknown, log)
    _report_missing(rows, fabric, log)
    return Tables(_routes(fabric, targets, group), (*dump.problems, *log.close()))


def _switch_rows(dump: LftDump, fabric: Fabric, addresses: Addresses, log: ProblemLog) -> list[int]:
    """Return the switch row of each table, by GUID, else by LID; NIL where the fabric has no such switch."""
    by_guid = {int(addresses.node_id[node]): row for row, node in enumerate(fabric.switch_node.tolist())}
    by_lid = {int(addresses.node_address[node]): row for row, node in enumerate(fabric.switch_node.tolist())}
    rows: list[int] = []
    first: dict[int, TableRecord] = {}
    for record in dump.tables:
        row = by_guid.get(record.guid, by_lid.get(record.lid, NIL) if not record.guid and record.lid else NIL)
        if row == NIL:
            message = f"switch {record.name or '?'} with GUID 0x{record.guid:016x} is not in the fabric"
            hint = "its table is left out; dump and tables should be of one moment"
            log.add("artifact.table-unknown-switch", message, hint, record.line, 1, "warning")
        elif row in first:
            message = f"the table of {record.name or hex(record.guid)} stands on line {first[row].line} already"
            log.add("artifact.table-repeated", message, "later entries replace earlier ones", record.line, 1, "warning")
        first.setdefault(row, record)
        rows.append(row)
    return rows


def _targets(fabric: Fabric, addresses: Addresses) -> _Targets:
    """Map LIDs to destinations; where two claim one LID the first has it."""
    endpoints, switches = fabric.endpoint_port, fabric.switch_node
    node = np.concatenate([fabric.port_node[endpoints], switches]).astype(np.int32)
    port = np.concatenate([endpoints, np.full(len(switches), NIL)]).astype(np.int32)
    lid = np.concatenate([addresses.port_address[endpoints], addresses.node_address[switches]]).astype(np.int64)
    column = np.full(MAX_LID + 1, NIL, dtype=np.int32)
    known = np.flatnonzero((lid > 0) & (lid < MAX_LID))[::-1]
    column[lid[known]] = known
    is_alternative = np.zeros(MAX_LID + 1, dtype=np.uint8)
    base = lid[known[known < len(endpoints)]]
    for step in range(1, 1 << addresses.multipath_bits):
        other = base[base + step <= MAX_LID] + step
        is_alternative[other] = column[other] == NIL
    return _Targets(column, is_alternative, node, port)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One table of the dump on its switch."""

    name: str
    node: int
    port_count: int
    lid: U16
    number: U8
    line: I32
    target: I32
    """Destination of each entry, NIL where nobody has the LID."""


def _table(dump: LftDump, table: int, fabric: Fabric, node: int, targets: _Targets) -> _Table:
    """Take one table out of the dump."""
    span = slice(int(dump.table_ptr[table]), int(dump.table_ptr[table + 1]))
    count = int(fabric.port_ptr[node + 1] - fabric.port_ptr[node])
    lid = dump.entry_lid[span]
    name = fabric.node_name[node]
    return _Table(name, node, count, lid, dump.entry_port[span], dump.entry_line[span], targets.column[lid])


def _fill(table: _Table, fabric: Fabric, targets: _Targets, row: GroupTable, log: ProblemLog) -> int:
    """Write the entries of one table into its row; returns how many lead to LIDs that nobody has."""
    first = int(fabric.port_ptr[table.node])
    numbers = fabric.port_number[first : first + table.port_count]
    entry = np.full(256, NIL, dtype=np.int64)
    small = numbers <= lft.NO_PORT
    entry[numbers[small]] = np.flatnonzero(small)
    entry[0], entry[lft.NO_PORT] = local_delivery(row), no_route(row)
    value = entry[table.number]
    for at in np.flatnonzero(value == NIL)[:SHOWN].tolist():
        message = f"LID {table.lid[at]} leaves {table.name} by port {table.number[at]}, which it does not have"
        hint = f"its ports are 1 to {int(numbers.max(initial=0))}; the entry counts as no route"
        log.add("artifact.table-port", message, hint, int(table.line[at]), 8)
    _check_local(table, fabric, targets, log)
    good = np.flatnonzero(table.target != NIL)
    row[table.target[good]] = np.where(value == NIL, no_route(row), value)[good]
    is_lost = (table.target == NIL) & (targets.is_alternative[table.lid] == 0) & (table.number != lft.NO_PORT)
    return int(np.count_nonzero(is_lost))


def _check_local(table: _Table, fabric: Fabric, targets: _Targets, log: ProblemLog) -> None:
    """Report entries that keep the packets of another node: port 0 is the switch itself."""
    owner = np.where(table.target != NIL, targets.node[table.target], table.node)
    for at in np.flatnonzero((table.number == 0) & (owner != table.node))[:SHOWN].tolist():
        message = f"{table.name} keeps packets for LID {table.lid[at]} of {fabric.node_name[int(owner[at])]}"
        log.add("artifact.table-port", message, "port 0 is the switch itself", int(table.line[at]), 8)


def _report_unknown(dump: LftDump, unknown: int, log: ProblemLog) -> None:
    """Note entries for LIDs that no node of the fabric has."""
    if unknown:
        message = f"{unknown:,} of {len(dump.entry_lid):,} entries lead to LIDs that no node of the fabric has"
        hint = "nodes that left the subnet, or a discovery dump of another moment"
        log.add("artifact.table-unknown-lid", message, hint, dump.tables[0].line, 1, "note")


def _report_missing(rows: list[int], fabric: Fabric, log: ProblemLog) -> None:
    """Report switches without a table."""
    have = set(rows)
    for row, node in enumerate(fabric.switch_node.tolist()):
        if row not in have:
            message = f"there is no table of {fabric.node_name[node]}, so it forwards nothing"
            log.add("artifact.table-missing", message, "dump the tables of all switches into one file")


def _routes(fabric: Fabric, targets: _Targets, group: GroupTable) -> Routes:
    """Make routes whose groups are single ports."""
    sizes = np.diff(fabric.port_ptr)[fabric.switch_node]
    group_ptr: I32 = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    starts: I64 = np.repeat(fabric.port_ptr[fabric.switch_node] - group_ptr[:-1], sizes).astype(np.int64)
    member_port = (starts + np.arange(int(group_ptr[-1]))).astype(np.int32)
    return Routes(
        fabric_digest=fabric.digest,
        engine=ENGINE,
        guarantee=GUARANTEE,
        destination_node=targets.node,
        destination_port=targets.port,
        group=group,
        group_ptr=group_ptr,
        member_ptr=np.arange(len(member_port) + 1, dtype=np.int32),
        member_port=member_port,
    )
