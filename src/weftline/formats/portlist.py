"""The port list of ``ibnetdiscover -p``, one line per port: bytes to neutral records."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from weftline.errors import Problem
from weftline.formats.ibnetdiscover import MAX_BYTES, MAX_DESCRIPTION, MAX_NODES, MAX_PORT
from weftline.formats.lid import MAX_LID
from weftline.formats.speed import LANE_GBPS, WIDTHS
from weftline.formats.text import MAX_BROKEN, MAX_LINE, ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery, NodeRecord, NodeType, PortRecord

_END = r"(CA|SW|RT)\s+(\d{1,9})\s+(\d{1,9})\s+0x([0-9a-fA-F]{1,16})"
_START = re.compile(r"(?:CA|SW|RT)\s")
_FIRST = re.compile(_END + r"\s*(?:(\d{1,3}|\?+)x\s*(\S+))?\s*")
_SECOND = re.compile(r"-\s*" + _END + r"\s*(.*)$")
_STEPS = (
    (re.compile(r"(?:CA|SW|RT)\s+"), "CA, SW or RT"),
    (re.compile(r"\d{1,9}\s+"), "a LID"),
    (re.compile(r"\d{1,9}\s+"), "a port number"),
    (re.compile(r"0x[0-9a-fA-F]{1,16}\s*"), "a GUID"),
    (re.compile(r"(?:(?:\d{1,3}|\?+)x\s*\S+)?\s*-\s*"), "a width and speed, and a dash before the peer"),
    (re.compile(r"(?:CA|SW|RT)\s+"), "CA, SW or RT of the peer"),
    (re.compile(r"\d{1,9}\s+"), "the LID of the peer"),
    (re.compile(r"\d{1,9}\s+"), "the port number of the peer"),
)
_KINDS: dict[str, NodeType] = {"CA": "ca", "SW": "switch", "RT": "router"}
_LETTERS = {"CA": "H", "SW": "S", "RT": "R"}


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a line."""

    kind: str
    lid: int
    number: int
    guid: int
    description: str


@dataclass(frozen=True, slots=True)
class _Row:
    """One line."""

    own: _End
    peer: _End | None
    width: int
    speed: str
    line: int
    column: int


@dataclass(slots=True)
class _Owner:
    """A node while its rows are gathered."""

    first: _Row
    ports: dict[int, PortRecord] = field(default_factory=dict[int, PortRecord])


def looks_like(data: bytes) -> bool:
    """Say whether the first lines look like this format."""
    head = data[:65_536].decode("utf-8", "replace").splitlines()[:200]
    return any(_FIRST.match(line.strip()) for line in head)


def parse(data: bytes, file: str) -> Discovery | tuple[Problem, ...]:
    """Read a port list; lines that cannot be read become problems with their place, the rest is returned.

    A port list names adapters by the GUID of each port. Ports of one description whose GUIDs differ by their numbers
    are taken as one adapter. Limits as for the plain form. Returns problems alone when there is no node.
    """
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return (lines,)
    log = ProblemLog(file)
    rows, talk = _read_rows(log, lines)
    for line, text in talk:
        message = f"{text[:60]!r} is not part of the dump and is left out"
        log.add("artifact.terminal-text", message, "", line, severity="note")
    if not rows:
        if not log.has_error:
            hint = "give the output of ibnetdiscover, plain or with -p"
            log.add("artifact.dump-empty", "there is no port in this file", hint, 1)
        return log.close()
    nodes = _gather(log, rows)
    return Discovery("portlist", file, hashlib.sha256(data).hexdigest(), nodes, log.close())


def _read_rows(log: ProblemLog, lines: list[str]) -> tuple[list[_Row], list[tuple[int, str]]]:
    """Read all lines; returns the rows, and the lines of a terminal before the first and after the last."""
    rows: list[_Row] = []
    guids: set[int] = set()
    prologue: list[tuple[int, str]] = []
    talk: list[tuple[int, str]] = []
    for line, raw in enumerate(lines, 1):
        text = raw.strip()
        if not text or text[0] == "#":
            continue
        if not _START.match(text):
            if len(talk) <= MAX_BROKEN:
                talk.append((line, text))
            continue
        if rows:
            _refuse(log, talk)
        else:
            prologue.extend(talk)
        talk = []
        row = _read_row(log, line, len(raw) - len(raw.lstrip()) + 1, text)
        if row is not None:
            rows.append(row)
            guids.add(row.own.guid)
        if len(guids) > MAX_NODES:
            log.add("artifact.dump-too-large", f"more than {MAX_NODES:,} nodes", "give one subnet", line)
            return [], []
        if log.count("artifact.dump-line") > MAX_BROKEN:
            message = f"reading stopped at line {line:,}: too many lines are no part of a dump"
            log.add("artifact.dump-empty", message, "give the output of ibnetdiscover, plain or with -p", line)
            return [], []
    return rows, [*prologue, *talk]


