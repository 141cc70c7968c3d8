"""Declared against discovered: every node and cable that is missing, extra, moved, swapped or at the wrong rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weftline.adopt.match import match_nodes
from weftline.model.addresses import Addresses
from weftline.model.difference import Difference
from weftline.model.fabric import Fabric

Ref = tuple[int, int]
"""A port in common terms: the declared node (or the declared count plus the discovered node), and its number."""
Link = tuple[Ref, Ref]
RATE_SLACK = 0.5
"""Gb/s within which two rates are the same."""


@dataclass(frozen=True, slots=True)
class _Both:
    """The two fabrics in common terms."""

    declared: Fabric
    discovered: Fabric
    node_of: dict[int, int]
    """Discovered node to declared node, for those that are matched."""
    port_at: dict[Ref, int]
    """Declared port of a reference."""

    def say(self, ref: Ref) -> str:
        """Name a port, in the words of the declaration where it has them."""
        port = self.port_at.get(ref)
        if port is not None:
            return self.declared.port_name(port)
        node, number = ref
        if node < self.declared.node_count:
            return f"{self.declared.node_name[node]}/{number}"
        return f"{self.discovered.node_name[node - self.declared.node_count]}/{number}"

    def say_link(self, link: Link) -> str:
        """Name a link, the lower node first."""
        return f"{self.say(link[0])}~{self.say(link[1])}"


def compare(
    declared: Fabric,
    discovered: Fabric,
    declared_addresses: Addresses | None = None,
    discovered_addresses: Addresses | None = None,
) -> tuple[Difference, ...]:
    """Compare two fabrics; an empty tuple means that they are wired alike.

    A cable that ends elsewhere is one difference, cables that exchanged their ends are one difference, and a missing
    or extra node takes its cables with it. Declared nodes without a cable are not looked for, since discovery cannot
    see them. Works between any two fabrics; addresses help where names differ.
    """
    matched = match_nodes(declared, discovered, declared_addresses, discovered_addresses)
    both = _Both(declared, discovered, {other: node for node, other in matched.items()}, _ports(declared))
    want = _links(declared, {})
    have = _links(
        discovered, {node: both.node_of.get(node, declared.node_count + node) for node in range(discovered.node_count)}
    )
    missing = [link for link in want if link not in have]
    extra = [link for link in have if link not in want]
    out, missing, extra = _compare_nodes(both, matched, missing, extra)
    out.extend(_compare_cables(both, missing, extra))
    out.extend(_compare_rates(both, want, have))
    return tuple(out)


def _ports(fabric: Fabric) -> dict[Ref, int]:
    """Index ports by node and number."""
    pairs = zip(fabric.port_node.tolist(), fabric.port_number.tolist(), strict=True)
    return {ref: port for port, ref in enumerate(pairs)}


def _links(fabric: Fabric, rename: dict[int, int]) -> dict[Link, float]:
    """List the links of a fabric in common terms, with the rate of the slower end."""
    near = np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count))
    far = fabric.port_peer[near]
    rates = np.minimum(fabric.port_rate_gbps[near], fabric.port_rate_gbps[far])

    def common(node: int) -> int:
        return rename.get(node, node)

    nodes: list[int] = fabric.port_node.tolist()
    numbers: list[int] = fabric.port_number.tolist()
    found: dict[Link, float] = {}
    ports: list[int] = near.tolist()
    peers: list[int] = far.tolist()
    for port, peer, rate in zip(ports, peers, rates.tolist(), strict=True):
        node, number, other, other_number = nodes[port], numbers[port], nodes[peer], numbers[peer]
        a, b = (common(node), number), (common(other), other_number)
        found[(min(a, b), max(a, b))] = rate
    return dict(sorted(found.items()))


def _compare_nodes(
    both: _Both, matched: dict[int, int], missing: list[Link], extra: list[Link]
) -> tuple[list[Difference], list[Link], list[Link]]:
    """Find missing and extra nodes; returns them, and the links that remain to be explained."""
    out: list[Difference] = []
    count = both.declared.node_count
    gone = _by_node(missing, {node for node in range(count) if node not in matched})
    for node, links in sorted(gone.items()):
        name = both.declared.node_name[node]
        words = tuple(both.say_link(link) for link in links)
        message = f"{name} is declared and was not found, nor {_count(len(links))}"
        out.append(Difference("missing-node", name, message, words, ()))
    new = _by_node(extra, {count + node for node in range(both.discovered.node_count) if node not in both.node_of})
    for node, links in sorted(new.items()):
        name = both.discovered.node_name[node - count]
        words = tuple(both.say_link(link) for link in links)
        message = f"{name} was found and is not declared, with {_count(len(links))}"
        out.append(Difference("extra-node", name, message, (), words))
    rest_missing = [link for link in missing if link[0][0] not in gone and link[1][0] not in gone]
    rest_extra = [link for link in extra if link[0][0] not in new and link[1][0] not in new]
    return out, rest_missing, rest_extra


def _by_node(links: Iterable[Link], nodes: set[int]) -> dict[int, list[Link]]:
    """Gather links by those of their nodes that are in a set."""
    found: dict[int, list[Link]] = {}
    for link in links:
        for node in sorted({link[0][0], link[1][0]} & nodes):
            found.setdefault(node, []).append(link)
    return found


def _count(cables: int) -> str:
    """Count cables in words."""
    return f"its {cables} cables" if cables != 1 else "its cable"


def _compare_cables(both: _Both, missing: list[Link], extra: list[Link]) -> list[Difference]:
    """Explain missing and extra links together.

    Each port is in at most one missing and one extra link, so they form alternating chains and circles: a circle is a
    set of cables that exchanged their ends, two neighbours in a chain are one cable that moved.
    """
    at: dict[Ref, list[tuple[bool, Link]]] = {}
    for is_found, links in ((False, missing), (True, extra)):
        for link in links:
            for ref in link:
                at.setdefault(ref, []).append((is_found, link))
    out: list[Difference] = []
    used: set[tuple[bool, Link]] = set()
    ends = sorted(ref for ref, edges in at.items() if len(edges) == 1)
    for start in [*ends, *sorted(at)]:
        for edge in at[start]:
            if edge in used:
                continue
            chain, is_circle = _walk(at, start, edge)
            used.update(chain)
            out.extend(_explain(both, chain, is_circle=is_circle))
    return sorted(out, key=lambda difference: (difference.kind, difference.subject))


def _walk(
    at: dict[Ref, list[tuple[bool, Link]]], start: Ref, edge: tuple[bool, Link]
) -> tuple[list[tuple[bool, Link]], bool]:
    """Follow a chain from one port until it ends or closes."""
    chain = [edge]
    ref = start
    while True:
        a, b = chain[-1][1]
        ref = b if ref == a else a
        if ref == start:
            return chain, True
        onward = [other for other in at[ref] if other != chain[-1]]
        if not onward:
            return chain, False
        chain.append(onward[0])


def _explain(both: _Both, chain: list[tuple[bool, Link]], *, is_circle: bool) -> list[Difference]:
    """Turn one chain into differences."""
    declared = tuple(sorted(both.say_link(link) for is_found, link in chain if not is_found))
    found = tuple(sorted(both.say_link(link) for is_found, link in chain if is_found))
    if is_circle:
        message = f"{' and '.join(declared)} have exchanged their ends: found {' and '.join(found)}"
        return [Difference("swapped-cables", declared[0], message, declared, found)]
    out: list[Difference] = []
    for step in range(0, len(chain), 2):
        pair = chain[step : step + 2]
        lost = tuple(both.say_link(link) for is_found, link in pair if not is_found)
        new = tuple(both.say_link(link) for is_found, link in pair if is_found)
        if lost and new:
            message = f"{lost[0]} was found as {new[0]}"
            out.append(Difference("moved-cable", lost[0], message, lost, new))
        elif lost:
            out.append(Difference("missing-cable", lost[0], f"{lost[0]} is declared and was not found", lost, ()))
        else:
            out.append(Difference("extra-cable", new[0], f"{new[0]} was found and is not declared", (), new))
    return out


def _compare_rates(both: _Both, want: dict[Link, float], have: dict[Link, float]) -> list[Difference]:
    """Find links that are wired as declared and run at another rate."""
    out: list[Difference] = []
    for link, rate in want.items():
        found = have.get(link, rate)
        if abs(found - rate) > RATE_SLACK:
            name = both.say_link(link)
            message = f"{name} runs at {found:g} Gb/s where {rate:g} Gb/s is declared"
            out.append(Difference("wrong-rate", name, message, (name,), (name,)))
    return out
