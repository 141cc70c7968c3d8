"""The key tables that OpenSM will program: entry by entry, at hosts, at switches and at the ports that face hosts.

It follows what OpenSM 3.3.23 does on its first sweep after a start; a test holds it against the real one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weftline.model.partitions import (
    DEFAULT_KEY,
    FULL,
    KEY,
    KEYS_PER_BLOCK,
    End,
    KeySubnet,
    KeyTable,
    PartitionFile,
    PortPlace,
)
from weftline.vendors.opensm.membership import Memberships, find_members

FRESH = (DEFAULT_KEY | FULL,)
"""What a device holds that was just switched on."""
ENFORCEMENTS: Mapping[str, tuple[bool, bool]] = {
    "both": (True, True),
    "in": (True, False),
    "out": (False, True),
    "off": (False, False),
}


@dataclass(frozen=True, slots=True)
class PartitionOptions:
    """The options of OpenSM that partitions depend on."""

    enforces_in: bool = True
    enforces_out: bool = True
    allows_both: bool = False

    @classmethod
    def read(cls, options: Mapping[str, str]) -> PartitionOptions:
        """Take them from the options by name; what is absent has OpenSM's default."""
        word = options.get("part_enforce", "both")
        if _is_true(options.get("no_partition_enforcement", "FALSE")):
            word = "off"
        enforces = ENFORCEMENTS.get(word, (True, True))
        return cls(*enforces, allows_both=_is_true(options.get("allow_both_pkeys", "FALSE")))


def _is_true(word: str) -> bool:
    """Read a switch as OpenSM does: any other word is false, ``true`` too."""
    return word == "TRUE"


@dataclass(frozen=True, slots=True)
class Overflow:
    """A table that does not hold what it should."""

    place: PortPlace
    guid: int
    """The end port whose keys they are."""
    wanted: int
    capacity: int
    lost: tuple[int, ...] = ()
    """Keys of an end port that are not programmed."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What will be programmed."""

    tables: Mapping[PortPlace, KeyTable]
    """Of every end port, and of every switch port that faces one; links between switches are left as they are."""
    is_default: bool
    """Whether everybody is a full member of one partition, for want of a file that can be read."""
    is_certain: bool
    memberships: Memberships
    overflows: tuple[Overflow, ...] = ()
    """End ports whose keys do not fit; each is an ERR 0512 in the log."""
    cleared: tuple[Overflow, ...] = ()
    """Switch ports that stop to enforce, or enforce by a part of the keys, because their table is too small."""
    stale: Mapping[PortPlace, tuple[int, ...]] = field(default_factory=dict[PortPlace, tuple[int, ...]])
    """Keys of an earlier time that stay in the table of a switch port, because only blocks in use are written."""


def predict(file: PartitionFile | None, subnet: KeySubnet, options: PartitionOptions) -> Prediction:
    """Predict the tables of a subnet; None is a file that is not there."""
    found = find_members(file, subnet, allows_both=options.allows_both)
    pending: dict[int, list[int]] = {end.guid: [] for end in subnet.ends}
    for partition in found.in_order():
        for guids, bit in ((partition.limited, 0), (partition.full, FULL)):
            for guid in guids:
                pending[guid].append(partition.key | bit)
    maker = _Maker(subnet, options)
    for end in subnet.ends:
        table = maker.fill(end, pending[end.guid], found.first.get(end.guid, 0))
        if end.kind != "switch" and end.facing is not None:
            maker.face(end, end.facing, table)
    is_certain = file is None or file.doubt is None
    return Prediction(
        maker.tables, found.is_default, is_certain, found, tuple(maker.overflows), tuple(maker.cleared), maker.stale
    )


