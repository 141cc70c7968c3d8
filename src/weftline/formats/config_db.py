"""SONiC's ``config_db.json``: tables of rows of text fields, and the names of its interfaces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
    """Write tables in the order given, empty ones left out."""
    return (json.dumps({name: rows for name, rows in tables.items() if rows}, indent=4) + "\n").encode()


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
