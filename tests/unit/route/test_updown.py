from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import cut
from tests.unit.route.walks import find_port, follow, host_endpoints, members, switch_links, walk
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.routes import Routes, no_route
from weftline.route import compute_routes
from weftline.route.graph import read_destinations, read_graph
from weftline.route.order import order_switches

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]


def check_all_pairs(fabric: Fabric, routes: Routes) -> dict[tuple[int, int], int]:
    """Every choice of every pair is delivered and no cycle of channels can wait; return the longest paths."""
    waits: set[tuple[int, int]] = set()
    lengths: dict[tuple[int, int], int] = {}
    port = fabric.endpoint_port
    for source in range(len(port)):
        for goal in range(len(port)):
            delivered, more, paths = follow(fabric, routes, int(port[source]), goal)
            assert delivered, (fabric.port_name(int(port[source])), fabric.port_name(int(port[goal])))
            waits |= more
            lengths[source, goal] = max(len(path) for path in paths)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(waits))
    return lengths


@pytest.mark.parametrize("engine", ["updown", "ecmp"])
@pytest.mark.parametrize(
    "links",
    [RING, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (0, 5), (5, 4)], [(0, 1)] * 3 + [(1, 2), (2, 3)] * 2],
)
def test_rings_and_irregular_graphs_are_reached_without_deadlock(engine: str, links: list[tuple[int, int]]) -> None:
    fabric = from_links(max(max(link) for link in links) + 1, 2, links)
    check_all_pairs(fabric, compute_routes(fabric, engine, to_switches=True))


@pytest.mark.parametrize("engine", ["updown", "ecmp"])
def test_declared_roots_are_the_top(engine: str) -> None:
    fabric = from_links(6, 1, RING)
    routes = compute_routes(fabric, engine, to_switches=False, roots=("leaf-004",))
    check_all_pairs(fabric, routes)
    # 1 -> 6 would go over leaf-001 and leaf-006 only where that link is not cut by the order.
    table = [members(routes, 0, goal) for goal in range(6)]
    assert compute_routes(fabric, engine, to_switches=False, roots=("leaf-001",)).digest != routes.digest
    assert all(ports is not None for ports in table)
    both = compute_routes(fabric, engine, to_switches=False, roots=("leaf-004", "leaf-001"))
    check_all_pairs(fabric, both)


