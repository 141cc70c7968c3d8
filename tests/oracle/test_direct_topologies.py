"""Built dragonfly, dragonfly+, torus, HyperX and Slim Fly fabrics against their formulas and against networkx."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftline.compile import build_fabric, write_cabling
from weftline.compile.direct import (
    build_dragonfly,
    build_dragonfly_plus,
    build_hyperx,
    build_slim_fly,
    build_torus,
    equal_pairs,
)
from weftline.compile.dragonfly import Arrangement, spread_ends
from weftline.declare import load_catalog, read_spec, resolve_spec
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind, Tier

SMALL = settings(max_examples=25, deadline=None)


def graph_of(fabric: Fabric) -> nx.MultiGraph[int]:
    """Walk the ports one by one into a graph of switches."""
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    node = fabric.port_node.tolist()
    graph.add_nodes_from(fabric.switch_node.tolist())
    for port, peer in enumerate(fabric.port_peer.tolist()):
        if peer != NIL:
            assert fabric.port_peer[peer] == port
            assert node[peer] != node[port]
        if peer > port and node[port] in graph and node[peer] in graph:
            graph.add_edge(node[port], node[peer])
    return graph


def endpoints_per_switch(fabric: Fabric) -> Counter[int]:
    return Counter(fabric.port_node[fabric.port_peer[fabric.endpoint_port]].tolist())


def global_links(fabric: Fabric, graph: nx.MultiGraph[int]) -> Counter[tuple[int, int]]:
    group = fabric.node_group
    pairs: Iterable[tuple[int, int]] = ((int(group[a]), int(group[b])) for a, b in graph.edges())
    return Counter((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])


@SMALL
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 4), st.data())
def test_a_dragonfly_has_the_counts_of_its_formulas(p: int, a: int, h: int, data: st.DataObject) -> None:
    g = data.draw(st.integers(2, min(a * h + 1, 12)))
    fabric = build_dragonfly(p, a, h, g)
    graph = graph_of(fabric)
    each = a * h // (g - 1)
    assert len(fabric.endpoint_port) == a * p * g
    assert len(fabric.switch_node) == a * g
    assert set(np.diff(fabric.port_ptr)[fabric.switch_node].tolist()) == {p + a - 1 + h}
    between = global_links(fabric, graph)
    assert set(between.values()) == {each}
    assert len(between) == g * (g - 1) // 2
    assert graph.number_of_edges() == g * a * (a - 1) // 2 + each * g * (g - 1) // 2
    if g == a * h + 1:
        assert sum(between.values()) == g * a * h // 2
        assert not (fabric.port_peer == NIL).any()
    assert nx.is_connected(graph)
    assert nx.diameter(graph) <= 3
    assert set(endpoints_per_switch(fabric).values()) == {p}
    assert (fabric.node_tier[fabric.switch_node] == Tier.LEAF).all()
    assert (fabric.node_group[fabric.node_kind != NodeKind.SWITCH] == NIL).all()


@SMALL
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 2), st.data())
def test_a_dragonfly_plus_has_the_counts_of_its_formulas(
    p: int, leaves: int, s: int, h: int, parallel: int, data: st.DataObject
) -> None:
    g = data.draw(st.integers(2, min(s * h + 1, 9)))
    fabric = build_dragonfly_plus(p, leaves, s, h, g, parallel=parallel)
    graph = graph_of(fabric)
    each = s * h // (g - 1)
    assert len(fabric.endpoint_port) == p * leaves * g
    assert len(fabric.switch_node) == g * (leaves + s)
    assert set(global_links(fabric, graph).values()) == {each}
    assert graph.number_of_edges() == g * leaves * s * parallel + each * g * (g - 1) // 2
    assert nx.is_connected(graph)
    tier = fabric.node_tier
    for a, b in graph.edges():
        assert (fabric.node_group[a] != fabric.node_group[b]) == (tier[a] == tier[b] == Tier.SPINE)
    homes = endpoints_per_switch(fabric)
    assert all(tier[home] == Tier.LEAF for home in homes)
    assert set(homes.values()) == {p}
    if g == s * h + 1:
        assert not (fabric.port_peer == NIL).any()


@SMALL
@given(st.lists(st.integers(1, 7), min_size=1, max_size=6), st.sampled_from(["palmtree", "absolute"]), st.data())
def test_global_links_are_spread_evenly_and_pair_up(
    sizes: list[int], arrangement: Arrangement, data: st.DataObject
) -> None:
    """Every pair gets its links, switches of a group differ by one end at most, links of a pair part where they can."""
    count = len(sizes)
    pairs = np.zeros((count, count), dtype=np.int32)
    for i in range(count):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = data.draw(st.integers(0, 5))
    left, right, near, far = spread_ends(np.array(sizes, dtype=np.int64), pairs, arrangement)
    assert Counter(zip(left.tolist(), right.tolist(), strict=True)) == Counter(
        {(i, j): int(pairs[i, j]) for i in range(count) for j in range(i + 1, count) if pairs[i, j]}
    )
    ends = [*zip(left.tolist(), near.tolist(), strict=True), *zip(right.tolist(), far.tolist(), strict=True)]
    for group, size in enumerate(sizes):
        on = [sum(1 for end in ends if end == (group, switch)) for switch in range(size)]
        assert max(on) - min(on) <= 1
        assert all(end[1] < size for end in ends if end[0] == group)
    if len({*pairs[~np.eye(count, dtype=bool)].tolist()}) == 1:
        together: list[tuple[int, int]] = list(zip(left.tolist(), right.tolist(), strict=True))
        for i, j in together:
            chosen = (left == i) & (right == j)
            assert len(set(near[chosen].tolist())) == min(int(pairs[i, j]), sizes[i])
            assert len(set(far[chosen].tolist())) == min(int(pairs[i, j]), sizes[j])


def test_palmtree_joins_switches_as_published() -> None:
    """Camarero, Vallejo and Beivide: global port k of group i, counted over its switches, leads to group i - k - 1."""
    fabric = build_dragonfly(1, 2, 2, 5)
    node, group = fabric.port_node, fabric.node_group
    for switch in fabric.switch_node.tolist():
        ports = range(int(fabric.port_ptr[switch]) + 2, int(fabric.port_ptr[switch + 1]))
        place = (switch - int(fabric.switch_node[0])) % 2
        found = {int(group[node[fabric.port_peer[port]]]) for port in ports}
        assert found == {(int(group[switch]) - k - 1) % 5 for k in (2 * place, 2 * place + 1)}


@SMALL
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 2), st.integers(0, 2))
def test_a_torus_has_the_counts_of_its_formulas(sizes: list[int], cables: int, endpoints: int) -> None:
    fabric = build_torus(sizes, cables=[cables] * len(sizes), endpoints=endpoints)
    graph = graph_of(fabric)
    switches = math.prod(sizes)
    runs = sum({1: 0.0, 2: 0.5}.get(size, 1.0) for size in sizes)
    assert len(fabric.switch_node) == switches
    assert graph.number_of_edges() == cables * runs * switches
    assert nx.diameter(nx.Graph(graph)) == sum(size // 2 for size in sizes)
    assert fabric.node_place is not None
    place = fabric.node_place
    for a, b in graph.edges():
        step = [d for d in range(len(sizes)) if place[a, d] != place[b, d]]
        assert len(step) == 1
        assert (int(place[a, step[0]]) - int(place[b, step[0]])) % sizes[step[0]] in {1, sizes[step[0]] - 1}
    assert len(np.unique(place[fabric.switch_node], axis=0)) == switches
    assert (place[fabric.node_kind != NodeKind.SWITCH] == NIL).all()
    assert not (fabric.port_peer == NIL).any()


@pytest.mark.parametrize("sizes", [(4,), (4, 4), (4, 3), (6, 4), (4, 4, 2), (4, 4, 4)])
def test_a_torus_is_cut_in_half_by_the_bisection_of_its_formula(sizes: tuple[int, ...]) -> None:
    """2 R / k_max links are cut in the middle of the longest dimension, and on small ones no half has fewer."""
    fabric = build_torus(sizes)
    place = fabric.node_place
    assert place is not None
    longest = sizes.index(max(sizes))
    low = place[:, longest] < sizes[longest] // 2
    graph = graph_of(fabric)
    cut = sum(1 for a, b in graph.edges() if low[a] != low[b])
    assert cut == 2 * math.prod(sizes) // max(sizes)
    if len(graph) <= 12:
        assert cut == _least_halving(graph)


def _least_halving(graph: nx.MultiGraph[int]) -> int:
    nodes = sorted(graph)
    best = graph.number_of_edges()
    for half in combinations(nodes[1:], len(nodes) // 2 - 1):
        chosen = {nodes[0], *half}
        best = min(best, sum(1 for a, b in graph.edges() if (a in chosen) != (b in chosen)))
    return best


@SMALL
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3), st.integers(1, 3))
def test_a_hyperx_has_the_counts_of_its_formulas(shape: list[tuple[int, int]], endpoints: int) -> None:
    sizes, cables = [size for size, _ in shape], [count for _, count in shape]
    fabric = build_hyperx(sizes, cables=cables, endpoints=endpoints)
    graph = graph_of(fabric)
    switches = math.prod(sizes)
    degree = sum(count * (size - 1) for size, count in shape)
    assert len(fabric.switch_node) == switches
    assert graph.number_of_edges() * 2 == switches * degree
    assert set(np.diff(fabric.port_ptr)[fabric.switch_node].tolist()) == {endpoints + degree}
    assert nx.diameter(nx.Graph(graph)) == sum(1 for size in sizes if size > 1)
    assert fabric.node_place is not None
    for a, b in graph.edges():
        assert np.count_nonzero(fabric.node_place[a] != fabric.node_place[b]) == 1


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9, 11, 13, 16, 17])
def test_a_slim_fly_has_the_counts_of_its_formulas(q: int) -> None:
    fabric = build_slim_fly(q)
    graph = nx.Graph(graph_of(fabric))
    d = {0: 0, 1: 1, 3: -1}[q % 4]
    degree = (3 * q - d) // 2
    assert len(graph) == 2 * q * q
    assert {count for _, count in graph.degree()} == {degree}
    assert graph.number_of_edges() == q * q * degree
    assert nx.diameter(graph) == 2
    assert len(fabric.endpoint_port) == 2 * q * q * math.ceil(degree / 2)


def test_the_deployed_slim_fly_has_fifty_switches_and_two_hundred_endpoints() -> None:
    """Blach et al., NSDI 2024: q = 5, k' = 7."""
    fabric = build_slim_fly(5)
    assert (len(fabric.switch_node), len(fabric.endpoint_port)) == (50, 200)


