"""Engine layered: shortest on any graph, every lane free of cycles (networkx says so) in any number of lanes."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import cut, ring
from tests.unit.route.walks import follow, port_tables, reorder_switches, switch_links
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.route import compute_routes, layered

Links = list[tuple[int, int]]


def grid(*sides: int, wraps: bool) -> tuple[int, Links]:
    """Make a mesh or a torus; the ports of a switch follow the dimensions."""
    places = list(itertools.product(*(range(side) for side in sides)))
    index = {place: i for i, place in enumerate(places)}
    links: Links = []
    for axis, side in enumerate(sides):
        for place in places:
            ahead = (*place[:axis], (place[axis] + 1) % side, *place[axis + 1 :])
            if ahead[axis] or (wraps and side > 2):
                links.append((index[place], index[ahead]))
    return len(places), links


def circle(size: int) -> tuple[int, Links]:
    """Make a ring."""
    return size, [(i, (i + 1) % size) for i in range(size)]


def cube(dimensions: int) -> tuple[int, Links]:
    """Make a hypercube."""
    return 2**dimensions, [(i, i ^ 1 << b) for b in range(dimensions) for i in range(2**dimensions) if not i >> b & 1]


def anything(switches: int, extra: int, seed: int) -> tuple[int, Links]:
    """Make a connected random graph; some links are parallel."""
    rng = random.Random(seed)
    links = [(rng.randrange(i), i) for i in range(1, switches)]
    links += [(a, b) for a, b in ((rng.randrange(switches), rng.randrange(switches)) for _ in range(extra)) if a != b]
    return switches, links


def check_lanes(fabric: Fabric, routes: Routes) -> list[int]:
    """Hold that every pair is delivered by a shortest path, and that no lane holds a cycle; count destinations.

    What an endpoint sends is held to be on its own lane too, where the lanes are said to be made for that.
    """
    with_answers = routes.lanes is not None and routes.lanes.with_answers
    graph = nx.Graph(
        (int(fabric.port_node[p]), int(fabric.port_node[q])) for p, q in enumerate(fabric.port_peer) if q >= 0
    )
    near = dict(nx.all_pairs_shortest_path_length(graph))
    waits: list[set[tuple[int, int]]] = [set() for _ in range(routes.lane_count)]
    for goal, node in enumerate(routes.destination_node.tolist()):
        for source_goal, port in enumerate(fabric.endpoint_port.tolist()):
            if port == routes.destination_port[goal] or fabric.port_peer[port] == NIL:
                continue
            if routes.destination_port[goal] != NIL and fabric.port_peer[routes.destination_port[goal]] == NIL:
                continue
            delivered, more, paths = follow(fabric, routes, port, goal)
            source = int(fabric.port_node[port])
            assert delivered == (node in near[source])
            if delivered:
                assert {len(path) for path in paths} == {near[source][node]}
            waits[routes.lane_of(goal)] |= more
            if with_answers:
                waits[routes.lane_of(source_goal)] |= more
    assert all(nx.is_directed_acyclic_graph(nx.DiGraph(lane)) for lane in waits)
    assert sum(routes.destinations_by_lane) == len(routes.destination_node)
    return list(routes.destinations_by_lane)


SHAPES: dict[str, tuple[tuple[int, Links], tuple[int, int]]] = {
    "ring of 5": (circle(5), (2, 2)),
    "ring of 4": (circle(4), (1, 2)),
    "ring of 9": (circle(9), (4, 4)),
    "mesh of 3 x 3": (grid(3, 3, wraps=False), (2, 6)),
    "torus of 4 x 4": (grid(4, 4, wraps=True), (5, 1)),
    "torus of 5 x 5": (grid(5, 5, wraps=True), (4, 7)),
    "torus of 3 x 3 x 3": (grid(3, 3, 3, wraps=True), (4, 1)),
    "hypercube": (cube(4), (1, 1)),
    "full": ((6, list(itertools.combinations(range(6), 2))), (1, 1)),
    "any graph of 12": (anything(12, 10, 1), (3, 3)),
    "any graph of 16": (anything(16, 20, 2), (3, 5)),
}
"""Graphs, and the lanes in use with one host per switch and with two; answers are held too."""


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("hosts", [1, 2])
def test_shapes_are_shortest_and_free_of_cycles(name: str, hosts: int) -> None:
    (switches, links), lanes = SHAPES[name]
    fabric = from_links(switches, hosts, links)
    routes = compute_routes(fabric, "layered", to_switches=True)
    check_lanes(fabric, routes)
    assert routes.lane_count == lanes[hosts - 1]
    assert routes.lanes is None or routes.lanes.with_answers


@pytest.mark.parametrize("shape", [circle(40), grid(8, 8, wraps=True)])
def test_answers_are_left_out_where_they_would_need_too_many_lanes(shape: tuple[int, Links]) -> None:
    routes = compute_routes(from_links(shape[0], 1, shape[1]), "layered", to_switches=False)
    assert routes.lanes is not None
    assert not routes.lanes.with_answers
    check_lanes(from_links(shape[0], 1, shape[1]), routes)


@pytest.mark.parametrize("allowed", [1, 2, 3])
@pytest.mark.parametrize("shape", [grid(4, 4, wraps=False), grid(4, 4, 4, wraps=True)])
def test_fewer_lanes_do_where_few_are_allowed(shape: tuple[int, Links], allowed: int) -> None:
    fabric = from_links(shape[0], 1, shape[1])
    routes = compute_routes(fabric, "layered", to_switches=False, lanes=allowed)
    assert routes.lane_count <= allowed
    check_lanes(fabric, routes)


def test_destinations_are_shared_out_over_the_lanes() -> None:
    assert check_lanes(ring(9), compute_routes(ring(9), "layered", to_switches=False)) == [3, 3, 2, 1]
    assert check_lanes(ring(5, 4), compute_routes(ring(5, 4), "layered", to_switches=False)) == [10, 10]


def count_extra(fabric: Fabric, routes: Routes) -> tuple[int, int, int, int]:
    """Walk all pairs of endpoints: how many there are, how many are not shortest, the hops more, and the most."""
    graph = nx.Graph(
        (int(fabric.port_node[p]), int(fabric.port_node[q])) for p, q in enumerate(fabric.port_peer) if q >= 0
    )
    near = dict(nx.all_pairs_shortest_path_length(graph))
    waits: list[set[tuple[int, int]]] = [set() for _ in range(routes.lane_count)]
    more: list[int] = []
    for goal, target in enumerate(fabric.endpoint_port.tolist()):
        for port in fabric.endpoint_port.tolist():
            if port == target:
                continue
            delivered, turns, paths = follow(fabric, routes, port, goal)
            assert delivered
            waits[routes.lane_of(goal)] |= turns
            more.append(len(paths[0]) - near[int(fabric.port_node[port])][int(fabric.port_node[target])])
    assert all(nx.is_directed_acyclic_graph(nx.DiGraph(lane)) for lane in waits)
    return len(more), sum(at > 0 for at in more), sum(more), max(more)


@pytest.mark.parametrize("allowed", [1, 2, 3])
@pytest.mark.parametrize(
    "shape", [circle(5), circle(9), grid(5, 5, wraps=True), cube(4), anything(16, 20, 2), anything(30, 60, 5)]
)
def test_any_number_of_lanes_is_enough_and_what_it_costs_is_said(shape: tuple[int, Links], allowed: int) -> None:
    fabric = from_links(shape[0], 1, shape[1])
    routes = compute_routes(fabric, "layered", to_switches=True, lanes=allowed)
    assert routes.lane_count <= allowed
    pairs, longer, extra, most = count_extra(fabric, routes)
    assert all(proof.verdict is Verdict.PROVED for proof in prove(fabric, routes, ProofRules(max_hops=64)).proofs[:2])
    if longer:
        assert routes.guarantee.endswith(
            f"{longer:,} of {pairs:,} pairs ({longer / pairs:.1%}) take more hops than a shortest path, "
            f"{extra / longer:.2f} more on average and {most} at most."
        )
    else:
        assert "more hops" not in routes.guarantee


def test_more_lanes_leave_fewer_pairs_a_longer_way() -> None:
    fabric = from_links(30, 1, anything(30, 60, 5)[1])
    longer = [
        count_extra(fabric, compute_routes(fabric, "layered", to_switches=True, lanes=allowed))[2]
        for allowed in range(1, 6)
    ]
    assert longer == sorted(longer, reverse=True)
    assert longer[0] > longer[-1]


def test_a_ring_on_one_lane_takes_longer_ways() -> None:
    routes = compute_routes(ring(5), "layered", to_switches=True, lanes=1)
    assert routes.lanes is None
    assert routes.guarantee == (
        "All paths go up and then down in one total order of the switches, so it is free of deadlock on one lane; "
        "2 of 20 pairs (10.0%) take more hops than a shortest path, 1.00 more on average and 1 at most."
    )


def test_turns_that_would_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layered, "MOST_TURNS", 19)
    with pytest.raises(CapabilityError, match="20 pairs") as caught:
        compute_routes(ring(5), "layered", to_switches=False)
    assert caught.value.code == "capability.too-many-turns"


def test_fewer_lanes_than_answers_need_leave_the_answers_out() -> None:
    routes = compute_routes(ring(9), "layered", to_switches=True, lanes=2)
    assert routes.lanes is not None
    assert not routes.lanes.with_answers
    check_lanes(ring(9), routes)


def test_whole_trees_need_one_lane_and_shifts_do_not_block() -> None:
    routes = compute_routes(make_fabric("fat-tree", hosts=32, ports=8), "layered", to_switches=True)
    assert routes.lanes is None
    assert routes.lane_count == 1


def test_parallel_links_and_spines_share_the_load() -> None:
    fabric = from_links(2, 6, [(0, 1)] * 3)
    routes = compute_routes(fabric, "layered", to_switches=False)
    taken = [path[1] for goal in range(6, 12) for path in follow(fabric, routes, int(fabric.endpoint_port[0]), goal)[2]]
    assert np.unique(taken, return_counts=True)[1].tolist() == [2, 2, 2]


def test_islands_and_dark_endpoints_have_no_routes_and_no_lane_of_their_own() -> None:
    fabric = from_links(10, 1, [(i, (i + 1) % 5) for i in range(5)] + [(5 + i, 5 + (i + 1) % 5) for i in range(5)])
    broken = cut(fabric, [int(fabric.endpoint_port[2])])
    routes = compute_routes(broken, "layered", to_switches=True)
    assert routes.lane_count == 2
    check_lanes(broken, routes)
    assert len(set(routes.group[:, 2].tolist())) == 1
    cut_off = cut(fabric, [fabric.endpoint_port[0], *switch_links(fabric)])
    check_lanes(cut_off, compute_routes(cut_off, "layered", to_switches=True))


@pytest.mark.parametrize("allowed", [None, 2, 1])
def test_the_order_of_switches_does_not_matter(allowed: int | None) -> None:
    count, links = grid(4, 4, wraps=True)
    fabric = from_links(count, 2, links)
    first = compute_routes(fabric, "layered", to_switches=False, lanes=allowed)
    assert first.digest == compute_routes(fabric, "layered", to_switches=False, lanes=allowed).digest
    order = list(range(count))
    for seed in range(5):
        random.Random(seed).shuffle(order)
        moved = reorder_switches(fabric, order)
        again = compute_routes(moved, "layered", to_switches=False, lanes=allowed)
        assert port_tables(moved, again) == port_tables(fabric, first)
        assert [again.lane_of(d) for d in range(len(again.destination_node))] == [
            first.lane_of(d) for d in range(len(first.destination_node))
        ]


def test_lanes_are_part_of_the_digest() -> None:
    routes = compute_routes(ring(5), "layered", to_switches=False)
    assert routes.lanes is not None
    assert replace(routes, lanes=None).digest != routes.digest
    other = replace(routes.lanes, of_destination=1 - routes.lanes.of_destination)
    assert replace(routes, lanes=other).digest != routes.digest
    with pytest.raises(ValueError, match="read-only"):
        routes.lanes.of_destination[0] = 1
