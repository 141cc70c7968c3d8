"""The tables of one switch while they are being read: rows of one or several files, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from weftline.errors import Place, Problem, Severity
from weftline.formats.config_db_keys import QueueKey, read_number, read_queue_key, read_references
from weftline.formats.config_db_place import RowPlace
from weftline.formats.config_db_read import ConfigDb, Scope, Value
from weftline.formats.text import ProblemLog
from weftline.model.said import Said

T = TypeVar("T")
SHOWN = 40
NO_ROW = "NULL"
"""Name that stands for no row: a buffer that the device computes by itself."""


@dataclass(frozen=True, slots=True)
class Held:
    """One row, and the file that it stands in."""

    table: str
    key: str
    fields: dict[str, Value]
    db: ConfigDb
    scope: Scope

    def place(self, name: str = "") -> Place:
        """Say where the row or one of its fields stands."""
        return RowPlace.of(self.db.file, self.db.lines, self.scope.name, (self.table, self.key, name))

    def text(self, name: str) -> str | None:
        """Return a field as text, a list joined by commas; None where the row has none."""
        value = self.fields.get(name)
        return ",".join(value) if isinstance(value, tuple) else value

    def say(self, name: str) -> Said[str] | None:
        """Return a field as text with its place; None where it is absent or empty."""
        text = self.text(name)
        return Said(text.strip(), self.place(name)) if text and text.strip() else None

    def items(self, name: str) -> tuple[str, ...]:
        """Return a list field, whether it is written as a list or with commas."""
        value = self.fields.get(name, ())
        pieces = value.split(",") if isinstance(value, str) else value
        return tuple(piece.strip() for piece in pieces if piece.strip())


@dataclass
class Switch:
    """One switch: its tables out of all files, and what was wrong with them."""

    log: ProblemLog
    tables: dict[str, dict[str, Held]] = field(default_factory=dict[str, dict[str, Held]])
    is_full: bool = False
    """Whether the files are the whole configuration, so that what is absent is not configured."""
    is_excerpt: bool = False
    """Whether the files only add to a configuration, so that any row may stand in another file."""
    used: set[str] = field(default_factory=set[str])
    """Tables that were asked for."""
    followed: dict[tuple[str, str], Held] = field(default_factory=dict[tuple[str, str], "Held"])
    """Rows that references lead to, by table and text; only those that nothing is wrong with."""

    def rows(self, table: str) -> dict[str, Held]:
        """Rows of a table; none where it is absent."""
        self.used.add(table)
        return self.tables.get(table, {})

    def row(self, table: str, key: str) -> Held | None:
        """One row of a table."""
        return self.rows(table).get(key)

    def blame(self, code: str, message: str, where: Place, hint: str = "", severity: Severity = "error") -> None:
        """Keep a problem."""
        self.log.keep(Problem(code, message, hint, where, severity))

    def number(self, row: Held, name: str, low: int, high: int) -> Said[int] | None:
        """Read a number; one out of bounds is kept and blamed, other text is only blamed."""
        text = row.text(name)
        if text is None:
            return None
        value = read_number(text)
        if value is None or not low <= value <= high:
            message = f"{text[:SHOWN]!r} is no number from {low:,} to {high:,}"
            self.blame("artifact.out-of-range", message, row.place(name))
        return None if value is None else Said(value, row.place(name))

    def choice(self, row: Held, name: str, meanings: dict[str, T]) -> Said[T] | None:
        """Read one of several words; another one is blamed, and says nothing."""
        text = row.text(name)
        if text is None:
            return None
        if text.strip() not in meanings:
            message = f"{name} is {text[:SHOWN]!r}, not one of {', '.join(meanings)}"
            self.blame("artifact.out-of-range", message, row.place(name))
            return None
        return Said(meanings[text.strip()], row.place(name))

    def follow(self, row: Held, name: str, table: str) -> tuple[Said[str] | None, Held | None]:
        """Follow a reference: the name that it gives, and the row that it leads to, if there is one."""
        text = row.text(name)
        if text is None:
            return None, None
        known = self.followed.get((table, text))
        if known is not None:
            return Said(known.key, row.place(name)), known
        found = read_references(text)
        if not found:
            return None, None
        where = row.place(name)
        if found[0].table not in {"", table}:
            message = f"{name} refers to table {found[0].table}, not to {table}"
            self.blame("artifact.dangling", message, where)
        said = Said(found[0].name, where)
        target = self.row(table, said.value)
        if target is None and said.value != NO_ROW:
            self.blame_absent(table, said.value, where)
        if target is not None and found[0].table in {"", table}:
            self.followed[table, text] = target
        return said, target

    def target(self, row: Held, name: str, table: str) -> Held | None:
        """Follow a reference whose name and place nobody needs."""
        known = self.followed.get((table, row.text(name) or ""))
        return known or self.follow(row, name, table)[1]

    def blame_absent(self, table: str, name: str, where: Place) -> None:
        """Say that a row is missing; in a part of a configuration its table may stand in another part."""
        if self.knows(table):
            self.blame("artifact.dangling", f"there is no {table} {name[:SHOWN]!r}", where)
        else:
            message = f"{table} {name[:SHOWN]!r} is in none of the files given, which are a part of a configuration"
            self.blame("artifact.dangling", message, where, "give the whole configuration", "note")

    def knows(self, table: str) -> bool:
        """Whether a row of a table that is not here is nowhere."""
        return self.is_full or (table in self.tables and not self.is_excerpt)

    def queue_rows(self, table: str) -> Iterator[tuple[QueueKey, Held]]:
        """List the rows of queues or groups with what their keys say; a key of another form is blamed."""
        for key, row in self.rows(table).items():
            found = read_queue_key(key)
            if found is None:
                message = f"key {key[:SHOWN]!r} names no port and no span of numbers"
                self.blame("artifact.out-of-range", message, row.place())
            else:
                yield found, row


Cache = dict[str, T | None]


def once(cache: dict[str, T], key: str, make: Callable[[], T]) -> T:
    """Make a value at its first use, so that ports share it."""
    if key not in cache:
        cache[key] = make()
    return cache[key]