@pytest.mark.parametrize("q", [0, 2, 6, 12, 15, 128])
def test_a_slim_fly_of_another_q_is_refused(q: int) -> None:
    with pytest.raises(ValueError, match=str(q)):
        build_slim_fly(q)


def test_more_groups_than_ports_reach_are_refused() -> None:
    with pytest.raises(ValueError, match="9 other groups x 1 links > 8 global ports"):
        build_dragonfly(2, 4, 2, 10)
    assert equal_pairs(9, 8, None).sum() == 9 * 8


def test_coordinates_change_the_digest_and_their_absence_does_not() -> None:
    torus = build_torus((3, 3))
    assert torus.digest != build_hyperx((3, 3)).digest
    place = torus.node_place
    assert place is not None
    assert not place.flags.writeable
    other = dataclasses.replace(torus, node_place=place[:, ::-1].copy())
    without = dataclasses.replace(torus, node_place=None)
    assert len({torus.digest, other.digest, without.digest}) == 3


def test_the_cabling_list_of_the_example_is_that_of_the_generator_and_is_read_back() -> None:
    """A family that nobody declares is reached by its cabling list."""
    folder = Path(__file__).parents[2] / "examples"
    text = (folder / "slim-fly-50.csv").read_text(encoding="utf-8")
    made = build_slim_fly(5)
    assert text == write_cabling(made)
    declaration = read_spec(folder / "slim-fly-50.yaml")
    assert not isinstance(declaration, tuple)
    design = resolve_spec(declaration, load_catalog())
    assert not isinstance(design, tuple)
    fabric = build_fabric(design, text)
    assert isinstance(fabric, Fabric)
    assert fabric.node_name == made.node_name
    assert sorted(graph_of(fabric).edges()) == sorted(graph_of(made).edges())
