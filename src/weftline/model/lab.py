"""A lab: what makes a fabric run on this machine, with the real software that manages it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weftline.errors import Problem
from weftline.model.addresses import Addresses
from weftline.model.driver import Access
from weftline.model.fabric import Fabric

Progress = Callable[[str, float | None], None]
FaultKind = Literal["break", "miscable", "degrade"]


@dataclass(frozen=True, slots=True)
class LabSubnet:
    """One subnet to run: its name, its plane and the rendered files of its manager by name."""

    name: str
    plane: int
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class LabDesign:
    """A fabric with everything that a lab needs to run it."""

    of: str
    """Digest of the routes that the files carry."""
    fabric: Fabric
    addresses: Addresses
    subnets: tuple[LabSubnet, ...]


@dataclass(frozen=True, slots=True)
class LabProcess:
    """One program of a lab."""

    name: str
    subnet: str
    pid: int
    started: int
    """Start in clock ticks since the machine booted, so that another process of the same number is not mistaken."""
    is_running: bool


@dataclass(frozen=True, slots=True)
class LabFault:
    """A fault that was put into a lab, and the commands that take it out again, by subnet."""

    kind: FaultKind
    subject: str
    undo: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LabStatus:
    """What stands of a lab."""

    of: str
    folder: Path
    processes: tuple[LabProcess, ...]
    accesses: tuple[Access, ...]
    faults: tuple[LabFault, ...]
    problems: tuple[Problem, ...]
    """What the logs of its programs say is wrong."""
    seconds: Mapping[str, float]
    """How long each stage of starting took."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault to put in: its kind, what it is done to, and for a counter its name and value."""

    kind: FaultKind
    subjects: tuple[str, ...]
    counter: str = ""
    value: int = 0


@dataclass(frozen=True, slots=True)
class Lab:
    """A register entry: functions that start, look at, disturb and stop a lab in a folder of its own."""

    name: str
    technologies: tuple[str, ...]
    """What it can run."""
    driver: str
    """Name in the table of drivers: what reads the fabric that it runs."""
    problems: Callable[[], tuple[Problem, ...]]
    """What is missing on this machine, each with the command that installs it."""
    up: Callable[[LabDesign, Path, Progress], LabStatus]
    verify: Callable[[Path], LabStatus]
    """Look at the programs and their logs; reading the fabric back is the driver's."""
    inject: Callable[[LabDesign, Path, Injection], LabFault]
    heal: Callable[[Path], tuple[LabFault, ...]]
    down: Callable[[Path], tuple[LabProcess, ...]]
