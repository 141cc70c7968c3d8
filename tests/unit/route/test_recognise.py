"""Groups found from links alone: the same as named, in any order and with links lost, or said to be unknown."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.properties.engine_world import TOPOLOGIES, build
from tests.tables import cut
from tests.unit.adopt.dumps import rediscover
from tests.unit.route.walks import named_tables, reorder_nodes, switch_links
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.route import compute_routes
from weftline.route.graph import read_graph
from weftline.route.recognise import recognise_blocks, recognise_cliques

NAMED = [
    ("dragonfly", "dragonfly"),
    ("dragonfly of two links a pair", "dragonfly"),
    ("dragonfly-plus", "dragonfly-plus"),
    ("dragonfly-plus of one link a pair", "dragonfly-plus"),
    ("dragonfly-plus with bundles", "dragonfly-plus"),
]


def strip(fabric: Fabric) -> Fabric:
    """Take the names of groups out, as a dump has none."""
    return replace(fabric, node_group=np.full_like(fabric.node_group, NIL))


def partition(fabric: Fabric, group: np.ndarray) -> set[frozenset[str]]:  # type: ignore[type-arg]
    """Write groups by the names of their switches."""
    names = [fabric.node_name[int(node)] for node in fabric.switch_node]
    return {
        frozenset(name for name, at in zip(names, group.tolist(), strict=True) if at == one)
        for one in set(group.tolist())
    }


@pytest.mark.parametrize(("name", "engine"), NAMED)
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_groups_are_found_in_any_order_and_with_links_lost(name: str, engine: str, lost: int) -> None:
    fabric = build(name)
    rng = random.Random(lost)
    links = rng.sample(switch_links(fabric), lost)
    broken = cut(fabric, links) if links else fabric
    order = list(range(broken.node_count))
    rng.shuffle(order)
    moved = reorder_nodes(strip(broken), order)
    found = (recognise_cliques if engine == "dragonfly" else recognise_blocks)(read_graph(moved))
    assert not isinstance(found, str)
    assert partition(moved, found) == partition(fabric, fabric.node_group[fabric.switch_node])


@pytest.mark.parametrize(("name", "engine"), NAMED)
def test_engines_route_what_names_no_groups_as_if_it_did(name: str, engine: str) -> None:
    fabric = build(name)
    bare = strip(fabric)
    for one in (engine, f"{engine}-adaptive"):
        routes = compute_routes(bare, one, to_switches=True)
        assert named_tables(bare, routes) == named_tables(fabric, compute_routes(fabric, one, to_switches=True))
        proofs = prove(bare, routes, ProofRules(max_hops=64)).proofs[:2]
        assert all(proof.verdict is Verdict.PROVED for proof in proofs)


@pytest.mark.parametrize(("name", "engine"), NAMED)
def test_a_dump_of_a_dragonfly_is_adopted_and_routed_by_its_engine(name: str, engine: str) -> None:
    fabric = build(name)
    order = list(range(fabric.node_count))
    random.Random(name).shuffle(order)
    adopted = rediscover(reorder_nodes(fabric, order)).fabric
    assert np.all(adopted.node_group == NIL)
    routes = compute_routes(adopted, engine, to_switches=True)
    assert all(proof.verdict is Verdict.PROVED for proof in prove(adopted, routes, ProofRules(max_hops=64)).proofs[:2])


def route(fabric: Fabric, engine: str) -> Routes | str:
    """Compute routes, or say by which code they are refused."""
    try:
        return compute_routes(fabric, engine, to_switches=False)
    except CapabilityError as error:
        return error.code


@pytest.mark.parametrize("name", [name for name, (kind, _) in TOPOLOGIES.items() if not kind.startswith("dragonfly")])
def test_what_is_no_dragonfly_is_refused_or_routed_and_proved(name: str) -> None:
    """Some are one all the same: a HyperX of two dimensions is groups joined all to all."""
    fabric = strip(build(name))
    for engine in ("dragonfly", "dragonfly-plus"):
        routes = route(fabric, engine)
        if isinstance(routes, str):
            assert routes == "capability.engine-needs-groups"
            continue
        proofs = prove(fabric, routes, ProofRules(max_hops=64)).proofs[:2]
        assert all(proof.verdict is Verdict.PROVED for proof in proofs)


@pytest.mark.parametrize(
    ("name", "engine", "why"),
    [
        ("slim fly", "dragonfly", "no set of links joins groups of one size all to all"),
        ("torus", "dragonfly", "no set of links joins groups of one size all to all"),
        ("torus", "dragonfly-plus", "does not tell leaves from spines"),
        ("tree of two tiers", "dragonfly-plus", "are joined into one"),
    ],
)
def test_why_groups_are_not_known_is_said(name: str, engine: str, why: str) -> None:
    with pytest.raises(CapabilityError, match=why):
        compute_routes(strip(build(name)), engine, to_switches=False)
