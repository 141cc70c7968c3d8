"""On a real fabric our verdict on each of OpenSM's engines is that of ibdmchk, which walks OpenSM's own dumps."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import ibdmchk
from weftline.adopt import build_fabric, read_discovery
from weftline.app import engines
from weftline.drivers import DRIVERS
from weftline.labs import LABS
from weftline.labs.ibsim import opensm
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.driver import Access, SubnetState
from weftline.model.proof import Verdict

DGX = "topograph/tests_output_ibnetdiscover_example.out"
PROGRAMS = ("opensm", "ibsim", "ibdmchk")
LABELS = ("minhop", "updn", "updn+roots", "ftree", "ftree+roots", "dor", "dfsssp", "nue")

REFUTED = Verdict.REFUTED

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="opensm, ibsim-utils or ibutils is not installed",
    ),
]


def test_our_verdicts_are_those_of_ibdmchk(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensm, "LOG_FLAGS", "0x43")
    discovery = read_discovery((corpus / "infiniband" / DGX).read_bytes(), DGX)
    assert isinstance(discovery, Discovery)
    adoption = build_fabric(discovery)
    assert isinstance(adoption, Adoption)
    theirs: list[tuple[int, bool | None]] = []
    read_state = DRIVERS["opensm"].read_state

    def read(access: Access, with_lanes: bool) -> SubnetState:
        said = ibdmchk.ask(access.folder)
        assert said is not None
        theirs.append((said.lost, said.has_loop))
        return read_state(access, with_lanes)

    monkeypatch.setitem(engines.DRIVERS.held, "opensm", replace(DRIVERS["opensm"], read_state=read))
    lab, wanted = LABS["ibsim"], engines.Wanted(LABELS)
    folder = tmp_path / "lab"
    found = {one.label: one for one in engines.judge_fabric(lab, adoption.fabric, adoption.addresses, wanted, folder)}
    assert list(found) == list(LABELS)
    said: dict[str, tuple[int, bool | None]] = {}
    for one, (_, has_loop) in zip(found.values(), theirs, strict=True):
        reach, deadlock = one.find("reach"), one.between_endpoints or one.find("deadlock")
        assert reach is not None
        assert deadlock is not None
        said[one.label] = reach.detail["failed_pairs"], None if has_loop is None else deadlock.verdict is REFUTED
    assert said == dict(zip(found, theirs, strict=True))
    assert found["ftree"].run is not None
    assert (found["ftree"].run.outcome, found["ftree"].run.programmed) == ("fell-back", "minhop")
    assert said["minhop"] == (0, True)
    assert said["updn+roots"][0] > 0
    assert said["nue"] == (0, False)
    cycle = found["minhop"].between_endpoints
    assert cycle is not None
    assert cycle.witness is not None
    assert sum("SPINE" in name for name in cycle.witness.detail["cycle"]) == len(cycle.witness.detail["cycle"])
