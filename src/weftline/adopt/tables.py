"""Programmed forwarding tables, and the choices of adaptive routing, become Routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weftline.adopt.adaptive import judge_adaptive
from weftline.adopt.entries import LOCAL, NONE, Row, make_groups, new_row
from weftline.adopt.forms import recognise
from weftline.adopt.targets import Targets, list_targets
from weftline.errors import Problem
from weftline.formats import far, lft
from weftline.formats.lft import LftDump, TableRecord
from weftline.formats.text import ProblemLog
from weftline.kernels.column import I32, I64, NIL, U8, U16
from weftline.model.addresses import Addresses
from weftline.model.adoption import Tables
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes

ENGINE = "programmed"
GUARANTEE = "These are the tables that the switches hold; nothing is promised about them."
ADAPTIVE_GUARANTEE = (
    "These are the tables that the switches hold, with every port that adaptive routing may choose; nothing is "
    "promised about them."
)
SHOWN = 1_000
"""Bad entries of one table that are looked at."""


@dataclass(slots=True)
class _Work:
    """What was read so far; a row per switch."""

    fabric: Fabric
    addresses: Addresses
    targets: Targets
    rows: dict[int, Row] = field(default_factory=dict[int, Row])
    first: dict[tuple[int, int], tuple[str, TableRecord]] = field(
        default_factory=dict[tuple[int, int], tuple[str, TableRecord]]
    )
    """Per switch and number of its table the file and head that came first."""
    adaptive: set[int] = field(default_factory=set[int])
    """Switches whose adaptive table was read."""
    private_drops: int = 0
    """Entries that a private table drops and the first does not."""
    problems: list[Problem] = field(default_factory=list[Problem])


def read_tables(data: bytes, file: str, fabric: Fabric, addresses: Addresses) -> Tables | tuple[Problem, ...]:
    """Read one dump of forwarding tables onto a fabric; see ``read_programmed``."""
    return read_programmed(((file, data),), fabric, addresses)


def read_programmed(
    files: Sequence[tuple[str, bytes]], fabric: Fabric, addresses: Addresses, evidence: tuple[str, ...] = ()
) -> Tables | tuple[Problem, ...]:
    """Read dumps of forwarding tables, in any of their forms, onto a fabric; problems alone where no switch has one.

    Destinations are the endpoint ports in the order of the fabric, the switches, and then the further LIDs of the
    endpoint ports (LMC above 0). A port is a group of its own: group ``g`` of a switch is its port ``g`` in the order
    of the numbers. Where adaptive routing lets packets choose, the entry is the group of all ports that they may take.
    ``evidence`` are sentences that say how adaptive routing is known to be on. Entries through ports that do not exist
    are problems and become 'no route'. Two files that contradict each other are a problem too.
    """
    work = _Work(fabric, addresses, list_targets(fabric, addresses))
    known: list[str] = list(evidence)
    for file, data in files:
        form = recognise(file, data[: 1 << 16])
        if form is not None and form.name in ("ar", "plft"):
            part = far.note_unread(data, file)
            work.problems.extend(part.problems)
            known.extend(part.skipped)
            continue
        dump = far.parse(data, file) if form is not None and form.name == "far" else lft.parse(data, file)
        if isinstance(dump, LftDump):
            _take_dump(work, dump)
        else:
            work.problems.extend(dump)
    return _finish(work, files[0][0], tuple(known))


def place_tables(dump: LftDump, fabric: Fabric, addresses: Addresses) -> Tables | tuple[Problem, ...]:
    """Put tables that were read already onto a fabric; see ``read_programmed``."""
    work = _Work(fabric, addresses, list_targets(fabric, addresses))
    _take_dump(work, dump)
    return _finish(work, dump.file, ())


def _finish(work: _Work, file: str, evidence: tuple[str, ...]) -> Tables | tuple[Problem, ...]:
    """Make the routes of what was read."""
    if not work.rows:
        return tuple(work.problems)
    fabric, log = work.fabric, ProblemLog(file)
    _report_missing(work, log)
    adaptive, unseen = judge_adaptive(fabric, work.rows, work.adaptive, evidence, log)
    if work.private_drops and not unseen:
        unseen = f"private tables drop {work.private_drops:,} entries, and which table counts is not in the files"
    groups = make_groups(fabric, (work.rows.get(row) for row in range(len(fabric.switch_node))), work.targets.count)
    routes = Routes(
        fabric_digest=fabric.digest,
        engine=ENGINE,
        guarantee=GUARANTEE if adaptive.state != "judged" else ADAPTIVE_GUARANTEE,
        destination_node=work.targets.node,
        destination_port=work.targets.port,
        group=groups.group,
        group_ptr=groups.group_ptr,
        member_ptr=groups.member_ptr,
        member_port=groups.member_port,
        destination_path=work.targets.path,
    )
    return Tables(routes, (*work.problems, *log.close()), adaptive, unseen)


def _take_dump(work: _Work, dump: LftDump) -> None:
    """Take the tables of one file."""
    log = ProblemLog(dump.file)
    rows = _switch_rows(work, dump, log)
    unknown = 0
    for table, row in enumerate(rows):
        if row == NIL:
            continue
        entries = work.rows.get(row)
        if entries is None:
            entries = work.rows[row] = new_row(work.targets.count)
        if dump.entry_group is not None:
            work.adaptive.add(row)
        unknown += _fill(work, _table(dump, table, work.fabric, row, work.targets), entries, log)
    if all(row == NIL for row in rows):
        message = "no table belongs to a switch of this fabric"
        log.add("artifact.table-unknown-switch", message, "the tables are those of another subnet", dump.tables[0].line)
    elif unknown:
        message = f"{unknown:,} of {len(dump.entry_lid):,} entries lead to LIDs that no node of the fabric has"
        hint = "nodes that left the subnet, or a discovery dump of another moment"
        log.add("artifact.table-unknown-lid", message, hint, dump.tables[0].line, 1, "note")
    work.problems.extend((*dump.problems, *log.close()))


def _switch_rows(work: _Work, dump: LftDump, log: ProblemLog) -> list[int]:
    """Return the switch row of each table, by GUID, else by LID; NIL where the fabric has no such switch."""
    fabric, addresses = work.fabric, work.addresses
    by_guid = {int(addresses.node_id[node]): row for row, node in enumerate(fabric.switch_node.tolist())}
    by_lid = {int(addresses.node_address[node]): row for row, node in enumerate(fabric.switch_node.tolist())}
    rows: list[int] = []
    for record in dump.tables:
        row = by_guid.get(record.guid, by_lid.get(record.lid, NIL) if not record.guid and record.lid else NIL)
        name = record.name or hex(record.guid)
        if row == NIL:
            message = f"switch {record.name or '?'} with GUID 0x{record.guid:016x} is not in the fabric"
            hint = "its table is left out; dump and tables should be of one moment"
            log.add("artifact.table-unknown-switch", message, hint, record.line, 1, "warning")
        elif work.first.setdefault((row, record.private), (dump.file, record)) != (dump.file, record):
            file, first = work.first[row, record.private]
            if file == dump.file:
                message = f"the table of {name} stands on line {first.line} already"
                hint = "later entries replace earlier ones"
                log.add("artifact.table-repeated", message, hint, record.line, 1, "warning")
        if row != NIL and record.private:
            message = f"{name} has a private table {record.private}, for some lanes and ports"
            hint = "which table counts is not in the file, so every port that one of them names is judged"
            log.add("artifact.table-private", message, hint, record.line, 1, "warning")
        rows.append(row)
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One table of the dump on its switch."""

    file: str
    head: TableRecord
    row: int
    name: str
    node: int
    first_port: int
    port_count: int
    lid: U16
    number: U8
    line: I32
    target: I32
    """Destination of each entry, NIL where nobody has the LID."""
    group: I32 | None
    groups: dict[int, tuple[int, ...]]


