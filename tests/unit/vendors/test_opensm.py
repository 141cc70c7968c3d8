from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.designs import render_design
from tests.unit.vendors.damage import damage, replace, say_again
from weftline.formats import lft
from weftline.formats.lines import Reading
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import NO_PORT, ForwardingTable
from weftline.vendors import VENDORS
from weftline.vendors.opensm.tables import read_table, write_table

MADE = render_design("infiniband", hosts=4, rails=2, tenants=(("red", "1-2"), ("blue", "3-4")))
FOLDER = "opensm/subnet-1"


def test_tables_are_in_the_shortest_form_that_opensm_reads() -> None:
    lines = [line for line in MADE.text(f"{FOLDER}/lfts.conf").splitlines() if not line.startswith("#")]
    heads = [line for line in lines if line.startswith("Unicast")]
    assert re.fullmatch(
        r"Unicast lids \[0x0-0x[0-9a-f]+\] of switch Lid \d+ guid 0x[0-9a-f]{16} \(leaf-001\):", heads[0]
    )
    assert all(re.fullmatch(r"0x[0-9a-f]{4} \d{3}", line) for line in lines if line not in heads)


def test_the_reader_of_dumps_reads_the_same_tables() -> None:
    """Two readers that know nothing of each other agree."""
    text = MADE.text(f"{FOLDER}/lfts.conf").encode()
    dump = lft.parse(text, "lfts.conf")
    assert isinstance(dump, lft.LftDump)
    table = read_table(text, Reading("lfts.conf"))
    assert [record.guid for record in dump.tables] == table.switch_id.tolist()
    for row in range(len(dump.tables)):
        part = slice(int(dump.table_ptr[row]), int(dump.table_ptr[row + 1]))
        assert dict(zip(dump.entry_lid[part].tolist(), dump.entry_port[part].tolist(), strict=True)) == {
            int(lid): int(port) for lid, port in zip(table.address, table.port[row], strict=True) if port != NO_PORT
        }


def test_an_entry_that_forwards_nowhere_is_left_out() -> None:
    table = ForwardingTable(
        switch_id=np.array([7], dtype=np.uint64),
        switch_name=("leaf-001",),
        switch_address=np.array([3]),
        address=np.array([1, 2, 0xBFFF]),
        port=np.array([[254, NO_PORT, 0]], dtype=np.uint8),
    )
    text = write_table(table)
    assert text == (
        b"Unicast lids [0x0-0xbfff] of switch Lid 3 guid 0x0000000000000007 (leaf-001):\n0x0001 254\n0xbfff 000\n"
    )
    assert read_table(text, Reading("x")) == table


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (replace("\n0x0002 ", "\n0x0001 "), "artifact.said-twice", 5),
        (replace("\n0x0002 00", "\n0x0002 0x"), "artifact.unreadable-line", 7),
        (replace("\n0x0002 00", "\n0x0002 99"), "artifact.unreadable-line", 7),
        (replace("\n0x0002 ", "\n0xc000 "), "artifact.unreadable-line", 7),
        (replace("\n0x0002 ", "\n0x0000 "), "artifact.unreadable-line", 7),
        (replace(" guid 0x", " guid "), "artifact.unreadable-line", 5),
        (replace("Unicast", "garbage\nUnicast"), "artifact.unreadable-line", 5),
        (say_again("Unicast"), "artifact.said-twice", None),
    ],
)
def test_damage_to_tables(change: Callable[[str], str], code: str, line: int | None) -> None:
    problems = damage(MADE, f"{FOLDER}/lfts.conf", change)
    assert code in {problem.code for problem in problems}
    place = problems[0].where
    assert place is not None
    assert place.file == f"{FOLDER}/lfts.conf"
    assert line in {None, place.line}


def test_entries_with_remarks_are_read_too() -> None:
    text = MADE.text(f"{FOLDER}/lfts.conf")
    remarked = re.sub(r"^(0x\w{4} \d{3})$", r"\1 : (a remark)", text, flags=re.MULTILINE)
    assert read_table(remarked.encode(), Reading("x")) == read_table(text.encode(), Reading("x"))


