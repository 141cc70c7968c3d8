"""Port tables of ibdiagnet2 (``net_dump`` and ``net_dump_ext``): bytes to ports and links."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from weftline.errors import Place, Problem
from weftline.formats import codes
from weftline.formats.ibnetdiscover import MAX_BYTES
from weftline.formats.sections import clean, number
from weftline.formats.speed import WIDTHS
from weftline.formats.subnet import Draft, name_lane, read_guid
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.discovery import NodeType
from weftline.model.survey import NodeFact, PortFact, SurveyPart

_NODE = re.compile(
    r'"(?P<name>[^"]{0,128})"\s*,[^,]{0,80},\s*0x(?P<guid>[0-9a-fA-F]{1,16})\s*,\s*LID\s+(?P<lid>\d{1,5})'
)
_PLAIN_HEAD = re.compile(rb"^#\s*:\s*IB#\s*:", re.MULTILINE)
_WIDE_HEAD = re.compile(rb"^Ty\s*:\s*#\s*:", re.MULTILINE)
_CELL = re.compile(r"\s+:\s+")
_STATES = {"DOWN": 1, "DWN": 1, "INI": 2, "INIT": 2, "ARM": 3, "ACT": 4, "ACTIVE": 4}
_PHYSICAL = {"SLEEP": 1, "POLL": 2, "POLLING": 2, "DISABLE": 3, "DISABLED": 3, "LINKUP": 5, "UP": 5}


@dataclass(frozen=True, slots=True)
class _Port:
    """One row of the plain form."""

    line: int
    node: int
    name: str
    lid: int
    cells: dict[str, str]


def looks_like(head: bytes) -> bool:
    """Say whether the head of the plain table stands in the first bytes."""
    return _PLAIN_HEAD.search(head) is not None


def looks_wide(head: bytes) -> bool:
    """Say whether the head of the extended table stands in the first bytes."""
    return _WIDE_HEAD.search(head) is not None


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the plain form: per node its name and LID, then a row per port with the neighbour.

    Its layout is known from samples only. Rows are read by the column names above them.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    rows = _read_plain(log, lines)
    if not rows and not log.has_error:
        log.add("artifact.dump-empty", "there is no port in this file", "give ibdiagnet2.net_dump", 1)
    draft = Draft(log)
    counts: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        counts[row.node].add(number(row.cells.get("IB#", "")) or 0)
    ports: list[PortFact] = []
    for row in rows:
        kind: NodeType = "switch" if len(counts[row.node]) > 1 else "ca"
        draft.node(row.node, kind, row.line, max(counts[row.node]) if kind == "switch" else 0, row.name)
        at = number(row.cells.get("IB#", ""))
        if at is None:
            log.add("artifact.dump-line", "a port has no number in column IB#", "take the dump again", row.line)
            continue
        draft.address(row.node, at, row.node, row.lid)
        ports.append(_fact(row.cells, row.node, at, NIL if kind == "switch" else row.lid, Place(file, row.line)))
    for row, port in zip((row for row in rows if number(row.cells.get("IB#", "")) is not None), ports, strict=True):
        _neighbour(row, port, draft)
    return SurveyPart(draft.close("net-dump", data), ports=tuple(ports), problems=log.close())


def _read_plain(log: ProblemLog, lines: list[str]) -> list[_Port]:
    """Read the rows of the plain form with their columns."""
    rows: list[_Port] = []
    node: tuple[int, str, int] | None = None
    columns: list[str] = []
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        if not text or set(text) <= {"-", "="} or len(text) > MAX_LINE:
            continue
        head = _NODE.match(text)
        if head:
            node, columns = (int(head["guid"], 16), head["name"], int(head["lid"])), []
        elif text.startswith("#") and "IB#" in text:
            columns = [cell.strip() for cell in text.split(":")]
        elif node is not None and columns:
            cells = _CELL.split(text)
            if len(cells) < len(columns):
                message = f"a port has {len(cells)} values, the head {len(columns)}"
                log.add("artifact.dump-line", message, "take the dump again", line)
            else:
                last = " : ".join(cells[len(columns) - 1 :])
                row = dict(zip(columns, [*cells[: len(columns) - 1], last], strict=True))
                rows.append(_Port(line, node[0], node[1], node[2], row))
        if log.count("artifact.dump-line") > MAX_BROKEN:
            log.add("artifact.dump-empty", f"reading stopped at line {line:,}: too many lines are no ports", "", line)
            return []
    return rows


def _fact(cells: dict[str, str], node: int, at: int, lid: int, place: Place) -> PortFact:
    """Make what is said about one port."""
    width = number(clean(cells.get("LWA", "")).lower().removesuffix("x"))
    lane = clean(cells.get("LSA", ""))
    try:
        speed = name_lane(float(lane)) if lane[:1].isdigit() and len(lane) < 12 else lane.upper()
    except ValueError:
        speed = ""
    return PortFact(
        node,
        at,
        place,
        lid=lid,
        state=_STATES.get(clean(cells.get("Sta", "")).upper()),
        physical=_PHYSICAL.get(clean(cells.get("PhysSta", "")).upper().replace("_", "").replace(" ", "")),
        width=width if width in (*WIDTHS, 2) else None,
        speed=speed,
        mtu=codes.mtu_of(number(clean(cells.get("MTU", "")))),
    )


def _neighbour(row: _Port, port: PortFact, draft: Draft) -> None:
    """Note the link of a row."""
    far, far_number = read_guid(row.cells.get("Neighbor Guid", "")), number(clean(row.cells.get("N#", "")))
    if port.state == 1 or not far or far_number is None:
        return
    if far not in draft.nodes:
        draft.node(far, "ca", row.line, 0, clean(row.cells.get("Neighbor Description", "")))
        draft.address(far, far_number, far, number(clean(row.cells.get("NLID", ""))) or NIL)
    draft.link((row.node, port.number), (far, far_number), row.line, port.width or 0, port.speed)


def parse_wide(data: bytes, file: str) -> SurveyPart:
    """Read the extended form, a row per port with its error rates and without its neighbour."""
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    log = ProblemLog(file)
    columns: list[str] = []
    ports: list[PortFact] = []
    nodes: dict[int, NodeFact] = {}
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        if text.startswith("Ty") and "#IB" in text:
            columns = [cell.strip() for cell in text.split(":")]
        elif columns and text and not set(text) <= {"-", "="} and len(text) <= MAX_LINE:
            cells = dict(zip(columns, _CELL.split(text, len(columns) - 1), strict=False))
            guid, at = read_guid(cells.get("GUID", "")), number(clean(cells.get("#IB", "")))
            if len(cells) < len(columns) or not guid or at is None:
                log.add("artifact.dump-line", f"{text[:60]!r} is no port", "take the dump again", line)
                continue
            kind: NodeType = "switch" if cells.get("Ty") == "SW" else "ca"
            lid = number(cells.get("LID", "").split("(")[0])
            place = Place(file, line)
            nodes.setdefault(guid, NodeFact(guid, place, kind, clean(cells.get("Node Desc", ""))))
            ports.append(_fact(cells, guid, at, NIL if kind == "switch" or lid is None else lid, place))
        if log.count("artifact.dump-line") > MAX_BROKEN:
            break
    if not ports and not log.has_error:
        log.add("artifact.dump-empty", "there is no port in this file", "give ibdiagnet2.net_dump_ext", 1)
    return SurveyPart(nodes=tuple(nodes.values()), ports=tuple(ports), problems=log.close())
