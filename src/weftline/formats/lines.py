"""Files that Weftline writes, read back strictly: lines, bounded numbers, and problems with their place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from weftline.errors import Place, Problem
from weftline.formats.text import MAX_LINE

MAX_PROBLEMS = 100


@dataclass
class Reading:
    """One file being read, and what was wrong with it so far."""

    file: str
    problems: list[Problem] = field(default_factory=list[Problem])

    def place(self, line: int | None = None, path: str = "") -> Place:
        """Name a line of this file, or a path in it."""
        return Place(self.file, line, None, path)

    def report(self, code: str, message: str, where: Place, hint: str = "") -> None:
        """Keep a problem; past MAX_PROBLEMS only the count would grow, so the rest is dropped."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(code, message, hint, where))

    def lines(self, content: bytes, comment: str = "#") -> Iterator[tuple[int, str]]:
        """Yield line number and stripped text of each line that says something."""
        for number, raw in enumerate(content.split(b"\n"), start=1):
            if len(raw) > MAX_LINE:
                self.report("artifact.unreadable-line", "line is too long", self.place(number))
                continue
            try:
                text = raw.decode("utf-8").strip()
            except UnicodeDecodeError:
                self.report("artifact.unreadable-line", "line is not UTF-8 text", self.place(number))
                continue
            if text and not text.startswith(comment):
                yield number, text


def read_number(text: str, low: int, high: int) -> int | None:
    """Read a decimal number between two bounds; None when it is none."""
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        return None
    value = int(text)
    return value if low <= value <= high else None


def read_numbers(text: str, low: int, high: int) -> tuple[int, ...] | None:
    """Read ``3,4`` as numbers between two bounds; None when one of them is none."""
    values = [read_number(piece, low, high) for piece in text.split(",")]
    return None if None in values else tuple(value for value in values if value is not None)


def read_hex(text: str, digits: int) -> int | None:
    """Read ``0x`` and exactly ``digits`` hexadecimal digits; None when it is something else."""
    body = text[2:]
    if text[:2] != "0x" or len(body) != digits or not all(char in "0123456789abcdefABCDEF" for char in body):
        return None
    return int(body, 16)
