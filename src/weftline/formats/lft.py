"""Unicast forwarding tables as dump_fts, ibroute, OpenSM and ibdiagnet print them: bytes to columns."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.errors import Place, Problem
from weftline.formats.lid import MAX_LID
from weftline.formats.text import ProblemLog
from weftline.kernels.column import I32, I64, U8, U16, freeze

B1: TypeAlias = NDArray[np.bool_]

MAX_BYTES = 256 * 2**20
"""Tables of 11,664 hosts and 1,620 switches take 227 MB in their shortest form."""
_CHUNK = 16 * 2**20
_MAX_SLOW = 4_000_000
"""Lines that are read one by one because their columns are not the usual ones."""
_MAX_BAD = 1_000
"""Broken lines after which a file is given up."""
BOM = b"\xef\xbb\xbf"
"""What some editors put before text; no tool writes it."""
NO_PORT = 255
"""The entry that drops; IBTA vol 1, 18.2.4.3."""

_HEADER = re.compile(
    r"(?:Unicast lids\b|(?:osm_ucast_mgr_)?dump_ucast_routes: Switch\b|Switch 0x[0-9a-fA-F]{1,16}\s*$)"
)
_HEADER_LID = re.compile(r"of switch Lid (\d{1,9})\b")
_HEADER_GUID = re.compile(r"\b(?:guid|Switch) 0x([0-9a-fA-F]{1,16})\b(.*)$")
_PRIVATE = re.compile(r"PLFT_NUM\s*:\s*(\d{1,3})\s*$")
_MULTICAST = re.compile(r"(?:Multicast mlids|dump_mcast_routes)")
_BARE = re.compile(rb"^Switch 0x[0-9a-fA-F]{1,16}[ \t\r]*\n(?:PLFT_NUM.*\n)?LID[ \t]*:[ \t]*Port[ \t]*:", re.MULTILINE)
_ENTRY = re.compile(r"0x([0-9a-fA-F]{1,8})(?:\s+|\s*:\s*)(\d{1,9})(?:\s|:|#|$)")
_ENTRY_START = re.compile(r"0x[0-9a-fA-F]")
_TRAILER = re.compile(r"(\d{1,9}) (valid )?lids dumped")
_DECOR = re.compile(
    r"(?:Lid\s+Out|Port\s+Info|LID\s*:|#|-+$|\d+ valid mlids|ibwarn|"
    r"0x[0-9a-fA-F]+\s*:\s*(?:UNREACHABLE|No path|HOPS UNKNOWN))"
)

_HEX = np.full(256, 255, dtype=np.uint8)
_HEX[np.frombuffer(b"0123456789", np.uint8)] = np.arange(10)
_HEX[np.frombuffer(b"abcdef", np.uint8)] = np.arange(10, 16)
_HEX[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The head of one switch's table."""

    guid: int
    lid: int
    """0 where the dump gives a path instead."""
    name: str
    line: int
    private: int = 0
    """Number of the table on its switch, which may hold several for different lanes and ports (pLFT)."""


@dataclass(frozen=True, slots=True, eq=False)
class LftDump:
    """Tables of a dump; the entries of table ``t`` are ``table_ptr[t]:table_ptr[t + 1]`` in the order of the file."""

    file: str
    digest: str
    tables: tuple[TableRecord, ...]
    table_ptr: I64
    entry_lid: U16
    entry_port: U8
    """0 is the switch itself, 255 drops."""
    entry_line: I32
    problems: tuple[Problem, ...]
    entry_group: I32 | None = None
    """Per entry the group of its table by whose ports packets may leave as well, NIL where the port alone counts; None
    where the form knows no groups."""
    groups: tuple[Mapping[int, tuple[int, ...]], ...] = ()
    """Per table its groups: number to ports, in the order of the file; empty where the form knows no groups."""


