"""One edit of one rendered file, as a person makes it by mistake: a row, a field, a line or a cell."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

Change = Callable[[str], str]
Tables = dict[str, dict[str, Any]]
CONFIG = "config_db.json"
ROUTING = "frr.conf"
NICS = "nics.conf"


@dataclass(frozen=True)
class Fault:
    """One edit, and what lint must say of it."""

    name: str
    device: str
    file: str
    change: Change
    rule: str
    """The rule that must fire."""
    names: str
    """What the finding must name: the table, the field, the setting or the port."""
    severity: str = "error"
    """The least severity."""
    why: str = ""
    """Why a notice is enough, or why nothing is found."""

    @property
    def place(self) -> str:
        """The file in the rendered folder."""
        kind = "hosts" if self.device.startswith("host") else "switches"
        return f"{kind}/{self.device}/{self.file}"


def put(table: str, key: str, field: str, value: str | None) -> Change:
    """Set one field of one row, or take it away."""

    def change(tables: Tables) -> None:
        row = tables[table][key]
        assert row.get(field) != value
        if value is None:
            del row[field]
        else:
            row[field] = value

    return _in_tables(change)


def drop(table: str, *keys: str) -> Change:
    """Take away rows; a whole table where none is named."""

    def change(tables: Tables) -> None:
        if not keys:
            del tables[table]
        for key in keys:
            del tables[table][key]

    return _in_tables(change)


def move(table: str, key: str, new: str) -> Change:
    """Give a row another key."""

    def change(tables: Tables) -> None:
        rows = tables[table]
        rows[new] = rows.pop(key)

    return _in_tables(change)


def add(table: str, key: str, **fields: str) -> Change:
    """Add a row."""

    def change(tables: Tables) -> None:
        assert key not in tables.get(table, {})
        tables.setdefault(table, {})[key] = fields

    return _in_tables(change)


def swap(old: str, new: str) -> Change:
    """Write something else in a text, once."""

    def change(text: str) -> str:
        assert old in text, old
        return text.replace(old, new, 1)

    return change


def cell(column: str, value: str) -> Change:
    """Change one cell of the first NIC."""

    def change(text: str) -> str:
        lines = text.splitlines()
        head = next(place for place, line in enumerate(lines) if line.startswith("nic "))
        words = lines[head + 1].split()
        place = lines[head].split().index(column)
        assert words[place] != value
        words[place] = value
        lines[head + 1] = "  ".join(words)
        return "\n".join(lines) + "\n"

    return change


def _in_tables(change: Callable[[Tables], None]) -> Change:
    def act(text: str) -> str:
        tables = cast("Tables", json.loads(text))
        change(tables)
        return json.dumps(tables, indent=4) + "\n"

    return act
