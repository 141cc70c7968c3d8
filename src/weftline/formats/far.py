"""Adaptive-routing tables as ibdiagnet dumps them (ibdiagnet2.far): bytes to the same columns as other tables."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace

import numpy as np

from weftline.errors import Place, Problem
from weftline.formats.lft import MAX_BYTES, NO_PORT, LftDump, TableRecord
from weftline.formats.lid import MAX_UNICAST
from weftline.formats.text import MAX_BROKEN, ProblemLog
from weftline.kernels.column import I64, NIL, freeze
from weftline.model.survey import SurveyPart

MAX_ENTRIES = 32_000_000
"""Entries of all tables: 1,620 switches and 13,284 LIDs are 21.5 million."""
MAX_GROUP = 65_535
FIXED = frozenset(("static",))
"""States in which the static port alone counts."""
ADAPTIVE = frozenset(("free", "hbf", "bounded"))
"""States in which a packet may leave by any port of the group: by load, by hash, or by load within one flow."""

_SWITCH = re.compile(r"Switch\b.*?\b0x([0-9a-fA-F]{1,16})\b(.*)$")
_PRIVATE = re.compile(r".*\bPLFT\w*\s*[:=]\s*(\d{1,3})\b", re.IGNORECASE)
_TABLE = re.compile(rb"^(Groups|LFT) Definition:[^\n]*\n", re.MULTILINE)
_NO_ROW = re.compile(rb"\n[^0-9]")
_STATE = {word.encode(): 0 for word in ("Static", "STATIC")} | {word.encode(): 1 for word in ("Free", "HBF", "Bounded")}
_GUID = re.compile(rb"\b0x[0-9a-fA-F]{12,16}\b")
_LOG = re.compile(rb"Adaptive Routing is enabled on (\d{1,6}) switch")
_DASHES = re.compile(r"-{4,}\s*$")
_HINT_GROUP = "as '0   0   0   1,2,3,4': group, sub-group, weight and ports"
_HINT_ENTRY = "as '0x0014  1  Free  0': LID, static port, state and group"


@dataclass(slots=True)
class _Table:
    """One table in the making."""

    record: TableRecord
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    rows: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    """(LID, port, group or NIL, line) of entries that were read one by one."""
    blocks: list[I64] = field(default_factory=list[I64])
    """The same of entries that were read together."""

    def close(self) -> I64:
        """Return all rows in the order of the file."""
        single: I64 = np.array(self.rows, dtype=np.int64).reshape(-1, 4)
        rows = np.concatenate([*self.blocks, single])
        return rows[np.argsort(rows[:, 3], kind="stable")]


@dataclass(slots=True)
class _Reader:
    """The tables so far, and which part of one is being read."""

    log: ProblemLog
    tables: list[_Table] = field(default_factory=list[_Table])
    part: str = ""
    """``Groups`` or ``LFT`` inside such a table, else empty."""
    is_open: bool = False
    """Whether the dashes under the titles were passed."""
    numbered: int = 0
    entries: int = 0
    known: dict[int, dict[bytes, int]] = field(default_factory=dict[int, dict[bytes, int]])
    """Per base the numbers read so far: all tables have the same few."""

    def take(self, text: str, line: int) -> None:
        """Take one line, stripped."""
        if self.part and self.is_open:
            if text[:1].isdigit():
                if self.part == "Groups":
                    self.group(text, line)
                else:
                    self.entry(text, line)
                return
            self.part = ""
        if _DASHES.match(text):
            self.is_open = bool(self.part)
            return
        if text.startswith(("Groups Definition:", "LFT Definition:")):
            self.part, self.is_open = text.split(maxsplit=1)[0], False
            if not self.tables:
                self.bad(line, "this table belongs to no switch", "a line 'Switch 0x...' goes before it")
                self.part = ""
            return
        switch = _SWITCH.match(text) if text.startswith("Switch") else None
        if switch:
            self.part = ""
            self.tables.append(_Table(TableRecord(int(switch[1], 16), 0, switch[2].strip(" ():'\""), line)))
            return
        private = _PRIVATE.match(text) if self.tables else None
        if private:
            self.private(int(private[1]), line)

    def private(self, number: int, line: int) -> None:
        """Take the number of a table; a second one under one head begins another table of the same switch."""
        last = self.tables[-1].record
        if self.numbered == len(self.tables):
            self.tables.append(_Table(replace(last, private=number, line=line)))
        else:
            self.tables[-1].record = replace(last, private=number)
        self.numbered = len(self.tables)

    def group(self, text: str, line: int) -> None:
        """Take a row of groups; the sub-groups of a group add up, since a packet may take any."""
        words = text.split()
        ports = _ports(words[3]) if len(words) == 4 else () if len(words) == 3 else None
        if ports is None or not all(word.isdigit() for word in words[:3]) or int(words[0]) > MAX_GROUP:
            self.bad(line, f"{text[:60]!r} is no row of groups", _HINT_GROUP)
            return
        groups = self.tables[-1].groups
        groups[int(words[0])] = tuple(dict.fromkeys((*groups.get(int(words[0]), ()), *ports)))

    def entry(self, text: str, line: int) -> None:
        """Take a row of the table."""
        words = text.split()
        found = _entry(words, line)
        if found is None:
            self.bad(line, f"{text[:60]!r} is no entry of an adaptive table", _HINT_ENTRY)
            return
        if words[2].lower() not in FIXED | ADAPTIVE:
            message = f"state {words[2][:20]!r} is not known"
            hint = "the group counts, so that more paths are judged than may be taken"
            self.log.add("artifact.adaptive-state", message, hint, line)
        self.tables[-1].rows.append(found)
        self.entries += 1

    def bad(self, line: int, message: str, hint: str) -> None:
        """Note a line that cannot be read."""
        self.log.add("artifact.adaptive-line", message, hint, line)

    def block(self, data: bytes, begin: int, line: int) -> tuple[int, int]:
        """Take the rows of a table together where all are as they should be; returns where to read on, and its line.

        Two words per microsecond instead of two lines: a fabric has millions of entries.
        """
        stop = _NO_ROW.search(data, begin)
        end = stop.start() + 1 if stop else len(data)
        words = data[begin:end].split()
        count = data.count(b"\n", begin, end)
        if count * 4 != len(words) or not count or self.entries + count > MAX_ENTRIES:
            return begin, line
        states = np.array([_STATE.get(word, 2) for word in words[2::4]], dtype=np.int64)
        try:
            columns = [self.whole(words[at::4], base) for at, base in ((0, 16), (1, 10), (3, 10))]
        except ValueError:
            return begin, line
        lid, port, group = columns
        is_good = (states < 2) & (lid > 0) & (lid <= MAX_UNICAST) & (port >= 0) & (port <= NO_PORT)
        if not bool(np.all(is_good & (group >= 0) & (group <= MAX_GROUP))):
            return begin, line
        lines = np.arange(line, line + count)
        self.tables[-1].blocks.append(np.stack((lid, port, np.where(states == 1, group, NIL), lines), axis=1))
        self.entries += count
        return end, line + count

    def whole(self, words: list[bytes], base: int) -> I64:
        """Read whole numbers, each different word once."""
        known = self.known.setdefault(base, {})
        for word in set(words).difference(known):
            known[word] = int(word, base)
        return np.fromiter(map(known.__getitem__, words), dtype=np.int64, count=len(words))

    @property
    def is_hopeless(self) -> bool:
        """Whether reading on makes no sense."""
        return self.log.count("artifact.adaptive-line") > MAX_BROKEN or self.entries > MAX_ENTRIES


def _ports(text: str) -> tuple[int, ...] | None:
    """Read a list of ports such as ``1,2,3``."""
    words = [word for word in text.split(",") if word]
    if not all(word.isdigit() and len(word) <= 3 and int(word) < NO_PORT for word in words):
        return None
    return tuple(int(word) for word in words)


def _entry(words: list[str], line: int) -> tuple[int, int, int, int] | None:
    """Read the words of an entry: LID, port, group (NIL where the static port alone counts) and line."""
    if len(words) not in (3, 4) or not words[1].isdigit() or len(words[1]) > 3:
        return None
    try:
        lid, port, group = int(words[0], 16), int(words[1]), int(words[3]) if len(words) == 4 else NIL
    except ValueError:
        return None
    if not words[0].startswith("0x") or not 0 < lid <= MAX_UNICAST or port > NO_PORT or not NIL <= group <= MAX_GROUP:
        return None
    is_fixed = words[2].lower() in FIXED
    return None if group == NIL and not is_fixed else (lid, port, NIL if is_fixed else group, line)


def looks_like(head: bytes) -> bool:
    """Say whether the first bytes look like adaptive-routing tables."""
    return bool(_TABLE.search(head))


def note_unread(data: bytes, file: str) -> SurveyPart:
    """Say of a file of private or other adaptive tables, whose layout is not known, that nobody reads it.

    A file that names no switch says nothing, and stays without a word.
    """
    if not _GUID.search(data):
        return SurveyPart()
    message = "this file has tables of adaptive routing in a layout that is not known, so they are not read"
    hint = "give ibdiagnet2.far, written by ibdiagnet -r; until then adaptive routing is not judged"
    problem = Problem("artifact.adaptive-unread", message, hint, Place(file), "warning")
    return SurveyPart(problems=(problem,), skipped=(f"{file} has tables that are not read",))


def read_log(data: bytes, file: str) -> SurveyPart:
    """Read in ibdiagnet2.log on how many switches adaptive routing is on; nothing else of it is read."""
    del file
    counts = [int(match[1]) for match in _LOG.finditer(data)]
    return SurveyPart(is_adaptive=any(counts) if counts else None)


def parse(data: bytes, file: str) -> LftDump | tuple[Problem, ...]:
    """Read ibdiagnet2.far: per switch its groups of ports, and per LID the static port, the state and the group.

    An entry whose state is Free, HBF or Bounded has its group beside the static port: packets may take any of both. A
    state that is not known is a problem, and counts as such too. Returns problems alone when there is no table.
    """
    if len(data) > 2 * MAX_BYTES:
        message = f"the file has {len(data):,} bytes; at most {2 * MAX_BYTES:,} are read"
        return (Problem("artifact.dump-too-large", message, "give one subnet", Place(file)),)
    zero = data.find(b"\0")
    if zero >= 0:
        place = Place(file, data.count(b"\n", 0, zero) + 1, zero - data.rfind(b"\n", 0, zero))
        return (Problem("artifact.dump-binary", "a zero byte does not occur in text: this file is binary", "", place),)
    reader = _Reader(ProblemLog(file))
    begin, line = 0, 1
    while begin < len(data):
        if reader.part == "LFT" and reader.is_open:
            at = begin
            begin, line = reader.block(data, begin, line)
            if at != begin:
                continue
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        reader.take(data[begin : min(end, begin + 4_000)].decode("utf-8", "replace").strip(), line)
        begin, line = end + 1, line + 1
        if reader.is_hopeless:
            message = f"reading stopped at line {line:,}: too many lines are no rows of adaptive tables"
            reader.log.add("artifact.dump-empty", message, "give ibdiagnet2.far as ibdiagnet -r writes it", line)
            return reader.log.close()
    if not any(table.rows or table.blocks or table.groups for table in reader.tables):
        if not reader.log.has_error:
            message = "there is no adaptive-routing table in this file"
            reader.log.add("artifact.dump-empty", message, "give ibdiagnet2.far as ibdiagnet -r writes it", 1)
        return reader.log.close()
    return _finish(reader, data, file)


def _finish(reader: _Reader, data: bytes, file: str) -> LftDump:
    """Make the columns, and report tables that are cut off and groups that are not defined."""
    parts = [table.close() for table in reader.tables]
    for table, part in zip(reader.tables, parts, strict=True):
        name = table.record.name or hex(table.record.guid)
        used, first = np.unique(part[:, 2], return_index=True)
        for group, at in zip(used.tolist(), first.tolist(), strict=True):
            if group == NIL or group in table.groups:
                continue
            line = int(part[at, 3])
            message = f"entries of {name} name group {group}, which is not defined, so their paths are not known"
            reader.log.add("artifact.adaptive-group", message, "take the dump again", line)
        if not len(part):
            message = f"the adaptive table of {name} has groups and no entries"
            reader.log.add("artifact.dump-truncated", message, "the dump is cut off; take it again", table.record.line)
    rows, sizes = np.concatenate(parts), [len(part) for part in parts]
    table_ptr: I64 = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    columns = rows[:, 0].astype(np.uint16), rows[:, 1].astype(np.uint8), rows[:, 3].astype(np.int32)
    group = rows[:, 2].astype(np.int32)
    freeze(table_ptr, *columns, group)
    digest = hashlib.sha256(data).hexdigest()
    records = tuple(table.record for table in reader.tables)
    groups = tuple(table.groups for table in reader.tables)
    return LftDump(file, digest, records, table_ptr, *columns, reader.log.close(), group, groups)
