"""SONiC's ``config_db.json``: tables of rows of text fields, and the names of its interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as _quote
from typing import TypeAlias

from weftline.formats.config_db_read import read_config_db
from weftline.formats.lines import Reading

Row: TypeAlias = dict[str, str]
Tables: TypeAlias = dict[str, dict[str, Row]]
WrittenRow: TypeAlias = Mapping[str, str | Sequence[str]]
"""Some fields hold a list of texts (YANG's leaf-list)."""
WrittenTables: TypeAlias = Mapping[str, Mapping[str, WrittenRow]]

LANES_PER_CAGE = 8
"""Interfaces are numbered by the first lane of their cage, as if each cage had eight."""


def interface_name(number: int, ports_per_cage: int) -> str:
    """Name the interface of a port: ``Ethernet`` and its first lane, counted from 0."""
    cage, place = divmod(number - 1, ports_per_cage)
    return f"Ethernet{cage * LANES_PER_CAGE + place * (LANES_PER_CAGE // ports_per_cage)}"


def alias_name(number: int, ports_per_cage: int) -> str:
    """Name a port as printed on the switch: its cage from 1, and its letter there where a cage has several."""
    cage, place = divmod(number - 1, ports_per_cage)
    return f"etp{cage + 1}{chr(ord('a') + place) if ports_per_cage > 1 else ''}"


def write_tables(tables: WrittenTables) -> bytes:
    """Write tables in the order given, empty ones left out, as ``json.dumps`` does with an indent of four.

    With an indent that one works in Python, item by item; rows of texts need no more than their texts quoted.
    """
    written = [f"{_quote(name)}: {_write_rows(rows)}" for name, rows in tables.items() if rows]
    return f"{_wrap('{', written, '}', 4)}\n".encode()


def _write_rows(rows: Mapping[str, WrittenRow]) -> str:
    return _wrap("{", [f"{_quote(key)}: {_write_row(row)}" for key, row in rows.items()], "}", 8)


def _write_row(row: WrittenRow) -> str:
    fields = [
        f"{_quote(name)}: {_quote(value) if isinstance(value, str) else _wrap('[', map(_quote, value), ']', 16)}"
        for name, value in row.items()
    ]
    return _wrap("{", fields, "}", 12)


def _wrap(first: str, items: Iterable[str], last: str, indent: int) -> str:
    """Put items on lines of their own between two brackets; without items these stand together."""
    inside = f",\n{' ' * indent}".join(items)
    return f"{first}\n{' ' * indent}{inside}\n{' ' * (indent - 4)}{last}" if inside else f"{first}{last}"


def read_tables(content: bytes, reading: Reading) -> Tables:
    """Read the tables of a file that stands for one switch; a list is text with commas, as redis holds it.

    It is read as any file that somebody wrote: what SONiC would refuse is kept as far as it goes, and a problem.
    """
    found = read_config_db(content, reading.file)
    reading.problems.extend(found.problems)
    tables: Tables = {}
    for scope in found.scopes:
        for name, rows in scope.tables.items():
            held = tables.setdefault(name, {})
            for key, row in rows.items():
                held[key] = {
                    field: ",".join(value) if isinstance(value, tuple) else value for field, value in row.items()
                }
    return tables
