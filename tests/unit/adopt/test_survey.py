"""A folder of files becomes one survey: each file by its form, and of several topologies the most exact."""

from __future__ import annotations

import pytest

from weftline.adopt import read_survey, recognise
from weftline.adopt import survey as survey_module

TOPOLOGY = b"""#
# Topology file: generated on Fri Jan  2 03:04:05 2026
#
switchguid=0x2c90300100000(2c90300100000)
Switch\t4 "S-0002c90300100000"\t\t# "leaf-001" enhanced port 0 lid 1 lmc 0
[1]\t"H-0002c90300800000"[1](2c90300800001) \t\t# "host-0001 HCA-1" lid 2 4xNDR
[2]\t"H-0002c90300800010"[1](2c90300800011) \t\t# "host-0002 HCA-1" lid 3 4xNDR

caguid=0x2c90300800000
Ca\t1 "H-0002c90300800000"\t\t# "host-0001 HCA-1"
[1](2c90300800001) \t"S-0002c90300100000"[1]\t\t# lid 2 lmc 0 "leaf-001" lid 1 4xNDR

caguid=0x2c90300800010
Ca\t1 "H-0002c90300800010"\t\t# "host-0002 HCA-1"
[1](2c90300800011) \t"S-0002c90300100000"[2]\t\t# lid 3 lmc 0 "leaf-001" lid 1 4xNDR
"""
PORTS = b"SW     1  1 0x0002c90300100000 4x NDR - CA     2  1 0x0002c90300800001 ( 'leaf-001' - 'host-0001 HCA-1' )\n"
TABLES = b"Unicast lids [0x0-0x3] of switch Lid 1 guid 0x0002c90300100000 (leaf-001):\n0x0002 001 : \n"


def test_a_file_is_recognised_by_what_stands_in_it() -> None:
    forms = [recognise("folder/a.txt", data) for data in (TOPOLOGY, PORTS, TABLES, b"", b"\0\1\2", b"hello\n")]
    assert [form and form.name for form in forms] == ["ibnetdiscover", "portlist", "lft", None, None, None]


@pytest.mark.parametrize("blank", [b" ", b"\t", b"a", b"a=", b","])
def test_a_file_of_one_letter_is_told_at_once(blank: bytes) -> None:
    assert recognise("junk.txt", b"x\n" + blank * 65_536 + b"!") is None


def test_the_most_exact_topology_counts_and_tables_keep_their_bytes() -> None:
    survey = read_survey([("z.txt", TOPOLOGY), ("a.txt", PORTS), ("tables", TABLES), ("junk", b"\0" * 100)])
    assert [(source.file, source.form) for source in survey.sources] == [
        ("a.txt", "portlist"), ("junk", ""), ("tables", "lft"), ("z.txt", "ibnetdiscover"),
    ]  # fmt: skip
    assert survey.discovery_file == "z.txt"
    assert [source.data for source in survey.of_form("lft")] == [TABLES]
    assert survey.parts[1].discovery is None


def test_nothing_is_known_of_an_empty_folder() -> None:
    survey = read_survey([])
    assert (survey.sources, survey.discovery, survey.problems) == ((), None, ())


def test_a_file_too_large_is_refused_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "MAX_FILE", 2_000)
    survey = read_survey([("big.txt", TABLES + b"0x0002 001\n" * 1_000), ("z.txt", TOPOLOGY)])
    assert [(problem.code, problem.where and problem.where.file) for problem in survey.problems] == [
        ("artifact.dump-too-large", "big.txt"),
    ]  # fmt: skip
    assert survey.problems[0].message.startswith("big.txt has more than ")
    assert "dump_fts -n" in survey.problems[0].hint
    assert survey.sources[0].data == b""
    assert survey.discovery_file == "z.txt"


def test_a_list_without_a_cable_never_counts_before_one_that_has_some() -> None:
    bare = b"SW     1  1 0x0002c90300100000 4x SDR 'leaf-001'\n"
    survey = read_survey([("a.txt", bare), ("b.txt", PORTS)])
    assert survey.discovery_file == "b.txt"
