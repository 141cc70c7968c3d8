"""Reading: a cabling list in CSV, every problem of it with line and column."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field

from weftline.compile.cabling import COLUMNS, CablingList, CablingRow
from weftline.errors import Place, Problem
from weftline.formats.csv_line import Fields, split_line

MAX_CHARACTERS = 40 * 1024 * 1024
MAX_ROWS = 400_000
MAX_LINES = 1_000_000
MAX_PROBLEMS = 100
MAX_LINE = 1000
MAX_LENGTH_M = 100_000

_REQUIRED = COLUMNS[:4]
_ALIASES = {"length": "length_m"}
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_HOST = re.compile(r"host-[0-9]{1,9}")
_PORT = re.compile(r"[1-9][0-9]{0,3}")
_NIC = re.compile(r"(nic[1-9][0-9]{0,2})(p[1-9])?")
_WORD = re.compile(r"[^\x00-\x1f\x7f]{0,63}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(slots=True)
class _Reader:
    """What is known so far: the file, its columns, the rows, who uses which port, and what is wrong."""

    file: str
    order: dict[str, int] = field(default_factory=dict[str, int])
    rows: list[CablingRow] = field(default_factory=list[CablingRow])
    used: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, code: str, message: str, hint: str, line: int, column: int = 1) -> None:
        self.problems.append(Problem(code, message, hint, Place(self.file, line, column)))


def read_cabling(text: str, file: str) -> CablingList | tuple[Problem, ...]:
    """Read a cabling list, or return its problems (at most 100) with line and column.

    The header names the columns ``a_device, a_port, b_device, b_port`` and, where wanted, ``length_m`` (or
    ``length``), ``part``, ``cable`` and ``label``, in any order. Blank lines and lines that begin with ``#`` are
    skipped. A field with a comma or a quotation mark is quoted as in RFC 4180, on one line.
    """
    reader = _Reader(file)
    if len(text) > MAX_CHARACTERS:
        limit = f"{MAX_CHARACTERS // 2**20} Mi characters"
        reader.add("spec.cabling-size", f"the cabling list is longer than {limit}", "split the fabric by plane", 1)
        return tuple(reader.problems)
    start = 1 if text.startswith("\ufeff") else 0
    line = 0
    while start <= len(text) and len(reader.problems) < MAX_PROBLEMS:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line += 1
        if line > MAX_LINES:
            reader.add("spec.cabling-size", f"more than {MAX_LINES:,} lines", "remove empty lines and notes", line)
            break
        if not _read_line(reader, text[start : min(end, start + MAX_LINE + 2)].removesuffix("\r"), line):
            break
        start = end + 1
    if len(reader.problems) >= MAX_PROBLEMS:
        reader.problems.append(
            Problem("spec.cabling-more", f"reading stopped at {MAX_PROBLEMS} problems", "", Place(file, line), "note")
        )
    elif not reader.rows and not reader.problems:
        reader.add("spec.cabling-row", "the cabling list has no links", "write one line per link", 1)
    return tuple(reader.problems) or CablingList(file, tuple(reader.rows))


def _read_line(reader: _Reader, text: str, line: int) -> bool:
    """Read one line; False where reading on makes no sense."""
    if len(text) > MAX_LINE:
        message = f"the line is longer than {MAX_LINE} characters"
        reader.add("spec.cabling-size", message, "write one link per line", line, MAX_LINE + 1)
        return bool(reader.order)
    if not text.strip() or text.startswith("#"):
        return True
    fields = _split_text(reader, text, line)
    if fields is None:
        return bool(reader.order)
    if not reader.order:
        return _read_header(reader, fields, line)
    if len(reader.rows) >= MAX_ROWS:
        reader.add("spec.cabling-size", f"more than {MAX_ROWS:,} links", "split the fabric by plane", line)
        return False
    _read_row(reader, fields, line)
    return True


def _split_text(reader: _Reader, text: str, line: int) -> Fields | None:
    bad = _CONTROL.search(text)
    if bad:
        message = f"character {ord(bad[0])} is no text"
        reader.add("spec.cabling-text", message, "is this a CSV file in UTF-8?", line, bad.start() + 1)
        return None
    fields = split_line(text)
    if isinstance(fields, int):
        hint = 'close the quotation mark on the same line; write "" for one inside'
        reader.add("spec.cabling-text", "a quotation mark is out of place", hint, line, fields)
        return None
    return fields


def _read_header(reader: _Reader, fields: Fields, line: int) -> bool:
    before = len(reader.problems)
    order: dict[str, int] = {}
    for index, (text, column) in enumerate(fields):
        name = _ALIASES.get(text.lower(), text.lower())
        if name not in COLUMNS:
            near = difflib.get_close_matches(name[:40], COLUMNS, 1)
            hint = f"did you mean {near[0]}?" if near else "the columns are " + ", ".join(COLUMNS)
            if ";" in text or "\t" in text:
                hint = "separate the columns by commas"
            reader.add("spec.cabling-header", f"no column is called {text[:40]!r}", hint, line, column)
        elif name in order:
            reader.add("spec.cabling-header", f"column {name} stands twice", "remove one", line, column)
        else:
            order[name] = index
    missing = [name for name in _REQUIRED if name not in order]
    if missing and len(reader.problems) == before:
        hint = "the first line must be " + ",".join(COLUMNS)
        reader.add("spec.cabling-header", "missing column " + ", ".join(missing), hint, line)
    reader.order = order
    return len(reader.problems) == before


def _read_row(reader: _Reader, fields: Fields, line: int) -> None:
    order = reader.order
    if len(fields) != len(order):
        message = f"{len(fields)} fields where the header has {len(order)}"
        reader.add("spec.cabling-row", message, "quote a field that holds a comma", line)
        return
    before = len(reader.problems)
    (a_device, c0), (a_port, c1), (b_device, c2), (b_port, c3) = (fields[order[name]] for name in _REQUIRED)
    _check_end(reader, a_device, a_port, line, (c0, c1))
    _check_end(reader, b_device, b_port, line, (c2, c3))
    if a_device == b_device:
        message = f"a link from {a_device[:63]} to itself"
        reader.add("spec.cabling-self-link", message, "name two devices", line, c2)
    words = {name: fields[order[name]] for name in COLUMNS[4:] if name in order}
    length = _read_length(reader, *words.get("length_m", ("", 1)), line)
    for name in ("part", "cable"):
        text, column = words.get(name, ("", 1))
        if not _WORD.fullmatch(text):
            reader.add("spec.cabling-cable", f"{name} is longer than 63 characters", "shorten it", line, column)
    if len(reader.problems) == before:
        part, cable, label = (words.get(name, ("", 1))[0] for name in ("part", "cable", "label"))
        reader.rows.append(
            CablingRow(a_device, a_port, b_device, b_port, length, part, cable, label, line, (c0, c1, c2, c3))
        )


def _check_end(reader: _Reader, device: str, port: str, line: int, columns: tuple[int, int]) -> None:
    if not _DEVICE.fullmatch(device):
        message = f"{device[:63]!r} is no name of a device"
        hint = "use host-0001, leaf-001, spine-01, core-01, or letters, digits, dots, dashes and underscores"
        reader.add("spec.cabling-device", message, hint, line, columns[0])
        return
    nic = _NIC.fullmatch(port)
    if _HOST.fullmatch(device):
        if not nic:
            message = f"{port[:20]!r} is no port of host {device}"
            reader.add("spec.cabling-port", message, "write nic1, or nic1p2 with planes", line, columns[1])
            return
    elif not _PORT.fullmatch(port):
        message = f"{port[:20]!r} is no port of {device}"
        reader.add("spec.cabling-port", message, "write its number, from 1 to 9999", line, columns[1])
        return
    key = (device, (nic[1] + (nic[2] or "p1")) if nic else port)
    first = reader.used.get(key)
    if first is None:
        reader.used[key] = line
    else:
        message = f"port {device}/{port} is used on line {first} already"
        reader.add("spec.cabling-port-used", message, "a port has one link", line, columns[1])


def _read_length(reader: _Reader, text: str, column: int, line: int) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= MAX_LENGTH_M:
        message = f"{text[:20]!r} is no length in metres"
        reader.add("spec.cabling-length", message, f"write a number above 0, at most {MAX_LENGTH_M}", line, column)
        return None
    return value
