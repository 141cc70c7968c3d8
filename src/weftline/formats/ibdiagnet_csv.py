"""The table file of ibdiagnet2 (``ibdiagnet2.db_csv``): bytes to what it says of nodes, ports, links and keys."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.formats import codes
from weftline.formats.sections import Table, looks_like, read_sections
from weftline.formats.subnet import Draft
from weftline.formats.text import ProblemLog
from weftline.kernels.column import NIL
from weftline.model.discovery import NodeType
from weftline.model.survey import KeyFact, ManagerFact, NodeFact, PortFact, SurveyPart

__all__ = ["looks_like", "parse"]

_READ = frozenset({"NODES", "PORTS", "LINKS", "SWITCHES", "NODES_INFO", "SM_INFO", "PKEY", "AR_INFO"})
_KINDS: dict[int, NodeType] = {1: "ca", 2: "switch", 3: "router"}
_FAULTS = ("WARNINGS_", "ERRORS_", "WARNING_", "ERROR_")
_ENABLED = ("e", "en", "enable", "enabled", "arenabled", "isarenabled")
_KEY_COLUMN = re.compile(r"pkey(\d{1,2})")
MAX_KEYS = 65_536


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the file; columns are found by name, and what a run did not collect stays unknown.

    The values of keys are dropped here: only whether one is set goes on.
    """
    log = ProblemLog(file)
    found = read_sections(data, file, log, lambda name: name in _READ or name.startswith(_FAULTS))
    if isinstance(found, Problem):
        return SurveyPart(problems=(found,))
    tables, skipped = found
    if not tables:
        hint = "give the file ibdiagnet2.db_csv of ibdiagnet --routing --get_phy_info"
        log.add("artifact.dump-empty", "there is no section of nodes, ports or links in this file", hint, 1)
        return SurveyPart(problems=log.close(), skipped=skipped)
    draft = Draft(log)
    nodes = _nodes(tables, draft, log)
    ports = _ports(tables.get("PORTS"), draft, log)
    _links(tables.get("LINKS"), draft, log)
    keys, more = _keys(tables.get("PKEY"), log)
    for name, table in tables.items():
        if name.startswith(_FAULTS):
            _faults(table, log)
    discovery = draft.close("ibdiagnet-csv", data)
    managers = _managers(tables.get("SM_INFO"), log)
    adaptive = tables.get("AR_INFO")
    is_adaptive = _is_adaptive(adaptive)
    if adaptive is not None and adaptive.rows and is_adaptive is None:
        more = (*more, "AR_INFO")
    return SurveyPart(
        discovery, nodes, ports, keys, managers, is_adaptive=is_adaptive, problems=log.close(),
        skipped=(*skipped, *more),
    )  # fmt: skip


def _need(table: Table, log: ProblemLog, *names: str) -> bool:
    """Say whether a section has the columns that it cannot do without."""
    missing = [name for name in names if name not in table.columns]
    if missing and (table.rows or table.columns):
        message = f"section {table.name} has no column {missing[0]}, so it is not read"
        log.add(
            "artifact.layout-unknown", message, "send us its head, so that we can read it", table.line, 1, "warning"
        )
    return not missing


def _nodes(tables: dict[str, Table], draft: Draft, log: ProblemLog) -> tuple[NodeFact, ...]:
    """Read nodes, what switches can hold, and firmware."""
    capacity = _by_guid(tables.get("SWITCHES"), "linearfdbcap", "partenfcap")
    firmware = _firmware(tables.get("NODES_INFO"))
    table = tables.get("NODES")
    if table is None or not _need(table, log, "nodeguid", "nodetype"):
        return tuple(
            NodeFact(
                guid,
                Place(log.file),
                firmware=firmware.get(guid, ""),
                switch_key_capacity=held[1],
                table_capacity=held[0],
            )
            for guid, held in capacity.items()
        )
    columns = zip(
        table.lines,
        table.guids("nodeguid"),
        table.numbers("nodetype"),
        table.texts("nodedesc", "nodedescription"),
        table.numbers("numports"),
        table.numbers("deviceid"),
        table.numbers("vendorid"),
        table.guids("systemimageguid"),
        table.numbers("partitioncap"),
        strict=True,
    )
    facts: dict[int, NodeFact] = {}
    for line, guid, kind_code, description, count, device, vendor, system, key_capacity in columns:
        kind = _KINDS.get(kind_code or 0)
        if not guid or kind is None:
            message = "a node has no GUID" if not guid else f"node 0x{guid:016x} is of a type nobody knows"
            log.add("artifact.dump-line", message, "1 is an adapter, 2 a switch, 3 a router", line)
            continue
        draft.node(guid, kind, line, count or 0, description, system)
        held = capacity.get(guid, (None, None))
        facts.setdefault(
            guid,
            NodeFact(
                guid, Place(log.file, line), kind, description, count, device, vendor, system,
                firmware.get(guid, ""), key_capacity, held[1], held[0],
            ),
        )  # fmt: skip
    return tuple(facts.values())


