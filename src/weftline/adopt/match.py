"""Which node of one fabric is which of another: by name, by GUID, then by how it is wired."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict

import numpy as np

from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric, NodeKind

ENOUGH = 0.5
"""Where half of the nodes of a kind are known by name or GUID, the others are other nodes, not renamed ones."""
ROUNDS = 3


def match_nodes(
    declared: Fabric,
    discovered: Fabric,
    declared_addresses: Addresses | None = None,
    discovered_addresses: Addresses | None = None,
) -> dict[int, int]:
    """Map nodes of ``declared`` to nodes of ``discovered``; nodes without a counterpart are absent.

    Equal names come first, then equal GUIDs. Where that leaves most hosts or switches open, the two use different
    names: the rest are matched by wiring, as far as that is beyond doubt.
    """
    found = _by_name(declared, discovered)
    if declared_addresses is not None and discovered_addresses is not None:
        _by_guid(declared, discovered, declared_addresses, discovered_addresses, found)
    kinds = [is_switch for is_switch in (False, True) if _is_open(declared, discovered, found, is_switch=is_switch)]
    if kinds:
        left, right = _Side(declared), _Side(discovered)
        _by_votes(left, right, found, kinds)
        _by_colour(left, right, found, kinds)
        _by_votes(left, right, found, kinds)
    return dict(sorted(found.items()))


class _Side:
    """One fabric, as lists that Python walks fast."""

    def __init__(self, fabric: Fabric) -> None:
        """List the wired ports of each node."""
        self.count = fabric.node_count
        self.is_switch: list[bool] = (fabric.node_kind == NodeKind.SWITCH).tolist()
        self.wires: list[dict[int, tuple[int, int]]] = [{} for _ in range(self.count)]
        lit = np.flatnonzero(fabric.port_peer != NIL)
        peers = fabric.port_peer[lit]
        columns = (fabric.port_node[lit], fabric.port_number[lit], fabric.port_node[peers], fabric.port_number[peers])
        for node, number, far, far_number in zip(*(column.tolist() for column in columns), strict=True):
            self.wires[node][number] = (far, far_number)


def _by_name(declared: Fabric, discovered: Fabric) -> dict[int, int]:
    """Match equal names of equal kind; hosts and extra endpoints count as one kind, since dumps cannot tell them."""
    index = {name: node for node, name in enumerate(discovered.node_name)}
    found: dict[int, int] = {}
    for node, name in enumerate(declared.node_name):
        other = index.get(name, NIL)
        if other == NIL:
            continue
        if (declared.node_kind[node] == NodeKind.SWITCH) == (discovered.node_kind[other] == NodeKind.SWITCH):
            found[node] = other
    return found


def _by_guid(declared: Fabric, discovered: Fabric, first: Addresses, second: Addresses, found: dict[int, int]) -> None:
    """Match nodes of which a GUID is equal, where that points to one node only."""
    if first.scheme != second.scheme:
        return
    votes: Counter[tuple[int, int]] = Counter()
    owners: dict[int, int] = {}
    for node, guid in enumerate(second.node_id.tolist()):
        owners.setdefault(guid, node)
    for node, guid in zip(discovered.port_node.tolist(), second.port_id.tolist(), strict=True):
        owners.setdefault(guid, node)
    taken = set(found.values())
    pairs = [*enumerate(first.node_id.tolist()), *zip(declared.port_node.tolist(), first.port_id.tolist(), strict=True)]
    for node, guid in pairs:
        other = owners.get(guid, NIL) if guid else NIL
        if node not in found and other != NIL and other not in taken:
            votes[(node, other)] += 1
    _accept(votes, found)


def _is_open(declared: Fabric, discovered: Fabric, found: dict[int, int], *, is_switch: bool) -> bool:
    """Say whether too few nodes of a kind are matched to trust names."""
    kind = np.flatnonzero((declared.node_kind == NodeKind.SWITCH) == is_switch)
    other = int(np.count_nonzero((discovered.node_kind == NodeKind.SWITCH) == is_switch))
    known = sum(node in found for node in kind.tolist())
    return known < ENOUGH * min(len(kind), other)


def _accept(votes: Counter[tuple[int, int]], found: dict[int, int]) -> list[tuple[int, int]]:
    """Take pairs that are each other's best by a clear margin, and return them."""
    left: dict[int, list[tuple[int, int]]] = defaultdict(list)
    right: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (a, b), count in votes.items():
        left[a].append((count, b))
        right[b].append((count, a))

    def best(choices: list[tuple[int, int]]) -> int:
        choices.sort(reverse=True)
        return NIL if len(choices) > 1 and choices[0][0] == choices[1][0] else choices[0][1]

    chosen = {b: best(choices) for b, choices in right.items()}
    fresh = [(a, best(choices)) for a, choices in sorted(left.items())]
    fresh = [(a, b) for a, b in fresh if b != NIL and chosen[b] == a]
    found.update(fresh)
    return fresh


