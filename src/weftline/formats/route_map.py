"""Route maps in the lines that FRR and EOS share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weftline.errors import Place
from weftline.formats.config_text import ConfigLine
from weftline.model.observed_routing import ObservedRouteMap
from weftline.model.said import Said

_HEAD = 3
_MATCH = ("match", "ip", "address", "prefix-list")
_SILENT = frozenset({"description", "exit"})
_WEIGHS = ("set", "extcommunity", "bandwidth")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a route map."""

    lists: tuple[Said[str], ...]
    """The lists of prefixes that it matches, where it does nothing but permit them."""
    has_match: bool
    is_harmless: bool
    """Whether it permits what it matches, and sets a bandwidth at most."""


def read_route_maps(file: str, lines: Iterable[ConfigLine]) -> tuple[ObservedRouteMap, ...]:
    """Read route maps; one that is made of anything but permits by lists of prefixes is not plain."""
    heads: dict[str, list[ConfigLine]] = {}
    for line in lines:
        if line.body[0] == "route-map" and len(line.body) >= _HEAD:
            heads.setdefault(line.body[1], []).append(line)
    return tuple(_read_map(file, name, own) for name, own in heads.items())


def _read_map(file: str, name: str, heads: Sequence[ConfigLine]) -> ObservedRouteMap:
    entries = [_read_entry(file, head) for head in heads]
    return ObservedRouteMap(
        name,
        Place(file, heads[0].number, heads[0].column),
        lists=tuple(said for one in entries for said in one.lists),
        is_plain=all(len(one.lists) == 1 for one in entries),
        passes_all=all(one.is_harmless for one in entries) and not all(one.has_match for one in entries),
    )


def _read_entry(file: str, head: ConfigLine) -> _Entry:
    """Read one entry; without a match it holds for everything, which no list says."""
    permits = head.words[2] == "permit" and not head.is_negated
    inner = [line for line in head.children if line.words[0] not in _SILENT]
    matches = [(line, words) for line in inner if (words := line.after(*_MATCH)) is not None]
    sets = sum(line.after(*_WEIGHS) is not None for line in inner)
    lists = tuple(
        Said(f"prefix-list {name}", Place(file, line.number, line.column)) for line, words in matches for name in words
    )
    return _Entry(
        lists=lists if permits and len(inner) == len(matches) == 1 else (),
        has_match=bool(matches),
        is_harmless=permits and len(matches) + sets == len(inner),
    )
