"""RoCE: the files of 556 switches rendered, read back and proved; and 60 full dumps of devices judged."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.measure import OUT, ROOT, Figure, peak_gib, time_call
from weftline.app.lint import LintOptions, lint
from weftline.app.pipeline import run_to_proofs
from weftline.app.render import render, render_proved

DECLARATION = """\
fabric: {name: bench-512}
technology: roce
hosts: {count: 816, part: auto, gpus: 8, rails: 8, rate_gbps: 400, unit_size: 4}
topology: {kind: fat-tree, tiers: 3, leaf: SN5400, oversubscription: 1.0}
claims: {required: [reach, deadlock, balance]}
"""
DUMPS = 60
SWITCHES = 556


def run() -> list[Figure]:
    """Measure both."""
    return [*_measure_files(), _measure_lint()]


def _measure_files() -> list[Figure]:
    path = OUT / "roce-512.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DECLARATION, encoding="utf-8")
    proved = run_to_proofs(path)
    seconds, rendered = time_call(lambda: render_proved(proved, None, to_disk=False))
    artifacts = rendered.artifacts
    switches = {item.device for item in artifacts.artifacts if item.path.startswith("switches/")} if artifacts else ()
    verdicts = {proof.claim: proof.verdict.value for proof in rendered.proved.report.proofs}
    if len(switches) != SWITCHES or {"refuted"} & set(verdicts.values()):
        message = f"not the fabric to measure: {len(switches)} switches, {verdicts}"
        raise SystemExit(message)
    name = f"render + read back + prove the files of {SWITCHES} switches"
    return [Figure(name, seconds, "s", must=30.0, aim=15.0), Figure("memory for that", peak_gib(), "GiB")]


def _measure_lint() -> Figure:
    """Judge 60 full dumps of switches of 128 ports, as rendered for the example."""
    out = OUT / "roce-lint"
    shutil.rmtree(out, ignore_errors=True)
    render(ROOT / "examples" / "sovereign-512-roce.yaml", out)
    sources = sorted((out / "artifacts" / "switches").iterdir())
    places: list[Path] = []
    for number in range(DUMPS):
        source = sources[number % len(sources)]
        place = out / "dumps" / f"switch-{number:03d}"
        place.mkdir(parents=True)
        text = (source / "config_db.json").read_text(encoding="utf-8").replace(source.name, place.name)
        (place / "config_db.json").write_text(text, encoding="utf-8")
        places.append(place)
    seconds, linted = time_call(lambda: lint(places, LintOptions()))
    if len(linted.devices) != DUMPS:
        message = f"{len(linted.devices)} devices were judged, not {DUMPS}"
        raise SystemExit(message)
    return Figure(f"lint {DUMPS} full dumps of switches", seconds, "s", must=10.0, aim=3.0)
