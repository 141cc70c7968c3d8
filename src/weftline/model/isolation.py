"""Isolation: who owns each endpoint, and what its own table and the port that it is cabled to let through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MANAGEMENT = "/management"
"""Owner of the ports at which managers run; no tenant can be called so."""
NOBODY = ""
"""Owner of endpoints that belong to no tenant; they too are kept apart from those of tenants."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of one table by number: a full member meets every member, two limited ones do not meet."""

    full: frozenset[int]
    limited: frozenset[int]


@dataclass(frozen=True, slots=True)
class IsolatedEnd:
    """One endpoint; what nobody knows is None."""

    name: str
    owner: str
    own: Groups | None
    """What its own table holds."""
    wall: Groups | None
    """What the table of the switch port holds that it is cabled to."""
    enforces_in: bool | None
    """Whether that port drops by its table what comes from the endpoint."""
    enforces_out: bool | None
    """Whether it drops what goes to it."""
    facing: str = ""
    """Name of that port."""
    component: int = 0
    """Which part of the fabric it is cabled into: no way leads from one part to another, whatever tables say."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """One owner that others may reach, as shared storage; they do not reach each other through it."""

    hub: str
    users: frozenset[str] | None = None
    """None is everybody."""


@dataclass(frozen=True, slots=True)
class IsolationTables:
    """Everything that a proof of isolation is about."""

    ends: tuple[IsolatedEnd, ...]
    sharings: tuple[Sharing, ...]
    of: str
    """Digest of what they were read from."""
    source: str
    """Where the tables come from, as part of a sentence."""
    premise: str
    """What the proof rests on beside the tables, as a sentence."""
    doubts: tuple[str, ...] = ()
    """Why the tables cannot be trusted to be those that will be programmed."""
    cause: str = ""
    """Why the tables are as they are where the files were given up; the witness says it."""


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns which endpoint of a fabric, and what is shared."""

    of_port: Mapping[int, str]
    """Port of the fabric to its owner."""
    sharings: tuple[Sharing, ...]
    premise: str
    are_apart: bool = True
    """Whether the declaration wants them kept apart; else the claim is judged and required only where that is asked."""

    @property
    def are_many(self) -> bool:
        """Whether there is anything to keep apart."""
        return len(set(self.of_port.values()) - {MANAGEMENT}) > 1