def _by_guid(table: Table | None, *names: str) -> dict[int, tuple[int | None, ...]]:
    """Read some columns by node; nothing where the section is absent."""
    if table is None:
        return {}
    rows = zip(*(table.numbers(name) for name in names), strict=True)
    return {guid: row for guid, row in zip(table.guids("nodeguid"), rows, strict=True) if guid}


def _firmware(table: Table | None) -> dict[int, str]:
    """Read the firmware of each node, as 31.2012.1024."""
    found = _by_guid(table, "fwinfomajor", "fwinfominor", "fwinfosubminor")
    return {guid: ".".join(str(part) for part in row) for guid, row in found.items() if None not in row}


def _ports(table: Table | None, draft: Draft, log: ProblemLog) -> tuple[PortFact, ...]:
    """Read the attributes of ports.

    Key, protection, lease, capabilities and LID of a switch are those of its port 0; its other ports print zeros.
    """
    if table is None or not _need(table, log, "nodeguid", "portnum"):
        return ()
    names = (
        "lid", "lmc", "portstate", "portphystate", "linkwidthactv", "linkwidthsup", "linkspeedactv", "linkspeedsup",
        "nmtu", "mtucap", "vlcap", "opvls", "partenfinb", "partenfoutb", "mkeyprotbits", "mkeyleaseperiod", "mkey",
        "capmsk", "pkeyviolations",
    )  # fmt: skip
    rows = zip(*(table.numbers(name) for name in names), strict=True)
    ends = zip(
        table.lines,
        table.guids("nodeguid"),
        table.numbers("portnum", "portnumber"),
        table.guids("portguid"),
        strict=True,
    )
    facts: list[PortFact] = []
    file = log.file
    for (line, guid, number, port_guid), row in zip(ends, rows, strict=True):
        if not guid or number is None:
            log.add("artifact.dump-line", "a port has no node GUID or no number", "take the dump again", line)
            continue
        lid, lmc, state, physical, width, width_can, speed, speed_can = row[:8]
        mtu, mtu_can, vls, vls_used, inbound, outbound, protection, lease, key, capabilities, violations = row[8:]
        node = draft.nodes.get(guid)
        is_plain = number > 0 and node is not None and node.kind == "switch"
        lanes, lane = width_of_live(state, width), codes.speed_of(speed) if state != 1 else ""
        draft.address(guid, number, port_guid, NIL if is_plain or not lid else lid, lmc or 0)
        if number:
            draft.rate(guid, number, lanes or 0, lane)
        facts.append(
            PortFact(
                guid, number, Place(file, line), port_guid,
                NIL if is_plain or lid is None else lid, None if is_plain else lmc, state, physical,
                lanes, codes.width_of(width_can), lane, codes.speed_of(speed_can),
                codes.mtu_of(mtu), codes.mtu_of(mtu_can), codes.vls_of(vls), codes.vls_of(vls_used),
                None if inbound is None else inbound == 1, None if outbound is None else outbound == 1,
                None if is_plain else protection, None if is_plain else lease,
                None if is_plain else codes.has_key(key, protection),
                None if is_plain else capabilities, violations,
            )
        )  # fmt: skip
    return tuple(facts)


def width_of_live(state: int | None, bits: int | None) -> int | None:
    """Return the lanes of a link that is up."""
    return codes.width_of(bits) if state != 1 else None


