"""The database that NVIDIA's subnet manager dumps (``opensm-smdb.dump``): bytes to nodes, links and managers."""

from __future__ import annotations

import re

from weftline.errors import Place, Problem
from weftline.formats import codes
from weftline.formats.sections import Table, looks_like, number, read_sections
from weftline.formats.speed import LANE_GBPS, WIDTHS
from weftline.formats.subnet import Draft, name_lane
from weftline.formats.text import ProblemLog
from weftline.kernels.column import NIL
from weftline.model.discovery import NodeType
from weftline.model.survey import ManagerFact, NodeFact, PortFact, SurveyPart

__all__ = ["looks_like", "parse"]

_READ = frozenset({"NODES", "PORTS", "LINKS", "SM", "SMS"})
_KNOWN = frozenset({"SWITCHES", "SM_PORTS"})
"""Ranks and states that nothing is made of."""
_KINDS: dict[str, NodeType] = {
    "1": "ca",
    "2": "switch",
    "3": "router",
    "ca": "ca",
    "switch": "switch",
    "router": "router",
}
_STATES = {"down": 1, "init": 2, "initialize": 2, "armed": 3, "active": 4}
_WIDTH = re.compile(r"(\d{1,2})[xX]")
_SPEED = re.compile(r"(?:IB-)?([A-Z]{3}(?:10)?)|(\d{1,3}(?:\.\d{1,6})?)(?: ?Gb.*)?", re.IGNORECASE)


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the file; values are padded with spaces, and columns are found by name."""
    log = ProblemLog(file)
    found = read_sections(data, file, log, lambda name: name in _READ)
    if isinstance(found, Problem):
        return SurveyPart(problems=(found,))
    tables, skipped = found
    if not tables:
        hint = "give opensm-smdb.dump as the subnet manager writes it with sm_db_dump"
        log.add("artifact.dump-empty", "there is no section of nodes, ports or links in this file", hint, 1)
        return SurveyPart(problems=log.close(), skipped=skipped)
    draft = Draft(log)
    empty = Table("", 0)
    nodes = _nodes(tables.get("NODES", empty), draft)
    ports = _ports(tables.get("PORTS", empty), draft)
    _links(tables.get("LINKS", empty), draft)
    managers, engine = _managers(tables.get("SMS", empty), tables.get("SM", empty), log)
    discovery = draft.close("opensm-smdb", data)
    return SurveyPart(
        discovery,
        nodes,
        ports,
        managers=managers,
        engine=engine,
        problems=log.close(),
        skipped=tuple(name for name in skipped if name not in _KNOWN),
    )


def _nodes(table: Table, draft: Draft) -> tuple[NodeFact, ...]:
    """Read nodes."""
    facts: list[NodeFact] = []
    columns = (table.guids("nodeguid"), table.texts("nodetype"), table.texts("nodedesc", "nodedescription"))
    for line, guid, word, description in zip(table.lines, *columns, strict=True):
        kind = _KINDS.get(word.lower())
        if not guid or kind is None:
            hint = "1 is an adapter, 2 a switch, 3 a router"
            draft.log.add("artifact.dump-line", "a node has no GUID or a type nobody knows", hint, line)
        else:
            draft.node(guid, kind, line, 0, description)
            facts.append(NodeFact(guid, Place(draft.log.file, line), kind, description))
    return tuple(facts)


def _ports(table: Table, draft: Draft) -> tuple[PortFact, ...]:
    """Read ports; the LID of a switch stands on its port 0, its other ports have 0."""
    facts: list[PortFact] = []
    columns = (
        table.guids("nodeguid"), table.guids("portguid"), table.numbers("portnum", "portnumber"), table.numbers("lid"),
        table.texts("portstate"), table.texts("linkwidth"), table.texts("linkspeed"),
    )  # fmt: skip
    for line, guid, port_guid, at, lid, state, width, speed in zip(table.lines, *columns, strict=True):
        if not guid or at is None:
            draft.log.add("artifact.dump-line", "a port has no node GUID or no number", "take the dump again", line)
            continue
        node = draft.nodes.get(guid)
        is_plain = at > 0 and node is not None and node.kind == "switch"
        held = NIL if lid is None or (is_plain and not lid) else lid
        lanes, lane = _width(width), _speed(speed)
        draft.address(guid, at, port_guid, held)
        if at:
            draft.rate(guid, at, lanes or 0, lane)
        code = number(state)
        state_code = code if code is not None else _STATES.get(state.lower())
        place = Place(draft.log.file, line)
        facts.append(PortFact(guid, at, place, port_guid, held, state=state_code, width=lanes, speed=lane))
    return tuple(facts)


def _width(text: str) -> int | None:
    """Read a width as ``4x`` or as the bit of the attribute."""
    match = _WIDTH.fullmatch(text)
    if match:
        return int(match[1]) if int(match[1]) in (*WIDTHS, 2) else None
    return codes.width_of(number(text))


def _speed(text: str) -> str:
    """Read the speed of a lane as ``NDR``, as a rate with its unit, or as the bit of the attribute."""
    match = _SPEED.fullmatch(text)
    if match and match[1] and match[1].upper() in LANE_GBPS:
        return match[1].upper()
    if match and match[2] and ("b" in text or "." in text):
        return name_lane(float(match[2]))
    return codes.speed_of(number(text))


def _links(table: Table, draft: Draft) -> None:
    """Read links."""
    ends = (table.guids("nodeguid1"), table.numbers("portnum1"), table.guids("nodeguid2"), table.numbers("portnum2"))
    for line, a, a_number, b, b_number in zip(table.lines, *ends, strict=True):
        if not a or not b or a_number is None or b_number is None:
            draft.log.add("artifact.dump-line", "a link lacks one of its ends", "take the dump again", line)
        else:
            draft.link((a, a_number), (b, b_number), line)


def _managers(table: Table, own: Table, log: ProblemLog) -> tuple[tuple[ManagerFact, ...], str]:
    """Read the subnet managers, and the routing engine of the one that wrote the file."""
    names = dict(zip(own.guids("portguid"), own.texts("hostname"), strict=True))
    columns = (table.guids("portguid"), table.numbers("lid"), table.numbers("priority"), table.numbers("state"))
    managers = tuple(
        ManagerFact(
            Place(log.file, line), guid, NIL if lid is None else lid, priority, codes.manager_state(state),
            names.get(guid, ""),
        )
        for line, guid, lid, priority, state in zip(table.lines, *columns, strict=True)
    )  # fmt: skip
    engines = [engine for engine in own.texts("routingengine") if engine]
    return managers, engines[0] if engines else ""