def _by_votes(left: _Side, right: _Side, found: dict[int, int], kinds: list[bool]) -> None:
    """Match outwards from known nodes: equal ports of a matched pair lead to a likely pair."""
    votes: Counter[tuple[int, int]] = Counter()
    fresh = list(found.items())
    taken = set(found.values())
    while fresh:
        for a, b in fresh:
            for number, (far, far_number) in left.wires[a].items():
                other, other_number = right.wires[b].get(number, (NIL, 0))
                if other == NIL or far in found or other in taken:
                    continue
                if left.is_switch[far] == right.is_switch[other] and left.is_switch[far] in kinds:
                    votes[(far, other)] += 2 if far_number == other_number else 1
        fresh = _accept(votes, found)
        taken.update(b for _, b in fresh)
        votes = Counter({pair: count for pair, count in votes.items() if pair[0] not in found and pair[1] not in taken})


def _by_colour(left: _Side, right: _Side, found: dict[int, int], kinds: list[bool]) -> None:
    """Match nodes whose wiring, seen for a few steps, is unique on both sides.

    A node's colour is what it is, then the colours at its ports: Weisfeiler and Leman's refinement with port numbers.
    """
    one, two = _first_colours(left), _first_colours(right)
    for a, b in found.items():
        one[a] = two[b] = f"known {a}"
    for _ in range(ROUNDS):
        one, two = _refine(left, one), _refine(right, two)
        taken = set(found.values())
        mine = _unique(one, [at for at in range(left.count) if at not in found and left.is_switch[at] in kinds])
        theirs = _unique(two, [at for at in range(right.count) if at not in taken and right.is_switch[at] in kinds])
        for colour in sorted(mine.keys() & theirs.keys()):
            found[mine[colour]] = theirs[colour]
            one[mine[colour]] = two[theirs[colour]] = f"known {mine[colour]}"
        if mine.keys() & theirs.keys():
            _by_votes(left, right, found, kinds)


def _first_colours(side: _Side) -> list[str]:
    """Colour by kind alone."""
    return ["switch" if is_switch else "host" for is_switch in side.is_switch]


def _refine(side: _Side, colours: list[str]) -> list[str]:
    """Colour each node by its own colour and those at its ports; a known node keeps its own."""
    out: list[str] = []
    for node, wires in enumerate(side.wires):
        if colours[node].startswith("known"):
            out.append(colours[node])
            continue
        seen = ",".join(f"{number}:{far_number}:{colours[far]}" for number, (far, far_number) in sorted(wires.items()))
        out.append(_short(f"{colours[node]}({seen})"))
    return out


def _short(text: str) -> str:
    """Shorten a colour to its digest."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _unique(colours: list[str], nodes: list[int]) -> dict[str, int]:
    """Return the nodes whose colour no other has."""
    counts = Counter(colours)
    return {colours[node]: node for node in nodes if counts[colours[node]] == 1}
