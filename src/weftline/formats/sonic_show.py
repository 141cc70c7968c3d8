"""Outputs of SONiC's show commands: tables under a line of dashes and blocks of two columns, each row with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from weftline.errors import Problem
from weftline.formats.text import MAX_LINE, ProblemLog, read_lines

MAX_BYTES = 16 * 1024 * 1024
MAX_LINES = 200_000
MAX_COLUMNS = 64
_PROMPT = re.compile(
    r"^\s*(?:[A-Za-z0-9._-]{1,64}@(?P<host>[A-Za-z0-9._-]{1,64})[^$#]{0,200})?[$#]\s*(?:sudo\s+)?"
    r"(?P<command>(?:show|pfcwd|pfcstat|pfc|mmuconfig|ecnconfig|watermarkstat|queuestat|pg-drop|portstat|intfutil)\b.*)$"
)
_DASHES = re.compile(r"^\s*-{1,}(?:\s{2,}-{1,})*\s*$")
_BLOCK = re.compile(r"^\s*(?P<kind>Pool|Profile|Lossless traffic pattern):\s*(?:\*\*)?(?P<name>[^*\s]*)(?:\*\*)?\s*$")
_POLL = re.compile(r"^\s*Changed polling interval to\s+([0-9]{1,9})\s*ms\s*$")
_TITLES = (
    "Ingress headroom per PG",
    "Ingress shared pool occupancy per PG",
    "Ingress PG dropped packets",
    "Egress shared pool occupancy per",
    "Shared pool maximum occupancy",
    "Headroom pool maximum occupancy",
)
_HEADS = ("Port Rx", "Port Tx", "STORM DETECTED/RESTORED", "RX Pause Transitions", "Asym PFC", "Asymmetric", "RX_DRP")
_COLUMNS = ("DETECTION TIME", "TxQ", "Drop/pkts")
_SPACES = re.compile(r"\s{2,}")
_NUMBER = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One row of a table."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """One table."""

    host: str
    """The switch that the prompt before it names; empty where none does."""
    title: str
    """The line above it, without its colon; empty where there is none."""
    line: int
    """Line of its head."""
    columns: tuple[str, ...]
    rows: tuple[ShownRow, ...]


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """One pool or profile: names and values under each other."""

    host: str
    kind: str
    """``Pool``, ``Profile`` or ``Lossless traffic pattern``."""
    name: str
    line: int
    fields: Mapping[str, tuple[str, int]]
    """Value and line of each field."""


@dataclass(frozen=True, slots=True)
class ShownPoll:
    """How often the watchdog looks, which is said above a table."""

    host: str
    line: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class ShownText:
    """What one file of outputs holds."""

    file: str
    tables: tuple[ShownTable, ...]
    blocks: tuple[ShownBlock, ...]
    polls: tuple[ShownPoll, ...]
    problems: tuple[Problem, ...]


def looks_like(head: bytes) -> bool:
    """Whether a text holds an output that is read here: by a prompt, a title, or the head of a table."""
    text = head.decode("utf-8", "replace")
    lines = [line[:MAX_LINE] for line in text.split("\n")[:2000]]
    for number, line in enumerate(lines):
        if line.strip().startswith(_TITLES) or _PROMPT.match(line) or _POLL.match(line):
            return True
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if _DASHES.match(below) and (_BLOCK.match(line) or any(head in line for head in (*_HEADS, *_COLUMNS))):
            return True
    return False


def read_show(content: bytes, file: str) -> ShownText:
    """Read every table and block of a file; a row that does not fit its table is reported with its line."""
    log = ProblemLog(file)
    lines = read_lines(content, file, MAX_BYTES, MAX_LINES)
    if isinstance(lines, Problem):
        return ShownText(file, (), (), (), (lines,))
    reader = _Reader(log, [line.rstrip("\r")[:MAX_LINE] for line in lines])
    reader.read()
    if not (reader.tables or reader.blocks or reader.polls):
        log.add("artifact.no-table", "file holds no table that a show command of SONiC prints", "give whole outputs")
    return ShownText(file, tuple(reader.tables), tuple(reader.blocks), tuple(reader.polls), log.close())


def read_count(cell: str) -> int | None:
    """Read a counter, with or without commas; None where it is ``N/A`` or something else."""
    text = cell.strip()
    return int(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


@dataclass
class _Reader:
    """Walks over the lines once."""

    log: ProblemLog
    lines: list[str]
    host: str = ""
    tables: list[ShownTable] = field(default_factory=list[ShownTable])
    blocks: list[ShownBlock] = field(default_factory=list[ShownBlock])
    polls: list[ShownPoll] = field(default_factory=list[ShownPoll])

    def read(self) -> None:
        number = 0
        title = ""
        while number < len(self.lines):
            line = self.lines[number]
            if match := _PROMPT.match(line):
                self.host, title = match["host"] or "", ""
            elif match := _POLL.match(line):
                self.polls.append(ShownPoll(self.host, number + 1, int(match[1])))
            elif self._is_head(number):
                number = self._read_block(number) if _BLOCK.match(line) else self._read_table(number, title)
                title = ""
                continue
            elif line.strip():
                title = line.strip().removesuffix(":")
            number += 1

    def _is_dashes(self, number: int) -> bool:
        return number < len(self.lines) and bool(_DASHES.match(self.lines[number]))

    def _is_head(self, number: int) -> bool:
        """Whether a table begins at a line; one rule under a row of several cells ends a table instead."""
        line = self.lines[number]
        if not line.strip() or not self._is_dashes(number + 1):
            return False
        return len(self.lines[number + 1].split()) > 1 or len(_SPACES.split(line.strip())) == 1

    def _body(self, number: int) -> Iterator[tuple[int, str]]:
        """List the lines that can be rows: up to a prompt, a head, a block or a title."""
        while number < len(self.lines):
            line = self.lines[number]
            if _PROMPT.match(line) or self._is_head(number):
                return
            if line.strip().startswith(_TITLES) or _POLL.match(line):
                return
            yield number, line
            number += 1

    def _read_block(self, number: int) -> int:
        match = _BLOCK.match(self.lines[number])
        fields: dict[str, tuple[str, int]] = {}
        start = number
        number += 2
        while number < len(self.lines) and self.lines[number].strip() and not self._is_dashes(number):
            pieces = _SPACES.split(self.lines[number].strip(), maxsplit=1)
            if len(pieces) == 2:
                if pieces[0] in fields:
                    self.log.add("artifact.said-twice", f"{pieces[0][:40]!r} stands twice", line=number + 1)
                fields[pieces[0]] = (pieces[1].strip(), number + 1)
            else:
                self.log.add("artifact.unreadable-line", "line is no pair of a name and a value", line=number + 1)
            number += 1
        if match is not None:
            self.blocks.append(ShownBlock(self.host, match["kind"], match["name"], start + 1, fields))
        return number + 1 if self._is_dashes(number) else number

    def _read_table(self, number: int, title: str) -> int:
        head, dashes = self.lines[number], self.lines[number + 1]
        columns = tuple(_SPACES.split(head.strip()))
        spans = [(match.start(), match.end()) for match in re.finditer(r"-+", dashes)]
        if len(columns) != len(spans) or len(columns) > MAX_COLUMNS:
            self.log.add("artifact.unreadable-line", "head and dashes of a table do not fit", line=number + 1)
            return number + 2
        rows: list[ShownRow] = []
        last = number + 1
        for place, line in self._body(number + 2):
            last = place
            if not line.strip() or self._is_dashes(place):
                continue
            cells = _read_cells(line, spans)
            if cells is not None:
                rows.append(ShownRow(place + 1, cells))
            elif len(_SPACES.split(line.strip())) > 1:
                self.log.add("artifact.unreadable-line", f"row does not fit {len(columns)} columns", line=place + 1)
        self.tables.append(ShownTable(self.host, title, number + 1, columns, tuple(rows)))
        return last + 1


def _read_cells(line: str, spans: list[tuple[int, int]]) -> tuple[str, ...] | None:
    """Split a row at two or more spaces; where a cell is empty, by the dashes above it."""
    cells = tuple(_SPACES.split(line.strip()))
    if len(cells) == len(spans):
        return cells
    if len(cells) > len(spans) or len(cells) < 2:
        return None
    found: list[str] = []
    end = 0
    for place, (first, _) in enumerate(spans):
        start = end
        # A cell may stick out of its dashes, as copied text does; the next column begins where its dashes do.
        end = spans[place + 1][0] if place + 1 < len(spans) else len(line)
        piece = line[start if place else 0 : end]
        if "  " in piece.strip() or (place and start < first and line[start:first].strip()):
            return None
        found.append(piece.strip())
    return tuple(found)
