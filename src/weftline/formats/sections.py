"""Files of sections between START_ and END_ lines, each a table with named columns: bytes to tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from weftline.errors import Place, Problem
from weftline.formats.text import MAX_LINE, ProblemLog

MAX_BYTES = 256 * 2**20
"""A file of 400 switches with all registers of the physical layer takes about 150 MB."""
MAX_ROWS = 1_000_000
MAX_SECTIONS = 2_000
MAX_BROKEN_ROWS = 1_000
_START = re.compile(rb"^START_([A-Za-z0-9_]{1,80})[ \t\r]*$", re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MARK = b"\nSTART_"
_Value = TypeVar("_Value")
_ODD = re.compile(r"[^a-z0-9]")
MISSING = frozenset({"", "n/a", "na", "nan", "none", "unknown", "-"})
"""What stands in a cell that nothing was collected for."""


@dataclass(slots=True)
class Table:
    """One section."""

    name: str
    line: int
    """The line of its start."""
    columns: dict[str, int] = field(default_factory=dict[str, int])
    """Name in small letters without anything but letters and digits, to the position of the column."""
    width: int = 0
    """Columns of its head."""
    rows: list[list[str]] = field(default_factory=list[list[str]])
    lines: list[int] = field(default_factory=list[int])

    def find(self, *names: str) -> int:
        """Return the position of the first of these columns that is there, -1 where none is."""
        return next((self.columns[name] for name in names if name in self.columns), -1)

    def texts(self, *names: str) -> list[str]:
        """Return a column; empty where the table has none or nothing was collected."""
        at = self.find(*names)
        return [""] * len(self.rows) if at < 0 else _convert(self.rows, at, clean)

    def numbers(self, *names: str) -> list[int | None]:
        """Return a column of decimal or ``0x`` numbers; None where nothing was collected."""
        at = self.find(*names)
        return [None] * len(self.rows) if at < 0 else _convert(self.rows, at, number)

    def guids(self, *names: str) -> list[int]:
        """Return a column of GUIDs; 0 where there is none."""
        at = self.find(*names)
        return [0] * len(self.rows) if at < 0 else _convert(self.rows, at, _hexadecimal)


def _convert(rows: list[list[str]], at: int, read: Callable[[str], _Value]) -> list[_Value]:
    """Convert a column; ports are much alike, so each text is read once."""
    cells = [row[at] for row in rows]
    known = {cell: read(cell) for cell in set(cells)}
    return [known[cell] for cell in cells]


def clean(cell: str) -> str:
    """Return a cell without padding and quotes; empty where nothing was collected."""
    text = cell.strip().strip('"').strip()
    return "" if text.lower() in MISSING else text


def number(cell: str) -> int | None:
    """Read a decimal or ``0x`` number of at most 64 bits."""
    text = cell.strip()
    if text.isdecimal() and text.isascii():
        return int(text) if len(text) <= 20 else None
    text = text.strip('"').strip()
    try:
        if text[:2] in {"0x", "0X"}:
            return int(text, 16) if len(text) <= 18 and "_" not in text else None
        return int(text) if len(text) <= 20 and text.isdecimal() else None
    except ValueError:
        return None


def _hexadecimal(cell: str) -> int:
    """Read a GUID; 0 where there is none."""
    text = cell.strip().strip('"').strip()
    if len(text) > 18 or "_" in text:
        return 0
    try:
        value = int(text, 16)
    except ValueError:
        return 0
    return value if 0 <= value < 2**64 else 0


def looks_like(head: bytes, *names: str) -> bool:
    """Say whether one of these sections starts in the first bytes."""
    return any(match[1].decode().upper() in names for match in _START.finditer(head))


def read_sections(
    data: bytes, file: str, log: ProblemLog, is_wanted: Callable[[str], bool]
) -> tuple[dict[str, Table], tuple[str, ...]] | Problem:
    """Read the wanted sections; the names of the others come back beside them.

    At most 256 MiB and a million rows are read; sections that nobody wants cost nothing but the search for their end.
    """
    if len(data) > MAX_BYTES:
        message = f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        return Problem("artifact.dump-too-large", message, "give one dump of one subnet", Place(file))
    tables: dict[str, Table] = {}
    skipped: dict[str, None] = {}
    at, line, rows = 0, 1, 0
    for _ in range(MAX_SECTIONS):
        start = _find_start(data, at)
        if start is None:
            break
        line += data.count(b"\n", at, start.start())
        name = start[1].decode().upper()
        end, after = _find_end(data, start, log, line)
        if not is_wanted(name):
            skipped[name] = None
        elif name in tables:
            message = f"section {name} stands on line {tables[name].line} already"
            log.add("artifact.dump-line", message, "the first is taken; give one file of one run", line)
        else:
            table = _read_table(data[start.end() : end], name, line, log)
            rows += len(table.rows)
            if rows > MAX_ROWS:
                log.add("artifact.dump-too-large", f"more than {MAX_ROWS:,} rows", "give one subnet", line)
                break
            tables[name] = table
        line += data.count(b"\n", start.start(), after)
        at = after
    return tables, tuple(skipped)


def _find_start(data: bytes, at: int) -> re.Match[bytes] | None:
    """Find the next start of a section; plain text is found much faster than by the pattern."""
    if at == 0 and (first := _START.match(data)) is not None:
        return first
    begin = data.find(_MARK, max(at - 1, 0))
    while begin >= 0:
        start = _START.match(data, begin + 1)
        if start is not None:
            return start
        begin = data.find(_MARK, begin + 1)
    return None


def _find_end(data: bytes, start: re.Match[bytes], log: ProblemLog, line: int) -> tuple[int, int]:
    """Find where a section ends, and where to read on."""
    following = _find_start(data, start.end())
    stop = len(data) if following is None else following.start()
    end = data.find(b"\nEND_" + start[1], start.end() - 1, stop)
    if end < 0:
        message = f"section {start[1].decode()} has no end"
        log.add("artifact.dump-truncated", message, "the dump is cut off or was edited; take it again", line)
        return stop, stop
    return end, end + 1


def _read_table(data: bytes, name: str, line: int, log: ProblemLog) -> Table:
    """Read the columns and rows of one section."""
    table = Table(name, line)
    control = _CONTROL.search(data)
    if control:
        at = line + data.count(b"\n", 0, control.start())
        message = f"byte 0x{data[control.start()]:02x} in section {name} does not occur in text"
        log.add("artifact.dump-binary", message, "the file is damaged; take it again", at)
        return table
    texts = [text if len(text) <= 4 * MAX_LINE else "" for text in data.decode("utf-8", "replace").split("\n")]
    reader = csv.reader(texts)
    before = 0
    try:
        for cells in reader:
            first, before = before, reader.line_num
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if before > first + 1:
                message = f"a quote opens on this line of section {name} and does not close on it"
                log.add("artifact.dump-line", message, "take the dump again", line + first)
            elif not table.columns:
                table.width = len(cells)
                for at, cell in enumerate(cells):
                    table.columns.setdefault(_ODD.sub("", cell.lower()), at)
            elif len(cells) < table.width or any(cells[table.width :]):
                message = f"a row of section {name} has {len(cells)} cells, its head {table.width}"
                hint = "the row is cut off, or a text with a comma has no quotes; take the dump again"
                log.add("artifact.dump-line", message, hint, line + first)
            else:
                table.rows.append(cells)
                table.lines.append(line + first)
            if log.count("artifact.dump-line") > MAX_BROKEN_ROWS or len(table.rows) > MAX_ROWS:
                break
    except csv.Error as error:
        log.add("artifact.dump-line", f"section {name} cannot be read: {error}", "take the dump again", line + before)
    return table
