"""Observed configuration: what files say that one device does, fact by fact, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.errors import Place, Problem
from weftline.model.intent import FactValue


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a file says; ``path`` is that of ``intent.list_facts``, as ``ports.17.mtu``."""

    path: str
    value: FactValue
    where: Place


@dataclass(frozen=True, slots=True)
class ObservedConfig:
    """What the files of one vendor say of one device: partial, possibly invalid or contradictory."""

    device: str
    vendor: str
    files: tuple[str, ...]
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...] = ()
    """What could not be read, or contradicts itself, each with file and place."""

    @property
    def values(self) -> dict[str, FactValue]:
        """The last value said for each path."""
        return {fact.path: fact.value for fact in self.facts}
