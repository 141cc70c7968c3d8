"""Lanes of the layered engine under a real OpenSM: what was proved is programmed, and handed out with each path."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.lab.conftest import Place, make_place

SIZE = 5
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def ring(tmp_path: Path) -> Place:
    """A ring of five switches with a host each, which no routing by shortest paths can hold on one lane."""
    shutil.copy(EXAMPLES / "ring-of-five.csv", tmp_path)
    return make_place(tmp_path, (EXAMPLES / "ring-of-five.yaml").read_text(encoding="utf-8"))


def test_what_was_proved_per_lane_is_programmed_and_handed_out(ring: Place) -> None:
    routes = run("route", ring.path, "--json").document
    assert len(routes["lanes"]) > 1
    proofs = {proof["claim"]: proof for proof in run("prove", ring.path, "--json").document["proofs"]}
    assert proofs["deadlock"]["verdict"] == "proved"
    assert f"({len(routes['lanes'])} lanes each" in proofs["deadlock"]["statement"]
    try:
        up = ring.lab("up", "--json")
        assert up.status == 0, up.out
        (subnet,) = up.document["subnets"]
        assert subnet["equal"]
        assert subnet["compared"]["lanes"] >= 50
        assert subnet["compared"]["arbitration"] >= 20
        # LIDs of endpoints follow the hosts: host n has LID n
        assert re.findall(r"^CA +(\d+) +1 ", ring.ask("ibnetdiscover", "-p"), re.MULTILINE)
        for source in range(1, SIZE + 1):
            for target in range(1, SIZE + 1):
                if source == target:
                    continue
                path = run("trace", ring.path, f"host-000{source}", f"host-000{target}", "--json").document
                said = ring.ask("saquery", "PR", "--src-to-dst", f"{source}:{target}")
                level = re.search(r"sl\.*(0x[0-9A-Fa-f]+|\d+)", said)
                assert level is not None, said
                assert int(level[1], 0) == path["lane"], (source, target)
    finally:
        ring.lab("down")
    assert ring.running == {}
