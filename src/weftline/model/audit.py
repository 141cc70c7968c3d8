"""An audit: all that is known of a fabric that exists, for the rules of its technology to judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from weftline.errors import Problem
from weftline.model.addresses import Addresses
from weftline.model.adoption import Adoption
from weftline.model.fabric import Fabric
from weftline.model.finding import Finding, Topic
from weftline.model.isolation import Owners
from weftline.model.proof import ProofReport
from weftline.model.routes import Routes
from weftline.model.survey import KeyFact, Survey


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declaration says that the fabric should be, where one is given."""

    file: str
    fabric: Fabric
    addresses: Addresses
    tenants: tuple[str, ...]
    managers: tuple[int, ...] = ()
    """Port GUIDs at which a manager may run."""
    owners: Owners | None = None
    """Who owns which endpoint of the declared fabric, and what is shared."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Routes and the proofs about them."""

    routes: Routes
    reason: str
    """Where they come from, in one sentence."""
    report: ProofReport
    problems: tuple[Problem, ...] = ()
    """What was wrong with the files that they were read from."""


@dataclass(frozen=True, slots=True)
class AuditInput:
    """What the rules of an audit judge; None is what no file says."""

    survey: Survey
    adoption: Adoption | None
    """None where no file describes the topology, or it could not be adopted."""
    programmed: Judged | None
    """The tables that the switches hold, where files say them."""
    proposed: Judged | None
    """Tables that an engine of ours computes for the topology, for comparison."""
    predicted: tuple[KeyFact, ...] | None = None
    """The partition tables that the manager would program from the configuration that was given."""
    configured: tuple[Finding, ...] = ()
    """What is wrong with the configuration files of the manager."""
    declared: Declared | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """How a technology judges a fabric that exists."""

    judge: Callable[[AuditInput], tuple[Topic, ...]]
    controls: dict[str, str] = field(default_factory=dict[str, str])
    """Ids of the controls that its rules speak to, each in one sentence."""
