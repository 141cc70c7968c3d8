"""Tiers and shape of a discovered fabric, recognised from its links alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import median

from weftline.kernels.column import NIL
from weftline.model.fabric import TIER_NAMES, Tier

FEW = 4
"""A switch with less than a quarter of its neighbours' hosts, on most of its sides, is no leaf."""
MOST = 0.67
"""Share of a leaf's endpoints that must be of one rail for the leaf to serve that rail; half is a leaf of two."""


@dataclass(slots=True)
class Graph:
    """Switches and what hangs on them; switches, hosts and units are numbered from 0."""

    neighbours: list[Counter[int]]
    """Per switch its neighbour switches, with the number of links."""
    hosts: list[list[tuple[int, int]]]
    """Per switch the (host, rail) of each endpoint on it; extra endpoints do not count."""
    named_rails: set[int]
    """Hosts whose adapters have names, so that their rails mean something."""
    host_count: int
    names: list[str]


@dataclass(slots=True)
class Shape:
    """What was recognised."""

    tier: list[int]
    component: list[int]
    rail: list[int]
    unit: list[int]
    group: list[int]
    host_unit: list[int]
    shape: str = "irregular"
    reason: str = ""
    notes: list[str] = field(default_factory=list[str])


def recognise(graph: Graph) -> Shape:
    """Recognise tiers, components, rails, units, groups and the shape; O(switches + links + endpoints)."""
    count = len(graph.names)
    tier, depth = _tiers(graph)
    component = _parts(count, [(a, b) for a in range(count) for b in graph.neighbours[a]])
    unit, host_unit = _units(graph, tier)
    group = _groups(graph, tier)
    shape = Shape(tier, component, [NIL] * count, unit, group, host_unit)
    _name(graph, shape, depth)
    if shape.shape in {"rail-optimised", "rail-only"}:
        _rail_spines(graph, shape)
        _number_by_rail(shape)
    else:
        shape.rail = [NIL] * count
    return shape


def _rail_spines(graph: Graph, shape: Shape) -> None:
    """Give a spine its rail where all its leaves serve one."""
    for at, around in enumerate(graph.neighbours):
        if shape.tier[at] == Tier.SPINE:
            rails = {shape.rail[other] for other in around if shape.tier[other] == Tier.LEAF}
            shape.rail[at] = rails.pop() if len(rails) == 1 else NIL


def _number_by_rail(shape: Shape) -> None:
    """Number the groups of each rail from 0 where every group serves one rail."""
    rails: dict[int, set[int]] = defaultdict(set)
    for group, rail, tier in zip(shape.group, shape.rail, shape.tier, strict=True):
        if group != NIL and tier == Tier.LEAF:
            rails[group].add(rail)
    if not rails or any(len(found) != 1 for found in rails.values()):
        return
    counts: Counter[int] = Counter()
    number: dict[int, int] = {}
    for group in sorted(rails):
        rail = min(rails[group])
        number[group] = counts[rail]
        counts[rail] += 1
    shape.group = [number.get(group, NIL) for group in shape.group]


