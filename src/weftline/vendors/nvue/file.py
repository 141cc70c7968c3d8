"""One file of NVUE while it is read: settings with their paths, numbers, and switches in both spellings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from weftline.errors import Place, Problem
from weftline.formats.lines import read_number
from weftline.formats.settings import Setting
from weftline.model.said import Said

NAME = "nvue"
ON = frozenset({"on", "enabled", "enable", "yes", "true", "up"})
OFF = frozenset({"off", "disabled", "disable", "no", "false", "down"})
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class At:
    """A setting and its path."""

    setting: Setting
    path: tuple[str, ...]

    @property
    def text(self) -> str | None:
        """The value; None where settings stand below."""
        return self.setting.text

    def find(self, *keys: str) -> At | None:
        """Take a path down."""
        found = self.setting.find(*keys)
        return None if found is None else At(found, (*self.path, *keys))

    def items(self, *keys: str) -> Iterator[tuple[str, At]]:
        """Walk what stands below a path; a single value counts as a key."""
        base = self.find(*keys)
        if base is None:
            return
        if base.setting.value is not None and not base.setting.children:
            yield base.setting.value, base
        for key, child in base.setting.children.items():
            yield key, At(child, (*base.path, key))

    def list_keys(self, *keys: str) -> list[str]:
        """List the keys below a path."""
        return [key for key, _ in self.items(*keys)]


@dataclass
class NvueDevice:
    """What the file of one switch says, while it is read."""

    name: str
    problems: list[Problem] = field(default_factory=list[Problem])
    unread: dict[str, int] = field(default_factory=dict[str, int])

    def place(self, at: At) -> Place:
        """Name the place of a setting."""
        return Place(self.name, at.setting.line, at.setting.column, ".".join(at.path)[:160])

    def said(self, value: T, at: At) -> Said[T]:
        """Say a value with its place."""
        return Said(value, self.place(at))

    def text(self, at: At | None) -> Said[str] | None:
        """Say a text."""
        return None if at is None or at.text is None else self.said(at.text, at)

    def number(self, at: At | None, low: int, high: int, text: str | None = None) -> Said[int] | None:
        """Say a number between two bounds; what is none is a problem, and not said."""
        if at is None:
            return None
        word = text if text is not None else at.text
        if word is None or word == "auto":
            return None
        value = read_number(word, low, high)
        if value is None:
            self.blame("artifact.out-of-range", f"{word[:40]!r} is no number from {low} to {high:,}", at)
            return None
        return self.said(value, at)

    def switch(self, at: At | None) -> Said[bool] | None:
        """Say whether something is on, in the words of any release."""
        if at is None or at.text is None:
            return None
        if at.text in ON or at.text in OFF:
            return self.said(at.text in ON, at)
        self.blame("artifact.out-of-range", f"{at.text[:40]!r} is neither on nor off", at)
        return None

    def state(self, at: At | None) -> Said[bool] | None:
        """Say whether a feature is on: ``state`` since 5.13, ``enable`` before."""
        if at is None:
            return None
        return self.switch(at.find("state")) or self.switch(at.find("enable"))

    def blame(self, code: str, message: str, at: At) -> None:
        """Keep a problem with its place."""
        self.problems.append(Problem(code, message, where=self.place(at), severity="warning"))

    def pass_over(self, *path: str) -> None:
        """Count a kind of setting that nobody here reads."""
        kind = ".".join(path)
        self.unread[kind] = self.unread.get(kind, 0) + 1