def _links(table: Table | None, draft: Draft, log: ProblemLog) -> None:
    """Read links."""
    if table is None:
        message = "there is no section LINKS in this file, so it says nothing of the cabling"
        log.add("artifact.not-collected", message, "run ibdiagnet without --disable_output csv:LINKS", 1, 1, "note")
        return
    if not _need(table, log, "nodeguid1", "portnum1", "nodeguid2", "portnum2"):
        return
    ends = (table.guids("nodeguid1"), table.numbers("portnum1"), table.guids("nodeguid2"), table.numbers("portnum2"))
    for line, a, a_number, b, b_number in zip(table.lines, *ends, strict=True):
        if not a or not b or a_number is None or b_number is None:
            log.add("artifact.dump-line", "a link lacks one of its ends", "take the dump again", line)
        else:
            draft.link((a, a_number), (b, b_number), line)


def _managers(table: Table | None, log: ProblemLog) -> tuple[ManagerFact, ...]:
    """Read subnet managers."""
    if table is None or not _need(table, log, "portguid"):
        return ()
    columns = zip(
        table.lines, table.guids("portguid"), table.numbers("lid"), table.numbers("priority", "smpriority"),
        table.numbers("smstate", "state"), table.numbers("smkey"), strict=True,
    )  # fmt: skip
    return tuple(
        ManagerFact(
            Place(log.file, line), guid, NIL if lid is None else lid, priority, codes.manager_state(state),
            has_key=True if key else None,
        )
        for line, guid, lid, priority, state, key in columns
    )  # fmt: skip


def _is_adaptive(table: Table | None) -> bool | None:
    """Say whether a switch has adaptive routing on; None where no column of a known name says so.

    No public description of this section exists; the attribute calls its enable bit ``e``.
    """
    if table is None:
        return None
    values = [value for value in table.numbers(*_ENABLED) if value is not None]
    return any(values) if values else None


def _keys(table: Table | None, log: ProblemLog) -> tuple[tuple[KeyFact, ...], tuple[str, ...]]:
    """Read partition tables, one key per row or a block per row; also the section itself where nobody can read it.

    No public description of this section exists, so its keys are never taken as the whole table.
    """
    if table is None:
        return (), ()
    blocks = {int(match[1]): at for name, at in table.columns.items() if (match := _KEY_COLUMN.fullmatch(name))}
    is_single = "pkey" in table.columns
    if not {"portguid", "nodeguid"} & table.columns.keys() or not (is_single or blocks):
        message = "the columns of section PKEY are not known, so partitions are not read from this file"
        hint = "give ibdiagnet2.pkey, or smpquery pkeys of each port"
        log.add("artifact.layout-unknown", message, hint, table.line, 1, "warning")
        return (), ("PKEY",)
    found: dict[tuple[int, int, int], tuple[int, list[int]]] = {}
    ends = zip(
        table.lines,
        table.guids("nodeguid"),
        table.guids("portguid"),
        table.numbers("portnum", "portnumber"),
        strict=True,
    )
    singles, members = table.numbers("pkey"), table.texts("membership", "memb")
    for at, (line, node, port, number) in enumerate(ends):
        if is_single:
            key = singles[at]
            if key is not None and key <= 0x7FFF and members[at].lower().startswith(("full", "1")):
                key |= 0x8000
            values = [key]
        else:
            values = [_number(table.rows[at][column]) for _, column in sorted(blocks.items())]
        entry = found.setdefault((node, port, NIL if number is None else number), (line, []))
        entry[1].extend(value for value in values if value is not None and value <= 0xFFFF)
        if len(entry[1]) > MAX_KEYS:
            log.add("artifact.dump-line", "a port has more keys than exist", "take the dump again", line)
            return (), ("PKEY",)
    keys = tuple(
        KeyFact(node, number, Place(log.file, line), port, keys=tuple(values), is_ordered=False, is_whole=False)
        for (node, port, number), (line, values) in found.items()
    )
    return keys, ()


def _number(cell: str) -> int | None:
    """Read one key, hexadecimal."""
    text = cell.strip().strip('"').lower().removeprefix("0x")
    try:
        return int(text, 16) if 1 <= len(text) <= 4 and text.isalnum() else None
    except ValueError:
        return None


def _faults(table: Table, log: ProblemLog) -> None:
    """Carry on what ibdiagnet itself found."""
    names = table.texts("eventname", "event", "name")
    words = table.texts("summary", "description", "message")
    for line, name, text in zip(table.lines, names, words, strict=True):
        message = (
            f"ibdiagnet noted {name or table.name}: {text[:200]}" if text else f"ibdiagnet noted {name or table.name}"
        )
        log.add("artifact.recorded-fault", message, "see the log of that run", line, 1, "warning")
