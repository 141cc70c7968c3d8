"""SONiC's ``config_db.json``: tables of rows of text fields, and the names of its interfaces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from weftline.formats.lines import Reading

Row: TypeAlias = dict[str, str]
Tables: TypeAlias = dict[str, dict[str, Row]]
WrittenRow: TypeAlias = Mapping[str, str | Sequence[str]]
"""Some fields hold a list of texts (YANG's leaf-list)."""
WrittenTables: TypeAlias = Mapping[str, Mapping[str, WrittenRow]]

MAX_BYTES = 64 * 1024 * 1024
LANES_PER_CAGE = 8
"""Interfaces are numbered by the first lane of their cage, as if each cage had eight."""


class _TwiceError(ValueError):
    """A key stands twice in one object."""


def interface_name(number: int, ports_per_cage: int) -> str:
    """Name the interface of a port: ``Ethernet`` and its first lane, counted from 0."""
    cage, place = divmod(number - 1, ports_per_cage)
    return f"Ethernet{cage * LANES_PER_CAGE + place * (LANES_PER_CAGE // ports_per_cage)}"


def alias_name(number: int, ports_per_cage: int) -> str:
    """Name a port as printed on the switch: its cage from 1, and its letter there where a cage has several."""
    cage, place = divmod(number - 1, ports_per_cage)
    return f"etp{cage + 1}{chr(ord('a') + place) if ports_per_cage > 1 else ''}"


def write_tables(tables: WrittenTables) -> bytes:
    """Write tables in the order given, empty ones left out."""
    return (json.dumps({name: rows for name, rows in tables.items() if rows}, indent=4) + "\n").encode()


def read_tables(content: bytes, reading: Reading) -> Tables:
    """Read strict JSON of two levels of objects with text below; whatever else it holds is a problem with its path."""
    try:
        data = _load(content)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        words = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        reading.report("artifact.not-json", f"file is no strict JSON: {words[:200]}", reading.place(line))
        return {}
    tables: Tables = {}
    for name, rows in _objects(data, "", reading):
        tables[name] = {}
        for key, row in _objects(rows, name, reading):
            tables[name][key] = {}
            for field, value in _objects(row, f"{name}.{key}", reading):
                text = _read_text(value)
                if text is not None:
                    tables[name][key][field] = text
                else:
                    where = reading.place(path=f"{name}.{key}.{field}")
                    reading.report("artifact.wrong-type", f"{str(value)[:40]!r} is no text", where)
    return tables


def _read_text(value: object) -> str | None:
    """Take a text, or a list of texts as one with commas, as redis holds it; None where it is neither."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return ",".join(str(item) for item in items) if all(isinstance(item, str) for item in items) else None
    return value if isinstance(value, str) else None


def _load(content: bytes) -> object:
    if len(content) > MAX_BYTES:
        raise ValueError(f"file is larger than {MAX_BYTES:,} bytes")
    return json.loads(content.decode("utf-8"), object_pairs_hook=_refuse_twice, parse_constant=_refuse)


def _objects(value: object, path: str, reading: Reading) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).items())
    reading.report("artifact.wrong-type", f"{str(value)[:40]!r} is no object", reading.place(path=path))
    return []


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(f"key {next(key for key in keys if keys.count(key) > 1)[:60]!r} stands twice")
    return found


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no JSON value")
