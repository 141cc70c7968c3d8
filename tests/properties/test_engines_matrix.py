"""Every engine on every topology under every class of faults: reached and free of deadlock by proof, or refused why."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import cut
from tests.unit.route.walks import named_tables, reorder_nodes, switch_links
from weftline.compile.direct import (
    build_dragonfly,
    build_dragonfly_plus,
    build_hyperx,
    build_slim_fly,
    build_torus,
)
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove
from weftline.route import ENGINES, compute_routes
from weftline.route.repair import cut_fabric

RULES = ProofRules(required=("reach", "deadlock"), max_hops=64)

TOPOLOGIES: dict[str, Callable[[], Fabric]] = {
    "tree of two tiers": lambda: make_fabric("fat-tree", hosts=12, ports=8),
    "tree of three tiers": lambda: make_fabric("fat-tree", hosts=24, ports=6),
    "rail-optimised": lambda: make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4),
    "dragonfly": lambda: build_dragonfly(1, 4, 2, 9),
    "dragonfly of two links a pair": lambda: build_dragonfly(1, 4, 2, 5),
    "dragonfly-plus": lambda: build_dragonfly_plus(2, 3, 3, 2, 4),
    "dragonfly-plus of one link a pair": lambda: build_dragonfly_plus(1, 3, 3, 2, 7),
    "ring": lambda: build_torus([7]),
    "torus": lambda: build_torus([4, 5]),
    "torus of three dimensions": lambda: build_torus([4, 4, 3]),
    "hyperx": lambda: build_hyperx([3, 4]),
    "slim fly": lambda: build_slim_fly(5, endpoints=1),
    "irregular": lambda: from_links(
        9, 1, [(i, (i + 1) % 9) for i in range(9)] + [(0, 4), (2, 7), (2, 7), (3, 8), (1, 5)]
    ),
}
FAULTS = ("none", "link", "switch", "links")
REFUSED = {
    "fat-tree": {"capability.engine-needs-tree"},
    "torus": {"capability.engine-needs-torus"},
    **{engine: {"capability.engine-needs-groups"} for engine in ENGINES if engine.startswith("dragonfly")},
}
"""The only reasons that an engine may give."""
HOLDS = {
    ("fat-tree", "tree of two tiers"),
    ("fat-tree", "tree of three tiers"),
    ("fat-tree", "rail-optimised"),
    *(
        (engine, name)
        for engine in ("dragonfly", "dragonfly-adaptive")
        for name in ("dragonfly", "dragonfly of two links a pair")
    ),
    *(
        (engine, name)
        for engine in ("dragonfly-plus", "dragonfly-plus-adaptive")
        for name in ("dragonfly-plus", "dragonfly-plus of one link a pair")
    ),
    *(("torus", name) for name in ("ring", "torus", "torus of three dimensions")),
    *((engine, name) for engine in ("updown", "ecmp", "layered") for name in TOPOLOGIES),
}
"""What must not be refused where nothing is lost."""


@cache
def build(name: str) -> Fabric:
    return TOPOLOGIES[name]()


@cache
def broken(name: str, fault: str) -> Fabric:
    """Lose nothing, a link, all links of a switch, or several links."""
    fabric = build(name)
    rng = random.Random(f"{name} {fault}")
    links = switch_links(fabric)
    lost = {"none": [], "link": rng.sample(links, 1), "links": rng.sample(links, 3), "switch": list[int]()}[fault]
    if fault == "switch":
        node = int(fabric.switch_node[rng.randrange(len(fabric.switch_node))])
        lost = list(range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])))
    return cut_fabric(fabric, np.array(lost, dtype=np.int32)) if lost else fabric


def route(fabric: Fabric, engine: str, *, to_switches: bool = True) -> Routes | str:
    """Compute routes, or say by which code they are refused."""
    try:
        return compute_routes(fabric, engine, to_switches=to_switches)
    except CapabilityError as error:
        return error.code if error.hint else "no hint"


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_proved_or_refused_with_a_reason(name: str, engine: str) -> None:
    for fault in FAULTS:
        fabric = broken(name, fault)
        routes = route(fabric, engine)
        if isinstance(routes, str):
            assert routes in REFUSED.get(engine, set()), (fault, routes)
            assert fault != "none" or (engine, name) not in HOLDS
            continue
        for proof in prove(fabric, routes, RULES).proofs[:2]:
            assert proof.verdict is Verdict.PROVED, (fault, proof.claim, proof.witness)
            assert check_certificate(fabric, routes, proof)


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_nodes_changes_no_table(name: str, engine: str) -> None:
    for fault in ("none", "link"):
        fabric = broken(name, fault)
        order = list(range(fabric.node_count))
        random.Random(7).shuffle(order)
        moved = reorder_nodes(fabric, order)
        first, again = route(fabric, engine), route(moved, engine)
        if isinstance(first, str) or isinstance(again, str):
            assert first == again
            continue
        assert named_tables(moved, again) == named_tables(fabric, first)


@pytest.mark.parametrize(
    ("name", "engine", "hops", "lanes", "many"),
    [
        ("dragonfly", "dragonfly", 4, 2, 1),
        ("dragonfly", "dragonfly-adaptive", 6, 3, 2),
        ("dragonfly of two links a pair", "dragonfly", 4, 2, 1),
        ("dragonfly-plus", "dragonfly-plus", 4, 1, 1),
        ("dragonfly-plus", "dragonfly-plus-adaptive", 5, 2, 3),
        ("torus", "torus", 5, 2, 1),
        ("torus of three dimensions", "torus", 6, 2, 1),
    ],
)
def test_ways_lanes_and_choices_are_what_the_family_has(
    name: str, engine: str, hops: int, lanes: int, many: int
) -> None:
    """Switches on the longest way between endpoints, lanes, and the most ports of an entry."""
    fabric = build(name)
    routes = route(fabric, engine, to_switches=False)
    assert isinstance(routes, Routes)
    reach = prove(fabric, routes, RULES).proofs[0]
    assert (reach.bound, routes.lane_count) == (hops, lanes)
    assert int(np.diff(routes.member_ptr).max()) == many


def test_a_dragonfly_that_lost_the_only_link_of_two_groups_needs_detours() -> None:
    fabric = build("dragonfly")
    group = fabric.node_group[fabric.port_node]
    link = next(p for p in switch_links(fabric) if group[p] != group[fabric.port_peer[p]])
    lost = cut(fabric, [link])
    assert route(lost, "dragonfly") == "capability.engine-needs-groups"
    routes = route(lost, "dragonfly-adaptive")
    assert isinstance(routes, Routes)
    assert all(proof.verdict is Verdict.PROVED for proof in prove(lost, routes, RULES).proofs[:2])


def test_without_the_lanes_a_dragonfly_deadlocks_and_the_cycle_is_named() -> None:
    fabric = build("dragonfly")
    routes = route(fabric, "dragonfly-adaptive")
    assert isinstance(routes, Routes)
    proof = prove(fabric, replace(routes, lanes=None), RULES).proofs[1]
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert all("~" in link for link in proof.witness.detail["cycle"])


def test_a_torus_holds_with_any_one_dead_switch() -> None:
    fabric = build("torus of three dimensions")
    for node in fabric.switch_node.tolist()[::5]:
        ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        lost = cut_fabric(fabric, np.array(ports, dtype=np.int32))
        routes = route(lost, "torus")
        assert isinstance(routes, Routes), routes
        assert routes.lane_count == 3
        assert all(proof.verdict is Verdict.PROVED for proof in prove(lost, routes, RULES).proofs[:2])


def test_coordinates_and_groups_are_asked_for() -> None:
    fabric = build("irregular")
    assert fabric.node_place is None
    assert np.all(fabric.node_group == NIL)
    for engine, words in (("torus", "where each switch stands"), ("dragonfly", "which group each switch is in")):
        with pytest.raises(CapabilityError, match=words):
            compute_routes(fabric, engine, to_switches=True)
