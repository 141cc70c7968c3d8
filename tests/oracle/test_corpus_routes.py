"""Every topology of the corpus gets tables that are proved, with the reason for their engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from weftline.app.adopt import read_adoption
from weftline.app.choose import choose_routes
from weftline.errors import WeftlineError
from weftline.model.adoption import Adoption
from weftline.model.fabric import NodeKind
from weftline.model.proof import Verdict
from weftline.prove import check_certificate

LARGE = "RhinoBased10K"
"""10,000 hosts: its proof takes longer than all others together."""
DGX = "topograph/tests_output_ibnetdiscover_example.out"
NO_TREE = 20
"""Topologies that are no complete tree: there fat-tree is not taken, and the reason says why."""


def adopt_all(folder: Path) -> dict[str, Adoption]:
    """Adopt every topology of the corpus."""
    found: dict[str, Adoption] = {}
    for path in sorted(folder.rglob("*")):
        if (path.suffix in {".topo", ".lst", ".out", ".txt", ""} and path.is_file()) or path.name.startswith(
            "net-examples"
        ):
            try:
                found[path.relative_to(folder).as_posix()] = read_adoption(path)
            except WeftlineError:
                continue
    return found


@pytest.fixture(scope="module")
def adopted(corpus: Path) -> dict[str, Adoption]:
    return {name: adoption for name, adoption in adopt_all(corpus / "infiniband").items() if LARGE not in name}


def test_auto_gives_proved_tables_and_says_why(adopted: dict[str, Adoption]) -> None:
    assert len(adopted) > 40
    others = 0
    for name, adoption in adopted.items():
        chosen = choose_routes(adoption.fabric, "auto")
        proofs = {proof.claim: proof for proof in chosen.report.proofs}
        assert chosen.report.is_accepted, name
        for claim in ("reach", "deadlock"):
            assert proofs[claim].verdict is Verdict.PROVED, name
            assert check_certificate(adoption.fabric, chosen.routes, proofs[claim]), name
        assert proofs["reach"].detail["endpoints_without_column"] == 0, name
        assert chosen.reason.startswith(f"computed by {chosen.routes.engine}"), name
        if chosen.routes.engine != "fat-tree":
            assert "since fat-tree cannot: " in chosen.reason, name
            others += 1
    assert others >= NO_TREE


def test_aggregation_nodes_on_spines_are_reached(adopted: dict[str, Adoption]) -> None:
    fabric = adopted[DGX].fabric
    chosen = choose_routes(fabric, "auto")
    kinds = fabric.node_kind[fabric.port_node[chosen.routes.destination_port[:582]]]
    assert int((kinds == NodeKind.EXTRA).sum()) == 40
    reach = chosen.report.proofs[0]
    assert reach.detail["connected_pairs"] == 582 * 581
    assert reach.detail["failed_pairs"] == 0
