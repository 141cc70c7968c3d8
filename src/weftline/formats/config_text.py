"""Configuration text of switches: bytes of unknown origin become numbered lines, and lines become a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weftline.errors import Problem
from weftline.formats.text import ProblemLog

MAX_BYTES = 32 * 2**20
"""A switch with 512 ports and every default written out takes about 3 MB."""
MAX_LINES = 500_000
MAX_LINE = 16_384
"""Characters of one line; the longest of real files lists the VLANs of a trunk."""
MAX_DEPTH = 12
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SECRETS = frozenset({"password", "secret", "key-string", "md5", "shared-secret", "auth-password", "priv-password"})
_SERVERS = frozenset({"snmp-server", "radius-server", "tacacs-server", "ntp", "neighbor"})
HIDDEN = "set"
"""Stands for a secret."""
_NEGATIONS = frozenset({"no", "default"})


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """One line and the lines of its block."""

    number: int
    column: int
    words: tuple[str, ...]
    children: tuple[ConfigLine, ...] = ()

    @property
    def text(self) -> str:
        """The words with one space between them."""
        return " ".join(self.words)

    @property
    def is_negated(self) -> bool:
        """Whether the line takes something back: ``no`` or ``default`` stands before it."""
        return self.words[0] in _NEGATIONS and len(self.words) > 1

    @property
    def body(self) -> tuple[str, ...]:
        """The words behind a leading ``no`` or ``default``."""
        return self.words[1:] if self.is_negated else self.words

    def starts(self, *words: str) -> bool:
        """Say whether these are the first words."""
        return self.words[: len(words)] == words

    def after(self, *words: str) -> tuple[str, ...] | None:
        """Return what follows these first words; None where the line starts otherwise."""
        return self.words[len(words) :] if self.words[: len(words)] == words else None

    def value(self, word: str) -> str | None:
        """Return the word that follows another, as that after ``vrf`` in ``router bgp 1 vrf A``."""
        at = self.words.index(word) + 1 if word in self.words else len(self.words)
        return self.words[at] if at < len(self.words) else None

    def walk(self) -> Iterator[ConfigLine]:
        """Walk this line and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class ConfigText:
    """What a file of lines says, and what was wrong with it."""

    file: str
    lines: tuple[ConfigLine, ...]
    problems: tuple[Problem, ...]

    def walk(self) -> Iterator[ConfigLine]:
        """Walk all lines in the order of the file."""
        for line in self.lines:
            yield from line.walk()

    def find(self, *words: str) -> Iterator[ConfigLine]:
        """Find the lines outside any block that start with these words."""
        return (line for line in self.lines if line.starts(*words))

    @property
    def count(self) -> int:
        """Count the lines that say something."""
        return sum(1 for _ in self.walk())


def split_lines(data: bytes, log: ProblemLog) -> list[tuple[int, str]]:
    """Split bytes into numbered lines without their ends; what stands before binary data is kept.

    At most 32 MiB and half a million lines are read. Bytes that are not UTF-8 become replacement characters.
    """
    if len(data) > MAX_BYTES:
        message = f"the file has {len(data):,} bytes; the first {MAX_BYTES:,} are read"
        log.add("artifact.config-too-large", message, "give the configuration of one switch per file")
        data = data[: data.rfind(b"\n", 0, MAX_BYTES) + 1]
    control = _CONTROL.search(data)
    if control:
        line = data.count(b"\n", 0, control.start()) + 1
        column = control.start() - data.rfind(b"\n", 0, control.start())
        message = f"byte 0x{data[control.start()]:02x} does not occur in text: this and what follows is not read"
        hint = "give the text of the configuration; unpack it first if it is compressed, and save it as UTF-8"
        log.add("artifact.config-binary", message, hint, line, column)
        data = data[: data.rfind(b"\n", 0, control.start()) + 1]
    texts = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n", MAX_LINES)
    if len(texts) > MAX_LINES:
        message = f"the file has more than {MAX_LINES:,} lines; the rest is not read"
        log.add("artifact.config-too-large", message, "give the configuration of one switch per file")
        texts.pop()
    found: list[tuple[int, str]] = []
    for number, text in enumerate(texts, start=1):
        if len(text) <= MAX_LINE:
            found.append((number, text.rstrip().expandtabs(8)))
        else:
            message = f"the line has {len(text):,} characters; lines of more than {MAX_LINE:,} are not read"
            log.add("artifact.config-line", message, "take the configuration again", number)
    return found


def hide_secrets(words: tuple[str, ...]) -> tuple[str, ...]:
    """Replace what follows a word that a secret stands behind: no secret leaves the reading of a file."""
    if words[0] in {"description", "remark"}:
        return words
    for place, word in enumerate(words[:-1]):
        if word in _SECRETS or (word in {"key", "community"} and words[0] in _SERVERS):
            return (*words[: place + 1], HIDDEN)
    return words


class TreeBuilder:
    """Grows a tree of lines; the caller decides under which open line the next one goes."""

    def __init__(self) -> None:
        self._levels: list[list[ConfigLine]] = [[]]
        self._heads: list[tuple[int, int, tuple[str, ...]]] = []

    @property
    def depth(self) -> int:
        """How many lines are open."""
        return len(self._heads)

    def head(self, level: int) -> tuple[str, ...]:
        """Return the words of an open line; 0 is the outermost."""
        return self._heads[level][2]

    def close(self, depth: int = 0) -> None:
        """Close open lines until so many are left."""
        while len(self._heads) > depth:
            number, column, words = self._heads.pop()
            children = tuple(self._levels.pop())
            self._levels[-1].append(ConfigLine(number, column, words, children))

    def open(self, number: int, column: int, words: tuple[str, ...]) -> None:
        """Put a line under the innermost open line, and open it."""
        self._heads.append((number, column, hide_secrets(words)))
        self._levels.append([])

    def finish(self) -> tuple[ConfigLine, ...]:
        """Close all and return the tree."""
        self.close()
        return tuple(self._levels[0])
