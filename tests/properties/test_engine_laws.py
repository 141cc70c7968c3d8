"""What each engine says of its paths, held against plain Python and networkx, walk by walk."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest

from tests.properties.engine_world import TOPOLOGIES, broken
from tests.unit.route.walks import follow
from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.routes import Routes
from weftline.route import ENGINES, compute_routes
from weftline.route.graph import read_graph
from weftline.route.recognise import name_groups

PAIRS = 40


@dataclass(frozen=True)
class Walked:
    """One way of a pair: the switches on it, and the ports between them."""

    fabric: Fabric
    routes: Routes
    source: int
    goal: int
    nodes: list[int]
    ports: list[int]
    """From the source on: the last one delivers."""


def walk_pairs(fabric: Fabric, routes: Routes, rng: random.Random) -> Iterator[list[Walked]]:
    """Walk some pairs by every choice."""
    lit = [
        (at, port)
        for at, port in enumerate(fabric.endpoint_port.tolist())
        if fabric.port_peer[port] != NIL and fabric.switch_row[fabric.port_node[fabric.port_peer[port]]] != NIL
    ]
    for _ in range(PAIRS):
        (_, source), (goal, target) = rng.choice(lit), rng.choice(lit)
        if source == target or fabric.port_component[source] != fabric.port_component[target]:
            continue
        delivered, _, paths = follow(fabric, routes, source, goal)
        assert delivered
        yield [
            Walked(fabric, routes, source, goal, [int(fabric.port_node[port]) for port in path[1:]], path)
            for path in paths
        ]


def switch_graph(fabric: Fabric) -> Any:
    """Join switches that links join."""
    graph = cast("Any", nx).Graph()
    graph.add_nodes_from(fabric.switch_node.tolist())
    graph.add_edges_from(
        (int(fabric.port_node[p]), int(fabric.port_node[q]), {"levels": levels(fabric, p, q)})
        for p, q in enumerate(fabric.port_peer)
        if q != NIL and fabric.switch_row[fabric.port_node[[p, q]]].min() != NIL
    )
    return graph


def levels(fabric: Fabric, port: int, peer: int) -> int:
    """Count the tiers between the ends of a link."""
    ends = fabric.node_tier[fabric.port_node[[port, peer]]]
    return abs(int(ends[0]) - int(ends[1]))


def is_shortest(ways: list[Walked]) -> None:
    """Hold engine layered, where it does not say that some are longer."""
    assert "more hops" not in ways[0].routes.guarantee
    graph = switch_graph(ways[0].fabric)
    for way in ways:
        assert len(way.nodes) - 1 == cast("Any", nx).shortest_path_length(graph, way.nodes[0], way.nodes[-1])


def goes_up_then_down(ways: list[Walked]) -> None:
    """Hold that all ways are equally long, and on trees that they rise through the tiers and then fall."""
    assert len({len(way.nodes) for way in ways}) == 1
    fabric = ways[0].fabric
    is_tree = all(switch_graph(fabric).edges[edge]["levels"] for edge in switch_graph(fabric).edges)
    for way in ways:
        assert len(set(way.nodes)) == len(way.nodes)
        heights = [int(fabric.node_tier[node]) for node in way.nodes]
        if is_tree:  # no link joins switches of one tier
            top = heights.index(max(heights))
            assert all(a < b for a, b in pairwise(heights[: top + 1]))
            assert all(a > b for a, b in pairwise(heights[top:]))


def groups_of(fabric: Fabric) -> I32:
    """Find the group of each node: as the fabric names it, else as its links say."""
    named = fabric.node_group[fabric.switch_node]
    found = name_groups(read_graph(fabric), named, has_spines=bool(np.any(fabric.node_tier == Tier.SPINE)))
    assert not isinstance(found, str)
    group = fabric.node_group.copy()
    group[fabric.switch_node] = found
    return group


def kinds_of_links(way: Walked) -> str:
    """Write a way as letters: l inside a group on one tier, u and d between tiers of a group, g between groups."""
    group, tier = groups_of(way.fabric), way.fabric.node_tier
    letters = ""
    for here, there in pairwise(way.nodes):
        if group[here] != group[there]:
            letters += "g"
        else:
            letters += "l" if tier[here] == tier[there] else "u" if tier[here] == Tier.LEAF else "d"
    return letters


def takes_one_global_link(ways: list[Walked]) -> None:
    for way in ways:
        assert kinds_of_links(way) in {"", "l", "g", "lg", "gl", "lgl"}
        assert lanes_of(way) == [int("g" in kinds_of_links(way)[:at]) for at in range(len(way.nodes) - 1)]


def takes_two_global_links(ways: list[Walked]) -> None:
    for way in ways:
        assert kinds_of_links(way).count("g") <= 2
        assert lanes_of(way) == sorted(lanes_of(way))
        assert set(lanes_of(way)) <= {0, 1, 2}


def goes_up_across_and_down(ways: list[Walked]) -> None:
    for way in ways:
        assert kinds_of_links(way) in {"", "ud", "ugd", "g"}


def goes_up_across_twice_and_down(ways: list[Walked]) -> None:
    for way in ways:
        assert kinds_of_links(way) in {"", "ud", "ugd", "uggd"}
        assert lanes_of(way) == sorted(lanes_of(way))


def lanes_of(way: Walked) -> list[int]:
    """List the lane of each hop between switches."""
    fabric, row = way.fabric, int(way.fabric.switch_row[way.nodes[0]])
    peers = [int(fabric.port_peer[port]) for port in way.ports]
    return [
        way.routes.lane_of_hop(row, way.goal, came, out) for came, out in zip(peers[:-1], way.ports[1:], strict=True)
    ][:-1]


def follows_dimensions(ways: list[Walked]) -> None:
    """Hold dimension order, the shorter way round each ring, and lane 1 in rings whose dateline is crossed."""
    place = ways[0].fabric.node_place
    assert place is not None
    size = place.max(axis=0) + 1
    for way in ways:
        axes: list[int] = []
        wraps: list[bool] = []
        for here, there in pairwise(way.nodes):
            (axis,) = (place[here] != place[there]).nonzero()[0].tolist()
            axes.append(axis)
            # in a ring of three a way has one hop, which nothing waits behind
            wraps.append(size[axis] > 3 and abs(int(place[here][axis]) - int(place[there][axis])) > 1)
        assert axes == sorted(axes)
        crossed = {axis for axis, wrap in zip(axes, wraps, strict=True) if wrap}
        for axis, hops in groupby(axes):
            assert len(list(hops)) <= size[axis] // 2
        assert lanes_of(way) == [int(axis in crossed) for axis in axes]


LAWS: dict[str, tuple[Callable[[list[Walked]], None], tuple[str, ...]]] = {
    "fat-tree": (goes_up_then_down, ("none",)),
    "updown": (goes_up_then_down, ("none", "link", "switch")),
    "ecmp": (goes_up_then_down, ("none", "link", "switch")),
    "weighted-ecmp": (goes_up_then_down, ("none", "link", "switch")),
    "layered": (is_shortest, ("none", "link", "switch", "group")),
    "dragonfly": (takes_one_global_link, ("none", "host link", "switch", "group")),
    "dragonfly-adaptive": (takes_two_global_links, ("none", "link", "group")),
    "dragonfly-plus": (goes_up_across_and_down, ("none", "link", "switch")),
    "dragonfly-plus-adaptive": (goes_up_across_twice_and_down, ("none", "link", "switch")),
    "torus": (follows_dimensions, ("none", "host link")),
}
"""The law of each engine, and the faults under which it holds to the letter."""


def test_every_engine_has_a_law() -> None:
    assert set(ENGINES) <= set(LAWS)


@pytest.mark.parametrize("engine", ENGINES)
def test_paths_are_what_the_engine_says(engine: str) -> None:
    law, faults = LAWS[engine]
    held = 0
    for name in TOPOLOGIES:
        for fault in faults:
            fabric = broken(name, fault)
            assert fabric is not None
            try:
                routes = compute_routes(fabric, engine, to_switches=False)
            except CapabilityError:
                continue
            for ways in walk_pairs(fabric, routes, random.Random(f"{name} {fault}")):
                law(ways)
                held += 1
    assert held > PAIRS