def _table(dump: LftDump, table: int, fabric: Fabric, row: int, targets: Targets) -> _Table:
    """Take one table out of the dump."""
    span = slice(int(dump.table_ptr[table]), int(dump.table_ptr[table + 1]))
    node = int(fabric.switch_node[row])
    first = int(fabric.port_ptr[node])
    lid = dump.entry_lid[span]
    return _Table(
        dump.file,
        dump.tables[table],
        row,
        fabric.node_name[node],
        node,
        first,
        int(fabric.port_ptr[node + 1]) - first,
        lid,
        dump.entry_port[span],
        dump.entry_line[span],
        targets.column[lid],
        None if dump.entry_group is None else dump.entry_group[span],
        dict(dump.groups[table]) if dump.groups else {},
    )


def _fill(work: _Work, table: _Table, row: Row, log: ProblemLog) -> int:
    """Write the entries of one table into its row; returns how many lead to LIDs that nobody has."""
    place = _places(work.fabric, table)
    value = place[table.number]
    numbers = np.flatnonzero(place >= 0)
    highest = int(numbers.max(initial=0))
    for at in np.flatnonzero(value == -3)[:SHOWN].tolist():
        message = f"LID {table.lid[at]} leaves {table.name} by port {table.number[at]}, which it does not have"
        hint = f"its ports are 1 to {highest}; the entry counts as no route"
        log.add("artifact.table-port", message, hint, int(table.line[at]), 8)
    _check_local(work, table, log)
    value = np.where(value == -3, NONE, value)
    good = np.flatnonzero(table.target != NIL)
    target = table.target[good]
    if table.head.private:
        _add_private(work, row, value[good], target)
    else:
        _write_static(work, table, row, (good, target, value[good]), log)
    if table.group is not None:
        _add_choices(table, row, place, log)
    is_lost = (table.target == NIL) & (table.number != lft.NO_PORT)
    return int(np.count_nonzero(is_lost))


