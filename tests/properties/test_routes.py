"""Laws of routing on random trees, degraded trees and irregular graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import from_links, make_fabric
from tests.tables import cut
from tests.unit.route.walks import (
    follow,
    members,
    named_tables,
    port_tables,
    reorder_nodes,
    reorder_switches,
    switch_links,
)
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.routes import Routes
from weftline.route import compute_routes

SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("fat-tree", {"hosts": 10, "ports": 8}),
    ("fat-tree", {"hosts": 24, "ports": 6}),
    ("fat-tree", {"hosts": 18, "ports": 9, "unit_size": 6, "oversubscription": 2.0}),
    ("rail-optimised", {"hosts": 8, "rails": 2, "ports": 4, "unit_size": 2}),
    ("rail-optimised", {"hosts": 10, "rails": 2, "ports": 8, "unit_size": 4, "planes": 2}),
    ("rail-only", {"hosts": 10, "rails": 2, "ports": 8, "unit_size": 4}),
]
trees = st.sampled_from(SHAPES).map(lambda shape: make_fabric(shape[0], **shape[1]))


@st.composite
def graphs(draw: Callable[..., Any]) -> Fabric:
    """Draw a connected graph of switches with hosts anywhere, some of its tiers told at random."""
    count = draw(st.integers(1, 7))
    links = [(draw(st.integers(0, node - 1)), node) for node in range(1, count)]
    end = st.integers(0, count - 1)
    links += [pair for pair in draw(st.lists(st.tuples(end, end), max_size=8)) if pair[0] != pair[1]]
    homes = {f"host-{i:04d}": f"s{at}" for i, at in enumerate(draw(st.lists(end, min_size=1, max_size=6)))}
    names = [f"s{i}" for i in range(count)]
    tiers = draw(st.lists(st.sampled_from([Tier.LEAF, Tier.SPINE]), min_size=count, max_size=count))
    flat = draw(st.booleans())
    return from_links(names, homes, links, tiers=None if flat else dict(zip(names, tiers, strict=True)))


def check_law(fabric: Fabric, routes: Routes) -> None:
    """Hold that what is connected is delivered by every choice, and that no channels wait in a circle."""
    graph = nx.Graph(
        (int(fabric.port_node[p]), int(fabric.port_node[q])) for p, q in enumerate(fabric.port_peer) if q >= 0
    )
    kind = fabric.node_kind
    switches = graph.subgraph([node for node in graph if kind[node] == 2])
    part = {node: label for label, nodes in enumerate(nx.connected_components(switches)) for node in nodes}
    home = [part.get(int(fabric.port_node[fabric.port_peer[port]]), -1) for port in fabric.endpoint_port]
    waits: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for source, port in enumerate(fabric.endpoint_port):
        if fabric.port_peer[port] == NIL:
            continue
        single = from_single(fabric, int(port))
        for goal in range(len(fabric.endpoint_port)):
            delivered, more, _ = follow(fabric, routes, int(port), goal)
            connected = home[source] == home[goal] and fabric.port_peer[fabric.endpoint_port[goal]] != NIL
            assert delivered == (connected or single == goal)
            lanes = {routes.lane_of(goal)}
            if routes.lanes is not None and routes.lanes.with_answers:
                lanes.add(routes.lane_of(source))
            waits |= {((lane, first), (lane, then)) for lane in lanes for first, then in more}
    assert nx.is_directed_acyclic_graph(nx.DiGraph(waits))


def from_single(fabric: Fabric, port: int) -> int:
    return int(np.flatnonzero(fabric.endpoint_port == port)[0])


@settings(max_examples=60)
@given(graphs(), st.sampled_from(["updown", "ecmp"]), st.data())
def test_any_graph_is_delivered_and_never_waits_in_a_circle(fabric: Fabric, engine: str, data: st.DataObject) -> None:
    names = [fabric.node_name[int(node)] for node in fabric.switch_node]
    roots = tuple(data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True)))
    check_law(fabric, compute_routes(fabric, engine, to_switches=data.draw(st.booleans()), roots=roots))


@settings(max_examples=60)
@given(graphs(), st.booleans(), st.sampled_from([None, 1, 2]))
def test_layered_is_delivered_and_no_lane_waits_in_a_circle(
    fabric: Fabric, to_switches: bool, lanes: int | None
) -> None:
    try:
        routes = compute_routes(fabric, "layered", to_switches=to_switches, lanes=lanes)
    except CapabilityError:
        assert compute_routes(fabric, "layered", to_switches=to_switches).lane_count > (lanes or 8)
        return
    check_law(fabric, routes)


@settings(max_examples=30)
@given(trees, st.sampled_from(["updown", "ecmp", "layered"]), st.data())
def test_degraded_trees_are_delivered_and_never_wait_in_a_circle(
    fabric: Fabric, engine: str, data: st.DataObject
) -> None:
    lost = data.draw(st.lists(st.sampled_from(switch_links(fabric)), max_size=6, unique=True))
    dark = data.draw(st.lists(st.sampled_from(fabric.endpoint_port.tolist()), max_size=2, unique=True))
    broken = cut(fabric, [*lost, *dark])
    check_law(broken, compute_routes(broken, engine, to_switches=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("engine", ["fat-tree", "updown", "ecmp", "layered"])
def test_paths_of_whole_trees_rise_and_then_fall(shape: tuple[str, dict[str, Any]], engine: str) -> None:
    fabric = make_fabric(shape[0], **shape[1])
    routes = compute_routes(fabric, engine, to_switches=True)
    for port in fabric.endpoint_port:
        for goal in range(len(routes.destination_node)):
            _, _, paths = follow(fabric, routes, int(port), goal)
            for path in paths:
                tiers = [int(fabric.node_tier[fabric.port_node[fabric.port_peer[step]]]) for step in path]
                top = tiers.index(max(tiers))
                assert tiers[: top + 1] == sorted(set(tiers[: top + 1]))
                assert tiers[top:] == sorted(set(tiers[top:]), reverse=True)
    check_law(fabric, routes)


@pytest.mark.parametrize("shape", SHAPES)
def test_sets_contain_the_port_of_the_position_rule(shape: tuple[str, dict[str, Any]]) -> None:
    fabric = make_fabric(shape[0], **shape[1])
    single = compute_routes(fabric, "fat-tree", to_switches=True)
    many = compute_routes(fabric, "ecmp", to_switches=True)
    for row in range(len(fabric.switch_node)):
        for goal in range(len(single.destination_node)):
            one, several = members(single, row, goal), members(many, row, goal)
            assert (one is None) == (several is None) or one is None
            if one is not None and several is not None:
                assert set(one) <= set(several)


@settings(max_examples=20)
@given(st.sampled_from(SHAPES), st.data())
def test_the_position_rule_does_not_see_the_order_of_switches(
    shape: tuple[str, dict[str, Any]], data: st.DataObject
) -> None:
    fabric = make_fabric(shape[0], **shape[1])
    permutation = data.draw(st.permutations(range(len(fabric.switch_node))))
    moved = reorder_switches(fabric, permutation)
    first = port_tables(fabric, compute_routes(fabric, "fat-tree", to_switches=False))
    assert port_tables(moved, compute_routes(moved, "fat-tree", to_switches=False)) == first


@settings(max_examples=60)
@given(st.one_of(graphs(), trees), st.sampled_from(["updown", "ecmp", "layered"]), st.booleans(), st.data())
def test_the_order_of_nodes_does_not_matter(fabric: Fabric, engine: str, renames: bool, data: st.DataObject) -> None:
    names = fabric.node_name
    if renames:
        fabric = replace(fabric, node_name=tuple(data.draw(st.permutations(names))))
    first = compute_routes(fabric, engine, to_switches=True)
    assert first.digest == compute_routes(fabric, engine, to_switches=True).digest
    moved = reorder_nodes(fabric, data.draw(st.permutations(range(fabric.node_count))))
    again = compute_routes(moved, engine, to_switches=True)
    assert named_tables(moved, again) == named_tables(fabric, first)


@settings(max_examples=20)
@given(graphs())
def test_every_group_is_kept_once_and_is_of_its_switch(fabric: Fabric) -> None:
    routes = compute_routes(fabric, "ecmp", to_switches=True)
    for row, node in enumerate(fabric.switch_node):
        groups = [
            tuple(routes.member_port[routes.member_ptr[at] : routes.member_ptr[at + 1]].tolist())
            for at in range(routes.group_ptr[row], routes.group_ptr[row + 1])
        ]
        assert len(set(groups)) == len(groups)
        assert all(ports and list(ports) == sorted(set(ports)) for ports in groups)
        assert all(fabric.port_node[port] == node for ports in groups for port in ports)