class _Maker:
    def __init__(self, subnet: KeySubnet, options: PartitionOptions) -> None:
        self.subnet = subnet
        self.options = options
        self.tables: dict[PortPlace, KeyTable] = {}
        self.overflows: list[Overflow] = []
        self.cleared: list[Overflow] = []
        self.stale: dict[PortPlace, tuple[int, ...]] = {}

    def fill(self, end: End, wanted: list[int], first: int) -> dict[int, int]:
        """Give every key of an end port its index: where it stands already, else behind the last one."""
        held = self._known(end)
        table: dict[int, int] = {}
        new: list[int] = []
        for key in wanted:
            index = held.get(key if self.options.allows_both else key & KEY)
            if index is None or self._must_move(key, index, first):
                new.append(key)
            else:
                table[index] = key
        used = set(table)  # places that count as taken, also by a key that gave way
        lost: list[int] = []
        for key in new:
            index = self._place(key, first, used, table, end.capacity)
            if index is None:
                lost.append(key)
            else:
                used.add(index)
                table[index] = key
        if lost:
            self.overflows.append(Overflow(end.place, end.guid, len(wanted), end.capacity, tuple(lost)))
        self.tables[end.place] = KeyTable(_spread(table))
        return table

    def _known(self, end: End) -> dict[int, int]:
        """Index the keys that the table holds; of a key that stands twice the first place counts."""
        found: dict[int, int] = {}
        for index, key in enumerate(self.subnet.held.get(end.place, FRESH)):
            if key & KEY:
                found.setdefault(key if self.options.allows_both else key & KEY, index)
        return found

    def _is(self, key: int, wanted: int) -> bool:
        return key == wanted if self.options.allows_both else key & KEY == wanted & KEY

    def _must_move(self, key: int, index: int, first: int) -> bool:
        """Tell whether a key leaves its place: index 0 is for one key alone, by default that of the default."""
        if first:
            return self._is(key, first) != (index == 0)
        if index == 0:
            return key & KEY != DEFAULT_KEY
        return self._is(key, DEFAULT_KEY | FULL)

    def _place(self, key: int, first: int, used: set[int], table: dict[int, int], capacity: int) -> int | None:
        index = 0 if self._is(key, first or DEFAULT_KEY | FULL) else max(used, default=0) + 1
        if index < capacity:
            return index
        if self._is(key, DEFAULT_KEY | FULL):
            return None
        return next((index for index in range(1, capacity) if index not in table), None)

    def face(self, end: End, place: PortPlace, table: dict[int, int]) -> None:
        """Copy the keys of an end port, without gaps, to the switch port that it is cabled to."""
        capacity = self.subnet.switch_capacity.get(place[0], 0)
        held = self.subnet.held.get(place, FRESH)
        if not capacity or not (self.options.enforces_in or self.options.enforces_out):
            self.tables[place] = KeyTable(held, enforces_in=False, enforces_out=False)
            return
        full = set(table.values())
        keys = [key for _, key in sorted(table.items()) if key & FULL or key | FULL not in full]
        blocks = -(-capacity // KEYS_PER_BLOCK)
        written = keys[: blocks * KEYS_PER_BLOCK]
        size = -(-len(written) // KEYS_PER_BLOCK) * KEYS_PER_BLOCK
        rest = held[size:]
        if any(key & KEY for key in rest):
            self.stale[place] = tuple(key for key in rest if key & KEY)
        whole = [*written, *[0] * (size - len(written)), *rest]
        # A table that is full to its last block counts as one that is too small, also where every key fits.
        is_cleared = len(keys) // KEYS_PER_BLOCK >= blocks
        if is_cleared or len(keys) > capacity:
            self.cleared.append(Overflow(place, end.guid, len(keys), capacity))
        self.tables[place] = KeyTable(
            _trim(whole),
            enforces_in=self.options.enforces_in and not is_cleared,
            enforces_out=self.options.enforces_out and not is_cleared,
        )


def _spread(table: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(table.get(index, 0) for index in range(max(table, default=-1) + 1))


def _trim(keys: list[int]) -> tuple[int, ...]:
    last = max((index for index, key in enumerate(keys) if key), default=-1)
    return tuple(keys[: last + 1])
