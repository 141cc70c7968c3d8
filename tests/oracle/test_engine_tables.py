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
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np
import pytest

from tests.oracle import ibdmchk
from tests.oracle.engine_rows import Row, keep
from tests.oracle.test_corpus_topo import ADOPTED, Expected
from tests.oracle.test_credit_loops import DEMO, DGX, LIMIT_S, PROGRAMS, RING, hold_cycle, load
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
"""Hosts up to which a fabric is small enough for the lanes too: every pair is asked for, one by one."""
DIRECTOR = "ufm_sdk/plugins_UFM_NDT_Plugin_tests_positive_flow_ibnetdiscover_ibnetdiscover_director.txt"
TEN_THOUSAND = f"{PLANS}ibmgtsim_tests_RhinoBased10K.topo"


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
HUGE = (DIRECTOR, TEN_THOUSAND)
"""Taken last, with more time for each program; the ten thousand on one lane alone: they have 100 M paths to ask for."""
HUGE_LIMIT_S = float(os.environ.get("WEFTLINE_ORACLE_HUGE_S", "3600"))
CHECK_LIMIT_S = float(os.environ.get("WEFTLINE_ORACLE_CHECK_S", "3600"))
"""Processor time of ibdmchk on a huge fabric."""
IS_WHOLE = os.environ.get("WEFTLINE_ORACLE") == "all"
LEVELS = Path(__file__).parent / "path_levels.py"
P = ParamSpec("P")
T = TypeVar("T")

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


@pytest.mark.parametrize("name", (*ALL, *HUGE) if IS_WHOLE else FEW)
def test_each_engine_is_judged_as_ibdmchk_does(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric, addresses = load(name, corpus)
    theirs: list[ibdmchk.Said | None] = []
    read_state, clock = DRIVERS["opensm"].read_state, Clock()

    def read(access: Access, with_lanes: bool) -> SubnetState:
        theirs.append(ibdmchk.ask(access.folder, limit_s=bound(name, ibdmchk.LIMIT_S, CHECK_LIMIT_S)))
        return read_state(access, with_lanes)

    monkeypatch.setattr(engines, "DRIVERS", {"opensm": replace(DRIVERS["opensm"], read_state=read)})
    monkeypatch.setattr(engines, "prove", clock.run(engines.prove))
    wanted = engines.Wanted(LABELS, bound(name, LIMIT_S))
    ran = 0
    reasons: list[str] = []
    for one in engines.judge_fabric(LABS["ibsim"], fabric, addresses, wanted, tmp_path / "lab"):
        reasons.append(one.reason)
        cpu_s = clock.take()
        if one.report is None:
            continue
        ran += 1
        assert one.run is not None
        said = theirs[-1]
        reach, deadlock = one.find("reach"), one.between_endpoints or one.find("deadlock")
        assert reach is not None
        assert deadlock is not None
        lost, has_loop = reach.detail["failed_pairs"], deadlock.verdict is Verdict.REFUTED
        keep(make_row(name, fabric, (one.label, one.run.programmed, "one"), (lost, has_loop, cpu_s), said))
        if said is None:
            assert name in HUGE
        else:
            assert (lost, None if said.has_loop is None else has_loop) == (said.lost, said.has_loop), one.label
        if has_loop:
            assert deadlock.witness is not None
            hold_cycle(fabric, deadlock.witness.detail["cycle"])
    assert ran == len(theirs)
    assert ran >= 3 or name in HUGE, reasons


@pytest.mark.parametrize("name", (*ALL, DIRECTOR) if IS_WHOLE else FEW)
def test_lanes_of_dfsssp_are_judged_as_ibdmchk_does(name: str, corpus: Path, tmp_path: Path) -> None:
    """The level of every path is asked of OpenSM; ours by lane and that of ibdmchk are the same, as on one lane."""
    fabric, addresses = load(name, corpus)
    judged: list[tuple[str, ibdmchk.Said, Proof]] = []

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
            clock = Clock()
            proof = clock.run(judge)(fabric, routes)
            said = ibdmchk.ask(access.folder, options, bound(name, ibdmchk.LIMIT_S, CHECK_LIMIT_S))
            assert said is not None, what
            judged.append((what, said, proof))
            if what == "by lane":
                ours = (0, proof.verdict is Verdict.REFUTED, clock.take())
                keep(make_row(name, fabric, ("dfsssp", "dfsssp", "each"), ours, said))
        return state

    lab = LABS["ibsim"]
    assert lab.try_engine is not None
    design = LabDesign("", fabric, addresses, (LabSubnet("subnet-1", 0, {}),))
    trial = EngineTrial("dfsssp", "dfsssp", {"qos": "TRUE"}, {}, bound(name, LIMIT_S))
    done = lab.try_engine(design, trial, tmp_path / "lab", read, lambda _words, _share: None)
    assert (done.outcome, done.programmed) == ("ran", "dfsssp"), done.reason
    assert len(judged) == 3
    for what, said, proof in judged:
        assert said.lost == 0
        assert (proof.verdict is Verdict.REFUTED) == said.has_loop, (what, proof.witness)
    assert not judged[0][1].has_loop
    if name in (DEMO, RING, DGX):
        assert judged[1][1].has_loop


class Clock:
    """Counts the processor time of what it runs."""

    def __init__(self) -> None:
        self.spent = 0.0

    def run(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return the function, timed."""

        def timed(*given: P.args, **named: P.kwargs) -> T:
            begin = time.process_time()
            found = function(*given, **named)
            self.spent += time.process_time() - begin
            return found

        return timed

    def take(self) -> float:
        """Return what was spent since the last time."""
        spent, self.spent = self.spent, 0.0
        return spent


def bound(name: str, usual: float, huge: float = HUGE_LIMIT_S) -> float:
    """Give a huge fabric more time."""
    return huge if name in HUGE else usual


def make_row(
    name: str,
    fabric: Fabric,
    engine: tuple[str, str, str],
    ours: tuple[int, bool, float],
    said: ibdmchk.Said | None,
) -> Row:
    """Put both verdicts side by side."""
    ends = int(np.count_nonzero(fabric.port_peer[fabric.endpoint_port] != NIL))
    theirs = (None, None, None) if said is None else (said.lost, said.has_loop, said.cpu_s)
    return Row(name, len(fabric.switch_node), ends, *engine, *ours, *theirs)


def judge(fabric: Fabric, routes: Routes) -> Proof:
    """Prove that what endpoints send each other waits in no circle, or name one."""
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
    return next(one for one in prove(fabric, between, engines.ONLY_DEADLOCK).proofs if one.claim == "deadlock")


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
        end = time.monotonic() + HUGE_LIMIT_S
        while not (log.exists() and b"SUBNET UP" in log.read_bytes()):
            assert time.monotonic() < end, "OpenSM did not come up again"
            assert manager.poll() is None, "OpenSM ended"
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
        capture_output=True, text=True, timeout=HUGE_LIMIT_S, check=True,
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
