"""Several addresses per endpoint (LMC above 0): each is a destination of its own, and they come different ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from weftline.errors import SpecError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove
from weftline.route import compute_routes, find_destination, name_destination, trace_path

TREE = make_fabric(hosts=16)
PODS = make_fabric(hosts=16, ports=4)
RULES = ProofRules(required=("reach", "deadlock", "balance"))


def leaf_ports(fabric: Fabric, routes: Routes, destination: int) -> set[int]:
    """List the uplinks by which leaves other than its own send to a destination."""
    home = fabric.port_node[fabric.port_peer[routes.destination_port[destination]]]
    found: set[int] = set()
    for row, node in enumerate(fabric.switch_node.tolist()):
        if fabric.node_tier[node] == fabric.node_tier[home] and node != home:
            group = int(routes.group_ptr[row] + routes.group[row, destination])
            port = int(routes.member_port[routes.member_ptr[group]])
            found.add(int(fabric.port_node[fabric.port_peer[port]]))
    return found


@pytest.mark.parametrize("engine", ["fat-tree", "updown"])
@pytest.mark.parametrize("fabric", [TREE, PODS], ids=["two tiers", "three tiers"])
def test_addresses_come_by_different_uplinks(fabric: Fabric, engine: str) -> None:
    one = compute_routes(fabric, engine, to_switches=True)
    routes = compute_routes(fabric, engine, to_switches=True, paths=2)
    base = len(one.destination_node)
    assert np.array_equal(routes.group[:, :base], one.group)
    assert routes.paths == 2
    assert routes.destination_path is not None
    assert np.array_equal(routes.destination_port[base:], fabric.endpoint_port)
    assert set(routes.destination_path[base:].tolist()) == {1}
    for end in range(len(fabric.endpoint_port)):
        first, second = leaf_ports(fabric, routes, end), leaf_ports(fabric, routes, base + end)
        assert not first & second
    report = prove(fabric, routes, RULES)
    assert report.is_accepted, [proof.statement for proof in report.proofs]
    assert all(check_certificate(fabric, routes, proof) for proof in report.proofs)
    assert "further addresses" in report.proofs[0].statement


@pytest.mark.parametrize("engine", ["fat-tree", "updown", "ecmp", "layered"])
@pytest.mark.parametrize("paths", [2, 4, 8])
def test_every_engine_proves_every_address(engine: str, paths: int) -> None:
    routes = compute_routes(PODS, engine, to_switches=True, paths=paths)
    assert prove(PODS, routes, ProofRules(required=("reach", "deadlock"), balance_threshold=99)).is_accepted
    assert routes.paths == paths


def test_each_path_alone_carries_every_shift() -> None:
    routes = compute_routes(TREE, "fat-tree", to_switches=False, paths=4)
    ends = len(TREE.endpoint_port)
    for path in range(4):
        own = slice(path * ends, (path + 1) * ends)
        alone = replace(
            routes,
            destination_node=routes.destination_node[own],
            destination_port=routes.destination_port[own],
            group=routes.group[:, own].copy(),
            destination_path=None,
        )
        assert prove(TREE, alone, RULES).is_accepted


def test_a_bad_further_address_is_found_and_named() -> None:
    routes = compute_routes(TREE, "fat-tree", to_switches=True, paths=2)
    group = routes.group.copy()
    group[:, -1] = 255
    broken = replace(routes, group=group)
    report = prove(TREE, broken, RULES)
    assert not report.is_accepted
    witness = report.proofs[0].witness
    assert witness is not None
    assert witness.detail["destination"] == f"{TREE.port_name(int(TREE.endpoint_port[-1]))}+1"


def test_a_path_is_traced_by_its_name() -> None:
    routes = compute_routes(TREE, "fat-tree", to_switches=True, paths=2)
    name = TREE.port_name(int(TREE.endpoint_port[-1]))
    goal = find_destination(TREE, routes, f"{name}+1")
    assert goal == len(routes.destination_node) - 1
    assert name_destination(TREE, routes, goal) == f"{name}+1"
    assert find_destination(TREE, routes, name) == find_destination(TREE, routes, f"{name}+0") == 15
    first = trace_path(TREE, routes, int(TREE.endpoint_port[0]), 15)
    second = trace_path(TREE, routes, int(TREE.endpoint_port[0]), goal)
    assert first.hops[2].node != second.hops[2].node
    for text in (f"{name}+2", f"{name}+x", f"{name}+9999"):
        with pytest.raises(SpecError, match="there is no destination"):
            find_destination(TREE, routes, text)


def test_dark_ports_and_graphs_that_are_no_tree() -> None:
    ring = from_links(5, 2, [(at, (at + 1) % 5) for at in range(5)])
    routes = compute_routes(ring, "updown", to_switches=True, paths=4)
    assert prove(ring, routes, ProofRules(required=("reach", "deadlock"), balance_threshold=99)).is_accepted
    assert np.count_nonzero(routes.destination_port != NIL) == 4 * 10
