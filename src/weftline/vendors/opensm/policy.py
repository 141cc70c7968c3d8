"""OpenSM's policy file: which pairs of endpoints use which service level, written and read back strictly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weftline.errors import Place
from weftline.formats.lines import Reading, read_hex, read_number
from weftline.model.intent import FactValue
from weftline.model.levels import DEFAULT_LEVEL, LEVELS, ServiceIntent
from weftline.model.observed import Fact

FILE = "qos-policy.conf"
GUIDS_PER_LINE = 8
_SECTIONS = {"port-groups": "port-group", "qos-levels": "qos-level", "qos-match-rules": "qos-match-rule"}
_KEYS = {
    "port-group": {"name", "port-guid"},
    "qos-level": {"name", "sl"},
    "qos-match-rule": {"source", "destination", "pkey", "qos-level-name"},
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
Entries = dict[str, list[str]]


def write_policy(service: ServiceIntent) -> str:
    """Write groups, levels and matches; OpenSM takes the first match that fits."""
    groups = [
        [f"name: {group.key}", *(f"port-guid: {', '.join(part)}" for part in _split(group.members))]
        for group in service.groups
    ]
    levels = [[f"name: {level.key}", f"sl: {level.level}"] for level in service.levels]
    matches = [
        [
            *([f"source: {match.source}"] if match.source is not None else []),
            *([f"destination: {match.destination}"] if match.destination is not None else []),
            *([f"pkey: 0x{match.partition:04x}"] if match.partition is not None else []),
            f"qos-level-name: {match.level}",
        ]
        for match in service.matches
    ]
    return "".join(_section(name, blocks) for name, blocks in zip(_SECTIONS, (groups, levels, matches), strict=True))


def _section(name: str, blocks: list[list[str]]) -> str:
    if not blocks:
        return ""
    kind = _SECTIONS[name]
    inner = "".join(
        f"    {kind}\n" + "".join(f"        {line}\n" for line in lines) + f"    end-{kind}\n" for lines in blocks
    )
    return f"{name}\n{inner}end-{name}\n"


def _split(items: Sequence[str]) -> list[Sequence[str]]:
    return [items[start : start + GUIDS_PER_LINE] for start in range(0, len(items), GUIDS_PER_LINE)]


@dataclass
class _Found:
    """Names that blocks define and use."""

    groups: set[str] = field(default_factory=set[str])
    levels: set[str] = field(default_factory=set[str])
    matches: int = 0
    uses: list[tuple[str, str, Place]] = field(default_factory=list[tuple[str, str, Place]])


def read_policy(content: bytes, reading: Reading) -> list[Fact]:
    """Read groups, levels and matches; a level or a group that is used and not defined is a problem."""
    facts: list[Fact] = []
    found = _Found()
    for kind, entries, where in _read_blocks(content, reading):
        say = {"port-group": _say_group, "qos-level": _say_level, "qos-match-rule": _say_match}[kind]
        facts.extend(Fact(f"service.{path}", value, where) for path, value in say(entries, found, reading, where))
    known = {"group": found.groups, "level": found.levels}
    for kind, name, where in found.uses:
        if name not in known[kind]:
            reading.report("artifact.unexpected", f"{kind} {name[:63]!r} is used and not defined", where)
    if DEFAULT_LEVEL not in found.levels:
        message = f"there is no level {DEFAULT_LEVEL}; OpenSM would take service level 0 for all other pairs"
        reading.report("artifact.unexpected", message, reading.place())
    return facts


def _read_blocks(content: bytes, reading: Reading) -> Iterator[tuple[str, Entries, Place]]:
    """Yield the kind and the lines of each block inside its section."""
    section = kind = ""
    entries: Entries = {}
    where = reading.place()
    for number, text in reading.lines(content):
        key, colon, value = text.partition(": ")
        if not section and text in _SECTIONS:
            section = text
        elif section and not kind and text == f"end-{section}":
            section = ""
        elif section and not kind and text == _SECTIONS[section]:
            kind, entries, where = text, {}, reading.place(number)
        elif kind and text == f"end-{kind}":
            yield kind, entries, where
            kind = ""
        elif kind and colon and key in _KEYS[kind] and (key not in entries or key == "port-guid"):
            entries.setdefault(key, []).append(value)
        else:
            reading.report("artifact.unreadable-line", "line does not belong here", reading.place(number))
    if section:
        reading.report("artifact.unreadable-line", f"{kind or section} does not end", where)


def _take_name(entries: Entries, taken: set[str], reading: Reading, where: Place) -> str | None:
    name = entries.get("name", [""])[0]
    if not _NAME.fullmatch(name):
        reading.report("artifact.unreadable-line", "block has no name, or one with other signs", where)
        return None
    if name in taken:
        reading.report("artifact.said-twice", f"{name} is defined twice", where)
        return None
    taken.add(name)
    return name


def _say_group(entries: Entries, found: _Found, reading: Reading, where: Place) -> list[tuple[str, FactValue]]:
    name = _take_name(entries, found.groups, reading, where)
    members = [guid for line in entries.get("port-guid", []) for guid in line.split(", ")]
    if name is None:
        return []
    if not members or any(read_hex(guid, 16) is None for guid in members):
        reading.report("artifact.unreadable-line", f"group {name} holds what is no list of port GUIDs", where)
        return []
    return [(f"groups.{name}.members", tuple(members))]


def _say_level(entries: Entries, found: _Found, reading: Reading, where: Place) -> list[tuple[str, FactValue]]:
    name = _take_name(entries, found.levels, reading, where)
    if name is None:
        return []
    level = read_number(entries.get("sl", [""])[0], 0, LEVELS - 1)
    if level is None:
        reading.report("artifact.out-of-range", f"level {name} has no service level from 0 to {LEVELS - 1}", where)
        return []
    return [(f"levels.{name}.level", level)]


def _say_match(entries: Entries, found: _Found, reading: Reading, where: Place) -> list[tuple[str, FactValue]]:
    found.matches += 1
    path = f"matches.{found.matches}"
    if "qos-level-name" not in entries:
        reading.report("artifact.unreadable-line", "rule names no level", where)
        return []
    level = entries["qos-level-name"][0]
    found.uses.append(("level", level, where))
    facts: list[tuple[str, FactValue]] = [(f"{path}.level", level)]
    for key in ("source", "destination"):
        if key in entries:
            found.uses.append(("group", entries[key][0], where))
            facts.append((f"{path}.{key}", entries[key][0]))
    if "pkey" in entries:
        key = read_hex(entries["pkey"][0], 4)
        if key is None or not 0 < key <= 0x7FFF:
            reading.report("artifact.out-of-range", "rule names no P_Key from 0x0001 to 0x7fff", where)
        else:
            facts.append((f"{path}.partition", key))
    return facts
