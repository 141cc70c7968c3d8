"""Separation: what a proof is about that tenants are kept apart by the VRFs, networks and filters of switches."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.model.isolation import Sharing
from weftline.model.observed import ObservedDevice

PortRef = tuple[str, str]
"""Device and port, as the device calls it."""


@dataclass(frozen=True, slots=True)
class EdgePort:
    """One endpoint, and the port of a switch that it is cabled to."""

    name: str
    owner: str
    facing: str
    """The switch port by the grammar of the fabric; empty where the endpoint is not cabled to a switch."""
    port: PortRef | None
    """The same as the files call it; None where no file has it."""


@dataclass(frozen=True, slots=True)
class SwitchLink:
    """One cable between two switches; None where no file has the port."""

    name: str
    a: PortRef | None
    b: PortRef | None


@dataclass(frozen=True, slots=True)
class SeparationFiles:
    """Everything that the proof reads: files, who stands where, and what is declared to be shared."""

    devices: tuple[ObservedDevice, ...]
    ends: tuple[EdgePort, ...]
    links: tuple[SwitchLink, ...]
    sharings: tuple[Sharing, ...]
    of: str
    """Digest of what was read."""
    source: str
    """Where the files come from, as part of a sentence."""
    premise: str = ""
    """What the proof rests on beside the files, as a sentence."""
    doubts: tuple[str, ...] = ()
    may_leave: frozenset[str] = field(default=frozenset())
    """Owners that may have a default route out."""