@dataclass(slots=True)
class _Reader:
    """The state between two chunks."""

    log: ProblemLog
    heads: list[TableRecord | int] = field(default_factory=list[TableRecord | int])
    """Tables, and the lines at which multicast blocks begin."""
    trailers: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """Per head the number of entries that its last line claims, and that line."""
    lids: list[U16] = field(default_factory=list[U16])
    ports: list[U8] = field(default_factory=list[U8])
    lines: list[I32] = field(default_factory=list[I32])
    extra: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    """(line, lid, port) of entries in unusual columns."""
    slow: int = 0
    bad: int = 0
    numbered: int = 0
    """How many heads there were when the last one got a table number."""

    def chunk(self, data: bytes, first_line: int) -> int:
        """Take whole lines; returns the number of the line after them."""
        text = np.frombuffer(data, dtype=np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        starts = np.concatenate([[0], ends + 1]).astype(np.int64)
        if len(ends) and ends[-1] == len(text) - 1:
            starts = starts[:-1]
        else:
            ends = np.append(ends, len(text))
        lines = np.arange(first_line, first_line + len(starts), dtype=np.int32)
        is_long = ends - starts >= 10
        at, line = starts[is_long], lines[is_long]
        lid, port, is_entry, is_none = _columns(text, at)
        self.lids.append(lid[is_entry].astype(np.uint16))
        self.ports.append(port[is_entry].astype(np.uint8))
        self.lines.append(line[is_entry])
        rest = ends > starts
        rest[np.flatnonzero(is_long)[is_entry | is_none]] = False
        rest &= text[np.minimum(starts, max(len(text) - 1, 0))] != ord("#")
        for row in np.flatnonzero(rest).tolist():
            self.slow += 1
            if self.slow > _MAX_SLOW or self.bad > _MAX_BAD:
                break
            begin, end = int(starts[row]), int(ends[row])
            self.other(int(lines[row]), data[begin : min(end, begin + 1_000)].decode("utf-8", "replace"))
        return first_line + len(starts)

    def other(self, line: int, raw: str) -> None:
        """Take a line that is no entry in the usual columns."""
        text = raw.strip()
        if not text or _DECOR.match(text):
            return
        guid = _HEADER_GUID.search(text) if _HEADER.match(text) else None
        if guid:
            lid = _HEADER_LID.search(text)
            self.heads.append(TableRecord(int(guid[1], 16), int(lid[1]) if lid else 0, guid[2].strip(" ():'"), line))
            return
        private = _PRIVATE.match(text)
        if private and self.heads and not isinstance(self.heads[-1], int):
            self.private(int(private[1]), line)
            return
        if _MULTICAST.match(text):
            self.heads.append(line)
            return
        trailer = _TRAILER.match(text)
        if trailer:
            # OpenSM counts the whole range, the tools what they print.
            self.trailers[len(self.heads) - 1] = (int(trailer[1]) if trailer[2] else 0, line)
            return
        entry = _ENTRY.match(text)
        if entry and int(entry[1], 16) <= MAX_LID and int(entry[2]) <= NO_PORT:
            self.extra.append((line, int(entry[1], 16), int(entry[2])))
        elif self.heads and isinstance(self.heads[-1], int) and not text.startswith("Unicast"):
            return
        elif self.heads or _ENTRY_START.match(text) or text.startswith("Unicast"):
            self.bad += 1
            message = f"{text[:60]!r} is no entry of a forwarding table"
            hint = "as 0x0001 017, the LID in hexadecimal and the port from 0 to 255"
            self.log.add("artifact.table-line", message, hint, line, len(raw) - len(raw.lstrip()) + 1)
        else:
            self.log.add("artifact.terminal-text", f"{text[:60]!r} is left out", "", line, severity="note")

    def private(self, number: int, line: int) -> None:
        """Take the number of a table; a second one under one head begins another table of the same switch."""
        head = self.heads[-1]
        if isinstance(head, int):
            return
        if self.numbered == len(self.heads):
            self.heads.append(replace(head, private=number, line=line))
        else:
            self.heads[-1] = replace(head, private=number)
        self.numbered = len(self.heads)


def _columns(text: U8, at: I64) -> tuple[I32, I32, B1, B1]:
    """Read ``0x0001 017`` or ``0x0001 : 017`` at each place.

    Returns LIDs, ports, where that is what stands there, and where ``0x0001 : UNREACHABLE`` does.
    """
    is_entry = (text[at] == ord("0")) & (text[at + 1] == ord("x")) & (text[at + 6] == ord(" "))
    lid = np.zeros(len(at), dtype=np.int32)
    for digit in range(2, 6):
        value = _HEX[text[at + digit]]
        is_entry &= value < 16
        lid = lid * 16 + value
    last = len(text) - 1
    has_colon = (text[at + 7] == ord(":")) & (text[at + 8] == ord(" "))
    is_none = is_entry & has_colon & (text[at + 9] == ord("U"))
    at = at + np.where(has_colon, 2, 0)
    port = np.zeros(len(at), dtype=np.int32)
    for digit in range(7, 10):
        value = _HEX[text[np.minimum(at + digit, last)]]
        is_entry &= value < 10
        port = port * 10 + value
    after = text[np.minimum(at + 10, last)]
    is_entry &= (at + 10 > last) | (after == ord(" ")) | (after == ord("\n")) | (after == ord("\r"))
    return lid, port, is_entry & (port <= NO_PORT) & (at + 9 <= last), is_none


def looks_like(data: bytes) -> bool:
    """Say whether the first bytes look like forwarding tables."""
    head = data[:65_536]
    return b"Unicast lids" in head or b"dump_ucast_routes" in head or bool(_BARE.search(head))


def parse(data: bytes, file: str) -> LftDump | tuple[Problem, ...]:
    """Read tables; lines that cannot be read become problems with their place, the rest is returned.

    Reads the output of dump_fts, dump_lfts and ibroute (also ``-n`` and ``-a``), opensm-lfts.dump, opensm.fdbs,
    ibdiagnet2.fdbs (whose hops are always 00, and nobody reads them), and the shortest form that OpenSM loads. At most
    256 MiB are read. Returns problems alone when there is no table.
    """
    if len(data) > MAX_BYTES:
        message = f"{file} has more than {MAX_BYTES / 2**20:,.0f} MiB, so it was not read"
        hint = "give one subnet, without names (dump_fts -n), or some switches to a file"
        return (Problem("artifact.dump-too-large", message, hint, Place(file)),)
    zero = data.find(b"\0")
    if zero >= 0:
        place = Place(file, data.count(b"\n", 0, zero) + 1, zero - data.rfind(b"\n", 0, zero))
        return (Problem("artifact.dump-binary", "a zero byte does not occur in text: this file is binary", "", place),)
    reader = _Reader(ProblemLog(file))
    begin, line = len(BOM) if data.startswith(BOM) else 0, 1
    while begin < len(data) and reader.slow <= _MAX_SLOW and reader.bad <= _MAX_BAD:
        end = len(data) if begin + _CHUNK >= len(data) else data.rfind(b"\n", begin, begin + _CHUNK) + 1
        if end <= begin:
            break
        line = reader.chunk(data[begin:end], line)
        begin = end
    if begin < len(data) or reader.slow > _MAX_SLOW or reader.bad > _MAX_BAD:
        message = f"reading stopped near line {line:,}: too many lines are no table entries"
        reader.log.add("artifact.dump-empty", message, "give the output of dump_fts or opensm-lfts.dump", line)
        return reader.log.close()
    return _finish(reader, data, file)


def _finish(reader: _Reader, data: bytes, file: str) -> LftDump | tuple[Problem, ...]:
    """Sort entries into tables."""
    lid, port, line = np.concatenate(reader.lids or [np.empty(0, np.uint16)]), *_join(reader)
    if reader.extra:
        extra = np.array(reader.extra, dtype=np.int64)
        line = np.concatenate([line, extra[:, 0].astype(np.int32)])
        order = np.argsort(line, kind="stable")
        lid = np.concatenate([lid, extra[:, 1].astype(np.uint16)])[order]
        port = np.concatenate([port, extra[:, 2].astype(np.uint8)])[order]
        line = line[order]
    heads = reader.heads
    head_lines = np.array([head if isinstance(head, int) else head.line for head in heads], dtype=np.int64)
    bounds = np.append(np.searchsorted(line, head_lines), len(line))
    if len(line) and (not heads or bounds[0] > 0):
        message = "this entry belongs to no switch"
        hint = (
            "a line such as 'Unicast lids [0x0-0x20] of switch Lid 3 guid 0x0002c90300100000 (leaf-001):' goes before"
        )
        reader.log.add("artifact.table-line", message, hint, int(line[0]))
    keep = [at for at, head in enumerate(heads) if not isinstance(head, int)]
    if not keep:
        if not reader.log.has_error:
            reader.log.add(
                "artifact.dump-empty", "there is no forwarding table in this file", "give the output of dump_fts", 1
            )
        return reader.log.close()
    _check_trailers(reader, keep, bounds, port)
    sizes = np.diff(bounds)
    pick = np.repeat(np.isin(np.arange(len(heads)), keep), sizes)
    pick = np.concatenate([np.zeros(int(bounds[0]), dtype=np.bool_), pick])
    table_ptr: I64 = np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64)
    columns = lid[pick], port[pick], line[pick]
    freeze(table_ptr, *columns)
    tables = tuple(head for head in heads if not isinstance(head, int))
    return LftDump(file, hashlib.sha256(data).hexdigest(), tables, table_ptr, *columns, reader.log.close())


def _join(reader: _Reader) -> tuple[U8, I32]:
    """Join the chunks of ports and lines."""
    return (
        np.concatenate(reader.ports or [np.empty(0, np.uint8)]),
        np.concatenate(reader.lines or [np.empty(0, np.int32)]),
    )


def _check_trailers(reader: _Reader, keep: list[int], bounds: I64, port: U8) -> None:
    """Compare each table with the count on its last line; where others have one, a table without is cut off."""
    if not reader.trailers:
        return
    for at in keep:
        head = reader.heads[at]
        if isinstance(head, int):
            continue
        claim = reader.trailers.get(at)
        have = int(np.count_nonzero(port[bounds[at] : bounds[at + 1]] != NO_PORT))
        if claim is None or claim[0] > bounds[at + 1] - bounds[at]:
            want = "the count at its end is missing" if claim is None else f"line {claim[1]} counts {claim[0]}"
            message = f"the table of {head.name or hex(head.guid)} has {have} entries, and {want}"
            hint = "the dump is cut off or was edited; take it again"
            reader.log.add("artifact.dump-truncated", message, hint, head.line)
