"""Every engine on every topology under every class of faults: reached and free of deadlock by proof, or refused why."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from tests.properties.engine_world import FAULTS, TOPOLOGIES, WITHOUT_BUNDLES, broken, build
from tests.tables import cut
from tests.unit.route.walks import members, named_tables, reorder_nodes, switch_links
from weftline.compile import direct
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.model.spec import TopologySection
from weftline.prove import check_certificate, prove
from weftline.route import ENGINES, compute_routes
from weftline.route import name_destination as named
from weftline.route.repair import cut_fabric

RULES = ProofRules(required=("reach", "deadlock"), max_hops=64)

REFUSED = {
    "fat-tree": {"capability.engine-needs-tree"},
    "torus": {"capability.engine-needs-torus"},
    **{engine: {"capability.engine-needs-groups"} for engine in ENGINES if engine.startswith("dragonfly")},
}
"""The only reasons that an engine may give."""
KINDS = {
    "fat-tree": {"fat-tree", "rail-optimised"},
    "dragonfly": {"dragonfly"},
    "dragonfly-adaptive": {"dragonfly"},
    "dragonfly-plus": {"dragonfly-plus"},
    "dragonfly-plus-adaptive": {"dragonfly-plus"},
    "torus": {"torus"},
}
"""The kinds of topology that an engine must not refuse where nothing is lost; one that is not named here takes all."""


def must_take(engine: str, name: str) -> bool:
    return TOPOLOGIES[name][0] in KINDS.get(engine, {TOPOLOGIES[name][0]})


def route(fabric: Fabric, engine: str, *, to_switches: bool = True) -> Routes | str:
    """Compute routes, or say by which code they are refused."""
    try:
        return compute_routes(fabric, engine, to_switches=to_switches)
    except CapabilityError as error:
        return error.code if error.hint else "no hint"


def test_every_kind_of_topology_engine_and_fault_is_in_the_matrix() -> None:
    """What is added to a registry and not here fails here."""
    kinds = set(get_args(TopologySection.model_fields["kind"].annotation))
    generators = {name.removeprefix("build_").replace("_", "-") for name in vars(direct) if name.startswith("build_")}
    assert {kind for kind, _ in TOPOLOGIES.values()} == kinds | generators
    assert set(REFUSED) | set(KINDS) <= set(ENGINES)
    for name in TOPOLOGIES:
        for fault in FAULTS:
            is_there = broken(name, fault) is not None
            assert is_there == (fault != "link of a bundle" or name not in WITHOUT_BUNDLES), (name, fault)
    sides = {len(place.max(axis=0)) for name in TOPOLOGIES if (place := build(name).node_place) is not None}
    assert {1, 2, 3, 4} <= sides


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_proved_or_refused_with_a_reason(name: str, engine: str) -> None:
    for fault in FAULTS:
        fabric = broken(name, fault)
        if fabric is None:
            continue
        routes = route(fabric, engine)
        if isinstance(routes, str):
            assert routes in REFUSED.get(engine, set()), (fault, routes)
            assert fault != "none" or not must_take(engine, name)
            continue
        for proof in prove(fabric, routes, RULES).proofs[:2]:
            assert proof.verdict is Verdict.PROVED, (fault, proof.claim, proof.witness)
            assert check_certificate(fabric, routes, proof)


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_that_a_fault_spoils_are_refuted_by_a_walk_that_replays(name: str, engine: str) -> None:
    """Tables of the whole fabric on what is left of it, and without their lanes."""
    whole = build(name)
    routes = route(whole, engine, to_switches=False)
    if isinstance(routes, str):
        return
    fabric = broken(name, "switch")
    assert fabric is not None
    stale = replace(routes, fabric_digest=fabric.digest)
    reach = prove(fabric, stale, RULES).proofs[0]
    if reach.verdict is Verdict.REFUTED:
        replay_walk(fabric, stale, reach)
    bare = replace(routes, lanes=None)
    deadlock = prove(whole, bare, RULES).proofs[1]
    assert deadlock.verdict is (Verdict.PROVED if routes.lanes is None else deadlock.verdict)
    assert (engine, name, deadlock.verdict) not in {(one, other, Verdict.PROVED) for one, other in CIRCLES}
    if deadlock.verdict is Verdict.REFUTED:
        replay_cycle(whole, bare, deadlock)


CIRCLES = {("layered", "ring"), ("dragonfly", "dragonfly"), ("torus", "torus"), ("dragonfly-adaptive", "dragonfly")}
"""Engines that need their lanes: without them their tables wait in a circle."""


def replay_walk(fabric: Fabric, routes: Routes, proof: Proof) -> None:
    """Walk a lost pair hop by hop: each port is one of the entry, each hop begins where the last one led."""
    assert proof.witness is not None
    detail = proof.witness.detail
    goal = next(at for at in range(len(routes.destination_node)) if named(fabric, routes, at) == detail["destination"])
    port = {fabric.port_name(at): at for at in range(fabric.port_count)}
    hops = detail["hops"]
    assert hops[0]["out_port"] == detail["source"]
    for before, hop in itertools.pairwise(hops):
        assert hop["in_port"] == fabric.port_name(int(fabric.port_peer[port[before["out_port"]]]))
        ports = members(routes, int(fabric.switch_row[fabric.node_name.index(hop["node"])]), goal)
        if hop["out_port"] is None:
            assert not ports
        else:
            assert ports is not None
            assert port[hop["out_port"]] in ports
    last = hops[-1]["out_port"]
    peer = NIL if last is None else int(fabric.port_peer[port[last]])
    assert peer == NIL or peer != int(routes.destination_port[goal])


def replay_cycle(fabric: Fabric, routes: Routes, proof: Proof) -> None:
    """Walk every step of a cycle: packets to a destination do hold the one link and wait for the other."""
    assert proof.witness is not None
    steps = proof.witness.detail["steps"]
    names = [step["holds"] for step in steps]
    assert [step["waits_for"] for step in steps] == [*names[1:], names[0]]
    goals = {named(fabric, routes, at): at for at in range(len(routes.destination_node))}
    for step in steps:
        goal = goals[step["destination"]]
        open_rows = [int(fabric.switch_row[fabric.node_name.index(step["source_switch"])])]
        seen: set[int] = set()
        pairs: set[tuple[str, str]] = set()
        while open_rows:
            row = open_rows.pop()
            if row in seen:
                continue
            seen.add(row)
            for port in members(routes, row, goal) or []:
                other = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
                if other == NIL:
                    continue
                open_rows.append(other)
                further = members(routes, other, goal) or []
                pairs |= {(fabric.link_name(port), fabric.link_name(then)) for then in further}
        assert (step["holds"], step["waits_for"]) in pairs


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_nodes_changes_no_table(name: str, engine: str) -> None:
    order = list(range(build(name).node_count))
    random.Random(7).shuffle(order)
    for fault in ("link", "none"):
        fabric = broken(name, fault)
        assert fabric is not None
        moved = reorder_nodes(fabric, order)
        first, again = route(fabric, engine, to_switches=False), route(moved, engine, to_switches=False)
        if isinstance(first, str) or isinstance(again, str):
            assert first == again
            continue
        assert named_tables(moved, again) == named_tables(fabric, first)
        break  # what is lost breaks more ties than what is whole


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
    for engine, words in (("torus", "where each switch stands"), ("dragonfly", "names no groups")):
        with pytest.raises(CapabilityError, match=words):
            compute_routes(fabric, engine, to_switches=True)
