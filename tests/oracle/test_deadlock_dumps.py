"""Deadlock on a real fabric whose spines hold aggregation nodes: minimal hops lock there, up and down does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from tests.tables import minimal_routes
from weftline.adopt import build_fabric, read_discovery
from weftline.formats.ibnetdiscover import Discovery
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import check_certificate, prove
from weftline.route import compute_routes

FEW_SHIFTS = ProofRules(all_shifts_up_to=1, sample_shifts=2)


@pytest.fixture(scope="module")
def spines_with_endpoints(corpus: Path) -> Fabric:
    """582 adapters on 40 switches; OpenSM's minhop tables have a credit loop here, as ibdmchk finds."""
    file = corpus / "infiniband" / "topograph" / "tests_output_ibnetdiscover_example.out"
    discovery = read_discovery(file.read_bytes(), file.name)
    assert isinstance(discovery, Discovery)
    adoption = build_fabric(discovery)
    assert not isinstance(adoption, tuple)
    return adoption.fabric


def test_spread_minimal_hops_lock_between_spines(spines_with_endpoints: Fabric) -> None:
    fabric = spines_with_endpoints
    spread = minimal_routes(fabric, tie=lambda row, d, ports: [ports[(d + row) % len(ports)]])
    reach, deadlock, _ = prove(fabric, spread, FEW_SHIFTS).proofs
    assert reach.verdict is Verdict.PROVED
    assert deadlock.verdict is Verdict.REFUTED
    assert deadlock.witness is not None
    assert any("SPINE" in step["source_switch"] for step in deadlock.witness.detail["steps"])


def test_layered_is_free_in_four_lanes_by_shortest_paths(spines_with_endpoints: Fabric) -> None:
    fabric = spines_with_endpoints
    routes = compute_routes(fabric, "layered", to_switches=True)
    assert routes.lane_count == 4
    assert routes.lanes is not None
    assert routes.lanes.with_answers
    for proof in prove(fabric, routes, FEW_SHIFTS).proofs[:2]:
        assert proof.verdict is Verdict.PROVED
        assert check_certificate(fabric, routes, proof)
    for lane in range(4):
        waits = list_waits(fabric, routes, lane)
        assert waits.number_of_edges() > 100
        assert nx.is_directed_acyclic_graph(waits)
    all_on_one = prove(fabric, replace(routes, lanes=None), FEW_SHIFTS).proofs[1]
    assert all_on_one.verdict is Verdict.REFUTED


def list_waits(fabric: Fabric, routes: Routes, lane: int) -> nx.DiGraph[int]:
    """Walk the tables from every switch with endpoints to every destination of a lane."""
    waits: nx.DiGraph[int] = nx.DiGraph()
    home = fabric.switch_row[fabric.port_node[fabric.port_peer[fabric.endpoint_port]]].tolist()
    own = {row for goal, row in enumerate(home) if routes.lane_of(goal) == lane}
    for goal in range(len(routes.destination_node)):
        # what comes to the lane's destinations, and what they answer
        for row in set(home) if routes.lane_of(goal) == lane else own:
            before: int | None = None
            here = row
            while True:
                group = int(routes.group_ptr[here]) + int(routes.group[here, goal])
                if int(routes.group[here, goal]) >= routes.group_ptr[here + 1] - routes.group_ptr[here]:
                    break
                port = int(routes.member_port[routes.member_ptr[group]])
                here = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
                if here < 0:
                    break
                if before is not None:
                    waits.add_edge(before, port)
                before = port
    return waits


def test_up_and_down_is_free_and_reaches_all(spines_with_endpoints: Fabric) -> None:
    fabric = spines_with_endpoints
    routes = compute_routes(fabric, "updown", to_switches=True)
    for proof in prove(fabric, routes, FEW_SHIFTS).proofs[:2]:
        assert proof.verdict is Verdict.PROVED
        assert check_certificate(fabric, routes, proof)
