"""Failures rehearsed without a tree: tables on several lanes, and engines that may have none for what is left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.running import hold, run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def slim(tmp_path: Path) -> Path:
    for name in ("slim-fly-50.yaml", "slim-fly-50.csv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path / "slim-fly-50.yaml"


def test_a_slim_fly_may_lose_any_switch(slim: Path) -> None:
    told = hold(run("rehearse", slim, "--faults", "switches", "--json", "--worst", "0").document, "rehearsal")
    assert (told["states"], told["from_scratch"], told["verdict"]) == (50, 50, "yes")
    assert {state["deadlock"] for state in told["worst"]} == {"proved"}
    assert any(state["made_anew"] for state in told["worst"])


def test_one_link_of_a_slim_fly_says_that_other_tables_have_to_be_loaded(slim: Path) -> None:
    ran = run("rehearse", slim, "--link", "leaf-004/11")
    assert ran.status == 0
    assert "proved on the tables that layered or updown makes anew, as the repaired tables do not hold" in " ".join(
        ran.out.split()
    )


def test_a_question_of_several_lanes_keeps_nothing(slim: Path) -> None:
    run("rehearse", slim, "--switch", "leaf-004")
    assert not (slim.parent / ".weftline" / "slim-fly-50" / "cache").exists()