def test_roots_that_cannot_join_all_are_answered_by_the_first() -> None:
    # A line of five whose ends are roots: from one end to the other a path would come down and go up.
    fabric = from_links(5, 1, [(0, 1), (1, 2), (2, 3), (3, 4)])
    check_all_pairs(fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001", "leaf-005")))


@pytest.mark.parametrize("engine", ["updown", "ecmp"])
@pytest.mark.parametrize("step", [3, 5, 7])
def test_degraded_trees_are_reached_without_deadlock(engine: str, step: int) -> None:
    fabric = make_fabric("fat-tree", hosts=32, ports=8)
    broken = cut(fabric, switch_links(fabric)[::step])
    lengths = check_all_pairs(broken, compute_routes(broken, engine, to_switches=False))
    assert max(lengths.values()) <= 6


@pytest.mark.parametrize("engine", ["updown", "ecmp"])
def test_a_lost_spine_is_routed_around(engine: str) -> None:
    fabric = make_fabric("fat-tree", hosts=32, ports=8)
    spine = fabric.node_name.index("spine-02")
    broken = cut(fabric, range(fabric.port_ptr[spine], fabric.port_ptr[spine + 1]))
    lengths = check_all_pairs(broken, compute_routes(broken, engine, to_switches=False))
    assert max(lengths.values()) == 4


@pytest.mark.parametrize("engine", ["updown", "ecmp"])
def test_endpoints_on_two_spines_reach_each_other_and_no_path_of_the_others_gets_longer(engine: str) -> None:
    names = [f"leaf-{i + 1:03d}" for i in range(4)] + ["spine-01", "spine-02", "spine-03"]
    tiers = {name: Tier.LEAF if name.startswith("leaf") else Tier.SPINE for name in names}
    links = [(leaf, 4 + spine) for leaf in range(4) for spine in range(3)]
    homes = {f"host-{i + 1:04d}": names[i // 2] for i in range(8)} | {"a": "spine-01", "b": "spine-03"}
    fabric = from_links(names, homes, links, tiers=tiers)
    lengths = check_all_pairs(fabric, compute_routes(fabric, engine, to_switches=False))
    assert all(length <= 4 for length in lengths.values())
    assert lengths[8, 9] == 4
    assert lengths[0, 7] == 4


def test_separate_components_have_no_routes_to_each_other() -> None:
    fabric = from_links(4, 1, [(0, 1), (2, 3)])
    routes = compute_routes(fabric, "updown", to_switches=True)
    assert (routes.group[:2, [2, 3, 6, 7]] == no_route(routes.group)).all()
    assert (routes.group[:2, [0, 1, 4, 5]] != no_route(routes.group)).all()


def test_a_lost_link_moves_few_entries_of_its_leaf() -> None:
    fabric = make_fabric("fat-tree", hosts=32, ports=8)
    before = compute_routes(fabric, "updown", to_switches=False)
    broken = cut(fabric, [find_port(fabric, "leaf-001/6")])
    after = compute_routes(broken, "updown", to_switches=False)
    moved = sum(members(before, 0, goal) != members(after, 0, goal) for goal in range(32))
    assert moved == 7  # the destinations that owned the link


def test_ties_are_spread_evenly() -> None:
    fabric = make_fabric("rail-optimised", hosts=64, rails=2, ports=16, unit_size=8)
    routes = compute_routes(fabric, "updown", to_switches=False)
    uplinks = [(members(routes, 0, goal) or [NIL])[0] for goal in host_endpoints(fabric)]
    _, counts = np.unique([port for port in uplinks if port >= find_port(fabric, "leaf-001/9")], return_counts=True)
    assert counts.tolist() == [15] * 8


def test_ecmp_takes_every_port_up_and_every_parallel_port_down() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    up = members(routes, 0, 15)
    assert up == [find_port(fabric, f"leaf-001/{number}") for number in range(5, 9)]
    spine = 4
    down = members(routes, spine, 0)
    assert down is not None
    assert len(down) == 2
    assert {int(fabric.port_node[fabric.port_peer[port]]) for port in down} == {int(fabric.switch_node[0])}
    # One set up, and one group per host: no set is kept twice.
    assert routes.group_ptr[1] == 1 + 4


def test_ecmp_needs_two_bytes_where_a_switch_has_many_groups() -> None:
    fabric = from_links(["hub"], {f"host-{i:04d}": "hub" for i in range(254)}, [])
    routes = compute_routes(fabric, "ecmp", to_switches=True)
    assert routes.group.dtype == np.uint16
    assert routes.group[0, 254] == 65_534
    port = fabric.endpoint_port
    assert not walk(fabric, routes, port, np.arange(254, dtype=np.int32))[2].any()
    smaller = from_links(["hub"], {f"host-{i:04d}": "hub" for i in range(253)}, [])
    assert compute_routes(smaller, "ecmp", to_switches=True).group.dtype == np.uint8


def test_a_cable_from_a_switch_to_itself_and_back_to_back_hosts_are_ignored() -> None:
    fabric = from_links(2, 1, [(0, 0), (0, 1)])
    check_all_pairs(fabric, compute_routes(fabric, "updown", to_switches=True))
    pair = from_links(1, 1, [])
    peer = pair.port_peer.copy()
    peer[:] = NIL
    assert compute_routes(cut(pair, [0]), "ecmp", to_switches=False).entries == 0


def test_a_fabric_without_links_or_switches_is_routed() -> None:
    empty = from_links([], {}, [])
    for engine in ("fat-tree", "updown", "ecmp"):
        assert compute_routes(empty, engine, to_switches=True).entries == 0
        alone = compute_routes(from_links(3, 0, []), engine, to_switches=True)
        assert alone.entries == 3


def test_the_order_of_a_flat_graph_starts_at_its_centre() -> None:
    fabric = from_links(5, 1, [(0, 1), (1, 2), (2, 3), (3, 4)])
    graph = read_graph(fabric)
    placed = order_switches(graph, read_destinations(fabric, to_switches=False), np.array([], dtype=np.int32))
    assert placed.sequence.tolist() == [2, 1, 3, 0, 4]


def test_a_flat_component_beside_a_tree_starts_at_its_centre_too() -> None:
    names = ["leaf-001", "leaf-002", "spine-01", *(f"leaf-00{i}" for i in range(3, 8))]
    chain = [(3, 4), (4, 5), (5, 6), (6, 7)]
    fabric = from_links(
        names, {f"host-{i + 1:04d}": name for i, name in enumerate(names) if i != 2}, [(0, 2), (1, 2), *chain],
        tiers={"spine-01": Tier.SPINE},
    )  # fmt: skip
    graph = read_graph(fabric)
    placed = order_switches(graph, read_destinations(fabric, to_switches=False), np.array([], dtype=np.int32))
    assert placed.sequence.tolist() == [2, 0, 1, 5, 4, 6, 3, 7]
