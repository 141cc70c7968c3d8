"""Partitions: what a partition file says, the subnet that it is for, and the key tables that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from weftline.errors import Place, Problem

FULL = 0x8000
"""The bit of a key that says full membership; two limited members do not hear each other. IBTA vol 1, 10.9.1."""
KEY = 0x7FFF
"""The bits of a key that name the partition."""
DEFAULT_KEY = 0x7FFF
KEYS_PER_BLOCK = 32

FileMembership = Literal["full", "limited", "both"]
MemberKind = Literal["port", "all", "adapters", "switches", "routers", "manager"]
EndKind = Literal["adapter", "switch", "router"]

PortPlace = tuple[int, int]
"""Node GUID and port number."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member that a rule names: a port by its GUID, or all ports of a kind."""

    kind: MemberKind
    membership: FileMembership
    where: Place
    guid: int = 0
    """Of a port; 0 otherwise."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a partition file, as the manager understands it."""

    name: str
    key: int
    """The 15 bits; 0 where the manager looks for the name, or chooses a key itself."""
    where: Place
    members: tuple[Member, ...] = ()
    is_first: bool = False
    """Whether the key takes index 0 of the tables of its members."""
    has_group: bool = False
    """Whether a broadcast group for IPoIB is made."""


@dataclass(frozen=True, slots=True)
class PartitionFile:
    """A partition file as the manager reads it."""

    file: str
    rules: tuple[Rule, ...]
    """Up to the fault, where there is one; the last one may then be incomplete."""
    fault: Problem | None = None
    """Where the manager gives the file up."""
    remarks: tuple[Problem, ...] = ()
    """What it reads otherwise than it is written, or passes over."""
    doubt: Problem | None = None
    """Where what it does depends on memory that nobody can predict."""


@dataclass(frozen=True, slots=True)
class End:
    """One end port of a subnet: a port of an adapter or router, or the port 0 of a switch."""

    guid: int
    place: PortPlace
    kind: EndKind
    capacity: int
    """Places of its key table."""
    facing: PortPlace | None = None
    """The port of a switch that it is cabled to."""


@dataclass(frozen=True, slots=True)
class KeySubnet:
    """The ports of a subnet that partitions are made for."""

    ends: tuple[End, ...]
    manager: int
    """GUID of the port at which the manager runs."""
    switch_capacity: Mapping[int, int]
    """Places of the key table of an external port, by node GUID of the switch; 0 enforces nothing."""
    nodes: frozenset[int] = frozenset()
    """Node GUIDs of adapters and routers, to tell them from the GUIDs of their ports."""
    held: Mapping[PortPlace, tuple[int, ...]] = field(default_factory=dict[PortPlace, tuple[int, ...]])
    """What the tables hold before; a device that was just switched on holds 0xffff at index 0."""
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    """Port GUID to name, where it is known."""

    def name(self, guid: int) -> str:
        """Name an end as people do."""
        return self.names.get(guid) or f"{guid:#018x}"


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The key table of one port and, at a switch, whether it enforces by it."""

    keys: tuple[int, ...]
    """In the order of the table, 0 for an empty place; trailing empty places are left out."""
    enforces_in: bool | None = None
    """Whether a switch port drops by it what arrives; None where that is not known, or the port is no switch's."""
    enforces_out: bool | None = None

    @property
    def held(self) -> frozenset[int]:
        """The keys without their order."""
        return frozenset(key for key in self.keys if key & KEY)


def match(ours: frozenset[int], theirs: frozenset[int]) -> frozenset[int]:
    """Name the partitions over which two ports hear each other: one of the two is full. IBTA vol 1, 10.9.3."""
    common = {key & KEY for key in ours} & {key & KEY for key in theirs}
    return frozenset(key for key in common if key | FULL in ours or key | FULL in theirs)
