"""Who is a member of which partition once OpenSM has read a partition file, or has given it up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from weftline.model.partitions import (
    DEFAULT_KEY,
    FULL,
    KEY,
    End,
    FileMembership,
    KeySubnet,
    Member,
    PartitionFile,
    Rule,
)

DEFAULT_NAME = "Default"
LAST_CHOSEN = DEFAULT_KEY - 1
"""Largest key that OpenSM chooses itself."""


@dataclass(slots=True)
class Partition:
    """One partition and its members by port GUID; a port can be both only where the options allow it."""

    name: str
    key: int
    full: set[int] = field(default_factory=set[int])
    limited: set[int] = field(default_factory=set[int])


@dataclass(slots=True)
class Memberships:
    """All partitions, and the key that should take index 0 of each port's table."""

    partitions: dict[int, Partition] = field(default_factory=dict[int, Partition])
    first: dict[int, int] = field(default_factory=dict[int, int])
    """Port GUID to the key with its membership bit; it outlives a file that is given up."""
    is_default: bool = False
    """Whether everybody is a full member of one partition, for want of a file that can be read."""

    def in_order(self) -> list[Partition]:
        """List the partitions as OpenSM walks them: by key with its bytes swapped, as its map has it on x86 and ARM."""
        return sorted(self.partitions.values(), key=lambda one: (one.key & 0xFF) << 8 | one.key >> 8)


def find_members(file: PartitionFile | None, subnet: KeySubnet, *, allows_both: bool) -> Memberships:
    """Work out the members of every partition; None is a file that is not there."""
    maker = _Maker(subnet, allows_both)
    if file is not None:
        maker.make_default(is_full=False)
        for rule in file.rules:
            maker.apply(rule)
        if file.fault is None:
            return maker.result
        for partition in maker.result.partitions.values():
            partition.full.clear()
            partition.limited.clear()
    maker.make_default(is_full=True)
    maker.result.is_default = True
    return maker.result


class _Maker:
    def __init__(self, subnet: KeySubnet, allows_both: bool) -> None:  # noqa: FBT001
        self.subnet = subnet
        self.allows_both = allows_both
        self.ends = {end.guid: end for end in subnet.ends}
        self.result = Memberships()
        self.chosen = 0

    def make_default(self, *, is_full: bool) -> None:
        """Make the default partition, which always is: everybody limited, or full, and the manager full."""
        partition = self.result.partitions.setdefault(DEFAULT_KEY, Partition(DEFAULT_NAME, DEFAULT_KEY))
        for guid in self.ends:
            self._add(partition, guid, is_full=is_full, is_first=False)
        partition.limited.discard(self.subnet.manager)
        self._add(partition, self.subnet.manager, is_full=True, is_first=False)

    def apply(self, rule: Rule) -> None:
        """Add the members of one rule, the last word counting."""
        partition = self._find(rule)
        for member in rule.members:
            guids = [end.guid for end in self._ends_of(member)]
            if self.allows_both and member.membership != "both":
                other = partition.full if member.membership == "limited" else partition.limited
                if member.kind == "all":
                    other.clear()
                else:
                    other.difference_update(guids)
            for is_full in _expand(member.membership, allows_both=self.allows_both):
                for guid in guids:
                    self._add(partition, guid, is_full=is_full, is_first=rule.is_first)

    def _find(self, rule: Rule) -> Partition:
        """Find the partition of a rule: by key, else by name, else a new one with the next key that is free."""
        partitions = self.result.partitions
        key = rule.key
        if not key:
            named = next((one for one in self.result.in_order() if one.name == rule.name), None)
            if named is not None:
                return named
            key = self._choose()
        return partitions.setdefault(key, Partition(rule.name or f"{key:04x}", key))

    def _choose(self) -> int:
        while self.chosen < LAST_CHOSEN:
            self.chosen += 1
            if self.chosen not in self.result.partitions:
                return self.chosen
        return LAST_CHOSEN

    def _ends_of(self, member: Member) -> Iterable[End]:
        match member.kind:
            case "port" | "manager":
                guid = self.subnet.manager if member.kind == "manager" else member.guid
                return [self.ends[guid]] if guid in self.ends else []
            case "all":
                return self.subnet.ends
            case _:
                kind = {"adapters": "adapter", "switches": "switch", "routers": "router"}[member.kind]
                return [end for end in self.subnet.ends if end.kind == kind]

    def _add(self, partition: Partition, guid: int, *, is_full: bool, is_first: bool) -> None:
        if guid not in self.ends:
            return
        first = self.result.first
        if is_first:
            first[guid] = partition.key | (FULL if is_full else 0)
        elif first.get(guid, 0) & KEY == partition.key:
            del first[guid]
        if not self.allows_both:
            partition.full.discard(guid)
            partition.limited.discard(guid)
        (partition.full if is_full else partition.limited).add(guid)


def _expand(membership: FileMembership, *, allows_both: bool) -> tuple[bool, ...]:
    """Say as which members a port is added; without the option, both is full."""
    if membership == "limited":
        return (False,)
    return (True, False) if membership == "both" and allows_both else (True,)