def _refuse(log: ProblemLog, talk: list[tuple[int, str]]) -> None:
    """Refuse odd lines in the middle: only before the first record and after the last may a terminal talk."""
    for line, text in talk:
        hint = "as SW 1719 10 0x7cfe9003009ce5b0 4x EDR - CA 134 1 0x7cfe9003003b4bde ( 'leaf' - 'host HCA-1' )"
        log.add("artifact.dump-line", f"{text[:60]!r} is no line of a port list", hint, line)


def _read_row(log: ProblemLog, line: int, column: int, text: str) -> _Row | None:
    """Read one line, or say where it breaks."""
    if len(text) > MAX_LINE:
        log.add("artifact.dump-line", f"a line has {len(text):,} characters; at most {MAX_LINE:,} are read", "", line)
        return None
    first = _FIRST.match(text)
    rest = text[first.end() :] if first else ""
    second = _SECOND.match(rest)
    if first is None or (rest.startswith("-") and second is None):
        at, wanted = _first_fault(text)
        message = f"{text[:60]!r} is no port: {wanted} is expected here"
        log.add("artifact.dump-line", message, "", line, column + at)
        return None
    words = second[5] if second else rest
    own_words, _, peer_words = words.strip("() \t").removeprefix("'").removesuffix("'").partition("' - '")
    own = _End(first[1], int(first[2]), int(first[3]), int(first[4], 16), own_words.strip()[:MAX_DESCRIPTION])
    peer = (
        _End(second[1], int(second[2]), int(second[3]), int(second[4], 16), peer_words.strip()[:MAX_DESCRIPTION])
        if second
        else None
    )
    for end in (own, peer):
        if end is not None and not (1 <= end.number <= MAX_PORT and end.lid <= MAX_LID):
            message = f"port {end.number} at LID {end.lid} cannot be: ports are 1 to {MAX_PORT}, LIDs 0 to {MAX_LID}"
            log.add("artifact.port-range", message, "", line, column)
            return None
    width = int(first[5]) if first[5] and first[5].isdigit() and int(first[5]) in WIDTHS else 0
    speed = first[6] if first[6] in LANE_GBPS else ""
    return _Row(own, peer, width, speed, line, column)


def _first_fault(text: str) -> tuple[int, str]:
    """Say how far a broken line can be read, and what was expected there."""
    at = 0
    for pattern, wanted in _STEPS:
        match = pattern.match(text, at)
        if match is None:
            return at, wanted
        at = match.end()
    return at, "the GUID of the peer"


def _gather(log: ProblemLog, rows: list[_Row]) -> tuple[NodeRecord, ...]:
    """Make nodes of rows."""
    base = _adapter_guids(rows)
    counts: dict[str, int] = {}
    owners: dict[str, _Owner] = {}
    for row in rows:
        for end in (row.own, row.peer):
            if end is not None:
                key = _key(base, end)
                counts[key] = max(counts.get(key, 0), end.number)
        key = _key(base, row.own)
        owner = owners.setdefault(key, _Owner(row))
        number = row.own.number
        if number in owner.ports:
            message = f"port {number} of {row.own.description or key} stands on line {owner.ports[number].line} already"
            log.add("artifact.duplicate-port", message, "", row.line, row.column)
            continue
        peer = row.peer
        lid = row.own.lid if row.own.kind != "SW" else NIL
        owner.ports[number] = PortRecord(
            number,
            _key(base, peer) if peer else "",
            peer.number if peer else 0,
            row.own.guid,
            peer.guid if peer else 0,
            peer.description if peer else "",
            row.width,
            row.speed,
            lid,
            0,
            row.line,
            row.column,
        )
    return tuple(_node(base, key, counts[key], owner) for key, owner in owners.items())


def _node(base: dict[tuple[str, int, int], int], key: str, count: int, owner: _Owner) -> NodeRecord:
    """Make one node."""
    end = owner.first.own
    guid = base.get((end.kind, end.guid, end.number), end.guid)
    lid = end.lid if end.kind == "SW" else NIL
    return NodeRecord(
        _KINDS[end.kind], key, count, tuple(owner.ports.values()), guid, 0, 0, end.description, lid, 0, owner.first.line
    )


def _key(base: dict[tuple[str, int, int], int], end: _End) -> str:
    """Name the node of an end."""
    return f"{_LETTERS[end.kind]}-{base.get((end.kind, end.guid, end.number), end.guid):016x}"


def _adapter_guids(rows: list[_Row]) -> dict[tuple[str, int, int], int]:
    """Find adapters of several ports: one description, and GUIDs that are one number plus the port's."""
    groups: dict[tuple[int, str], dict[int, _End]] = {}
    for row in rows:
        for end in (row.own, row.peer):
            if end is not None and end.kind != "SW":
                groups.setdefault((end.guid - end.number, end.description), {})[end.number] = end
    found: dict[tuple[str, int, int], int] = {}
    for (guid, _), ends in groups.items():
        if len(ends) > 1 and guid > 0:
            for end in ends.values():
                found[(end.kind, end.guid, end.number)] = guid
    return found
