"""Routing steps of OpenSM's own engines beside ours on the same fabrics; nothing where OpenSM is not installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

from benchmarks.measure import OUT, Figure, time_call
from weftline.app.build import build
from weftline.app.check import check
from weftline.labs.ibsim.opensm import find_library
from weftline.labs.ibsim.topology import Topology, list_parts, make_topology
from weftline.model.proof import ProofRules, Verdict
from weftline.prove import prove
from weftline.route import compute_routes

DECLARATION = """\
fabric:
  name: engines-{hosts}
technology: infiniband
hosts:
  count: {hosts}
  gpus: 1
  rails: 1
  rate_gbps: 200
  unit_size: 18
topology:
  kind: fat-tree
  leaf: {part}
parts:
  switches:
    ports-36:
      title: Switch of 36 ports, of which a full tree of three tiers has 11,664 hosts
      technologies: [infiniband]
      ports: [{{ rate_gbps: 200, count: 36 }}]
      sources: [{{ figures: [ports], text: made for the comparison, date: "2026-11-30" }}]
"""
CASES = (
    (5184, "dfsssp", "layered", "QM8700", (10.0, 50.0)),
    (11664, "ftree", "fat-tree", "ports-36", (50.0, 200.0)),
)
"""Hosts, OpenSM's engine, ours, the switch, and how many times faster ours must and should be."""
PATIENCE_S = 1500
STAMP = re.compile(r"^(\w{3} \d{2} \d{2}:\d{2}:\d{2}) (\d{6}) ", re.MULTILINE)
BEGINS, ENDS = "building routing with", "tables configured on all switches"


def run() -> list[Figure]:
    """Measure each pair of engines; the step of OpenSM is taken from the stamps of its log."""
    if shutil.which("opensm") is None or shutil.which("ibsim") is None:
        return []
    wanted = {int(one) for one in os.environ.get("WEFTLINE_ENGINE_HOSTS", "").split(",") if one}
    figures: list[Figure] = []
    for hosts, theirs, ours, part, (must, aim) in CASES:
        if wanted and hosts not in wanted:
            continue
        figures += measure(hosts, theirs, ours, part, must, aim)
    return figures


def measure(hosts: int, theirs: str, ours: str, part: str, must: float, aim: float) -> list[Figure]:
    """Measure one pair of engines on one fabric; smaller is better, so bounds are on our time as a share of theirs."""
    place = OUT / f"engines-{hosts}.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(DECLARATION.format(hosts=hosts, part=part), encoding="utf-8")
    built = build(check(place))
    fabric = built.fabric
    compute_routes(fabric, ours, to_switches=True)  # compiles
    before = time.process_time()
    seconds, routes = time_call(lambda: compute_routes(fabric, ours, to_switches=True))
    cpu = time.process_time() - before
    deadlock = prove(fabric, routes, ProofRules(required=("reach", "deadlock"))).proofs[1]
    if deadlock.verdict is not Verdict.PROVED:
        raise SystemExit(f"engine {ours}: {deadlock.witness}")
    addresses = built.checked.technology.design.assign(built.checked.design, fabric)
    step = time_opensm(make_topology(fabric, addresses, list_parts(fabric, 0)[0]), theirs)
    name = f"{hosts:,} hosts"
    return [
        Figure(f"routing step of OpenSM's {theirs}, {name}, -n 50, from its log", step, "s"),
        Figure(f"engine {ours}, {name}, on {routes.lane_count} lane(s), proved", seconds, "s", step / must, step / aim),
        Figure("the same, processor time", cpu, "s"),
        Figure("times faster than OpenSM's step", step / seconds, "x"),
    ]


def time_opensm(topology: Topology, engine: str) -> float:
    """Run OpenSM once on ibsim; the seconds from the start of its engine to the last table, by its own log."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "fabric.topo").write_text(topology.text, encoding="utf-8")
        environment = {
            **os.environ, "IBSIM_SOCKNAME": f"engines-{os.getpid()}", "SIM_HOST": topology.entry,
            "OSM_CACHE_DIR": scratch, "OSM_TMP_DIR": scratch, "LD_PRELOAD": find_library(),
        }  # fmt: skip
        sizes = ("-N", topology.nodes + 16, "-S", topology.switches + 16, "-P", topology.ports + 16, "-L", 49152)
        simulator = subprocess.Popen(
            ["ibsim", "-s", *map(str, sizes), "fabric.topo"], cwd=folder, stdin=subprocess.PIPE,
            stdout=(folder / "ibsim.log").open("wb"), stderr=subprocess.STDOUT,
            env={key: value for key, value in environment.items() if key != "LD_PRELOAD"},
        )  # fmt: skip
        manager: subprocess.Popen[bytes] | None = None
        try:
            _wait(folder / "ibsim.log", "Network simulator ready")
            lanes = ["-Q"] if engine == "dfsssp" else []
            command = ["opensm", "-R", engine, "-n", "50", "-f", "opensm.log", "-d", "2", "-D", "0x07", *lanes]
            manager = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            text = _wait(folder / "opensm.log", "SUBNET UP")
        finally:
            for process in (manager, simulator):
                if process is not None:
                    process.terminate()
                    process.wait(60)
    if f"{engine} {ENDS}" not in text:
        raise SystemExit(f"OpenSM did not route by {engine}: {text[-2000:]}")
    return _stamp_of(text, ENDS) - _stamp_of(text, BEGINS)


def _wait(path: Path, words: str) -> str:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        if words in text:
            return text
        time.sleep(0.2)
    raise SystemExit(f"'{words}' did not come: {path.read_text(errors='replace')[-2000:]}")


def _stamp_of(text: str, words: str) -> float:
    line = next((line for line in text.splitlines() if words in line), "")
    found = STAMP.match(line)
    if found is None:
        raise SystemExit(f"OpenSM's log has no line with a stamp and '{words}'")
    return datetime.strptime(f"2000 {found[1]}", "%Y %b %d %H:%M:%S").timestamp() + int(found[2]) / 1e6  # noqa: DTZ007
