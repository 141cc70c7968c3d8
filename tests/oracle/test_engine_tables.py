"""OpenSM's own tables on the corpus: proved or refuted as ibdmchk does, on one lane, and by lane with service levels.

``make oracle`` takes every fabric that the simulator can load; the suite takes a few of each kind.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.oracle.test_corpus_topo import ADOPTED, Expected
from tests.oracle.test_credit_loops import DEMO, DGX, LIMIT_S, PROGRAMS, RING, hold_cycle, load
from tests.oracle.test_engines import check
from weftline.adopt import place_levels, place_states
from weftline.app import engines
from weftline.drivers import DRIVERS
from weftline.formats import slvl
from weftline.kernels.column import NIL
from weftline.labs import LABS
from weftline.labs.ibsim import opensm
from weftline.model.addresses import Addresses
from weftline.model.adoption import Tables
from weftline.model.driver import Access, SubnetState
from weftline.model.fabric import Fabric
from weftline.model.lab import EngineTrial, LabDesign, LabSubnet
from weftline.model.proof import Proof, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove

LABELS = ("minhop", "updn", "ftree", "dfsssp")
PLANS = "nmorey_ibutils/"
FEW = (DEMO, RING, f"{PLANS}ibdm_Clusters_Buffalo8.topo", f"{PLANS}ibmgtsim_tests_4-ary-2-tree.topo")
LARGE = 600
"""Hosts up to which a fabric is small enough for ibdmchk, which walks every pair several times."""


def is_refused(wanted: Expected) -> bool:
    """Tell whether a file cannot be taken as it is."""
    return any(severity == "error" for _, severity in wanted.problems)


TINY = (
    *(f"ibsim/net-examples_net{end}" for end in ("", ".1", ".2sw2path", ".2sw2path4hca", ".2sw2path4hca2port")),
    "junousi_ibtopotool/tests_2.topo",
)
OTHERS = (
    DGX, *TINY, *(PLANS + name for name, wanted in ADOPTED.items() if wanted.hosts <= LARGE and not is_refused(wanted)),
)  # fmt: skip
ALL = tuple(dict.fromkeys((*FEW, *OTHERS)))
IS_WHOLE = os.environ.get("WEFTLINE_ORACLE") == "all"
LEVELS = Path(__file__).parent / "path_levels.py"
DUMPS = ("-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs")

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="opensm, ibsim-utils or ibutils is not installed",
    ),
]


@pytest.fixture(autouse=True)
def _dumps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensm, "LOG_FLAGS", "0x43")  # OpenSM then writes the dumps that ibdmchk reads


@pytest.mark.parametrize("name", ALL if IS_WHOLE else FEW)
def test_each_engine_is_judged_as_ibdmchk_does(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric, addresses = load(name, corpus)
    theirs: list[tuple[int, bool | None]] = []
    read_state = DRIVERS["opensm"].read_state

    def read(access: Access, with_lanes: bool) -> SubnetState:
        theirs.append(check(access.folder))
        return read_state(access, with_lanes)

    monkeypatch.setattr(engines, "DRIVERS", {"opensm": replace(DRIVERS["opensm"], read_state=read)})
    wanted = engines.Wanted(LABELS, LIMIT_S)
    found = list(engines.judge_fabric(LABS["ibsim"], fabric, addresses, wanted, tmp_path / "lab"))
    ran = [one for one in found if one.report is not None]
    assert len(ran) == len(theirs) >= 3, [one.reason for one in found]
    for one, (lost, has_loop) in zip(ran, theirs, strict=True):
        reach, deadlock = one.find("reach"), one.between_endpoints or one.find("deadlock")
        assert reach is not None
        assert deadlock is not None
        ours = None if has_loop is None else deadlock.verdict is Verdict.REFUTED
        assert (reach.detail["failed_pairs"], ours) == (lost, has_loop), one.label
        if ours:
            assert deadlock.witness is not None
            hold_cycle(fabric, deadlock.witness.detail["cycle"])


@pytest.mark.parametrize("name", ALL if IS_WHOLE else FEW)
def test_lanes_of_dfsssp_are_judged_as_ibdmchk_does(name: str, corpus: Path, tmp_path: Path) -> None:
    """The level of every path is asked of OpenSM; ours by lane and that of ibdmchk are the same, as on one lane."""
    fabric, addresses = load(name, corpus)
    judged: list[tuple[str, bool, bool, Proof]] = []

    def read(access: Access) -> SubnetState:
        with run_manager(access):
            state = DRIVERS["opensm"].read_state(access, False)
            lids = dict(list_lids(fabric, addresses, state))
            paths = ask_levels(access, state, list(lids.values()))
        ends = len(lids)
        assert len(paths) == ends * (ends - 1)
        guids = {lid: state.endpoints[int(addresses.port_id[port])][0] for port, lid in lids.items()}
        lines = (f"0x{guids[source]:016x} {target} {level}\n" for source, target, level in paths)
        (access.folder / "psl").write_text("".join(lines), encoding="utf-8")
        lanes = write_map(access.folder)
        found = place_states((state,), fabric, addresses)
        assert isinstance(found, Tables)
        own = np.full(fabric.port_count, 0, dtype=np.int64)
        own[list(lids)] = list(lids.values())
        laned = place_levels(paths, lanes, fabric, replace(addresses, port_address=own), found.routes)
        zero = [(source, target, 0) for source, target, _ in paths]
        flat = place_levels(zero, lanes, fabric, replace(addresses, port_address=own), found.routes)
        for what, routes, options in (
            ("by lane", laned, ("-c", "psl", "-d", "map")), ("one lane", found.routes, ()), ("level 0", flat, ()),
        ):  # fmt: skip
            judged.append((what, *judge(fabric, routes, access.folder, options)))
        return state

    lab = LABS["ibsim"]
    assert lab.try_engine is not None
    design = LabDesign("", fabric, addresses, (LabSubnet("subnet-1", 0, {}),))
    trial = EngineTrial("dfsssp", "dfsssp", {"qos": "TRUE"}, {}, LIMIT_S)
    done = lab.try_engine(design, trial, tmp_path / "lab", read, lambda _words, _share: None)
    assert (done.outcome, done.programmed) == ("ran", "dfsssp"), done.reason
    assert len(judged) == 3
    for what, theirs, ours, proof in judged:
        assert ours == theirs, (what, proof.witness)
    assert not judged[0][1]
    if name in (DEMO, RING, DGX):
        assert judged[1][1]


def judge(fabric: Fabric, routes: Routes, folder: Path, options: tuple[str, ...]) -> tuple[bool, bool, Proof]:
    """Look for a loop between endpoints: ibdmchk on the dumps, and the proof on the tables."""
    kept = np.flatnonzero(routes.destination_port != NIL)
    lanes = routes.lanes
    if lanes is not None and lanes.steps is not None and lanes.steps.more is not None:
        steps = replace(lanes.steps, path_class=lanes.steps.path_class[:, kept], more=lanes.steps.more[:, kept])
        lanes = replace(lanes, of_destination=lanes.of_destination[kept], steps=steps)
    between = replace(
        routes,
        destination_node=routes.destination_node[kept],
        destination_port=routes.destination_port[kept],
        group=routes.group[:, kept],
        lanes=lanes,
    )
    proof = next(one for one in prove(fabric, between, engines.ONLY_DEADLOCK).proofs if one.claim == "deadlock")
    said = subprocess.run(
        ("ibdmchk", *DUMPS, *options), cwd=folder, capture_output=True, text=True, timeout=300, check=False
    ).stdout  # its status says nothing: it may crash when it is done
    assert re.search(r"-I- Scanned:\s*\d+ CA to CA paths", said), said[-2000:]
    assert ("-I- no credit loops found" in said) != ("-E- credit loops in routing" in said), said[-2000:]
    return "-E- credit loops in routing" in said, proof.verdict is Verdict.REFUTED, proof


@contextmanager
def run_manager(access: Access) -> Generator[None]:
    """Run OpenSM again on what it has programmed, so that it answers questions, and writes its dumps anew."""
    log = access.folder / "opensm.log"
    log.unlink()
    command = ("opensm", "-F", "opensm.conf", "-f", "opensm.log", "-e", "-d", "2", "-D", "0x43")
    manager = subprocess.Popen(
        command, env=surround(access), cwd=access.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + LIMIT_S
        while not (log.exists() and b"SUBNET UP" in log.read_bytes()):
            assert time.monotonic() < end, "OpenSM did not come up again"
            time.sleep(0.1)
        yield
    finally:
        manager.terminate()
        manager.wait()


def surround(access: Access) -> dict[str, str]:
    return {**os.environ, **access.environment, "LD_PRELOAD": access.preload}


def list_lids(fabric: Fabric, addresses: Addresses, state: SubnetState) -> list[tuple[int, int]]:
    """List the endpoints that OpenSM reached, each with its LID."""
    known = [(int(port), state.endpoints.get(int(addresses.port_id[port]))) for port in fabric.endpoint_port]
    return [(port, int(state.ports[place].address)) for port, place in known if place is not None]


def ask_levels(access: Access, state: SubnetState, lids: list[int]) -> list[tuple[int, int, int]]:
    """Ask OpenSM for the level of every path between two endpoints."""
    manager = int(state.ports[state.endpoints[access.entry]].address)
    pairs = "".join(f"{source} {target}\n" for source in lids for target in lids if source != target)
    done = subprocess.run(
        (sys.executable, "-I", str(LEVELS), str(manager)), input=pairs, env=surround(access), cwd=access.folder,
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    found = (line.split() for line in done.stdout.splitlines())
    return [(int(source), int(target), int(level)) for source, target, level in found]


def write_map(folder: Path) -> tuple[int, ...]:
    """Write the map from levels to lanes as ibdmchk reads it; all switches have the same, which is returned."""
    name = "opensm-sl2vl.dump"
    part = slvl.parse((folder / name).read_bytes(), name)
    (lanes,) = {fact.lanes for fact in part.lanes}
    pairs = " ".join(f"0x{lanes[at]:x}{lanes[at + 1]:x}" for at in range(0, len(lanes), 2))
    lines: list[str] = []
    switch = ""
    for line in (folder / name).read_text(encoding="utf-8").splitlines():
        head = re.match(r"Switch (0x[0-9a-f]+)", line)
        switch = head[1] if head else "" if line.startswith("Channel") else switch
        row = re.match(r"(\d+)\s+(\d+)\s*:", line)
        if row and switch:
            lines.append(f"{switch} {row[1]} {row[2]} {pairs}\n")
    (folder / "map").write_text("".join(lines), encoding="utf-8")
    return lanes
