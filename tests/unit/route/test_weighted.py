"""Engine weighted-ecmp: as ecmp on a whole fabric, else in proportion to what is left, by independent counts."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import from_links, make_fabric
from tests.unit.route.walks import members, named_tables, reorder_nodes, switch_links, weights_of
from weftline.errors import ArtifactError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove
from weftline.prove.balance import gather_crowd, load_pairs
from weftline.prove.reach import measure_distances
from weftline.prove.tables import read_tables
from weftline.route import compute_routes, trace_path
from weftline.route.repair import cut_fabric
from weftline.route.weighted import MOST_SHARES

ENGINES = ("ecmp", "weighted-ecmp")


def clos(pods: int = 2, leaves: int = 4, spines: int = 4, cores: int = 4) -> Fabric:
    """Make a Clos of three tiers: every spine of a pod has a plane of cores of its own."""
    names, links, tiers = list[str](), list[tuple[str, str]](), dict[str, Tier]()
    for plane in range(spines):
        for core in range(cores):
            tiers[f"core-{plane}{core}"] = Tier.CORE
    for pod in range(pods):
        for spine in range(spines):
            tiers[f"spine-{pod}{spine}"] = Tier.SPINE
            links += [(f"spine-{pod}{spine}", f"core-{spine}{core}") for core in range(cores)]
        for leaf in range(leaves):
            tiers[f"leaf-{pod}{leaf}"] = Tier.LEAF
            links += [(f"leaf-{pod}{leaf}", f"spine-{pod}{spine}") for spine in range(spines)]
    names = sorted(tiers)
    hosts = {f"host-{name[5:]}{i}": name for name in names if tiers[name] is Tier.LEAF for i in range(2)}
    return from_links(names, hosts, links, tiers=tiers)


def links_between(fabric: Fabric, one: str, other: str) -> list[int]:
    """List the ports of the links between nodes whose names begin so, by the end of the first."""
    name = fabric.node_name
    return [
        port
        for port in range(fabric.port_count)
        if fabric.port_peer[port] != NIL
        and name[int(fabric.port_node[port])].startswith(one)
        and name[int(fabric.port_node[fabric.port_peer[port]])].startswith(other)
    ]


def lose(fabric: Fabric, ports: list[int]) -> Fabric:
    return cut_fabric(fabric, np.array(ports, dtype=np.int32))


def load(fabric: Fabric, engine: str, pairs: list[tuple[int, int]]) -> dict[tuple[str, str], float]:
    """Load flows of rate 1 between endpoints, by their places; the load of each link over its rate, by its ends."""
    routes = compute_routes(fabric, engine, to_switches=False)
    tables = read_tables(fabric, routes)
    source = fabric.endpoint_port[[pair[0] for pair in pairs]].astype(np.int32)
    target = np.array([pair[1] for pair in pairs], dtype=np.int32)
    found, lost = load_pairs(
        fabric, tables, measure_distances(tables, ProofRules()), (source, target, np.ones(len(pairs)))
    )
    assert not lost
    assert gather_crowd(fabric, tables).is_rated
    worst: dict[tuple[str, str], float] = defaultdict(float)
    for port in np.flatnonzero(found).tolist():
        ends = (
            fabric.node_name[int(fabric.port_node[port])],
            fabric.node_name[int(fabric.port_node[fabric.port_peer[port]])],
        )
        worst[ends] = max(worst[ends], float(found[port]))
    return worst


def between_pods(fabric: Fabric) -> list[tuple[int, int]]:
    pod = [fabric.node_name[int(fabric.port_node[port])][5] for port in fabric.endpoint_port]
    return [(a, b) for a, b in permutations(range(len(pod)), 2) if pod[a] != pod[b]]


def most_flow(fabric: Fabric, one: str, other: str) -> int:
    """Count the links of the least cut between the leaves of two pods, by networkx."""
    oracle: Any = nx
    graph = oracle.DiGraph()
    for port in switch_links(fabric):
        ends = [fabric.node_name[int(fabric.port_node[at])] for at in (port, int(fabric.port_peer[port]))]
        for a, b in (ends, ends[::-1]):
            known = graph.get_edge_data(a, b, {"capacity": 0})["capacity"]
            graph.add_edge(a, b, capacity=known + 1)
    leaves = [name for name in fabric.node_name if name.startswith("leaf")]
    for leaf in leaves:
        if leaf[5] == one:
            graph.add_edge("source", leaf)
        if leaf[5] == other:
            graph.add_edge(leaf, "target")
    return int(oracle.maximum_flow_value(graph, "source", "target"))


def count_paths(fabric: Fabric, routes: Routes, row: int, goal: int) -> int:
    """Count the paths from a switch to an endpoint one by one, by the sets of ecmp."""
    paths = 0
    for port in members(routes, row, goal) or ():
        after = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
        paths += 1 if after == NIL else count_paths(fabric, routes, after, goal)
    return paths


WHOLE = {
    "two tiers": lambda: make_fabric("fat-tree", hosts=12, ports=8),
    "three tiers": lambda: make_fabric("fat-tree", hosts=24, ports=6),
    "rails": lambda: make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4),
    "planes": lambda: make_fabric("rail-optimised", hosts=10, rails=2, ports=8, unit_size=4, planes=2),
    "clos": clos,
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_fabric_is_routed_as_by_ecmp(name: str) -> None:
    fabric = WHOLE[name]()
    equal, weighted = (compute_routes(fabric, engine, to_switches=True) for engine in ENGINES)
    assert weighted.member_weight is None
    assert np.array_equal(equal.group, weighted.group)
    assert np.array_equal(equal.member_port, weighted.member_port)
    assert "in proportion to the ways" in weighted.guarantee


def test_half_a_bundle_of_a_clos_is_used_at_the_optimum() -> None:
    """A spine lost half of its links to the cores; what crosses the pods loads no link more than it must."""
    whole = clos()
    fabric = lose(whole, links_between(whole, "spine-00", "core-0")[:2])
    pairs = between_pods(fabric)
    equal, weighted = (load(fabric, engine, pairs) for engine in ENGINES)
    asked = len(pairs) / 2
    optimum = asked / most_flow(fabric, "0", "1")
    between = [ends for ends in weighted if not ends[0].startswith("host") and not ends[1].startswith("host")]
    assert max(weighted[ends] for ends in between) == pytest.approx(optimum)
    assert max(equal[ends] for ends in between) == pytest.approx(asked / 4 / 2)  # a quarter over two links
    assert max(equal.values()) == pytest.approx(1.75 * optimum)
    routes = compute_routes(fabric, "weighted-ecmp", to_switches=False)
    leaf = fabric.switch_row[fabric.node_name.index("leaf-10")]
    there, inside = (fabric.node_name.index(f"host-{name}") for name in ("000", "110"))
    goals = routes.destination_node.tolist()
    assert sorted(weights_of(routes, int(leaf), goals.index(there)).values()) == [1, 2, 2, 2]
    assert sorted(weights_of(routes, int(leaf), goals.index(inside)).values()) == [1, 1, 1, 1]


def test_half_a_bundle_of_parallel_links_is_used_at_the_optimum() -> None:
    """Two tiers with bundles of four links; one bundle towards a leaf lost two of them."""
    links = [(leaf, spine) for leaf in ("l1", "l2", "l3") for spine in ("s1", "s2") for _ in range(4)]
    tiers = {"s1": Tier.SPINE, "s2": Tier.SPINE}
    whole = from_links(["l1", "l2", "l3", "s1", "s2"], {f"h{i}": f"l{i}" for i in (1, 2, 3)}, links, tiers=tiers)
    fabric = lose(whole, links_between(whole, "s1", "l3")[:2])
    pairs = [(0, 2), (1, 2)]
    equal, weighted = (load(fabric, engine, pairs) for engine in ENGINES)
    assert weighted["s1", "l3"] == pytest.approx(2 / 6)
    assert weighted["s2", "l3"] == pytest.approx(2 / 6)
    assert equal["s1", "l3"] == pytest.approx(1 / 2)
    # the way back has fewer links at its first hop, and needs no weights
    back = [(2, 0), (2, 1)]
    assert load(fabric, "ecmp", back)["l3", "s2"] == pytest.approx(load(fabric, "weighted-ecmp", back)["l3", "s2"])


@given(st.integers(0, 2**32), st.sampled_from(["spine-0", "spine-00"]))
def test_what_crosses_pods_loads_the_links_of_cores_no_more_than_equal_shares_do(seed: int, where: str) -> None:
    """Whatever a spine, or the spines of a pod, lost of their links to the cores."""
    whole = clos()
    rng = random.Random(seed)
    candidates = links_between(whole, where, "core")
    lost = [port for port in candidates if rng.random() < 0.4]
    fabric = lose(whole, lost)
    routes = compute_routes(fabric, "weighted-ecmp", to_switches=False)
    if np.any(routes.group == np.iinfo(routes.group.dtype).max):
        return  # a pod that lost all its cores
    pairs = between_pods(fabric)
    equal, weighted = (load(fabric, engine, pairs) for engine in ENGINES)
    optimum = len(pairs) / 2 / most_flow(fabric, "0", "1")
    at_cores = [ends for ends in weighted if "core" in ends[0] + ends[1]]
    assert max(weighted[ends] for ends in at_cores) <= max(equal.values()) * (1 + 1e-9)
    assert max(weighted[ends] for ends in at_cores) >= optimum * (1 - 1e-9) or not lost


@given(st.integers(0, 2**32), st.sampled_from(["two tiers", "three tiers", "clos", "rails"]), st.integers(1, 6))
def test_every_weight_is_in_proportion_to_the_paths_behind_it(seed: int, name: str, count: int) -> None:
    whole = WHOLE[name]()
    rng = random.Random(seed)
    fabric = lose(whole, rng.sample(switch_links(whole), count))
    equal, weighted = (compute_routes(fabric, engine, to_switches=False) for engine in ENGINES)
    for row in range(len(fabric.switch_node)):
        for goal in rng.sample(range(len(equal.destination_node)), 4):
            ports = members(equal, row, goal) or []
            assert sorted(members(weighted, row, goal) or []) == sorted(ports)
            if not ports:
                continue
            behind: dict[int, int] = {}
            for port in ports:
                after = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
                behind[port] = 1 if after == NIL else count_paths(fabric, equal, after, goal)
            held = weights_of(weighted, row, goal)
            assert sum(held.values()) <= max(MOST_SHARES, 2 * len(held))
            for port, paths in behind.items():
                assert Fraction(held[port], sum(held.values())) == Fraction(paths, sum(behind.values()))
    for proof in prove(fabric, weighted, ProofRules(required=("reach", "deadlock"), max_hops=64)).proofs[:2]:
        assert proof.verdict is Verdict.PROVED
        assert check_certificate(fabric, weighted, proof)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_nodes_does_not_matter(seed: int) -> None:
    whole = clos()
    rng = random.Random(seed)
    fabric = lose(whole, rng.sample(switch_links(whole), 5))
    order = list(range(fabric.node_count))
    rng.shuffle(order)
    moved = reorder_nodes(fabric, order)
    ours, theirs = (compute_routes(world, "weighted-ecmp", to_switches=True) for world in (fabric, moved))
    assert ours.member_weight is not None
    assert named_tables(fabric, ours) == named_tables(moved, theirs)
    assert name_weights(fabric, ours) == name_weights(moved, theirs)


def name_weights(fabric: Fabric, routes: Routes) -> dict[tuple[str, str], dict[str, int]]:
    """Tell the weights by names."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row, node in enumerate(fabric.switch_node.tolist()):
        for goal, port in enumerate(routes.destination_port.tolist()):
            if port != NIL and int(routes.group[row, goal]) < int(np.diff(routes.group_ptr)[row]):
                held = weights_of(routes, row, goal)
                found[fabric.node_name[node], fabric.port_name(port)] = {
                    fabric.port_name(one): weight for one, weight in held.items()
                }
    return found


