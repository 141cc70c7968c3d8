"""Campaigns as users run them: over seeds and settings, killed and taken up again, and the same whoever runs them."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, cast

import pytest
from pyarrow import parquet

from tests.cli.running import COMMAND, environment, hold, refused, run

PLACE = """\
fabric: {name: small}
technology: roce
hosts: {count: 8, rate_gbps: 400, unit_size: 4, part: thin}
topology: {kind: fat-tree, tiers: 2, leaf: box, spine: box}
parts:
  hosts: {thin: {base: DGX-H100, gpus: 1, rails: 1}}
  switches: {box: {base: SN5600, ports: [{rate_gbps: 400, count: 8}]}}
"""
LOAD = ("--fidelity", "packet", "--collective", "permutation", "--size", "256KiB")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(PLACE, encoding="utf-8")
    return path


def state_of(place: Path) -> Path:
    (path,) = (place.parent / ".weftline" / "small" / "campaigns").iterdir()
    return path


def test_a_grid_of_seeds_in_json_tables_and_a_page(place: Path, tmp_path: Path) -> None:
    page, tables = tmp_path / "page.html", tmp_path / "tables"
    words = ("--seeds", "1..3,7", "--grid", "spread=hash,spray", "--grid", "recovery=selective")
    ran = run("simulate", place, *LOAD, *words, "--page", page, "--save", tables, "--json")
    assert ran.status == 0, ran.err
    document = hold(ran.document, "campaign")
    assert document["seeds"] == [1, 2, 3, 7]
    assert [one["setting"]["spread"] for one in document["settings"]] == ["hash", "spray"]
    runs = [(one["setting"], one["seed"]) for one in document["outcomes"]]
    assert runs == [(setting, seed) for setting in (0, 1) for seed in (1, 2, 3, 7)]
    times = [one["end_us"] for one in document["outcomes"][:4]]
    assert document["settings"][0]["spread"]["median_us"] == sorted(times)[1]
    alone = run(
        "simulate", place, *LOAD, "--recovery", "selective", "--spread", "spray", "--seed", 7, "--json"
    ).document
    assert alone["finish_us"] == document["outcomes"][7]["end_us"]
    table = cast("Any", parquet).read_table(tables / "runs.parquet").to_pydict()
    assert table["spread"] == ["hash"] * 4 + ["spray"] * 4
    assert table["end_us"] == [one["end_us"] for one in document["outcomes"]]
    assert page.read_text(encoding="utf-8").count("<circle") == 8


def test_who_does_the_runs_and_when_does_not_matter(place: Path) -> None:
    words = (*LOAD, "--seeds", "1..6", "--json")
    one = run("simulate", place, *words, "--jobs", 1)
    again = run("simulate", place, *words)
    many = run("simulate", place, *words, "--jobs", 3, "--anew")
    assert one.status == again.status == many.status == 0
    assert one.out == again.out == many.out


def test_a_campaign_that_was_killed_goes_on(place: Path) -> None:
    words = [*COMMAND, "simulate", str(place), *LOAD, "--size", "4MiB", "--seeds", "1..400", "--jobs", "1"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    folder = place.parent / ".weftline" / "small" / "campaigns"
    end = time.monotonic() + 100
    while time.monotonic() < end and not (folder.is_dir() and any(folder.glob("*.jsonl"))):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    state = state_of(place)
    known = len(state.read_text(encoding="utf-8").splitlines())
    assert 0 < known < 400
    # What a disk that was full may leave, and what nobody wrote.
    first = json.loads(state.read_text(encoding="utf-8").splitlines()[0])
    with state.open("a", encoding="utf-8") as file:
        file.write(json.dumps(first | {"setting": "x"}) + "\n" + json.dumps(first | {"seed": None}) + "\n")
        file.write('[1]\n{"setting": 0}\nnull\n{"setting": 0, "seed": 4')
    ran = run("simulate", place, *LOAD, "--size", "4MiB", "--seeds", "1..400")
    assert ran.status == 0
    assert f"400 runs: 400 seeds of each setting, {known} of them taken over" in ran.out
    assert len(state.read_text(encoding="utf-8").splitlines()) == 400
    assert all(json.loads(line)["ending"] == "done" for line in state.read_text(encoding="utf-8").splitlines())


def test_another_fabric_takes_nothing_over(place: Path) -> None:
    assert run("simulate", place, *LOAD, "--seeds", "1..2").status == 0
    place.write_text(PLACE.replace("count: 8, rate", "count: 6, rate"), encoding="utf-8")
    ran = run("simulate", place, *LOAD, "--seeds", "1..2")
    assert ran.status == 0
    assert "taken over" not in ran.out


def test_bad_news_of_any_run_is_told_with_its_seed(place: Path) -> None:
    words = ("--seeds", "1..2", "--fault", "down:what=host-0001/nic1,at_us=1")
    ran = run("simulate", place, *LOAD, *words)
    assert ran.status == 2
    assert "bad: seed 1 ended as stuck: --seed 1 shows it alone" in ran.out


@pytest.mark.parametrize(
    "words",
    [
        ("--seeds", "9..3"), ("--seeds", ""), ("--seeds", "1..99999999999"), ("--seeds", "1..20000"), ("--seeds", "-1"),
        ("--seeds", "1,,2"), ("--grid", "spread"), ("--grid", "colour=red"), ("--grid", "spread=hash,hash"),
        ("--grid", "spread=hash,"), ("--grid", "ranks=many"), ("--grid", "recovery=none"),
        ("--grid", "spread=hash", "--grid", "spread=spray"), ("--seeds", "1..5001", "--grid", "spread=hash,spray"),
    ],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(words: tuple[str, ...], place: Path) -> None:
    refused(run("simulate", place, *LOAD, *words, "--json"), 64, "usage.campaign")


@pytest.mark.parametrize(
    "words",
    [
        (*LOAD, "--grid", "spread=sideways"), (*LOAD, "--seeds", "1..2", "--against", "."),
        ("--seeds", "1..2"), (*LOAD, "--grid", "pacing=warp"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(words: tuple[str, ...], place: Path) -> None:
    refused(run("simulate", place, *words, "--json"), 64, "usage.choice")
