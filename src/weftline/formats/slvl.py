"""Service level to lane tables, as OpenSM dumps them and as ibdiagnet lists them row by row: bytes to lane facts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weftline.errors import Place, Problem
from weftline.formats.text import MAX_BROKEN, ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.survey import LaneFact, SurveyPart

MAX_BYTES = 256 * 2**20
MAX_LINES = 6_000_000
"""A row per pair of ports: 1,620 switches of 40 ports take 2.6 million."""
SERVICE_LEVELS = 16
DROPS = 15
"""VL15 is for management; a service level that maps to it is dropped. IBTA vol 1, 7.6.6."""
MAX_PORT = 254

_HEAD = re.compile(r"(?:Switch|Channel Adapter|Router|CA|SW)\b.*?\b(0x[0-9a-fA-F]{1,16})\b")
_ROW = re.compile(r"(\d{1,3})\s+(\d{1,3})\s*:\s*(\S.*)$")
_FLAT = re.compile(r"(0x[0-9a-fA-F]{6,16})\s+(\d{1,3})\s+(\d{1,3})\s*:?\s+(\S.*)$")

_Rows = dict[tuple[int, int], tuple[tuple[int, ...], int]]
"""(in, out) to its lanes and its line."""


@dataclass(slots=True)
class _Reader:
    """The tables met so far; the current node is that of the last head."""

    log: ProblemLog
    nodes: dict[int, _Rows] = field(default_factory=dict[int, _Rows])
    node: int = 0
    known: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Lanes by their text: the rows of a fabric are few different ones."""

    def take(self, raw: str, line: int) -> None:
        """Take one line."""
        text = raw.strip()
        if not text or text.startswith(("#", "-")):
            return
        flat = _FLAT.match(text)
        if flat:
            self.row(int(flat[1], 16), (flat[2], flat[3], flat[4]), line)
            return
        row = _ROW.match(text)
        if row and self.node:
            self.row(self.node, (row[1], row[2], row[3]), line)
            return
        head = _HEAD.match(text)
        if head:
            self.node = int(head[1], 16)
            self.nodes.setdefault(self.node, {})
            return
        if row or text[0].isdigit():
            self.bad(line, "this row belongs to no node" if row else f"{text[:60]!r} is no row of lanes")
        elif not self.nodes:
            self.log.add("artifact.terminal-text", f"{text[:60]!r} is left out", "", line, severity="note")
        else:
            self.bad(line, f"{text[:60]!r} is no row of lanes")

    def row(self, node: int, parts: tuple[str, str, str], line: int) -> None:
        """Take the lanes of one pair of ports."""
        lanes = self.known.get(parts[2])
        if lanes is None:
            found = _lanes(parts[2])
            if isinstance(found, str):
                self.bad(line, found)
                return
            lanes = self.known[parts[2]] = found
        ports = int(parts[0]), int(parts[1])
        if max(ports) > MAX_PORT:
            self.bad(line, f"there is no port {max(ports)}")
            return
        rows = self.nodes.setdefault(node, {})
        first = rows.setdefault(ports, (lanes, line))
        if first[0] != lanes:
            self.bad(line, f"ports {ports[0]} to {ports[1]} have other lanes on line {first[1]}")

    def bad(self, line: int, message: str) -> None:
        """Note a line that cannot be read."""
        hint = "as '1   2   : 0 1 2 ...', port in, port out and one lane from 0 to 15 per service level"
        self.log.add("artifact.lanes-line", message, hint, line)


def _lanes(text: str) -> tuple[int, ...] | str:
    """Read the lanes of the 16 service levels, decimal or with 0x, or say what is wrong."""
    words = text.split()
    if len(words) != SERVICE_LEVELS:
        return f"there are {len(words)} lanes, not one for each of {SERVICE_LEVELS} service levels"
    try:
        lanes = tuple(int(word, 16) if word.startswith("0x") else int(word) for word in words)
    except ValueError:
        return f"{text[:40]!r} are no lanes"
    return lanes if all(0 <= lane <= DROPS for lane in lanes) else f"{text[:40]!r} are no lanes from 0 to {DROPS}"


def looks_like(head: bytes) -> bool:
    """Say whether the first bytes look like tables of lanes."""
    return bool(re.search(rb"^#in out :", head, re.MULTILINE)) or bool(
        re.search(rb"^[ \t]*0x[0-9a-fA-F]{6,16}(?:[ \t]+(?:0x)?[0-9a-fA-F]{1,3}){18}[ \t]*\r?$", head, re.MULTILINE)
    )


def parse(data: bytes, file: str) -> SurveyPart:
    """Read tables of lanes: opensm-sl2vl.dump (with ``-Q``), and rows that each begin with a node GUID.

    A record whose port in, or port in and out, is NIL stands for all ports of its node that the file lists.
    """
    lines = read_lines(data, file, MAX_BYTES, MAX_LINES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    reader = _Reader(ProblemLog(file))
    for at, raw in enumerate(lines):
        reader.take(raw[:1_000], at + 1)
        if reader.log.count("artifact.lanes-line") > MAX_BROKEN:
            break
    if not any(reader.nodes.values()) and not reader.log.has_error:
        message = "there is no table of lanes in this file"
        reader.log.add("artifact.dump-empty", message, "give opensm-sl2vl.dump (OpenSM with -Q -D 0x43)", 1)
    lanes = [fact for node, rows in reader.nodes.items() if rows for fact in _facts(node, rows, file)]
    return SurveyPart(lanes=tuple(lanes), problems=reader.log.close())


def _facts(node: int, rows: _Rows, file: str) -> list[LaneFact]:
    """Make the records of one node, few where rows are alike and the list is whole."""
    ins, outs = {ports[0] for ports in rows}, {ports[1] for ports in rows}
    line = next(iter(rows.values()))[1]
    if len(rows) == len(ins) * len(outs):
        if len({lanes for lanes, _ in rows.values()}) == 1:
            return [LaneFact(node, NIL, NIL, next(iter(rows.values()))[0], Place(file, line, 1))]
        by_out: dict[int, set[tuple[int, ...]]] = {}
        first: dict[int, int] = {}
        for (_, out), (lanes, at) in rows.items():
            by_out.setdefault(out, set()).add(lanes)
            first.setdefault(out, at)
        if all(len(lanes) == 1 for lanes in by_out.values()):
            return [
                LaneFact(node, NIL, out, next(iter(lanes)), Place(file, first[out], 1)) for out, lanes in by_out.items()
            ]
    return [LaneFact(node, ports[0], ports[1], lanes, Place(file, at, 1)) for ports, (lanes, at) in rows.items()]
