"""Linting: the configuration files of a manager, and what is known of the fabric that they are for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weftline.model.addresses import Addresses
from weftline.model.discovery import Discovery
from weftline.model.fabric import Fabric
from weftline.model.finding import Finding
from weftline.model.partitions import KeyTable, PartitionFile
from weftline.model.survey import OptionFact


@dataclass(frozen=True, slots=True)
class LintInput:
    """What is judged; None is what was not given."""

    partitions: PartitionFile | None
    options: tuple[OptionFact, ...] | None
    fabric: Fabric | None = None
    addresses: Addresses | None = None
    discovery: Discovery | None = None
    """The dump that the fabric was adopted from: it knows the adapters, which the fabric has joined to hosts."""
    manager: int = 0
    """Port GUID at which the manager runs; 0 where nobody says."""
    capacities: tuple[int, int] | None = None
    """Places of the key tables of adapters and of external ports of switches, where they are known."""
    has_all: bool = False
    """Whether everything that the manager reads was given, as with its folder: what is not here is not there."""


@dataclass(frozen=True, slots=True)
class PredictedTable:
    """The key table that one port will hold."""

    name: str
    node: int
    number: int
    guid: int
    """Port GUID of an end port; 0 of a switch port that faces one."""
    table: KeyTable


@dataclass(frozen=True, slots=True)
class Linted:
    """What is wrong with the files, and what comes of them."""

    findings: tuple[Finding, ...]
    outcome: str
    """What the manager will make of the files, in one sentence."""
    predicted: tuple[PredictedTable, ...] | None
    """None where the fabric is not known, or the outcome cannot be predicted."""


Linter = Callable[[LintInput], Linted]
