"""One switch's file while it is being read: its tables, what they said so far, and what was wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.formats.config_db import Row, Tables
from weftline.formats.lines import Reading, read_number
from weftline.model.intent import FactValue
from weftline.model.observed import Fact


@dataclass
class SwitchFile:
    """The tables of one switch while they are being read."""

    tables: Tables
    reading: Reading
    number: dict[str, int] = field(default_factory=dict[str, int])
    """Port number by interface name."""
    facts: list[Fact] = field(default_factory=list[Fact])

    def rows(self, table: str) -> dict[str, Row]:
        """Rows of a table; none where it is absent."""
        return self.tables.get(table, {})

    def say(self, path: str, value: FactValue, where: str) -> None:
        """Keep a fact with its path in the file."""
        self.facts.append(Fact(path, value, self.reading.place(path=where)))

    def blame(self, code: str, message: str, where: str) -> None:
        """Keep a problem with its path in the file."""
        self.reading.report(code, message, self.reading.place(path=where))

    def read_int(self, text: str | None, low: int, high: int, where: str) -> int | None:
        """Read a number between two bounds; None and a problem when it is none."""
        value = None if text is None else read_number(text, low, high)
        if value is None and text is not None:
            self.blame("artifact.out-of-range", f"{text[:40]!r} is no number from {low} to {high:,}", where)
        return value
