"""Which switch a file is of: by the name in it, by its folder, or by its own name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from weftline.formats.config_db_read import ConfigDb, Scope

FACTORY = frozenset({"sonic", "localhost", "switch"})
"""Names that a switch has before anybody names it."""
_PLAIN = re.compile(
    r"(?:config|config_db[0-9]*|running|running-?config|show-?run(?:ning)?|qos|buffers?|qos_config|buffers_config|"
    r"minigraph|golden_config_db|sonic|dump)",
    re.IGNORECASE,
)
"""File names that say what is in the file, not whose it is."""
_TAIL = re.compile(r"[-_.]+(?:config_db[0-9]*|config|running-?config|qos|buffers?)$")
_OUTPUT_WORDS = frozenset({
    "show", "pfc", "pfcwd", "pfcstat", "ecn", "ecnconfig", "buffer", "buffers", "pool", "queue", "queues", "priority",
    "group", "pg", "watermark", "watermarks", "headroom", "shared", "counters", "counter", "interfaces", "interface",
    "status", "stats", "stat", "config", "configuration", "information", "history", "asymmetric", "unicast",
    "multicast", "all", "persistent", "wm", "user", "rx", "tx", "drop", "drops", "output", "outputs",
    "evidence", "sonic", "db",
})  # fmt: skip
"""Words of commands at the end of a file's name, after the name of a switch."""
_FOLDERS = frozenset({"", ".", "..", "/", "etc", "sonic", "config", "configs", "sonic_configs", "dump"})
_ROLE = ("DEVICE_METADATA", "PORT")
"""Tables that make a file the configuration of a switch, where others are parts of one."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The tables of one switch or chip in one file."""

    db: ConfigDb
    scope: Scope

    @property
    def is_switch(self) -> bool:
        """Whether it stands for a switch by itself; else it is a part of a configuration."""
        return any(self.scope.rows(table) for table in _ROLE)

    @property
    def hostname(self) -> str:
        """The name that the file gives, with the chip's; empty where it gives none or the one of the factory."""
        rows = [scope.rows("DEVICE_METADATA").get("localhost", {}) for scope in (self.scope, *self.db.scopes)]
        name = next((str(row["hostname"]) for row in rows if row.get("hostname")), "")
        if not name or name.lower() in FACTORY:
            return ""
        chip = str(rows[0].get("asic_name", "")) or ("" if self.scope.name == "localhost" else self.scope.name)
        return f"{name}.{chip.lower()}" if chip else name

    @property
    def own_name(self) -> str:
        """The name that its path gives, with the chip's."""
        name = name_by_path(self.db.file)
        return f"{name}.{self.scope.name}" if self.scope.name and len(self.db.scopes) > 1 else name


def name_by_path(path: str) -> str:
    """Name a switch by the file that is about it, or by its folder where the file's name is a common one."""
    pure = PurePath(path.replace("\\", "/"))
    stem = pure.name
    for suffix in (".json", ".txt", ".cfg", ".conf"):
        stem = stem.removesuffix(suffix)
    if _PLAIN.fullmatch(stem):
        return name_by_folder(path) or stem
    return _TAIL.sub("", stem) or stem


def name_by_output(path: str) -> str:
    """Name the switch that a file of outputs is of: ``leaf-003-pfc-counters.txt``; empty where nothing names one."""
    stem = PurePath(path.replace("\\", "/")).name
    for suffix in (".txt", ".log", ".out", ".json"):
        stem = stem.removesuffix(suffix)
    words = list(re.finditer(r"[^-_. ]+", stem))
    while words and words[-1][0].lower() in _OUTPUT_WORDS:
        words.pop()
    return stem[: words[-1].end()] if words else name_by_folder(path)


def name_by_folder(path: str) -> str:
    """Name a switch by the nearest folder that has a name of its own; empty where none has."""
    pure = PurePath(path.replace("\\", "/"))
    return next((part for part in reversed(pure.parts[:-1]) if part not in _FOLDERS), "")


def _full_name(unit: Unit) -> str:
    return f"{unit.db.file}:{unit.scope.name}" if unit.scope.name else unit.db.file


def group_units(units: Iterable[Unit]) -> dict[str, list[Unit]]:
    """Put the files of one switch together: a whole one by its name, parts with the one in their folder or name.

    Two whole configurations are two switches, even where both give the same name.
    """
    everything = list(units)
    switches = [unit for unit in everything if unit.is_switch]
    names = [unit.hostname or unit.own_name for unit in switches]
    for others in ([unit.own_name for unit in switches], [_full_name(unit) for unit in switches]):
        counts = Counter(names)
        names = [other if counts[name] > 1 else name for name, other in zip(names, others, strict=True)]
    found: dict[str, list[Unit]] = {}
    by_folder: dict[str, set[str]] = {}
    for unit, name in zip(switches, names, strict=True):
        found.setdefault(name, []).append(unit)
        by_folder.setdefault(str(PurePath(unit.db.file).parent), set()).add(name)
    for unit in everything:
        if unit.is_switch:
            continue
        beside = by_folder.get(str(PurePath(unit.db.file).parent), set())
        name = unit.own_name
        if name not in found and len(beside) == 1 and _PLAIN.fullmatch(PurePath(unit.db.file).stem):
            (name,) = beside
        found.setdefault(name, []).append(unit)
    return found


def name_of_output(path: str, groups: Mapping[str, list[Unit]]) -> str:
    """Name the switch that outputs without a prompt are of; empty where nothing names one.

    A name that is a switch's wins; then the only switch whose file stands beside; then any name that the path gives.
    """
    name, folder = name_by_output(path), name_by_folder(path)
    for known in (name, folder):
        if known in groups:
            return known
    parent = str(PurePath(path).parent)
    beside = [known for known, units in groups.items() if any(str(PurePath(u.db.file).parent) == parent for u in units)]
    return beside[0] if len(beside) == 1 and (not name or name == folder) else name
