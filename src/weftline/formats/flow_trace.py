"""Flow traces as CSV: who sends how much to whom, when, and after what."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass, field

import numpy as np

from weftline.errors import Place, UsageError
from weftline.formats.csv_line import Fields, split_line
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.model.trace import FlowTrace
from weftline.units import MAX_BYTES, parse_size

MAX_FILE_BYTES = 128 * 2**20
MAX_NAME = 128
MAX_NEEDS = 64
"""Rows that one row may wait for."""
MAX_START_US = 1e9
_NEEDED = ("source", "target", "bytes")
_KNOWN = (*_NEEDED, "start_us", "after", "name")
_HINT = "the header names source, target and bytes, and may name start_us, after and name"
_NUMBER = re.compile(r"\d{1,19}")
_TIME = re.compile(r"\d{1,10}(?:\.\d{1,12})?")


@dataclass(slots=True)
class _Reader:
    """What is known between two lines."""

    log: ProblemLog
    order: dict[str, int] = field(default_factory=dict[str, int])
    ends: dict[str, int] = field(default_factory=dict[str, int])
    places: list[Place] = field(default_factory=list[Place])
    named: dict[str, int] = field(default_factory=dict[str, int])
    source: array[int] = field(default_factory=lambda: array("i"))
    target: array[int] = field(default_factory=lambda: array("i"))
    size: array[float] = field(default_factory=lambda: array("d"))
    start: array[float] = field(default_factory=lambda: array("d"))
    need: array[int] = field(default_factory=lambda: array("i"))
    need_ptr: array[int] = field(default_factory=lambda: array("q", [0]))

    def read(self, line: int, raw: str) -> bool:
        """Take one line; False where reading on makes no sense."""
        text = raw.removesuffix("\r")
        if not text.strip(" ,\t") or text.lstrip().startswith("#"):
            return True
        if len(text) > MAX_LINE:
            message = f"a line has {len(text):,} characters; at most {MAX_LINE:,} are read"
            self.log.add("artifact.trace-row", message, "one flow per line", line)
            return bool(self.order)
        fields = split_line(text)
        if isinstance(fields, int):
            message = "a quotation mark is out of place"
            self.log.add("artifact.trace-row", message, "close it on the same line", line, fields)
            return bool(self.order)
        if not self.order:
            return self.header(line, fields)
        self.row(line, fields)
        return True

    def header(self, line: int, fields: Fields) -> bool:
        """Find the columns."""
        for index, (text, column) in enumerate(fields):
            name = text.casefold()
            if name not in _KNOWN or name in self.order:
                said = "stands twice" if name in self.order else "is not known"
                self.log.add("artifact.trace-header", f"column {text[:40]!r} {said}", _HINT, line, column)
                return False
            self.order[name] = index
        missing = [name for name in _NEEDED if name not in self.order]
        if missing:
            message = f"the header has no column {', '.join(missing)}"
            self.log.add("artifact.trace-header", message, _HINT, line)
        return not missing

    def row(self, line: int, fields: Fields) -> None:
        """Take one flow; a row with a problem keeps its number, so that others may wait for it."""
        number = len(self.source) + 1
        if len(fields) > len(self.order):
            message = f"{len(fields)} fields, more than the {len(self.order)} columns of the header"
            self.log.add("artifact.trace-row", message, "a field with a comma is quoted", line, fields[-1][1])
        if any(self.order[name] >= len(fields) for name in _NEEDED):
            message = f"{len(fields)} fields, too few for source, target and bytes"
            self.log.add("artifact.trace-row", message, _HINT, line)
            self.size.append(0.0)
            self.start.append(0.0)
        else:
            self.ends_of(line, fields)
            self.size.append(self.read_size(line, fields))
            self.start.append(self.read_start(line, fields))
            self.needs(line, fields)
        if len(self.source) < number:
            self.source.append(0)
            self.target.append(0)
        self.need_ptr.append(len(self.need))
        name, column = self.cell("name", fields)
        if not name:
            return
        if name in self.named or len(name) > MAX_NAME or ";" in name:
            message = f"the name {name[:40]!r} is taken" if name in self.named else f"{name[:40]!r} is no name"
            hint = f"names are unlike each other, at most {MAX_NAME} characters, without a semicolon"
            self.log.add("artifact.trace-row", message, hint, line, column)
            return
        self.named[name] = number - 1

    def ends_of(self, line: int, fields: Fields) -> None:
        """Take source and target."""
        ends: list[int] = []
        for title in ("source", "target"):
            name, column = self.cell(title, fields)
            if not name or len(name) > MAX_NAME:
                message = f"{title} is empty" if not name else f"{title} has more than {MAX_NAME} characters"
                self.log.add("artifact.trace-row", message, "name an endpoint, as host-0001/nic3", line, column)
                return
            index = self.ends.get(name)
            if index is None:
                index = self.ends[name] = len(self.ends)
                self.places.append(Place(self.log.file, line, column))
            ends.append(index)
        self.source.append(ends[0])
        self.target.append(ends[1])

    def read_size(self, line: int, fields: Fields) -> float:
        """Read the bytes: a whole number from 0, or a size with a unit."""
        text, column = self.cell("bytes", fields)
        try:
            size = int(text) if _NUMBER.fullmatch(text) else parse_size(text)
        except UsageError:
            size = -1
        if not 0 <= size <= MAX_BYTES:
            hint = "write whole bytes, as 4194304, or a size, as 4MiB; at most 1 EiB"
            self.log.add("artifact.trace-row", f"{text[:40]!r} is no size", hint, line, column)
            return 0.0
        return float(size)

    def read_start(self, line: int, fields: Fields) -> float:
        """Read the earliest start; none is 0."""
        text, column = self.cell("start_us", fields)
        if not text:
            return 0.0
        time = float(text) if _TIME.fullmatch(text) else math.inf
        if time > MAX_START_US:
            hint = "write microseconds from 0 to 1000000000, as 12.5"
            self.log.add("artifact.trace-row", f"{text[:40]!r} is no time", hint, line, column)
            return 0.0
        return time

    def needs(self, line: int, fields: Fields) -> None:
        """Read what the row waits for: names where there is a column of names, else numbers of rows from 1."""
        text, column = self.cell("after", fields)
        if not text:
            return
        words = text.split(";")
        if len(words) > MAX_NEEDS:
            message = f"waits for {len(words)} rows; at most {MAX_NEEDS} are read"
            self.log.add("artifact.trace-row", message, "let a flow of 0 bytes wait for a part of them", line, column)
            return
        for word in words:
            need = self.find(word.strip())
            if need is None:
                message = f"waits for {word.strip()[:40]!r}, which no row above is called"
                hint = "list a flow after those that it waits for; several are separated by semicolons"
                if "name" not in self.order:
                    hint = (
                        "without a column of names rows are numbered from 1 below the header, and wait for rows above"
                    )
                self.log.add("artifact.trace-after", message, hint, line, column)
                return
            self.need.append(need)

    def find(self, word: str) -> int | None:
        """Find a row above."""
        if "name" in self.order:
            return self.named.get(word)
        if _NUMBER.fullmatch(word) and 1 <= int(word) <= len(self.size) - 1:
            return int(word) - 1
        return None

    def cell(self, name: str, fields: Fields) -> tuple[str, int]:
        """Return a field and its column; an empty one where it is not there."""
        at = self.order.get(name, len(fields))
        return fields[at] if at < len(fields) else ("", 1)


def parse(data: bytes, file: str) -> FlowTrace:
    """Read a trace; what cannot be read is a problem with its line and column. O(bytes) time and memory.

    Columns: ``source``, ``target`` (names of endpoints), ``bytes``; and where wanted ``start_us``, ``after`` (rows
    above that must have arrived, separated by semicolons) and ``name``. Lines that begin with ``#`` are passed over.
    """
    log = ProblemLog(file)
    reader = _Reader(log)
    lines = read_lines(data, file, MAX_FILE_BYTES)
    if not isinstance(lines, list):
        log.keep(lines)
    else:
        for line, raw in enumerate(lines, 1):
            if not reader.read(line, raw):
                break
            if sum(log.counts.values()) > MAX_BROKEN:
                message = f"more than {MAX_BROKEN:,} lines cannot be read"
                log.add("artifact.trace-row", message, "is this a trace of flows?", line)
                break
        if not reader.order and not log.found:
            log.add("artifact.trace-header", "the file has no header", _HINT, 1)
    return FlowTrace(
        end_name=tuple(reader.ends),
        end_place=tuple(reader.places),
        source=np.array(reader.source, dtype=np.int32),
        target=np.array(reader.target, dtype=np.int32),
        size_bytes=np.array(reader.size, dtype=np.float64),
        start_us=np.array(reader.start if any(reader.start) else [], dtype=np.float64),
        need_ptr=np.array(reader.need_ptr, dtype=np.int64),
        need=np.array(reader.need, dtype=np.int32),
        problems=log.close(),
    )
