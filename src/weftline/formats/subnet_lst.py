"""The list of links that OpenSM and ibdiagnet write (``opensm-subnet.lst``, ``ibdiagnet2.lst``): bytes to a subnet."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from weftline.errors import Place, Problem
from weftline.formats.lid import MAX_LID
from weftline.formats.subnet import Draft, name_lane
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.model.discovery import NodeType
from weftline.model.survey import ManagerFact, NodeFact, PortFact, SurveyPart

MAX_BYTES = 128 * 2**20
"""A link takes 450 bytes; a subnet of 49,151 addresses has under 200,000."""
_END = (
    r"\{\s*(?P<kind@>[A-Za-z]{2,4})(?P<sm@>-SM)?\s+Ports:(?P<ports@>[0-9A-Fa-f]{1,4})\s+"
    r"SystemGUID:(?P<system@>[0-9A-Fa-f]{1,16})\s+NodeGUID:(?P<node@>[0-9A-Fa-f]{1,16})\s+"
    r"PortGUID:(?P<port@>[0-9A-Fa-f]{1,16})\s+VenID:[0-9A-Fa-f]{1,8}\s+"
    r"DevID:[0-9A-Fa-f]{1,8}\s+Rev:[0-9A-Fa-f]{1,8}\s+\{(?P<text@>.{0,200}?)\}\s+"
    r"LID:(?P<lid@>[0-9A-Fa-f]{1,8})\s+PN:(?P<number@>[0-9A-Fa-f]{1,4})\s*\}\s*"
)
"""One end of a link; ``@`` becomes the number of the end."""
_LINE = re.compile(
    _END.replace("@", "1")
    + _END.replace("@", "2")
    + r"PHY=(?P<width>\d{1,2})x\s+LOG=(?P<state>[A-Z]{3})(?:\s+SPD=(?P<speed>\d{1,3}(?:\.\d{1,6})?))?"
)
_LINE_START = re.compile(rb"^\{\s*[A-Za-z]{2,4}(?:-SM)?\s+Ports:", re.MULTILINE)
_KINDS: dict[str, NodeType] = {"CA": "ca", "SW": "switch", "RT": "router", "RTR": "router"}
_STATES = {"DWN": 1, "INI": 2, "ARM": 3, "ACT": 4}


@dataclass(frozen=True, slots=True)
class _Row:
    """One line that could be read."""

    line: int
    match: re.Match[str]


def looks_like(head: bytes) -> bool:
    """Say whether a line of the first bytes starts as those of this form."""
    return _LINE_START.search(head) is not None


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the list; a link is one line in new files and two in old ones.

    Early simulators call every node an adapter. A node that shows one port GUID on several of its ports is a switch:
    each port of an adapter has a GUID of its own. IBTA vol 1, 14.2.5.3.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    rows = _read_rows(log, lines)
    draft = Draft(log)
    kinds = _kinds(rows, log)
    managers: dict[int, ManagerFact] = {}
    nodes: dict[int, NodeFact] = {}
    ports: dict[tuple[int, int], PortFact] = {}
    for row in rows:
        width, state = int(row.match["width"]), _STATES.get(row.match["state"])
        speed = name_lane(float(row.match["speed"])) if row.match["speed"] else ""
        ends: list[tuple[int, int]] = []
        for end in ("1", "2"):
            guid, at, port_guid, lid = (int(row.match[name + end], 16) for name in ("node", "number", "port", "lid"))
            place, kind = Place(file, row.line), kinds[guid]
            text, count = row.match["text" + end].strip(), int(row.match["ports" + end], 16)
            system = int(row.match["system" + end], 16)
            if not draft.node(guid, kind, row.line, count, text, system) or lid > MAX_LID:
                break
            draft.address(guid, at, port_guid, lid)
            nodes.setdefault(guid, NodeFact(guid, place, kind, text, count, system=system))
            ports.setdefault(
                (guid, at), PortFact(guid, at, place, port_guid, lid, state=state, width=width, speed=speed)
            )
            if row.match["sm" + end]:
                managers.setdefault(port_guid, ManagerFact(place, port_guid, lid, state="master"))
            ends.append((guid, at))
        if len(ends) == 2 and state != 1:
            draft.link(ends[0], ends[1], row.line, width, speed)
    if not rows and not log.has_error:
        log.add("artifact.dump-empty", "there is no link in this file", "give opensm-subnet.lst or ibdiagnet2.lst", 1)
    discovery = draft.close("subnet-lst", data)
    return SurveyPart(
        discovery, tuple(nodes.values()), tuple(ports.values()), managers=tuple(managers.values()), problems=log.close()
    )


def _read_rows(log: ProblemLog, lines: list[str]) -> list[_Row]:
    """Read every line that is a link."""
    rows: list[_Row] = []
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        if not text or text[0] == "#":
            continue
        match = _LINE.match(text) if len(text) <= MAX_LINE else None
        if match is not None:
            rows.append(_Row(line, match))
            continue
        hint = "as { SW Ports:41 SystemGUID:.. NodeGUID:.. {name} LID:0001 PN:01 } { .. } PHY=4x LOG=ACT SPD=100"
        log.add("artifact.dump-line", f"{text[:60]!r} is no link", hint, line)
        if log.count("artifact.dump-line") > MAX_BROKEN:
            log.add("artifact.dump-empty", f"reading stopped at line {line:,}: too many lines are no links", "", line)
            return []
    return rows


def _kinds(rows: list[_Row], log: ProblemLog) -> dict[int, NodeType]:
    """Decide what each node is."""
    kinds: dict[int, NodeType] = {}
    seen: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    first: dict[int, int] = {}
    for row in rows:
        for end in ("1", "2"):
            guid = int(row.match["node" + end], 16)
            kinds.setdefault(guid, _KINDS.get(row.match["kind" + end].upper(), "ca"))
            first.setdefault(guid, row.line)
            seen[guid][int(row.match["port" + end], 16)].add(int(row.match["number" + end], 16))
    wrong = [guid for guid, ports in seen.items() if kinds[guid] == "ca" and max(Counter(map(len, ports.values()))) > 1]
    for guid in wrong:
        kinds[guid] = "switch"
    if wrong:
        line = min(first[guid] for guid in wrong)
        message = f"{len(wrong)} nodes, the first on this line, are called CA and have one port GUID on several ports"
        log.add(
            "artifact.node-kind",
            message,
            "they are taken as switches; an adapter has a GUID per port",
            line,
            1,
            "warning",
        )
    return kinds
