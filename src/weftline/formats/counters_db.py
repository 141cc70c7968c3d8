"""SONiC's COUNTERS_DB as a dump has it: what each port, queue, group and pool counted, by the names of SAI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from weftline.errors import Problem
from weftline.formats.config_db_keys import read_number
from weftline.formats.config_db_read import load_document
from weftline.formats.json_lines import JsonLines
from weftline.formats.text import ProblemLog

Counter = Literal["port", "queue", "group", "pool"]
NAMES: dict[str, Counter] = {
    "COUNTERS_PORT_NAME_MAP": "port",
    "COUNTERS_QUEUE_NAME_MAP": "queue",
    "COUNTERS_PG_NAME_MAP": "group",
    "COUNTERS_BUFFER_POOL_NAME_MAP": "pool",
}
"""Tables that give the objects their names; of queues and groups with their number, as ``Ethernet0:3``."""
TYPES = "COUNTERS_QUEUE_TYPE_MAP"
COUNTED = ("COUNTERS", "USER_WATERMARKS", "PERSISTENT_WATERMARKS")
"""Tables of counts; of two watermarks the larger one counts."""
MAX_OBJECTS = 200_000


@dataclass(frozen=True, slots=True)
class Counted:
    """One object and its counts."""

    kind: Counter
    name: str
    number: int | None
    """Of a queue or group."""
    counts: Mapping[str, tuple[int, int]]
    """Value and line of each count, by SAI's name."""


@dataclass(frozen=True, slots=True)
class CounterDump:
    """What one dump holds."""

    file: str
    objects: tuple[Counted, ...]
    problems: tuple[Problem, ...]


def read_counters(content: bytes, file: str) -> CounterDump:
    """Read the counts of everything that has a name; multicast queues are left out: nothing lossless uses them."""
    log = ProblemLog(file)
    document = load_document(content, log)
    if document is None:
        return CounterDump(file, (), log.close())
    data = _get_fields(document.data)
    lines = JsonLines(document.text)
    kinds = _get_fields(data.get(TYPES))
    objects: list[Counted] = []
    for table, kind in NAMES.items():
        for name, oid in list(_get_fields(data.get(table)).items())[:MAX_OBJECTS]:
            if kind == "queue" and not str(kinds.get(str(oid), "UNICAST")).endswith("UNICAST"):
                continue
            port, number = _split(name) if kind in {"queue", "group"} else (name, None)
            counts = _gather(data, str(oid), lines)
            if counts:
                objects.append(Counted(kind, port, number, counts))
    if not objects:
        log.add("artifact.not-config-db", "dump of COUNTERS_DB names no port that counted anything", _HINT, 1)
    return CounterDump(file, tuple(objects), log.close())


_HINT = "dump the whole database: sonic-db-dump -n COUNTERS_DB -y"


def _split(name: str) -> tuple[str, int | None]:
    port, _, text = name.rpartition(":")
    return port, read_number(text)


def _get_fields(row: object) -> dict[str, Any]:
    """Return the fields of a row, also where the dump wraps it with its type."""
    if not isinstance(row, dict):
        return {}
    held = cast("dict[str, Any]", row)
    inner = held.get("value")
    return cast("dict[str, Any]", inner) if held.get("type") == "hash" and isinstance(inner, dict) else held


def _gather(data: dict[str, Any], oid: str, lines: JsonLines) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for table in COUNTED:
        key = f"{table}:{oid}"
        for name, text in _get_fields(data.get(key)).items():
            value = read_number(text) if isinstance(text, str) else None
            if value is None or value < 0 or (name in found and found[name][0] >= value):
                continue
            found[name] = value, lines.find((key, name)) or lines.find((key, "value", name))
    return found