def _parts(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Number the connected parts in the order of their first members."""
    parent = list(range(count))

    def find(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for a, b in pairs:
        first, second = find(a), find(b)
        parent[max(first, second)] = min(first, second)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(find(at), len(numbers)) for at in range(count)]


def _leaves(graph: Graph) -> set[int]:
    """Find the leaves: switches with hosts, but for those that have few beside neighbours that have many.

    A management host on a spine does not make it a leaf.
    """
    load = [len(endpoints) for endpoints in graph.hosts]
    candidates = [at for at, hosts in enumerate(load) if hosts]
    leaves: set[int] = set()
    for at in candidates:
        around = [load[other] for other in graph.neighbours[at]]
        busy = [hosts for hosts in around if hosts]
        is_few = len(busy) * 2 > len(around) and load[at] * FEW < median(busy)
        if not is_few:
            leaves.add(at)
    return leaves


def _dark_leaves(graph: Graph, leaves: set[int]) -> set[int]:
    """Find leaves without a host: not beside a leaf, and wired to the same spines as one, or to half of them."""
    up_of: dict[int, list[frozenset[int]]] = defaultdict(list)
    for uplinks in sorted({frozenset(graph.neighbours[at]) - leaves for at in leaves}, key=sorted):
        for spine in uplinks:
            up_of[spine].append(uplinks)
    found: set[int] = set()
    for at, around in enumerate(graph.neighbours):
        up = frozenset(around)
        if at in leaves or not up or up & leaves:
            continue
        if any(up <= other and len(up) * 2 >= len(other) for other in up_of[min(up)]):
            found.add(at)
    return found


def _tiers(graph: Graph) -> tuple[list[int], int]:
    """Count the steps from the nearest leaf; a switch that no leaf reaches is a leaf. Returns tiers and the depth."""
    leaves = _leaves(graph)
    leaves |= _dark_leaves(graph, leaves)
    tier = [0] * len(graph.names)
    level = sorted(leaves)
    depth = 0
    while level:
        depth += 1
        for at in level:
            tier[at] = depth
        level = sorted({other for at in level for other in graph.neighbours[at] if not tier[other]})
    return [min(step, int(Tier.CORE)) or int(Tier.LEAF) for step in tier], depth


def _units(graph: Graph, tier: list[int]) -> tuple[list[int], list[int]]:
    """Number the units: leaves that share hosts, and those hosts."""
    switches = len(graph.names)
    leaves = [at for at in range(switches) if tier[at] == Tier.LEAF]
    pairs = [(at, switches + host) for at in leaves for host, _ in graph.hosts[at]]
    parts = _parts(switches + graph.host_count, pairs)
    numbers: dict[int, int] = {}
    unit, host_unit = [NIL] * switches, [NIL] * graph.host_count
    for host in sorted({host for at in leaves for host, _ in graph.hosts[at]}):
        host_unit[host] = numbers.setdefault(parts[switches + host], len(numbers))
    for at in leaves:
        if graph.hosts[at]:
            unit[at] = numbers.setdefault(parts[at], len(numbers))
    return unit, host_unit


def _groups(graph: Graph, tier: list[int]) -> list[int]:
    """Number the groups (pods): leaves and spines that are joined without a core; none in two tiers."""
    count = len(graph.names)
    if Tier.CORE not in tier:
        return [NIL] * count
    low = [at for at in range(count) if tier[at] != Tier.CORE]
    pairs = [(a, b) for a in low for b in graph.neighbours[a] if tier[b] != Tier.CORE]
    parts = _parts(count, pairs)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(parts[at], len(numbers)) if tier[at] != Tier.CORE else NIL for at in range(count)]


def _name(graph: Graph, shape: Shape, depth: int) -> None:
    """Name the shape, with the reason."""
    tier, names = shape.tier, graph.names
    count = len(names)
    links = [(a, b) for a in range(count) for b in sorted(graph.neighbours[a]) if a < b]
    if not any(graph.hosts):
        shape.reason = "no switch has a host, so no tier can be told"
        return
    if count == 1:
        shape.shape, shape.reason = "single-switch", "one switch has all hosts"
        return
    if _is_ring(graph, links) and max(tier) == Tier.LEAF:
        shape.shape, shape.reason = "ring", f"{count} switches, each joined to two others in one circle"
        return
    if depth > Tier.CORE:
        shape.reason = f"{depth} tiers from the hosts to the farthest switch, where fat trees have at most 3"
        return
    level = [(a, b) for a, b in links if tier[a] == tier[b]]
    if level:
        a, b = level[0]
        more = f", and {len(level) - 1} more pairs of switches" if len(level) > 1 else ""
        shape.reason = f"{names[a]} and {names[b]} are both {TIER_NAMES[tier[a]]} switches and joined directly{more}"
        return
    _name_tree(graph, shape)


def _is_ring(graph: Graph, links: list[tuple[int, int]]) -> bool:
    """Say whether the switches form one circle."""
    count = len(graph.names)
    return count > 2 and len(links) == count and all(len(around) == 2 for around in graph.neighbours)


def _name_tree(graph: Graph, shape: Shape) -> None:
    """Name a tree whose links all join neighbouring tiers."""
    tier = shape.tier
    per_tier = Counter(tier)
    words = " and ".join(
        f"{per_tier[step]} {TIER_NAMES[step]}" for step in (Tier.LEAF, Tier.SPINE, Tier.CORE) if per_tier[step]
    )
    tiers = {1: "one tier", 2: "two tiers", 3: "three tiers"}[max(tier)]
    parts = max(shape.component) + 1
    is_railed = _find_rails(graph, shape)
    if is_railed and parts > 1 and _one_rail_per_part(shape):
        shape.shape = "rail-only"
        shape.reason = f"{tiers}, {words} switches in {parts} parts, each of one rail or plane"
    elif is_railed:
        shape.shape = "rail-optimised"
        shape.reason = f"{tiers}, {words} switches, each leaf serves one rail"
        strays = _strays(graph, shape)
        shape.reason += f", but for {strays} endpoints on a leaf of another rail" if strays else ""
    elif max(tier) == Tier.LEAF:
        shape.reason = f"{words} switches that no link joins"
    else:
        shape.shape = "fat-tree"
        shape.reason = f"{tiers}, {words} switches" + (f" in {parts} parts" if parts > 1 else "")
    uneven = _uneven(graph, shape)
    if uneven:
        shape.reason += f"; {uneven}"


def _find_rails(graph: Graph, shape: Shape) -> bool:
    """Give each leaf its rail, and say whether all leaves serve one rail of hosts of several."""
    seen: set[int] = set()
    for at, endpoints in enumerate(graph.hosts):
        if shape.tier[at] != Tier.LEAF:
            continue
        rails = Counter(rail for host, rail in endpoints if host in graph.named_rails)
        if not rails:
            continue
        rail, share = max(sorted(rails.items()), key=lambda pair: pair[1])
        if share < MOST * sum(rails.values()):
            return False
        shape.rail[at] = rail
        seen.add(rail)
    return len(seen) > 1


def _strays(graph: Graph, shape: Shape) -> int:
    """Count endpoints of hosts with rails that are on a leaf of another rail."""
    return sum(
        host in graph.named_rails and rail != shape.rail[at]
        for at, endpoints in enumerate(graph.hosts)
        if shape.rail[at] != NIL
        for host, rail in endpoints
    )


def _one_rail_per_part(shape: Shape) -> bool:
    """Say whether every connected part serves one rail."""
    rails: dict[int, set[int]] = defaultdict(set)
    for part, rail in zip(shape.component, shape.rail, strict=True):
        if rail != NIL:
            rails[part].add(rail)
    return all(len(found) == 1 for found in rails.values())


def _uneven(graph: Graph, shape: Shape) -> str:
    """Say how the leaves differ in their uplinks; empty where they do not."""
    ups = Counter(sum(around.values()) for at, around in enumerate(graph.neighbours) if shape.tier[at] == Tier.LEAF)
    if len(ups) < 2:
        return ""
    usual = max(sorted(ups.items()), key=lambda pair: pair[1])[0]
    odd = sum(count for links, count in ups.items() if links != usual)
    return f"{odd} of {sum(ups.values())} leaves have other than {usual} uplinks"
