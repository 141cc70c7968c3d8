"""The routing engines of a real OpenSM tried on fabrics, and what they programmed proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import hold, refused, run
from tests.lab.conftest import Place
from weftline.adopt import build_fabric, read_discovery
from weftline.app import engines as app
from weftline.drivers import DRIVERS
from weftline.labs import holding, processes
from weftline.labs.ibsim import engines
from weftline.labs.ibsim.trials import LABELS, list_trials
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery
from weftline.model.driver import Access, SubnetState
from weftline.model.lab import LabDesign, LabSubnet

RING = 5


def link(near: str, port: int, far: str, other: int, note: str) -> str:
    return f'[{port}]\t"{near}"[{other}]{far}\t\t# "{note}" lid 0 4xHDR'


def write_ring(size: int = RING, first: int = 0x10, *, odd: str = "") -> str:
    """Write a ring of switches with a host each: minimal paths wait for each other all around it."""
    blocks: list[str] = []
    for index in range(size):
        own, after, before = (first + (index + step) % size for step in (0, 1, size - 1))
        blocks += [
            f"switchguid=0x{own:x}({own:x})\n"
            f'Switch\t8 "S-{own:016x}"\t\t# "ring {index} {odd}" enhanced port 0 lid 65535 lmc 0\n'
            + "\n".join((
                link(f"S-{after:016x}", 1, "", 2, "next"),
                link(f"S-{before:016x}", 2, "", 1, "last"),
                link(f"H-{own + 0x1000:016x}", 3, f"({own + 0x1001:x})", 1, f"node{index}"),
            )),
            (f"caguid=0x{own + 0x1000:x}\n"
            f'Ca\t1 "H-{own + 0x1000:016x}"\t\t# "node{index} {odd}"\n'
            f'[1]({own + 0x1001:x})\t"S-{own:016x}"[3]\t\t# lid 65535 lmc 0 "ring" lid 0 4xHDR'),
        ]  # fmt: skip
    return "\n\n".join(blocks) + "\n"


def judge(place: Path, *arguments: object) -> dict[str, dict[str, Any]]:
    """Try engines; returns what was said of each, our own under its name too."""
    ran = run("lab", "engines", place, *arguments, "--json")
    assert ran.status == 0, ran.out + ran.err
    document = hold(ran.document, "lab-engines")
    return {one["engine"]: one for one in (*document["engines"], document["own"])}


def verdicts(one: dict[str, Any]) -> tuple[str, str]:
    found = {proof["claim"]: proof["verdict"] for proof in one["proofs"]["proofs"]}
    return found["reach"], found["deadlock"]


def test_a_declaration_under_engines(place: Place) -> None:
    found = judge(place.path, "--engine", "minhop,updn+roots,ftree+roots")
    assert list(found) == ["minhop", "updn+roots", "ftree+roots", "weftline"]
    for one in found.values():
        assert (one["outcome"], *verdicts(one)) == ("ran", "proved", "proved")


def test_a_ring_locks_under_minimal_hops(tmp_path: Path) -> None:
    dump = tmp_path / "ring.topo"
    dump.write_text(write_ring(odd="; a # name: with 'marks' that is longer than ibsim can hold in one line of it"))
    found = judge(dump, "--engine", "minhop,ftree,nue,torus-2QoS")
    assert verdicts(found["minhop"]) == ("proved", "refuted")
    deadlock = found["minhop"]["deadlock_between_endpoints"]
    assert deadlock["verdict"] == "refuted"
    assert len(deadlock["witness"]["detail"]["cycle"]) == RING
    assert (found["ftree"]["outcome"], found["ftree"]["programmed"]) == ("fell-back", "minhop")
    assert "ERR AB" in found["ftree"]["reason"]
    assert verdicts(found["ftree"]) == ("proved", "refuted")
    assert found["nue"]["outcome"] == "ran"
    assert found["torus-2QoS"]["outcome"] == "fell-back"
    assert verdicts(found["weftline"]) == ("proved", "proved")
    said = run("lab", "engines", dump, "--engine", "minhop,ftree").out
    assert "of 5 links" in said
    assert "ftree: OpenSM gave it up and programmed the tables of minhop: " in said
    assert "minhop, ftree: 5 channels wait for each other in a cycle: " in said


def test_lanes_that_were_not_read_are_unknown(tmp_path: Path) -> None:
    dump = tmp_path / "ring.topo"
    dump.write_text(write_ring())
    one = judge(dump, "--engine", "dfsssp")["dfsssp"]
    assert (one["outcome"], *verdicts(one)) == ("ran", "proved", "refuted")
    laned = judge(dump, "--engine", "dfsssp", "--lanes")["dfsssp"]
    assert (laned["outcome"], *verdicts(laned)) == ("ran", "proved", "unknown")
    assert "unknown" in run("lab", "engines", dump, "--engine", "dfsssp", "--lanes").out


def test_islands_of_a_dump_are_routed_each_by_its_own_manager(tmp_path: Path) -> None:
    dump = tmp_path / "islands.topo"
    dump.write_text(write_ring(3) + "\n" + write_ring(4, 0x90))
    found = judge(dump, "--engine", "minhop")
    reach = next(proof for proof in found["minhop"]["proofs"]["proofs"] if proof["claim"] == "reach")
    assert reach["verdict"] == "proved"
    assert reach["detail"]["connected_pairs"] == 3 * 2 + 4 * 3


def test_words_that_are_no_engine(tmp_path: Path) -> None:
    dump = tmp_path / "ring.topo"
    dump.write_text(write_ring())
    ran = run("lab", "engines", dump, "--engine", "minhop,best", "--json")
    refused(ran, 64, "usage.engine")
    assert "ftree+roots" in ran.document["hint"]
    dump.write_text("nothing")
    assert run("lab", "engines", dump, "--json").status == 1


def make_design(size: int) -> LabDesign:
    discovery = read_discovery(write_ring(size).encode(), "ring")
    assert isinstance(discovery, Discovery)
    adoption = build_fabric(discovery)
    assert isinstance(adoption, Adoption)
    return LabDesign("", adoption.fabric, adoption.addresses, (LabSubnet("subnet-1", 0, {}),))


def silent(_words: str, _share: float | None) -> None:
    """Report nothing."""


def read(access: Access) -> SubnetState:
    return DRIVERS["opensm"].read_state(access, False)


def test_what_is_not_done_in_time_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = make_design(4)
    (trial,) = list_trials(design, ("minhop",), 0.0, False)
    ran = engines.try_engine(design, trial, tmp_path / "lab", read, silent)
    assert (ran.outcome, ran.states) == ("late", ())
    assert processes.find(holding.key_of(tmp_path / "lab")) == ()
    assert not (tmp_path / "lab").exists()
    monkeypatch.setattr(engines, "WIRE_MADS", "50\nrouting_engine none_at_all,no_fallback")
    (trial,) = list_trials(design, ("minhop",), 3.0, False)
    ran = engines.try_engine(design, trial, tmp_path / "lab", read, silent)
    assert (ran.outcome, ran.programmed, ran.states) in {("late", "", ()), ("no-tables", "", ())}
    assert "none_at_all" in ran.reason or "No routing engine" in ran.reason
    assert processes.find(holding.key_of(tmp_path / "lab")) == ()


def test_what_a_killed_command_left_is_cleared(tmp_path: Path) -> None:
    design = make_design(4)
    (trial,) = list_trials(design, ("minhop",), 30.0, False)

    def fail(_access: Access) -> SubnetState:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engines.try_engine(design, trial, tmp_path / "lab", fail, silent)
    assert processes.find(holding.key_of(tmp_path / "lab")) == ()
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "old").write_text("left")
    ran = engines.try_engine(design, trial, tmp_path / "lab", read, silent)
    assert (ran.outcome, len(ran.states)) == ("ran", 1)


def test_each_engine_is_known_to_opensm(tmp_path: Path) -> None:
    """A name that OpenSM did not know would read as one that fell back."""
    design = make_design(4)
    for trial in list_trials(design, (), 30.0, False):
        ran = engines.try_engine(design, trial, tmp_path / "lab", read, silent)
        assert ran.outcome in {"ran", "fell-back"}, trial.label
        assert "Failed to setup" not in ran.reason or trial.engine == "torus-2QoS", ran.reason
    assert len(LABELS) == 12


def test_engines_run_beside_the_dump_or_where_we_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = tmp_path / "a" / "ring.topo"
    dump.parent.mkdir()
    dump.write_text("x")
    assert app.work_folder(dump) == tmp_path / "a" / ".weftline" / "ring" / "engines"

    def refuse(_path: Path, _mode: int) -> bool:
        return False

    monkeypatch.setattr(app.os, "access", refuse)
    monkeypatch.chdir(tmp_path)
    assert app.work_folder(dump) == tmp_path / ".weftline" / "ring" / "engines"