def test_unequal_rates_of_the_last_links_count() -> None:
    """Two spines lead to a leaf, one by a link of half the rate."""
    links = [("l1", "s1"), ("l1", "s2"), ("l2", "s1"), ("l2", "s2")]
    tiers = {"s1": Tier.SPINE, "s2": Tier.SPINE}
    fabric = from_links(["l1", "l2", "s1", "s2"], {"h1": "l1", "h2": "l2"}, links, tiers=tiers)
    rate = fabric.port_rate_gbps.copy()
    rate[links_between(fabric, "s2", "l2")] = 200.0
    fabric = cut_fabric(fabric, np.zeros(0, dtype=np.int32))
    object.__setattr__(fabric, "port_rate_gbps", rate)
    routes = compute_routes(fabric, "weighted-ecmp", to_switches=False)
    row = int(fabric.switch_row[fabric.node_name.index("l1")])
    goal = routes.destination_node.tolist().index(fabric.node_name.index("h2"))
    held = weights_of(routes, row, goal)
    assert {fabric.node_name[fabric.port_node[fabric.port_peer[port]]]: one for port, one in held.items()} == {
        "s1": 2,
        "s2": 1,
    }
    object.__setattr__(fabric, "port_rate_gbps", np.full_like(rate, np.nan))
    assert compute_routes(fabric, "weighted-ecmp", to_switches=False).member_weight is None


