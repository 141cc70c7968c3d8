"""Cabling plans and plans of systems, as a user gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.running import hold, run

EXAMPLES = Path(__file__).parents[2] / "examples"
NETS = {
    "card": ("TOPSYSTEM Card", "NODE CA 2 X1 U1", " 1 -> P1", " 2 -> P2"),
    "duo": (
        "TOPSYSTEM Duo",
        "NODE SW 4 X2 U1",
        " 1 -> A1",
        " 2 -> A2",
        " 4 -> U2 4",
        "NODE SW 4 X2 U2",
        " 1 -> B1",
        " 4 -> U1 4",
    ),
}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan of the lab with links left out, a host that is not there, a cable of nobody and a broken row."""
    text = (EXAMPLES / "lab-8.ndt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "SPINE-01" not in line or "LEAF-001" in line]
    lines += ["HOST-0099,HCA-1,LEAF-099,Port 1", "HOST-0002,HCA-7,HOST-0003,HCA-8", "LEAF-001,Port 5,x,abra"]
    path = tmp_path / "plan.ndt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_what_is_not_as_planned_is_printed(plan: Path, snapshot: SnapshotAssertion) -> None:
    ran = run("diff", plan, EXAMPLES / "lab-8.topo")
    assert ran.status == 2
    assert ran.out.replace(f"{plan.parent}/", "") == snapshot


def test_the_document_lists_every_difference(plan: Path) -> None:
    told = hold(run("diff", plan, EXAMPLES / "lab-8.topo", "--json").document, "plan")
    counts = [told[key] for key in ("planned", "as_planned", "miswired", "missing", "not_judged", "unplanned")]
    assert counts[0] == sum(counts[1:5])
    assert counts[2:] == [2, 1, 1, 6]
    assert {item["kind"] for item in told["differences"]} == {"miswired", "missing", "not-judged", "unplanned"}
    assert [problem["code"] for problem in told["problems"]] == ["artifact.plan-port"]


def test_a_list_of_our_own_holds(tmp_path: Path) -> None:
    run("cables", EXAMPLES / "lab-8.yaml", "--out", tmp_path)
    ran = run("diff", tmp_path / "cabling.csv", EXAMPLES / "lab-8.topo")
    assert (ran.status, "as planned  30" in ran.out) == (2, True)


def test_a_plan_that_cannot_be_read(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ndt"
    bad.write_text("StartDevice,EndDevice\n", encoding="utf-8")
    ran = run("diff", bad, EXAMPLES / "lab-8.topo")
    assert (ran.status, "bad.ndt:1:1" in ran.err, "artifact.plan-header" in ran.err) == (1, True, True)


def test_systems_are_expanded_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is inside a system is told by a folder of IBNL files: asked for, or of the environment."""
    plan, nets = tmp_path / "plan.topo", tmp_path / "nets"
    plan.write_text("Duo box\n  A1 -> Card h-1 P1\n  A2 -> Card h-2 P1\n  B1 -> Card h-3 P1\n", encoding="utf-8")
    nets.mkdir()
    refused = run("adopt", plan, "--ibnl", nets)
    assert (refused.status, "artifact.no-place" in refused.err) == (1, True)
    (nets / "card.ibnl").write_text("\n".join(NETS["card"]), encoding="utf-8")
    unknown = run("adopt", plan, "--ibnl", nets)
    assert (unknown.status, "artifact.unknown-system" in unknown.err, "plan.topo:1" in unknown.err) == (1, True, True)
    (nets / "duo.ibnl").write_text("\n".join(NETS["duo"]), encoding="utf-8")
    assert "switches         2" in run("adopt", plan, "--ibnl", nets).out
    assert run("diff", plan, plan, "--ibnl", nets).out == "no difference\n"
    monkeypatch.setenv("WEFTLINE_IBNL", str(nets))
    assert run("adopt", plan).status == 0
