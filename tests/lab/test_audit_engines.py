"""An audit beside what OpenSM's own engines would do with the same cables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import hold, run
from tests.cli.test_audit import write_ring

pytestmark = pytest.mark.lab


def test_engines_are_run_on_the_cables_of_the_dumps(tmp_path: Path) -> None:
    write_ring(tmp_path / "ring", "opposite")
    ran = run("audit-fabric", tmp_path / "ring", "--engines", "minhop,nue", "--json", "--out", tmp_path / "out")
    document = hold(ran.document, "audit")
    found = {one["engine"]: one for one in document["engines"]}
    assert set(found) == {"minhop", "nue"}
    for one in found.values():
        proofs = {proof["claim"]: proof["verdict"] for proof in one["proofs"]["proofs"]}
        assert proofs["reach"] == "proved"
    page = (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
    assert 'id="engines"' in page
    assert not list((tmp_path / "ring").glob("[!il]*"))


def test_an_engine_that_is_none(tmp_path: Path) -> None:
    write_ring(tmp_path / "ring", "opposite")
    ran = run("audit-fabric", tmp_path / "ring", "--engines", "magic", "--out", tmp_path / "out")
    assert ran.status == 64
    assert "usage.engine" in ran.err
