"""What iblinkinfo prints, node by node or one line per link (``-l``): bytes to a subnet."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from weftline.errors import Place, Problem
from weftline.formats.ibnetdiscover import MAX_BYTES
from weftline.formats.lid import MAX_UNICAST
from weftline.formats.speed import WIDTHS
from weftline.formats.subnet import Draft, name_lane
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.discovery import NodeType
from weftline.model.survey import PortFact, SurveyPart

_HEADER = re.compile(r"(Switch|CA|Rt|Router):\s*(?:0x([0-9a-fA-F]{1,16})\s)?\s*(.{0,130}?)\s*:?$")
_ROW = re.compile(
    r'(?:0x(?P<guid>[0-9a-fA-F]{1,16})\s+)?(?:"(?P<name>.{0,130}?)"\s+)?(?P<lid>\d{1,5})\s+(?P<number>\d{1,3})\[.{0,6}?\]'
    r"\s*==\((?P<link>[^()]{0,120})\)==>\s*(?:0x(?P<far>[0-9a-fA-F]{1,16})\s+)?"
    r'(?:(?P<far_lid>\d{1,5})\s+(?P<far_number>\d{1,3}))?\s*\[.{0,6}?\]\s*"(?P<far_name>.{0,130})"'
)
_LINK = re.compile(r"\s*(?:(\d{1,2})[xX]\s+(\S+)(?:\s+Gbps)?\s+)?([A-Za-z]+)\s*/\s*([A-Za-z]+)")
_ANY = re.compile(rb"==\(.{3,60}\)==>")
_STATES = {"down": 1, "initialize": 2, "initialized": 2, "init": 2, "armed": 3, "active": 4}
_PHYSICAL = {"sleep": 1, "polling": 2, "disabled": 3, "training": 4, "linkup": 5, "recovery": 6}
_KINDS: dict[str, NodeType] = {"Switch": "switch", "CA": "ca", "Rt": "router", "Router": "router"}


@dataclass(frozen=True, slots=True)
class _Row:
    """One port, as printed."""

    line: int
    guid: int
    """Port GUID; of a switch its node GUID."""
    name: str
    kind: NodeType | None
    lid: int
    number: int
    width: int
    speed: str
    state: int | None
    physical: int | None
    far_guid: int
    far_lid: int
    far_number: int
    far_name: str


def looks_like(head: bytes) -> bool:
    """Say whether the arrows of this form stand in the first bytes."""
    return _ANY.search(head) is not None


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the output, plain or with ``-l``.

    Adapters are named by the GUID of each port, so ports of one description whose GUIDs differ by their numbers are
    taken as one adapter. The plain form names far ends by LID; an unclear one is a problem.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    rows = _read_rows(log, lines)
    if not rows:
        if not log.has_error:
            log.add("artifact.dump-empty", "there is no port in this file", "give the output of iblinkinfo", 1)
        return SurveyPart(problems=log.close())
    draft = Draft(log)
    kinds = _kinds(rows)
    base = _adapters(rows, kinds)
    counts: dict[int, int] = defaultdict(int)
    for row in rows:
        counts[row.guid] = max(counts[row.guid], row.number)
    for row in rows:
        node = base.get(row.guid, row.guid)
        if draft.node(
            node, kinds[row.guid], row.line, counts[row.guid] if kinds[row.guid] == "switch" else 0, row.name
        ):
            draft.address(node, row.number, row.guid, row.lid)
    _link(rows, base, draft)
    ports = tuple(
        PortFact(
            base.get(row.guid, row.guid), row.number, Place(file, row.line), row.guid,
            NIL if kinds[row.guid] == "switch" else row.lid, state=row.state, physical=row.physical,
            width=row.width or None, speed=row.speed,
        )
        for row in rows
    )  # fmt: skip
    return SurveyPart(draft.close("iblinkinfo", data), ports=ports, problems=log.close())


def _read_rows(log: ProblemLog, lines: list[str]) -> list[_Row]:
    """Read every port."""
    rows: list[_Row] = []
    header: tuple[NodeType, int, str] | None = None
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        head = _HEADER.match(text) if len(text) <= MAX_LINE and "==(" not in text else None
        if head:
            header = (_KINDS[head[1]], int(head[2] or "0", 16), head[3])
            continue
        if "==(" not in text and ")==>" not in text:
            continue
        match = _ROW.match(text) if len(text) <= MAX_LINE else None
        link = _LINK.match(match["link"]) if match else None
        row = _row(line, match, link, header) if match and link else None
        if row is not None:
            rows.append(row)
            continue
        hint = 'as 10 1[  ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 5 1[  ] "host-0001 HCA-1" ( )'
        log.add("artifact.dump-line", f"{text[:60]!r} is no port of iblinkinfo", hint, line)
        if log.count("artifact.dump-line") > MAX_BROKEN:
            log.add("artifact.dump-empty", f"reading stopped at line {line:,}: too many lines are no ports", "", line)
            return []
    return rows


def _row(line: int, match: re.Match[str], link: re.Match[str], header: tuple[NodeType, int, str] | None) -> _Row | None:
    """Make the record of one line; None where nothing says whose port it is."""
    guid = int(match["guid"], 16) if match["guid"] else header[1] if header else 0
    name = match["name"] if match["name"] is not None else header[2] if header else ""
    if not guid:
        return None
    width, speed = int(link[1] or "0"), link[2] or ""
    try:
        speed = name_lane(float(speed)) if speed[:1].isdigit() else speed.upper()
    except ValueError:
        speed = ""
    return _Row(
        line, guid, name.strip(), None if match["name"] is not None or header is None else header[0],
        int(match["lid"]), int(match["number"]), width if width in (*WIDTHS, 2) else 0, speed,
        _STATES.get(link[3].lower()), _PHYSICAL.get(link[4].lower()),
        int(match["far"] or "0", 16), int(match["far_lid"] or "0"), int(match["far_number"] or "0"), match["far_name"],
    )  # fmt: skip


def _kinds(rows: list[_Row]) -> dict[int, NodeType]:
    """Say what each GUID is of: one on several ports is a switch, since each port of an adapter has its own."""
    numbers: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        numbers[row.guid].add(row.number)
    kinds: dict[int, NodeType] = {guid: "switch" if len(seen) > 1 else "ca" for guid, seen in numbers.items()}
    kinds.update({row.guid: row.kind for row in rows if row.kind is not None})
    return kinds


def _adapters(rows: list[_Row], kinds: dict[int, NodeType]) -> dict[int, int]:
    """Find adapters of several ports: port GUID to node GUID."""
    groups: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row in rows:
        if kinds[row.guid] != "switch":
            groups[(row.guid - row.number, row.name)].add(row.guid)
    return {guid: base for (base, _), guids in groups.items() if len(guids) > 1 and base > 0 for guid in guids}


def _link(rows: list[_Row], base: dict[int, int], draft: Draft) -> None:
    """Join the ports: by GUID where the far end has one, else by LID and name."""
    holders: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row in rows:
        if 0 < row.lid <= MAX_UNICAST:
            holders[(row.lid, row.name)].add(row.guid)
    for row in rows:
        if row.state == 1 or not row.far_number:
            continue
        found = holders.get((row.far_lid, row.far_name.strip()), set())
        far = row.far_guid or (next(iter(found)) if len(found) == 1 else 0)
        if far:
            own = (base.get(row.guid, row.guid), row.number)
            draft.rate(*own, row.width, row.speed)
            draft.link(own, (base.get(far, far), row.far_number), row.line, row.width, row.speed)
        else:
            message = (
                f"the far end {row.far_name[:60]!r} at LID {row.far_lid} is {'not listed' if not found else 'unclear'}"
            )
            hint = "take iblinkinfo -l, which prints the GUIDs of both ends, without limiting it to a part"
            draft.log.add("artifact.unknown-node", message, hint, row.line)