def test_a_flow_takes_a_member_as_often_as_its_weight_and_the_trace_says_so() -> None:
    whole = clos()
    fabric = lose(whole, links_between(whole, "spine-00", "core-0")[:2])
    routes = compute_routes(fabric, "weighted-ecmp", to_switches=False)
    source = next(port for port in fabric.endpoint_port if fabric.port_name(int(port)).startswith("host-100"))
    goal = routes.destination_node.tolist().index(fabric.node_name.index("host-000"))
    paths = [trace_path(fabric, routes, int(source), goal, seed) for seed in range(700)]
    taken = [path.hops[2].node for path in paths]
    assert {spine: taken.count(spine) for spine in set(taken)} == {
        "spine-10": pytest.approx(100, abs=40),
        **{f"spine-1{at}": pytest.approx(200, abs=50) for at in (1, 2, 3)},
    }
    first = paths[taken.index("spine-11")].hops[1]
    assert first.why.endswith("one of 4 ports of its entry, picked by hash, with 2 of 7 parts")


def test_weights_that_are_none_are_refused() -> None:
    fabric = lose(clos(), [])
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    for weight in (np.zeros(len(routes.member_port), np.int32), np.ones(3, np.int32)):
        wrong = Routes(**{**vars(routes), "member_weight": weight})  # type: ignore[arg-type]
        with pytest.raises(ArtifactError, match="weights of members are no numbers"):
            read_tables(fabric, wrong)
