"""audit-fabric as a user runs it: a folder of dumps, one dump, broken ones; a report and nothing else is written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.running import hold, run

CASES = Path(__file__).parents[1] / "golden" / "cases"
LAB = CASES / "adopt-lab" / "input"


def copy(folder: Path, *names: str) -> Path:
    """Make a folder of dumps."""
    place = folder / "dumps"
    place.mkdir()
    for name in names:
        shutil.copyfile(LAB / name, place / name)
    return place


def test_a_folder_is_judged_and_left_as_it_was(tmp_path: Path) -> None:
    place = copy(tmp_path, "ibnetdiscover.txt", "dump_fts.txt")
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in place.iterdir()}
    ran = run("audit-fabric", place, "--json", cwd=tmp_path)
    document = hold(ran.document, "audit")
    assert ran.status == 0
    assert document["verdicts"]["reach"] == document["verdicts"]["deadlock"] == "good"
    assert document["verdicts"]["managers"] == "unknown"
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in place.iterdir()} == before
    assert (tmp_path / document["report"]).is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dumps", "out"]


def test_one_dump_is_enough_and_what_it_does_not_say_is_unknown(tmp_path: Path) -> None:
    ran = run("audit-fabric", LAB / "ibnetdiscover.txt", "--json", "--out", tmp_path)
    document = hold(ran.document, "audit")
    assert ran.status == 0
    for key in ("reach", "deadlock", "balance", "managers", "lanes"):
        assert document["verdicts"][key] == "unknown"
    assert document["programmed"] is None
    assert document["proposed"]["proofs"]
    assert all(control["verdict"] != "good" for control in document["controls"])


def write_ring(place: Path, ties: str) -> None:
    """Write a ring of four switches with a host each; pairs two apart go clockwise, or half of them the other way."""
    place.mkdir()
    topology: list[str] = []
    tables: list[str] = []
    for at in range(4):
        topology += [
            f"switchguid=0x{0x100 + at:x}(100{at})",
            f'Switch\t4 "S-{0x100 + at:016x}"\t\t# "ring-{at}" enhanced port 0 lid {at + 11} lmc 0',
            f'[1]\t"S-{0x100 + (at + 1) % 4:016x}"[2]\t\t# "ring-{(at + 1) % 4}" lid {(at + 1) % 4 + 11} 4xNDR',
            f'[2]\t"S-{0x100 + (at - 1) % 4:016x}"[1]\t\t# "ring-{(at - 1) % 4}" lid {(at - 1) % 4 + 11} 4xNDR',
            f'[3]\t"H-{0x200 + at:016x}"[1](2{at}1)\t\t# "host-{at} mlx5_0" lid {at + 1} 4xNDR',
            "",
            f"caguid=0x{0x200 + at:x}",
            f'Ca\t1 "H-{0x200 + at:016x}"\t\t# "host-{at} mlx5_0"',
            f'[1](2{at}1)\t"S-{0x100 + at:016x}"[3]\t\t# lid {at + 1} lmc 0 "ring-{at}" lid {at + 11} 4xNDR',
            "",
        ]
        tables.append(f"Unicast lids [0x0-0xe] of switch Lid {at + 11} guid 0x{0x100 + at:016x} (ring-{at}):")
        for to in range(4):
            away = (to - at) % 4
            clockwise = away == 1 or (away == 2 and (ties == "clockwise" or at % 2 == 0))
            tables.append(f"0x{to + 1:04x} {3 if away == 0 else 1 if clockwise else 2:03d}")
    (place / "ibnetdiscover.txt").write_text("\n".join(topology), encoding="utf-8")
    (place / "lfts.txt").write_text("\n".join(tables) + "\n", encoding="utf-8")


def test_a_credit_loop_is_named_by_port_and_drawn(tmp_path: Path) -> None:
    write_ring(tmp_path / "ring", "clockwise")
    ran = run("audit-fabric", tmp_path / "ring", "--json", "--out", tmp_path / "out")
    document = hold(ran.document, "audit")
    assert ran.status == 2
    topic = next(topic for topic in document["topics"] if topic["key"] == "deadlock")
    assert topic["verdict"] == "bad"
    assert topic["findings"][0]["rule"] == "routing.deadlock"
    assert "ring-0/1~ring-1/2" in topic["findings"][0]["message"]
    page = (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
    assert page.count('class="wait"') == 4
    assert all(f"ring-{at}/1~ring-{(at + 1) % 4}/2" in page for at in range(4))


def test_ties_the_other_way_hold(tmp_path: Path) -> None:
    write_ring(tmp_path / "ring", "opposite")
    ran = run("audit-fabric", tmp_path / "ring", "--json", "--out", tmp_path / "out")
    assert ran.document["verdicts"]["deadlock"] == ran.document["verdicts"]["reach"] == "good"
    assert 'class="wait"' not in (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")


def test_same_dumps_same_page(tmp_path: Path) -> None:
    place = copy(tmp_path, "ibnetdiscover.txt", "dump_fts.txt")
    pages: list[bytes] = []
    for name in ("a", "b"):
        run("audit-fabric", place, "--out", tmp_path / name, "--quiet")
        pages.append((tmp_path / name / "audit.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(("severity", "status"), [("critical", 0), ("warning", 2), ("never", 0), ("note", 2)])
def test_fail_on(severity: str, status: int, tmp_path: Path) -> None:
    place = copy(tmp_path, "ibnetdiscover.txt", "dump_fts.txt")
    dump = (place / "ibnetdiscover.txt").read_text(encoding="utf-8").replace("4xHDR", "2xHDR", 1)
    (place / "ibnetdiscover.txt").write_text(dump, encoding="utf-8")
    ran = run("audit-fabric", place, "--out", tmp_path / "out", "--fail-on", severity)
    assert ran.status == status


def test_a_severity_that_is_none(tmp_path: Path) -> None:
    ran = run("audit-fabric", LAB, "--out", tmp_path, "--fail-on", "fatal")
    assert ran.status == 64
    assert "usage.severity" in ran.err


def test_an_empty_folder(tmp_path: Path) -> None:
    place = tmp_path / "empty"
    place.mkdir()
    (place / ".hidden").write_text("x", encoding="utf-8")
    ran = run("audit-fabric", place, "--out", tmp_path / "out")
    assert ran.status == 1
    assert "artifact.no-dump" in ran.err
    assert not (tmp_path / "out").exists()


def test_a_place_that_is_none(tmp_path: Path) -> None:
    assert run("audit-fabric", tmp_path / "none").status == 1


def test_what_nobody_knows_is_said_and_hurts_nothing(tmp_path: Path) -> None:
    place = copy(tmp_path, "ibnetdiscover.txt")
    (place / "notes.bin").write_bytes(bytes(range(256)) * 100)
    os.mkfifo(place / "pipe")
    (place / "link").symlink_to("/etc/hostname")
    ran = run("audit-fabric", place, "--json", "--out", tmp_path / "out")
    document = hold(ran.document, "audit")
    files = {item["file"]: item["form"] for item in document["files"]}
    assert files == {"ibnetdiscover.txt": "ibnetdiscover", "notes.bin": None}
    rules = [finding["rule"] for topic in document["topics"] for finding in topic["findings"]]
    assert "files.not-known" in rules


def test_only_noise_is_unknown_and_never_good(tmp_path: Path) -> None:
    place = tmp_path / "noise"
    place.mkdir()
    (place / "a.txt").write_bytes(os.urandom(5000))
    ran = run("audit-fabric", place, "--json", "--out", tmp_path / "out")
    document = hold(ran.document, "audit")
    assert document["fabric"] is None
    for key, verdict in document["verdicts"].items():
        assert verdict == "unknown" or key == "files"


def test_the_example_names_crossed_cables_and_the_careless_edit(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    ran = run("audit-fabric", examples / "hall-2", "--against", examples / "hall-2.yaml", "--json", "--out", tmp_path)
    document = hold(ran.document, "audit")
    assert ran.status == 2
    found = {(f["rule"], f["subject"]) for topic in document["topics"] for f in topic["findings"]}
    assert {
        ("cabling.miswired", "host-0008/nic1~leaf-002/4"),
        ("cabling.miswired", "host-0012/nic1~leaf-003/4"),
        ("partition.default-full", "partition 0x7fff"),
        ("partition.tenants-meet", "blue and red"),
    } <= found
    broken = {control["id"] for control in document["controls"] if control["verdict"] == "bad"}
    assert broken == {"TEN-01", "TEN-02", "IBS-01", "IBS-02", "CFG-01"}


def test_tables_of_another_subnet_are_said(tmp_path: Path) -> None:
    place = copy(tmp_path, "ibnetdiscover.txt")
    write_ring(tmp_path / "ring", "opposite")
    shutil.copyfile(tmp_path / "ring" / "lfts.txt", place / "lfts.txt")
    document = run("audit-fabric", place, "--json", "--out", tmp_path / "out").document
    assert document["verdicts"]["reach"] == "unknown"
    assert document["verdicts"]["files"] == "bad"
    found = [finding["rule"] for finding in document["topics"][0]["findings"]]
    assert "artifact.table-unknown-switch" in found


def test_without_a_plan_the_declaration_is_the_plan(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    place = tmp_path / "dumps"
    shutil.copytree(examples / "hall-2", place)
    (place / "plan.csv").unlink()
    ran = run("audit-fabric", place, "--against", examples / "hall-2.yaml", "--json", "--out", tmp_path / "out")
    topic = next(topic for topic in ran.document["topics"] if topic["key"] == "cabling")
    assert topic["verdict"] == "bad"
    crossed = [finding["message"] for finding in topic["findings"] if finding["rule"] == "cabling.miswired"]
    assert len(crossed) == 1
    assert "host-0008" in crossed[0]
    assert "host-0012" in crossed[0]


def test_a_file_that_is_not_what_its_name_says_is_a_finding(tmp_path: Path) -> None:
    place = copy(tmp_path, "ibnetdiscover.txt")
    (place / "ibdiagnet2.fdbs").write_bytes(os.urandom(5000))
    (place / "iblinkinfo.txt").write_bytes(b"")
    (place / "opensm.log").write_text("cannot open /var/log/opensm.log\n", encoding="utf-8")
    (place / "notes").write_text("call the vendor\n", encoding="utf-8")
    document = hold(run("audit-fabric", place, "--json", "--out", tmp_path / "out").document, "audit")
    assert document["verdicts"]["files"] == "bad"
    found = [f for topic in document["topics"] for f in topic["findings"] if f["rule"].startswith("files.")]
    named = {f["subject"]: f["message"] for f in found if f["rule"] == "files.not-as-named"}
    assert named.keys() == {"ibdiagnet2.fdbs", "iblinkinfo.txt", "opensm.log"}
    assert "it is binary" in named["ibdiagnet2.fdbs"]
    assert "it is empty" in named["iblinkinfo.txt"]
    assert [f["subject"] for f in found if f["rule"] == "files.not-known"] == ["notes"]


@pytest.mark.parametrize("name", ["a.bin", "ibdiagnet2.db_csv", "ibdiagnet2.pm"])
def test_a_folder_of_which_nothing_could_be_read_is_bad(name: str, tmp_path: Path) -> None:
    place = tmp_path / "noise"
    place.mkdir()
    (place / name).write_bytes(os.urandom(5000))
    ran = run("audit-fabric", place, "--json", "--out", tmp_path / "out")
    assert ran.status == 2
    document = hold(ran.document, "audit")
    assert document["verdicts"]["files"] == "bad"
    assert "files.nothing-read" in {f["rule"] for topic in document["topics"] for f in topic["findings"]}


PLAN = """\
SW4 leaf1
  P1 -> HCA host1 P1
  P3 -> SW4 spine1 P1

SW4 leaf2
  P1 -> HCA host2 P1
  P3 -> SW4 spine1 P2
"""


def test_a_plan_of_systems_alone_is_taken_as_the_topology(tmp_path: Path) -> None:
    place = tmp_path / "plan"
    place.mkdir()
    (place / "hall.topo").write_text(PLAN, encoding="utf-8")
    document = hold(run("audit-fabric", place, "--json", "--out", tmp_path / "out").document, "audit")
    fabric = next(topic for topic in document["topics"] if topic["key"] == "fabric")
    assert "as planned, not as discovered" in fabric["summary"]
    assert any("Is it built as hall.topo plans it?" in one["question"] for one in fabric["unjudged"])
    assert document["fabric"] is not None
    assert document["verdicts"]["cabling"] == "unknown"
    assert document["verdicts"]["deadlock"] == "unknown"
