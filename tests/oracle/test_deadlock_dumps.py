"""Deadlock on a real fabric whose spines hold aggregation nodes: minimal hops lock there, up and down does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import minimal_routes
from weftline.adopt import build_fabric, read_discovery
from weftline.formats.ibnetdiscover import Discovery
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
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


def test_up_and_down_is_free_and_reaches_all(spines_with_endpoints: Fabric) -> None:
    fabric = spines_with_endpoints
    routes = compute_routes(fabric, "updown", to_switches=True)
    for proof in prove(fabric, routes, FEW_SHIFTS).proofs[:2]:
        assert proof.verdict is Verdict.PROVED
        assert check_certificate(fabric, routes, proof)
