"""Names of discovered nodes, and which adapters are one host."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from weftline.model.discovery import NodeRecord

_ADAPTER = re.compile(
    r"(?:mlx\d_(?P<device>\d{1,4})|HCA-(?P<hca>\d{1,4})|(?P<other>(?:ibp|ib|hfi1_|qib|hns_)\w{1,16}))"
)
"""What drivers append to the host's name: a device from 0, HCA-n from 1, or an interface name."""
_UNIT = re.compile(r"MF0;(?P<name>[^:]+):(?P<model>[^/]+)/(?P<place>.+)")
"""What managed switches say: name, model, chip; directors add the place of the card."""
_DEFAULT_HOSTS = frozenset({"localhost", "ubuntu", "debian", "linux", "none", "(none)", "MT4129", "Mellanox"})
"""Names that machines have before somebody names them: equal names mean nothing."""
_AGGREGATION = re.compile(r"aggregation node", re.IGNORECASE)
"""In-network reduction is offered by an adapter inside the switch; it is no host."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
MAX_ADAPTERS = 64


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Adapters that make one host, with the rail of each; ``members`` are positions among the records."""

    name: str
    members: tuple[int, ...]
    slots: tuple[int, ...]
    """Rank of each member's adapter name among those of hosts like it, from 0."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a managed switch says of itself."""

    name: str
    model: str
    place: str
    """``U1``, or board and chip of a director, as ``L16/U2``."""


def split_unit(description: str) -> Unit | None:
    """Split ``MF0;leaf-a:MQM9700/U1``; None where a description is not of that form."""
    match = _UNIT.fullmatch(description)
    return Unit(match["name"], match["model"], match["place"]) if match else None


def is_extra(record: NodeRecord) -> bool:
    """Say whether a node is an endpoint that is no host: an aggregation node or a router."""
    return record.kind == "router" or (record.kind == "ca" and bool(_AGGREGATION.search(record.description)))


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts ``leaf-2`` before ``leaf-10``."""
    pieces = re.split(r"(\d{1,18})", text)
    return tuple((0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece)


def plain_name(description: str) -> str:
    """Make a name of a description: letters, digits, dots, dashes and underscores only."""
    managed = _UNIT.fullmatch(description)
    if managed:
        place = managed["place"].replace("/", ".")
        description = managed["name"] if place == "U1" else f"{managed['name']}.{place}"
    return _ODD.sub("-", description).strip("-.")[:80]


def unique_names(wanted: list[tuple[str, str]]) -> list[str]:
    """Name nodes by (name, key): the name where only one wants it, else name and key, else the key alone."""
    counts = Counter(name for name, _ in wanted)
    taken: set[str] = set()
    out: list[str] = []
    for name, key in wanted:
        plain_key = _ODD.sub("-", key) or "node"
        choice = name if name and counts[name] == 1 else f"{name}.{plain_key}" if name else plain_key
        number = 2
        unique = choice
        while unique in taken:
            unique = f"{choice}.{number}"
            number += 1
        taken.add(unique)
        out.append(unique)
    return out


def split_adapter(description: str) -> tuple[str, tuple[int, str]] | None:
    """Split ``host-0001 HCA-3`` into the host and a sortable adapter name; None where the pattern is not there.

    ``HCA-n`` counts from 1 and ``mlx5_n`` from 0, so HCA-3 and mlx5_2 are the same adapter.
    """
    host, _, adapter = description.rpartition(" ")
    host = host.strip()
    match = _ADAPTER.fullmatch(adapter)
    if match is None or not host or host in _DEFAULT_HOSTS:
        return None
    if match["device"]:
        return host, (int(match["device"]), "")
    if match["hca"]:
        return host, (int(match["hca"]) - 1, "")
    digits = re.findall(r"\d+", match["other"])
    return host, (int(digits[0]) if digits else 0, match["other"])


def group_hosts(records: list[NodeRecord], members: list[int]) -> list[HostGroup]:
    """Group adapters into hosts where their descriptions say so beyond doubt, else one host each.

    Beyond doubt means: the pattern ``<host> <adapter>``, a host name that is no factory default, no adapter name
    twice, and at most 64 adapters.
    """
    named: dict[str, list[tuple[int, tuple[int, str]]]] = defaultdict(list)
    alone: list[int] = []
    for member in members:
        split = split_adapter(records[member].description)
        if split is None:
            alone.append(member)
        else:
            named[split[0]].append((member, split[1]))
    sure: dict[str, list[tuple[int, tuple[int, str]]]] = {}
    for host, adapters in named.items():
        if len({slot for _, slot in adapters}) == len(adapters) <= MAX_ADAPTERS:
            sure[host] = sorted(adapters, key=lambda pair: pair[1])
        else:
            alone.extend(member for member, _ in adapters)
    ranks = _slot_ranks(list(sure.values()))
    groups = [
        HostGroup(host, tuple(member for member, _ in adapters), tuple(ranks[slot] for _, slot in adapters))
        for host, adapters in sure.items()
    ]
    groups.extend(HostGroup(records[member].description, (member,), (0,)) for member in sorted(alone))
    return groups


def _slot_ranks(hosts: list[list[tuple[int, tuple[int, str]]]]) -> dict[tuple[int, str], int]:
    """Rank adapter names among those that occur together on some host, so that a lost adapter shifts no other."""
    family: dict[tuple[int, str], tuple[int, str]] = {}

    def find(slot: tuple[int, str]) -> tuple[int, str]:
        while family[slot] != slot:
            family[slot] = family[family[slot]]
            slot = family[slot]
        return slot

    for adapters in hosts:
        for _, slot in adapters:
            family.setdefault(slot, slot)
        for _, slot in adapters[1:]:
            first, other = find(adapters[0][1]), find(slot)
            family[max(first, other)] = min(first, other)
    ranks: dict[tuple[int, str], int] = {}
    seen: Counter[tuple[int, str]] = Counter()
    for slot in sorted(family):
        root = find(slot)
        ranks[slot] = seen[root]
        seen[root] += 1
    return ranks
