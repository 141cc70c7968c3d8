"""Entropy: flows that differ in their source port alone, counted on each of the ways that they could take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weftline.kernels.column import NIL
from weftline.labs.netns.expecting import Pairs, list_hops
from weftline.labs.netns.layout import Layout
from weftline.model.driver import StateDifference
from weftline.model.fabric import NodeKind
from weftline.model.lab import LabDesign

FLOWS_PER_WAY = 32
MOST_FLOWS = 1024
PACKETS = 4
"""Packets of each flow, so that those of routing daemons do not count."""
SIGMAS = 5.0
"""Deviation of a binomial count that one in a million fair hashes shows."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One switch to look at: an endpoint behind it, another one far away, and the ways between."""

    switch: str
    namespace: str
    source: int
    target: int
    """Places in the list of endpoints."""
    ways: tuple[str, ...]
    flows: int

    @property
    def bounds(self) -> tuple[float, float]:
        """How many flows a way carries at least and at most, where a fair hash chooses."""
        share = 1 / len(self.ways)
        mean, sigma = self.flows * share, math.sqrt(self.flows * share * (1 - share))
        return max(1.0, mean - SIGMAS * sigma), mean + SIGMAS * sigma


def choose_spreads(design: LabDesign, layout: Layout, pairs: Pairs) -> tuple[Spread, ...]:
    """Choose for each switch with endpoints a pair with the most ways between them."""
    routes, fabric = design.routes, design.fabric
    assert routes is not None  # noqa: S101
    columns = {port: place for place, port in enumerate(routes.destination_port.tolist()) if port != NIL}
    found: dict[int, Spread] = {}
    for source, target in pairs.together:
        port = pairs.ports[source]
        node = int(fabric.port_node[fabric.port_peer[port]])
        if node in found or fabric.node_kind[node] != NodeKind.SWITCH:
            continue
        hops = list_hops(routes, int(fabric.switch_row[node]), columns[pairs.ports[target]])
        if len(hops) < 2:
            continue
        ways = tuple(sorted(layout.ends[hop].interface for hop in hops))
        flows = min(FLOWS_PER_WAY * len(ways), MOST_FLOWS)
        space = layout.namespaces[fabric.node_name[node]].name
        found[node] = Spread(fabric.node_name[node], space, source, target, ways, flows)
    return tuple(found.values())


def write_order(spreads: Sequence[Spread]) -> list[dict[str, Any]]:
    """Write what the prober is told of them."""
    return [
        {
            "switch": one.namespace,
            "source": one.source,
            "target": one.target,
            "ways": one.ways,
            "flows": one.flows,
            "packets": PACKETS,
        }
        for one in spreads
    ]


def compare_spreads(spreads: Sequence[Spread], counted: Sequence[Mapping[str, int]]) -> Iterator[StateDifference]:
    """Name the switches whose hash leaves a way out, or gives it more than chance would."""
    for one, packets in zip(spreads, counted, strict=True):
        low, high = one.bounds
        flows = {way: packets[way] / PACKETS for way in one.ways}
        if not all(low <= many <= high for many in flows.values()):
            rendered = f"{low:.0f} to {high:.0f} of {one.flows:,} flows on each of {len(one.ways)} ways"
            running = ", ".join(f"{way} {many:.0f}" for way, many in flows.items())
            yield StateDifference("spread", one.switch, rendered, running)


def describe_spreads(spreads: Sequence[Spread], counted: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """Say in one line how evenly flows were spread."""
    shares = [
        packets[way] / PACKETS * len(one.ways) / one.flows
        for one, packets in zip(spreads, counted, strict=True)
        for way in one.ways
    ]
    if shares:
        yield (
            f"flows that differ in their source port alone: each way of {len(spreads):,} switches carries "
            f"{min(shares):.2f} to {max(shares):.2f} of its even share"
        )
