from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import write_small
from tests.cli.running import refused, run
from weftline.app import lab as app_lab
from weftline.errors import EnactError, UsageError
from weftline.labs import LABS, processes
from weftline.labs.ibsim import opensm


def test_a_lab_that_runs_another_technology(tmp_path: Path) -> None:
    place = write_small(tmp_path, "roce")
    refused(run("lab", "up", place, "--lab", "ibsim", "--json"), 1, "capability.no-lab")
    refused(run("lab", "verify", place, "--json"), 4, "source.lab-down")
    assert run("lab", "down", place).status == 0


def test_a_lab_that_does_not_exist(tmp_path: Path) -> None:
    refused(run("lab", "up", write_small(tmp_path, "infiniband"), "--lab", "x", "--json"), 64, "usage.lab")


def test_a_place_where_no_lab_runs(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    for words in (("verify",), ("break", "leaf-001"), ("heal",), ("degrade", "leaf-001/1", "--counter", "symbol=1")):
        refused(run("lab", words[0], place, *words[1:], "--json"), 4, "source.lab-down")
    assert run("lab", "down", place).out == "no lab was running\n"
    refused(run("lab", "down", tmp_path / "nothere.yaml", "--json"), 1, "artifact.no-place")


def test_programs_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(_name: str) -> str | None:
        return None

    monkeypatch.setattr(processes, "find_program", find)
    monkeypatch.setattr(opensm, "LIBRARIES", ())
    error = refused(run("lab", "up", write_small(tmp_path, "infiniband"), "--json"), 1, "artifact.program-missing")
    assert error["hint"] == "apt-get install -y opensm ibsim-utils coreutils"


def test_nothing_is_started_from_a_refuted_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def has_programs(_lab: object) -> None:
        """Stand in for programs that are installed."""

    monkeypatch.setattr(app_lab, "_check_programs", has_programs)
    place = write_small(tmp_path, "infiniband", "claims:\n  balance_threshold: 1.0\n")
    text = place.read_text(encoding="utf-8").replace("kind: fat-tree", "kind: fat-tree\n  oversubscription: 2.0")
    place.write_text(text, encoding="utf-8")
    ran = run("lab", "up", place, "--json")
    assert (ran.status, ran.document["running"], ran.document["equal"]) == (2, False, False)
    assert ran.document["proofs"]
    assert "nothing was started" in run("lab", "up", place).out
    assert not app_lab.lab_folder(place).exists()


def test_counters() -> None:
    assert app_lab.parse_counter("symbol=120") == ("symbol", 120)
    for text in ("symbol", "=1", "symbol=", "symbol=-1", "symbol=99999999999", "symbol=\u0661"):
        with pytest.raises(UsageError) as caught:
            app_lab.parse_counter(text)
        assert caught.value.code == "usage.counter"


def test_every_lab_names_its_driver() -> None:
    from weftline.drivers import DRIVERS
    from weftline.technologies import TECHNOLOGIES
    from weftline.vendors import VENDORS

    for lab in LABS.values():
        assert (lab.driver is None) == (lab.read_back is not None)
        assert lab.driver is None or (lab.driver in DRIVERS and lab.driver in VENDORS)
        assert set(lab.technologies) <= set(TECHNOLOGIES)


def test_a_refused_command_is_a_failed_change() -> None:
    assert EnactError("enact.lab-command", "no").exit_status == 5