def _places(fabric: Fabric, table: _Table) -> I64:
    """Map each port number of an entry to the place of the port on its switch; -3 where it does not exist."""
    numbers = fabric.port_number[table.first_port : table.first_port + table.port_count]
    place = np.full(256, -3, dtype=np.int64)
    small = numbers <= lft.NO_PORT
    place[numbers[small]] = np.flatnonzero(small)
    place[0], place[lft.NO_PORT] = LOCAL, NONE
    return place


def _write_static(work: _Work, table: _Table, row: Row, entries: tuple[I64, I32, I64], log: ProblemLog) -> None:
    """Write the ports of the table; report where another file says otherwise."""
    good, target, value = entries
    file, _ = work.first[table.row, table.head.private]
    if file != table.file:
        differs = np.flatnonzero(row.is_listed[target] & (row.static[target] != value))
        if len(differs):
            at = int(good[differs[0]])
            message = f"{len(differs):,} entries of {table.name} differ from {file}, the first for LID {table.lid[at]}"
            hint = "the files are of different moments or subnets; dump them together"
            log.add("artifact.table-differs", message, hint, int(table.line[at]), 1)
    row.static[target] = value
    row.is_listed[target] = True
    twice = np.flatnonzero(row.static[target] != value)
    if len(twice):
        at = int(good[twice[0]])
        message = f"{len(twice):,} entries of {table.name} stand twice with another port, as LID {table.lid[at]}"
        log.add("artifact.table-repeated", message, "the last one counts; take the dump again", int(table.line[at]), 1)


def _add_private(work: _Work, row: Row, value: I64, target: I32) -> None:
    """Let packets leave by the ports of a private table too."""
    for port in np.unique(value[value >= 0]).tolist():
        row.add_choice(target[value == port].astype(np.int64), frozenset((port,)))
    work.private_drops += int(np.count_nonzero(value == NONE))


def _add_choices(table: _Table, row: Row, place: I64, log: ProblemLog) -> None:
    """Let packets leave by the ports of the groups of the table."""
    group = table.group
    if group is None:
        return
    for number in np.unique(group[group != NIL]).tolist():
        ports = table.groups.get(number, ())
        lines = np.flatnonzero(group == number)
        known = frozenset(int(place[port]) for port in ports if place[port] >= 0)
        missing = [port for port in ports if place[port] < 0]
        if missing:
            message = f"group {number} of {table.name} has port {missing[0]}, which the switch does not have"
            log.add("artifact.table-port", message, "the port is left out", int(table.line[lines[0]]))
        elif not ports and number in table.groups:
            message = f"group {number} of {table.name} is empty, and {len(lines):,} entries name it"
            hint = "where their packets go is not known; take the dump again"
            log.add("artifact.adaptive-group", message, hint, int(table.line[lines[0]]))
        at = lines[table.target[lines] != NIL]
        row.add_choice(table.target[at].astype(np.int64), known)


def _check_local(work: _Work, table: _Table, log: ProblemLog) -> None:
    """Report entries that keep the packets of another node: port 0 is the switch itself."""
    fabric, targets = work.fabric, work.targets
    owner = np.where(table.target != NIL, targets.node[table.target], table.node)
    for at in np.flatnonzero((table.number == 0) & (owner != table.node))[:SHOWN].tolist():
        message = f"{table.name} keeps packets for LID {table.lid[at]} of {fabric.node_name[int(owner[at])]}"
        log.add("artifact.table-port", message, "port 0 is the switch itself", int(table.line[at]), 8)


def _report_missing(work: _Work, log: ProblemLog) -> None:
    """Report switches without a table."""
    for row, node in enumerate(work.fabric.switch_node.tolist()):
        if row not in work.rows:
            message = f"there is no table of {work.fabric.node_name[node]}, so it forwards nothing"
            log.add("artifact.table-missing", message, "dump the tables of all switches")