@pytest.mark.parametrize(
    ("file", "change", "code"),
    [
        ("guid2lid", replace(" 0x0001 0x0001", " 0x0001"), "artifact.unreadable-line"),
        ("guid2lid", replace(" 0x0001 0x0001", " 0x0002 0x0001"), "artifact.unreadable-line"),
        ("guid2lid", replace(" 0x0001 0x0001", " 0x0001 0xc000"), "artifact.unreadable-line"),
        ("guid2lid", say_again("0x"), "artifact.said-twice"),
        ("node-name-map", replace('"leaf-001"', "leaf-001"), "artifact.unreadable-line"),
        ("root-guids.conf", replace("\n0x", "\n0y"), "artifact.unreadable-line"),
        ("opensm.conf", replace("lmc 0", "lmc 8"), "artifact.out-of-range"),
        ("opensm.conf", replace("part_enforce both", "part_enforce maybe"), "artifact.out-of-range"),
        ("opensm.conf", replace("file,no_fallback", "minhop"), "artifact.unexpected"),
        ("opensm.conf", replace("lmc 0", "lmc 0\nlmc 0"), "artifact.said-twice"),
        ("opensm.conf", replace("max_wire_smps 50", "max_wire_smps"), "artifact.unreadable-line"),
        ("partitions.conf", replace(" ;\nred", "\nred"), "artifact.unreadable-line"),
        ("partitions.conf", replace("red=0x0001", "red=0x00001"), "artifact.unreadable-line"),
        ("partitions.conf", replace(": 0x", ": 0y"), "artifact.unreadable-line"),
        ("partitions.conf", replace("blue=0x0002", "blue=0x0001"), "artifact.said-twice"),
        ("partitions.conf", replace("Default=0x7fff : ALL=limited, ", "#"), "artifact.unexpected"),
    ],
)
def test_damage_to_other_files(file: str, change: Callable[[str], str], code: str) -> None:
    problems = damage(MADE, f"{FOLDER}/{file}", change)
    assert code in {problem.code for problem in problems}
    assert all(problem.where is not None and problem.where.file == f"{FOLDER}/{file}" for problem in problems)


def test_a_full_default_partition_is_seen_as_such() -> None:
    text = MADE.text(f"{FOLDER}/partitions.conf").replace("ALL=limited", "ALL=full").encode()
    (config,) = VENDORS["opensm"].observe(
        ArtifactSet("", (Artifact(f"{FOLDER}/partitions.conf", text, "subnet-1", "opensm"),))
    )
    assert config.values["isolation.default_membership"] == "full"


def test_a_file_of_another_name_is_reported() -> None:
    stray = Artifact(f"{FOLDER}/qos.conf", b"", "subnet-1", "opensm")
    (config,) = VENDORS["opensm"].observe(ArtifactSet("", (stray,)))
    assert [problem.code for problem in config.problems] == ["artifact.unknown-file"]


def test_rules_stay_short_because_opensm_reads_short_lines() -> None:
    made = render_design("infiniband", "fat-tree", hosts=64)
    lines = made.text(f"{FOLDER}/partitions.conf").splitlines()
    assert max(map(len, lines)) < 512
    rules = [line for line in lines if line.startswith("compute=")]
    assert len(rules) == 8
    assert all(line.endswith(" ;") for line in rules)


def test_placeholders_are_named_as_such() -> None:
    for file in ("opensm.conf", "lfts.conf", "partitions.conf", "root-guids.conf", "node-name-map"):
        assert "placeholders" in MADE.text(f"{FOLDER}/{file}").splitlines()[1]
    assert any("placeholders" in note for note in MADE.artifacts.notes)


def test_planes_are_subnets() -> None:
    made = render_design("infiniband", hosts=4, rails=2, planes=2)
    assert {item.device for item in made.artifacts.artifacts if item.vendor == "opensm"} == {"subnet-1", "subnet-2"}
    first, second = (made.text(f"opensm/subnet-{plane}/guid2lid") for plane in (1, 2))
    assert [line.split()[1:] for line in first.splitlines()] == [line.split()[1:] for line in second.splitlines()]
    assert not set(first.split()) & set(second.split()) & {w for w in first.split() if len(w) > 8}


def test_hostile_bytes_end_in_problems() -> None:
    for content in (b"\x00" * 1000, b"Unicast" * 1000, b"\xff\xfe\n" * 1000, b"0x" * 100_000, b"\n" * 10_000):
        files = tuple(
            Artifact(f"{FOLDER}/{name}", content, "subnet-1", "opensm")
            for name in ("lfts.conf", "guid2lid", "partitions.conf", "opensm.conf", "node-name-map", "root-guids.conf")
        )
        (config,) = VENDORS["opensm"].observe(ArtifactSet("", files))
        assert config.problems
        assert len(config.problems) <= 100


def test_more_entries_than_a_subnet_can_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weftline.vendors.opensm.tables.MAX_CELLS", 10)
    reading = Reading("lfts.conf")
    table = read_table(MADE.text(f"{FOLDER}/lfts.conf").encode(), reading)
    assert table.entries == 0
    assert [problem.code for problem in reading.problems] == ["artifact.out-of-range"]
