"""Route maps in the lines that FRR and EOS share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weftline.errors import Place
from weftline.formats.config_text import ConfigLine
from weftline.model.observed_routing import ObservedRouteMap
from weftline.model.said import Said

_HEAD = 3
_MATCH = ("match", "ip", "address", "prefix-list")
_SILENT = frozenset({"description", "exit"})
_WEIGHS = ("set", "extcommunity", "bandwidth")


def read_route_maps(file: str, lines: Iterable[ConfigLine]) -> tuple[ObservedRouteMap, ...]:
    """Read route maps; one that is made of anything but permits by lists of prefixes is not plain."""
    found: dict[str, ObservedRouteMap] = {}
    heads: dict[str, list[ConfigLine]] = {}
    for line in lines:
        if line.body[0] != "route-map" or len(line.body) < _HEAD:
            continue
        name = line.body[1]
        known = found.get(name) or ObservedRouteMap(name, Place(file, line.number, line.column))
        found[name] = _add_entry(file, known, line)
        heads.setdefault(name, []).append(line)
    return tuple(replace(one, passes_all=_pass_all(heads[name])) for name, one in found.items())


def _pass_all(heads: Iterable[ConfigLine]) -> bool:
    """Whether no entry refuses, one matches everything, and none does more than set a bandwidth."""
    is_open = False
    for head in heads:
        if head.words[2] != "permit" or head.is_negated:
            return False
        inner = [line for line in head.children if line.words[0] not in _SILENT]
        matches = [line for line in inner if line.after(*_MATCH) is not None]
        if len(matches) + sum(line.after(*_WEIGHS) is not None for line in inner) != len(inner):
            return False
        is_open |= not matches
    return is_open


def _add_entry(file: str, known: ObservedRouteMap, head: ConfigLine) -> ObservedRouteMap:
    """Add one entry; without a match it permits everything, which no list says."""
    inner = [line for line in head.children if line.words[0] not in _SILENT]
    names = [line.after(*_MATCH) for line in inner]
    is_plain = head.words[2] == "permit" and not head.is_negated and len(names) == 1 and names[0] is not None
    if not is_plain:
        return replace(known, is_plain=False)
    said = tuple(
        Said(f"prefix-list {name}", Place(file, line.number, line.column))
        for line, words in zip(inner, names, strict=True)
        for name in words or ()
    )
    return replace(known, lists=(*known.lists, *said), is_plain=known.is_plain and len(said) == 1)
