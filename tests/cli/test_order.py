"""``weftline order``: stages from tables that run to tables that shall, of declarations and of dumps."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.running import Ran, hold, run
from weftline.app.order import Wish, order
from weftline.cli import ordering
from weftline.enact import BUDGET

EXAMPLES = Path(__file__).parents[2] / "examples"
HALL = EXAMPLES / "hall-2"
RING = """\
fabric: {name: ring}
technology: TECHNOLOGY
hosts: {count: 5, gpus: 1, rails: 1, rate_gbps: 400}
topology: {kind: cabling, cabling: ring.csv}
routing: {engine: updown, roots: [leaf-001]}
claims: {required: [reach, deadlock]}
"""


def write(folder: Path, name: str = "ring", technology: str = "infiniband", *, without: tuple[str, ...] = ()) -> Path:
    """Write a ring of five, without the cables that hold one of some words."""
    lines = (EXAMPLES / "ring-of-five.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not any(word in line for word in without)]
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.csv").write_text("".join(kept), encoding="utf-8")
    path = folder / f"{name}.yaml"
    text = RING.replace("TECHNOLOGY", technology).replace("ring", name)
    path.write_text(text, encoding="utf-8")
    return path


def judge(*arguments: object, status: int = 0) -> dict[str, Any]:
    ran = run("order", *arguments, "--json")
    assert ran.status == status, ran.err
    return hold(ran.document, "order")


def test_a_root_that_moves_takes_two_stages(tmp_path: Path) -> None:
    found = judge(write(tmp_path), "--engine", "updown", "--root", "leaf-002")
    assert (found["verdict"], found["at_once"]["verdict"]) == ("proved", "refuted")
    assert len(found["at_once"]["witness"]["detail"]["cycle"]) == 5
    assert [stage["proof"]["verdict"] for stage in found["stages"]] == ["proved", "proved"]
    assert found["drain"] is None
    assert "64 addresses" in found["granularity"]["piece"]
    text = run("order", tmp_path / "ring.yaml", "--engine", "updown", "--root", "leaf-002")
    assert "stage 2: 4 destinations at 2 switches, 4 entries in 2 writes: proved" in text.out


def test_lanes_move_after_the_entries() -> None:
    """From two lanes to one: what is answered is on the lane of what it answers, so that all lanes move together."""
    found = judge(EXAMPLES / "ring-of-five.yaml", "--engine", "updown")
    assert (found["verdict"], found["drain"]) == ("proved", None)
    assert [stage["entries"] > 0 for stage in found["stages"]] == [True, False]
    assert found["stages"][1]["changes"] == "move destinations to other lanes"


def test_what_to_drain_is_named(tmp_path: Path) -> None:
    place = write(tmp_path)
    few = judge(place, "--engine", "updown", "--root", "leaf-002", "--budget", 10, status=2)
    assert (few["verdict"], len(few["stages"]), few["budget"]) == ("unknown", 1, 10)
    assert few["steps"] > 10
    assert few["drain"]["destinations"]
    assert all("~leaf-" in link for link in few["drain"]["links"])
    text = run("order", place, "--engine", "updown", "--root", "leaf-002", "--budget", 10).out
    assert f"drain: until the last stage is through, send nothing to\n  {few['drain']['destinations'][0]}" in text
    assert "or let nothing be sent over these links" in text


def test_a_drain_of_everything_is_said_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = order(EXAMPLES / "ring-of-five.yaml", None, Wish("updown", budget=1))
    assert found.ordering.drain is not None
    every = replace(found.ordering.drain, destinations=np.arange(10, dtype=np.int32))
    ordering.show_ordered(
        replace(found, ordering=replace(found.ordering, drain=every)), as_json=False, no_color=True
    )  # fmt: skip
    assert "send nothing at all: it is all 10 destinations\n  host-0001/nic1" in capsys.readouterr().out


def test_the_budget_of_the_command_is_that_of_the_search() -> None:
    assert inspect.signature(ordering.order).parameters["budget"].default == BUDGET


def test_dumps_of_a_fabric_that_runs() -> None:
    """The dumps of a hall: minimal hops of OpenSM to tables of ours."""
    found = judge(HALL, "--engine", "updown")
    assert (found["verdict"], found["at_once"]["witness"]["kind"]) == ("proved", "loop")
    assert len(found["stages"]) > 1
    again = judge(HALL, "--engine", "auto")
    assert again["new"] == "computed by auto"


def test_stages_are_written_and_read_again(tmp_path: Path) -> None:
    """A file of stage tables is a place to go to by itself, and the last one is the new table."""
    place = write(tmp_path)
    wanted = judge(place, "--engine", "updown", "--root", "leaf-002", "--out", tmp_path / "out")
    assert [Path(path).parts[-3:] for path in wanted["written"]] == [
        ("stage-01", "subnet-1", "lfts.conf"), ("stage-02", "subnet-1", "lfts.conf"),
    ]  # fmt: skip
    first, last = wanted["written"]
    whole = judge(place, last)
    assert sum(stage["entries"] for stage in whole["stages"]) == sum(stage["entries"] for stage in wanted["stages"])
    half = judge(place, first)
    assert (len(half["stages"]), half["at_once"]["verdict"]) == (1, "proved")
    assert half["stages"][0]["entries"] == wanted["stages"][0]["entries"]


def test_a_cable_that_goes_and_one_that_comes(tmp_path: Path) -> None:
    """The fabric with fewer cables lies in the other, whichever of them runs."""
    ring = write(tmp_path)
    line = write(tmp_path, "line", without=("leaf-003,2",))
    for sides in ((ring, line), (line, ring)):
        found = judge(*sides)
        assert (found["verdict"], found["fabric"]) == ("proved", "ring")
    other = write(tmp_path, "other", without=("leaf-002,2",))
    fail(run("order", line, other), 1, "artifact.two-fabrics")


def fail(ran: Ran, status: int, code: str) -> None:
    assert (ran.status, f"[{code}]" in ran.err) == (status, True), ran.err


def test_what_cannot_be_ordered_is_said(tmp_path: Path) -> None:
    place = write(tmp_path)
    fail(run("order", place), 64, "usage.order")
    fail(run("order", place, place, "--engine", "updown"), 64, "usage.order")
    fail(run("order", HALL / "ibnetdiscover.txt", "--engine", "updown"), 1, "artifact.no-tables")
    fail(run("order", HALL / "dump_fts.txt", "--engine", "updown"), 1, "artifact.no-tables")
    fail(run("order", place, "--engine", "fastest"), 1, "capability.engine-not-held")
    roce = write(tmp_path / "roce", technology="roce")
    roce.write_text(roce.read_text(encoding="utf-8").replace("{engine: updown, roots: [leaf-001]}", "{}"))
    fail(run("order", roce, "--engine", "ecmp", "--out", tmp_path / "out"), 1, "capability.no-tables")
    assert judge(roce, "--engine", "auto")["granularity"]["piece"] == "one prefix of one device"


@pytest.mark.parametrize("sides", [("ring", "ring"), ("line", "line")])
def test_the_same_tables_change_nothing(sides: tuple[str, str], tmp_path: Path) -> None:
    without = ("leaf-003,2",) if sides[0] == "line" else ()
    place = write(tmp_path, sides[0], without=without)
    found = judge(place, place)
    assert [stage["entries"] for stage in found["stages"]] == [0]
