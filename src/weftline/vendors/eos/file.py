"""One running configuration while it is read: places, numbers, what was wrong, and what nobody here reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from weftline.errors import Place, Problem
from weftline.formats.config_text import ConfigLine
from weftline.formats.eos import expand_interfaces
from weftline.formats.lines import read_number
from weftline.model.said import Said

NAME = "eos"
MAX_NUMBER = 4_294_967_295
MAX_SPREAD = 100_000
"""Names that all ranges of one file may stand for together."""
T = TypeVar("T")


@dataclass
class EosFile:
    """The file of one switch."""

    name: str
    problems: list[Problem] = field(default_factory=list[Problem])
    unread: dict[str, int] = field(default_factory=dict[str, int])
    spread: int = 0

    def expand(self, text: str, line: ConfigLine) -> tuple[str, ...]:
        """Spread a range of interfaces; once all ranges stand for far too many, no more are spread."""
        names = expand_interfaces(text)
        self.spread += len(names)
        if self.spread <= MAX_SPREAD:
            return names
        if self.spread - len(names) <= MAX_SPREAD:
            self.blame("artifact.out-of-range", f"ranges stand for more than {MAX_SPREAD:,} interfaces", line)
        return ()

    def place(self, line: ConfigLine) -> Place:
        """Name a line."""
        return Place(self.name, line.number, line.column)

    def said(self, value: T, line: ConfigLine) -> Said[T]:
        """Say a value with its place."""
        return Said(value, self.place(line))

    def number(self, text: str, low: int, high: int, line: ConfigLine) -> Said[int] | None:
        """Read a number between two bounds; what is none is a problem, and not said."""
        value = read_number(text, low, high)
        if value is None:
            self.blame("artifact.out-of-range", f"{text[:40]!r} is no number from {low} to {high:,}", line)
            return None
        return self.said(value, line)

    def blame(self, code: str, message: str, line: ConfigLine) -> None:
        """Keep a problem with its place."""
        self.problems.append(Problem(code, message, where=self.place(line), severity="warning"))

    def pass_over(self, kind: str) -> None:
        """Count a kind of line that nobody here reads."""
        self.unread[kind] = self.unread.get(kind, 0) + 1
