"""Deadlock against networkx: cycles of the channel graph that all walks together make."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute import channel_pairs
from tests.fabrics import from_links
from tests.tables import clockwise_routes, minimal_routes, random_world, ring
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove


def compare(fabric: Fabric, routes: Routes) -> Verdict:
    graph = nx.DiGraph(channel_pairs(fabric, routes))
    proof = next(p for p in prove(fabric, routes, ProofRules()).proofs if p.claim == "deadlock")
    if nx.is_directed_acyclic_graph(graph):
        if not (fabric.port_peer[fabric.endpoint_port] != NIL).any():
            assert proof.verdict is Verdict.UNKNOWN
            return proof.verdict
        assert proof.verdict is Verdict.PROVED
        assert check_certificate(fabric, routes, proof)
    else:
        assert proof.verdict is Verdict.REFUTED
        shortest = min(len(cycle) for cycle in nx.simple_cycles(graph, length_bound=int(proof.bound or 0)))
        assert proof.bound == shortest
        assert proof.witness is not None
        names = [fabric.link_name(p) for p in range(fabric.port_count)]
        steps = [(names.index(s["holds"]), names.index(s["waits_for"])) for s in proof.witness.detail["steps"]]
        assert all(graph.has_edge(*step) for step in steps)
    return proof.verdict


@settings(max_examples=150)
@given(st.integers(0, 2**32))
def test_random_graphs_and_broken_tables(seed: int) -> None:
    compare(*random_world(seed))


@pytest.mark.parametrize("switches", range(3, 9))
@pytest.mark.parametrize("ties", ["clockwise", "opposite"])
def test_rings(switches: int, ties: str) -> None:
    fabric = ring(switches)
    verdict = compare(fabric, clockwise_routes(fabric, switches, ties=ties))
    is_proved = switches == 3 or (switches == 4 and ties == "opposite")
    assert verdict is (Verdict.PROVED if is_proved else Verdict.REFUTED)


@pytest.mark.parametrize("side", [2, 3, 4])
def test_grids_routed_minimally_with_all_ties(side: int) -> None:
    links = [(side * y + x, side * y + x + 1) for y in range(side) for x in range(side - 1)]
    links += [(side * y + x, side * y + x + side) for y in range(side - 1) for x in range(side)]
    fabric = from_links(side * side, 1, links)
    assert compare(fabric, minimal_routes(fabric, tie=lambda _r, _d, ports: ports)) is Verdict.REFUTED
