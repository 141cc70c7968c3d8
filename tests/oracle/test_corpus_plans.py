"""Every cabling plan of the corpus is read or refused with its line; the real pair is judged as UFM judged it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weftline.adopt import build_fabric, hold_plan, read_discovery
from weftline.formats import ndt
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.plan import PlanVerdict

STEM = "plugins_UFM_NDT_Plugin_tests_"
PAIR = f"{STEM}positive_flow_ndts_switch_to_host_topo1.ndt"
DUMP = f"{STEM}positive_flow_ibnetdiscover_ibnetdiscover_director.txt"
READ = {PAIR: (2223, 0), f"{STEM}other_ndts_ndt.csv": (400, 40), f"{STEM}other_ndts_ndth2s.csv": (320, 288)}
"""Cables of each plan, and ports that it plans twice: directors and hosts whose names it does not keep apart."""
REFUSED = {
    f"{STEM}negative_flow_ndts_garbage.ndt": [("artifact.plan-header", 1, 1)],
    f"{STEM}negative_flow_ndts_incorrect_columns.ndt": [("artifact.plan-header", 1, 1)],
    f"{STEM}negative_flow_ndts_incorrect_ports.ndt": [("artifact.plan-port", 2, 23), ("artifact.plan-port", 2, 50)],
}


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    return corpus / "infiniband" / "ufm_sdk"


@pytest.fixture(scope="module")
def real(folder: Path) -> Adoption:
    """The fabric that the first plan is of."""
    discovery = read_discovery((folder / DUMP).read_bytes(), DUMP)
    assert isinstance(discovery, Discovery)
    adoption = build_fabric(discovery)
    assert isinstance(adoption, Adoption)
    return adoption


def held(folder: Path, name: str, adoption: Adoption) -> PlanVerdict:
    return hold_plan(ndt.parse((folder / name).read_bytes(), name).plan, adoption)


@pytest.mark.parametrize("name", sorted(READ))
def test_is_read(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    part = ndt.parse(data, name)
    cables, twice = READ[name]
    listed = sum(problem.code == "artifact.plan-twice" for problem in part.problems)
    counted = [int(problem.message.split()[0]) for problem in part.problems if problem.code == "artifact.dump-repeated"]
    assert (len(part.plan), listed + sum(counted)) == (cables, twice)
    assert not any(problem.is_error for problem in part.problems)
    assert ndt.looks_like(data)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_is_refused_with_its_line(folder: Path, name: str) -> None:
    part = ndt.parse((folder / name).read_bytes(), name)
    assert not part.plan
    places = [(problem.code, problem.where) for problem in part.problems]
    assert [(code, where and where.line, where and where.column) for code, where in places] == REFUSED[name]


def test_no_plan_of_the_corpus_is_forgotten(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.suffix in {".ndt", ".csv"} or ndt.looks_like(path.read_bytes())]
    assert {path.name for path in files} == set(READ) | set(REFUSED)


def test_the_real_pair_is_judged_as_ufm_judged_it(folder: Path, real: Adoption) -> None:
    """UFM names the found cable where ours names the planned one, so its report is read by adapters and ports."""
    report = json.loads((folder / f"{STEM}expected_report.json").read_text())["report"]
    verdict = held(folder, PAIR, real)
    assert (verdict.planned, verdict.as_planned, verdict.unknown) == (2223, 2219, 0)
    miswired = [item.message for item in verdict.differences if item.kind == "miswired"]
    adapters = {entry["actual"].partition(" - ")[0].partition("/")[2] for entry in report["miss_wired"]}
    assert len(miswired) == len(report["miss_wired"]) == len(adapters)
    assert all(any(adapter in message for message in miswired) for adapter in adapters)
    missing = {item.subject.rpartition("~")[2] for item in verdict.differences if item.kind == "missing"}
    assert {name.replace("Port ", "") for name in missing} == {
        entry.partition(" - ")[2] for entry in report["missing_in_ufm"]
    }


def test_what_the_real_plan_does_not_name_ufm_finds_too(folder: Path, real: Adoption) -> None:
    """UFM lists such links of every switch; ours are those at switches that the plan names."""
    report = json.loads((folder / f"{STEM}expected_report.json").read_text())["report"]
    verdict = held(folder, PAIR, real)
    ends = {end.casefold() for entry in report["missing_in_ndt"] for end in entry.split(" - ")}
    found = [item.subject for item in verdict.differences if item.kind == "unplanned"]
    assert len(found) == verdict.unplanned == 90
    assert all(any(end.casefold() in ends for end in name.split("~")) for name in found)


def test_a_plan_of_another_hall_is_not_judged(folder: Path, real: Adoption) -> None:
    verdict = held(folder, f"{STEM}other_ndts_ndt.csv", real)
    assert (verdict.unknown, verdict.planned, verdict.unplanned) == (400, 400, 0)
    assert not verdict.is_as_planned
