"""A lab: what makes a fabric run on this machine, with the real software that manages it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from weftline.errors import Problem
from weftline.model.addresses import Addresses
from weftline.model.driver import Access, Readback, SubnetState
from weftline.model.fabric import Fabric
from weftline.model.intent import FactValue
from weftline.model.routes import Routes
from weftline.model.secret import Secret

Progress = Callable[[str, float | None], None]
FaultKind = Literal["break", "miscable", "degrade"]


@dataclass(frozen=True, slots=True)
class LabSubnet:
    """One subnet to run: its name, its plane and the rendered files of its manager by name."""

    name: str
    plane: int
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class LabDevice:
    """One switch or host to run: its rendered files by name, and what they say by path."""

    name: str
    files: Mapping[str, bytes]
    facts: Mapping[str, FactValue]


@dataclass(frozen=True, slots=True)
class LabDesign:
    """A fabric with everything that a lab needs to run it."""

    of: str
    """Digest of the routes that the files carry."""
    fabric: Fabric
    addresses: Addresses
    subnets: tuple[LabSubnet, ...]
    secrets: tuple[Secret, ...] = ()
    """Management keys that are filled into the files where they run, and stand nowhere else."""
    devices: tuple[LabDevice, ...] = ()
    """Every switch and host, where the lab reads the fabric itself; nothing where a driver does."""
    routes: Routes | None = None
    """What the devices should come to forward by themselves; None where their tables are in the files."""


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
class Outage:
    """What probe flows lost while a fault was put in or taken out, beside what was foretold."""

    flows: int
    """Flows that were watched: they may pass what broke, and have another way."""
    hit: int
    """Flows that lost packets."""
    longest_s: float | None
    """The longest time for which a flow lost everything, and was whole again afterwards."""
    median_s: float | None
    lasting: int
    """Flows that were still lost when nobody waited any longer."""
    predicted_s: float
    arithmetic: str
    """How the prediction comes about."""


@dataclass(frozen=True, slots=True)
class LabFault:
    """A fault that was put into a lab, and the commands that take it out again, by subnet."""

    kind: FaultKind
    subject: str
    undo: tuple[tuple[str, str], ...]
    outage: Outage | None = None
    """What it did to flows, where a lab can measure that."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """A manager that was killed, and the one that took over."""

    subnet: str
    gone: str
    master: str
    seconds: float
    """From the kill to the end of the first sweep of the new one."""


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
    is_silent: bool = False
    """Whether packets are lost while the link still looks up."""


EngineOutcome = Literal["ran", "fell-back", "no-tables", "late"]
"""Its own tables were programmed; those of another engine were; none were; it was not done in time."""


@dataclass(frozen=True, slots=True)
class EngineTrial:
    """A routing engine of the subnet manager to try: what its options are, and the files that these name."""

    label: str
    """How it is called here, such as ``updn+roots``."""
    engine: str
    options: Mapping[str, str]
    files: Mapping[str, bytes]
    limit_s: float
    """Time for each subnet."""
    is_laned: bool = False
    """Whether it puts paths on several lanes in a way that the forwarding tables do not show."""


@dataclass(frozen=True, slots=True)
class EngineRun:
    """What a manager did with a fabric when it was left to one of its own engines."""

    trial: EngineTrial
    outcome: EngineOutcome
    programmed: str
    """The engine whose tables were programmed; empty where there is none."""
    reason: str
    """Where it is not the one that was asked for: the line of the log that says why."""
    states: tuple[SubnetState, ...]
    """What the devices of each subnet held afterwards; empty where nothing was programmed."""
    seconds: float
    """From the start of the manager until it was done, over all subnets."""


Read = Callable[[Access], SubnetState]


ManagerEventKind = Literal["link", "tables", "up", "given-up", "master", "standby", "cut-off", "returned", "revived"]
"""``revived``: it had stopped answering, and was started again."""


@dataclass(frozen=True, slots=True)
class ManagerEvent:
    """What the manager of a subnet says: a switch tells of a link (``link``), or its sweep came to a point."""

    kind: ManagerEventKind
    age_s: float
    """How long ago."""
    address: int = 0
    """Of the switch that tells."""


class Manager(Protocol):
    """The manager of one subnet of a lab, listened to and told that its files changed."""

    subnet: str

    def listen(self) -> tuple[ManagerEvent, ...]:
        """List what it said since it was asked last."""
        ...

    def put(self, name: str, content: bytes) -> None:
        """Exchange one of its files, whole or not at all."""
        ...

    def reload(self) -> bool:
        """Tell it to read its files again and to sweep; False when it is gone."""
        ...

    def is_running(self) -> bool:
        """Say whether it still runs."""
        ...

    def close(self) -> None:
        """Leave it to others."""
        ...


@dataclass(frozen=True, slots=True)
class Lab:
    """A register entry: functions that start, look at, disturb and stop a lab in a folder of its own."""

    name: str
    technologies: tuple[str, ...]
    """What it can run."""
    driver: str | None
    """Name in the table of drivers: what reads the fabric that it runs; None where the lab reads it itself."""
    problems: Callable[[], tuple[Problem, ...]]
    """What is missing on this machine, each with the command that installs it."""
    up: Callable[[LabDesign, Path, Progress], LabStatus]
    verify: Callable[[Path], LabStatus]
    """Look at the programs and their logs; reading the fabric back is the driver's."""
    inject: Callable[[LabDesign, Path, Injection], LabFault]
    heal: Callable[[Path], tuple[LabFault, ...]]
    down: Callable[[Path], tuple[LabProcess, ...]]
    attend: Callable[[Path], tuple[Manager, ...]] | None = None
    """The managers of a lab that is up, in the order of its subnets; None where devices need none."""
    kill_master: Callable[[Path], tuple[Takeover, ...]] | None = None
    """Kill the manager that is the master, and wait until another takes over."""
    settle: Callable[[Path, float], bool] | None = None
    """(folder, limit in seconds): wait until no manager sweeps; False when one still does."""
    read_back: Callable[[LabDesign, Path, Progress], tuple[Readback, ...]] | None = None
    """Hold what runs against what was rendered, where no driver does."""
    list_trials: Callable[[LabDesign, Sequence[str], float, bool], tuple[EngineTrial, ...]] | None = None
    """(design, labels, limit in seconds, with lanes) -> the engines of the manager's own to try."""
    try_engine: Callable[[LabDesign, EngineTrial, Path, Read, Progress], EngineRun] | None = None
    """Run a fabric once under an engine of the manager's own, and read what it programmed."""
