"""OpenSM's log: what it says of tables, partitions and the state of the subnet, from a place in it onwards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place
from weftline.kernels.column import NIL
from weftline.model.survey import LogFact, SurveyPart

LogKind = Literal["given-up", "key-lost", "enforcement-cleared"]

EventKind = Literal["link", "tables", "up", "given-up", "master", "standby", "cut-off", "returned"]
MAX_LISTED = 20
MAX_LINE = 300
UP = b"SUBNET UP"
TABLES = b"file tables configured on all switches"
GIVEN_UP = b"No routing engine able to successfully configure switch tables"
_FALSE_ALARM = b"Failed to setup routing engine 'no_fallback'"
"""OpenSM knows no such engine and says so; the word does its work all the same."""
_BAD = re.compile(
    rb"^.*(?:\bERR [0-9A-Fa-f]{4}\b|PARSE ERROR|Partition configuration in error|in error; retrying|Pkey table is full|"
    rb"No routing engine able|Failed to setup routing engine|fall(?:ing)? back|FATAL).*$",
    re.MULTILINE,
)
_PROGRAMMED = re.compile(rb"-> osm_ucast_mgr_process: (\S{1,40}) tables configured on all switches")
_SECRET = re.compile(r"(?i)\b((?:m|sm|sa|am|cc|vs)_?key)\W{0,5}0x[0-9a-f]+")
"""A key, which louder logs may hold."""
_HEAD = re.compile(r"^\w{3} \d{2} \d{2}:\d{2}:\d{2} \d+ \[[0-9A-F]+\] 0x[0-9a-f]+ -> ")


_EVENT = re.compile(
    rb"^\w{3} \d{2} (\d{2}):(\d{2}):(\d{2}) (\d{1,6}) \[[0-9A-F]+\] 0x[0-9a-f]+ -> (?:[^\n]*?)"
    rb"(num:128 [^\n]*from LID:(\d{1,5})|file tables configured on all switches|SUBNET UP"
    rb"|No routing engine able to successfully configure switch tables|Entering (?:MASTER|STANDBY) state"
    rb"|SM port is (?:down|up))",
    re.MULTILINE,
)
_KINDS: dict[bytes, EventKind] = {
    TABLES: "tables",
    UP: "up",
    GIVEN_UP: "given-up",
    b"Entering MASTER state": "master",
    b"Entering STANDBY state": "standby",
    b"SM port is down": "cut-off",
    b"SM port is up": "returned",
}


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One thing that happened: a switch told of a change at its links, or a sweep came to a point.

    ``cut-off`` and ``returned`` are of the manager's own port.
    """

    kind: EventKind
    second: float
    """Of the day, in local time."""
    lid: int = 0
    """Of the switch that tells of a change."""


def list_events(data: bytes) -> tuple[LogEvent, ...]:
    """List what happened, from whole lines."""
    found: list[LogEvent] = []
    for match in _EVENT.finditer(data):
        hour, minute, second, micro = (int(match[at]) for at in range(1, 5))
        time = 3600 * hour + 60 * minute + second + micro / 1e6
        kind = "link" if match[6] else _KINDS[match[5]]
        found.append(LogEvent(kind, time, int(match[6] or 0)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What a log says."""

    is_up: bool
    has_tables: bool
    """Whether the tables of the file were programmed, and not those of an engine of its own."""
    has_given_up: bool
    errors: tuple[str, ...]
    """The first lines that report an error, without their time."""
    error_count: int
    programmed: str = ""
    """The engine whose tables were programmed last; empty where there is none."""
    reason: str = ""
    """The first and the last error before any tables were programmed: why an engine was given up."""


def parse(data: bytes) -> LogFacts:
    """Read a log, or the part of it that was written since some moment."""
    found = [match for match in _BAD.finditer(data) if _FALSE_ALARM not in match[0]]
    shown = tuple(_clean(match[0]) for match in found[:MAX_LISTED])
    programmed = list(_PROGRAMMED.finditer(data))
    before = [match for match in found if not programmed or match.start() < programmed[0].start()]
    return LogFacts(
        is_up=UP in data,
        has_tables=TABLES in data,
        has_given_up=GIVEN_UP in data,
        errors=shown,
        error_count=len(found),
        programmed=programmed[-1][1].decode("utf-8", "replace") if programmed else "",
        reason="; ".join(dict.fromkeys(_clean(match[0]) for match in before[:1] + before[-1:])),
    )


MAX_FACTS = 1_000
_STAMP = re.compile(rb"^\w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d+ \[[0-9A-F]+\] 0x[0-9a-f]+ -> ", re.MULTILINE)
_PORT = rb"[^\n]{0,300}?(?:node|switch) 0x([0-9a-f]{16}) port (\d{1,3})"
# A line of the log is short; without bounds one of many megabytes would take hours.
_FACTS: tuple[tuple[LogKind, re.Pattern[bytes]], ...] = (
    (
        "given-up",
        re.compile(rb"^[^\n]{0,300}?Partition configuration in error; retrying", re.MULTILINE),
    ),
    ("key-lost", re.compile(rb"^[^\n]{0,300}?ERR 0512:" + _PORT, re.MULTILINE)),
    ("enforcement-cleared", re.compile(rb"^[^\n]{0,300}?ERR 050[78]: Not enough pkey entries" + _PORT, re.MULTILINE)),
)


def looks_like(head: bytes) -> bool:
    """Tell a log of OpenSM by the stamps of its lines."""
    return _STAMP.search(head) is not None


def parse_part(data: bytes, file: str) -> SurveyPart:
    """Read what the last sweep said of partitions: what an earlier one said may have been mended since."""
    last = data.rfind(UP)
    begin = max(data.rfind(UP, 0, max(last, 0)), 0)
    line = data.count(b"\n", 0, begin) + 1
    facts: list[LogFact] = []
    for kind, pattern in _FACTS:
        for match in pattern.finditer(data, begin):
            if len(facts) >= MAX_FACTS:
                break
            groups = match.groups()
            where = Place(file, line + data.count(b"\n", begin, match.start()), 1)
            node, number = (int(groups[0], 16), int(groups[1])) if groups else (0, NIL)
            facts.append(LogFact(kind, where, node, number, _clean(match[0])))
    return SurveyPart(log=tuple(facts))


def _clean(line: bytes) -> str:
    """Return a line without its time, cut to a length that can be shown."""
    return _SECRET.sub(r"\1 (hidden)", _HEAD.sub("", line.decode("utf-8", "replace")))[:MAX_LINE].strip()
