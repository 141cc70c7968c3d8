"""How long a fabric takes to run under a real OpenSM, and to be read back; nothing where that is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import OUT, ROOT, Figure, time_call
from weftline.app.pipeline import run_to_proofs
from weftline.app.render import render_proved

DECLARATION = """\
fabric:
  name: lab-{hosts}
technology: infiniband
hosts:
  count: {hosts}
  gpus: 1
  rails: 1
  rate_gbps: 200
  unit_size: 18
topology:
  kind: fat-tree
  leaf: QM8700
claims:
  required: [reach, deadlock]
"""
BOUNDS = {128: (2.0, 1.0), 1728: (10.0, 5.0), 11664: (60.0, 45.0)}
"""Hosts, and what a lab of them must and should take in seconds; the last is of three tiers, with 1,602 switches."""
READ_BACK_S = {128: 1.0, 1728: 5.0, 11664: None}
OURS_S = {128: 0.1, 1728: 0.3}
WHOLE_S = {128: 0.5, 1728: None}
"""What a repair must take: our own share, and with the sweep of OpenSM, which takes as long as it takes."""
RENDERED_S = 5.0
MISSING = "artifact.program-missing"


def run() -> list[Figure]:
    """Bring labs up as a person does, single-port hosts, with warm caches."""
    figures: list[Figure] = []
    for hosts, (must, aim) in BOUNDS.items():
        place = OUT / f"lab-{hosts}.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(DECLARATION.format(hosts=hosts), encoding="utf-8")
        try:
            if call("up", place).get("code") == MISSING:  # also fills the cache of compiled kernels
                return []
            start = time.perf_counter()
            up = call("up", place)
            whole = time.perf_counter() - start
            if not up.get("equal"):
                raise SystemExit(json.dumps(up)[:2000])
            kept = measure_repairs(place, hosts) if hosts in OURS_S else []
        finally:
            call("down", place)
        seconds = up["seconds"]
        started = seconds["simulator"] + seconds["manager"]
        figures += [
            Figure(f"lab up, {hosts:,} hosts, whole command", whole, "s", must=must, aim=aim),
            Figure(f"lab up, {hosts:,} hosts, ibsim and OpenSM to SUBNET UP", started, "s"),
            Figure(f"lab, {hosts:,} hosts, everything read back", seconds["read-back"], "s", must=READ_BACK_S[hosts]),
            *kept,
        ]
    return [*figures, *measure_files(OUT / f"lab-{max(BOUNDS)}.yaml")]


def measure_repairs(place: Path, hosts: int) -> list[Figure]:
    """Lose and return an uplink and a spine under `lab keep`: the worst of our own share, and of OpenSM's."""
    command = [sys.executable, "-m", "weftline", "lab", "keep", str(place), "--json"]
    events: list[dict[str, Any]] = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as keeper:
        try:
            lines = iter(keeper.stdout or ())
            json.loads(next(lines))  # what is kept, once everything is read and compiled
            for subject in ("leaf-003/19", "spine-01"):
                for verb, is_over in (("break", False), ("heal", True)):
                    call(verb, place, *((subject,) if verb == "break" else ()))
                    events.append(json.loads(next(lines)))
                    while bool(events[-1]["down"]) is is_over or events[-1]["told_more"]:
                        events.append(json.loads(next(lines)))
        finally:
            keeper.terminate()
    ours = max(event["ours"] for event in events)
    whole = max(event["ours"] + event["seconds"]["manager"] for event in events)
    must = OURS_S[hosts]
    return [
        Figure(f"lab keep, {hosts:,} hosts, a link and a spine lost and returned: our share", ours, "s", must=must),
        Figure("the same with OpenSM's sweep, to the tables read back", whole, "s", must=WHOLE_S[hosts]),
    ]


def measure_files(place: Path) -> list[Figure]:
    """Measure how long the files of a proved fabric take: in memory, and written, with those of each host."""
    proved = run_to_proofs(place)
    made, _ = time_call(lambda: render_proved(proved, None, to_disk=False))
    written, _ = time_call(lambda: render_proved(proved, OUT / "lab-rendered"))
    return [
        Figure("tables rendered at 11,664 hosts", made, "s", must=RENDERED_S),
        Figure("the same, written with a folder per host", written, "s"),
    ]


def call(verb: str, place: Path, *more: str) -> dict[str, Any]:
    """Run one verb of the lab in a process of its own."""
    command = [sys.executable, "-m", "weftline", "lab", verb, str(place), *more, "--json"]
    done = subprocess.run(command, check=False, capture_output=True, cwd=ROOT, text=True)
    return json.loads(done.stdout)
