from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.compile import CablingList, read_cabling, reading
from weftline.errors import Place, Problem

HEAD = "a_device,a_port,b_device,b_port,length_m,part,cable,label\n"
GOOD = "host-0001,nic1,leaf-001,1,3,DAC,c1,first\n"


def problems_of(text: str) -> tuple[Problem, ...]:
    found = read_cabling(text, "a.csv")
    assert isinstance(found, tuple)
    return found


def rows_of(text: str) -> CablingList:
    found = read_cabling(text, "a.csv")
    assert isinstance(found, CablingList), found
    return found


def test_a_row_is_read_with_its_place() -> None:
    (row,) = rows_of(HEAD + GOOD).rows
    assert (row.a_device, row.a_port, row.b_device, row.b_port) == ("host-0001", "nic1", "leaf-001", "1")
    assert (row.length_m, row.part, row.cable, row.label) == (3.0, "DAC", "c1", "first")
    assert (row.line, row.columns) == (2, (1, 11, 16, 25))


def test_columns_may_stand_in_any_order_and_be_left_out() -> None:
    (row,) = rows_of("b_port, B_Device ,a_device,a_port,length\r\n\r\n# a note\r\n 1 ,sw-a,host-0001,nic1,\r\n").rows
    assert (row.a_device, row.b_device, row.b_port, row.length_m, row.part) == ("host-0001", "sw-a", "1", None, "")
    assert row.line == 4
    assert row.columns == (10, 20, 5, 2)


def test_a_byte_order_mark_does_not_matter() -> None:
    assert len(rows_of("\ufeff" + HEAD + GOOD).rows) == 1


def test_fields_may_be_quoted() -> None:
    (row,) = rows_of(HEAD + 'host-0001,nic1,leaf-001,1,3,"a, b","c ""1""",\n').rows
    assert (row.part, row.cable, row.label) == ("a, b", 'c "1"', "")


@pytest.mark.parametrize(
    ("line", "code", "column", "words"),
    [
        ("host 1,nic1,leaf-001,1,3,,,", "spec.cabling-device", 1, "host-0001"),
        (",nic1,leaf-001,1,3,,,", "spec.cabling-device", 1, "no name"),
        ("host-0001,nic1,=cmd(),1,3,,,", "spec.cabling-device", 16, "=cmd()"),
        ("host-0001,nic0,leaf-001,1,3,,,", "spec.cabling-port", 11, "nic0"),
        ("host-0001,1,leaf-001,1,3,,,", "spec.cabling-port", 11, "nic1p2"),
        ("host-0001,nic1,leaf-001,nic1,3,,,", "spec.cabling-port", 25, "number"),
        ("host-0001,nic1,leaf-001,0,3,,,", "spec.cabling-port", 25, "from 1"),
        ("host-0001,nic1,leaf-001,-1,3,,,", "spec.cabling-port", 25, "from 1"),
        ("host-0001,nic1,leaf-001,99999999999999999999,3,,,", "spec.cabling-port", 25, "from 1"),
        ("leaf-001,1,leaf-001,2,3,,,", "spec.cabling-self-link", 12, "itself"),
        ("host-0001,nic1,leaf-001,1,far,,,", "spec.cabling-length", 27, "far"),
        ("host-0001,nic1,leaf-001,1,-3,,,", "spec.cabling-length", 27, "above 0"),
        ("host-0001,nic1,leaf-001,1,nan,,,", "spec.cabling-length", 27, "nan"),
        ("host-0001,nic1,leaf-001,1,1e999,,,", "spec.cabling-length", 27, "100000"),
        ("host-0001,nic1,leaf-001,1,3," + "x" * 64 + ",,", "spec.cabling-cable", 29, "63"),
        ("host-0001,nic1,leaf-001,1", "spec.cabling-row", 1, "4 fields where the header has 8"),
        ("host-0001,nic1,leaf-001,1,3,,,,,", "spec.cabling-row", 1, "10 fields"),
        ('host-0001,"nic1,leaf-001,1,3,,,', "spec.cabling-text", 11, "quotation"),
        ('host-0001,nic1,leaf-001,1,3,a"b",,', "spec.cabling-text", 30, "quotation"),
        ('host-0001,"nic1"x,leaf-001,1,3,,,', "spec.cabling-text", 11, "quotation"),
        ("host-0001,ni\x00c1,leaf-001,1,3,,,", "spec.cabling-text", 13, "character 0"),
        ("x" * 1001, "spec.cabling-size", 1001, "1000"),
    ],
)
def test_a_bad_line_is_a_problem_at_its_place(line: str, code: str, column: int, words: str) -> None:
    found = problems_of(HEAD + line + "\n" + "host-0002,nic1,leaf-002,2,3,,,\n")
    assert found[0].code == code
    assert found[0].where == Place("a.csv", 2, column)
    assert words in f"{found[0].message} {found[0].hint}"


def test_a_port_has_one_link() -> None:
    found = problems_of(HEAD + GOOD + "host-0002,nic1,leaf-001,1,,,,\nhost-0001,nic1p1,leaf-001,2,,,,\n")
    assert [(p.code, p.where) for p in found] == [
        ("spec.cabling-port-used", Place("a.csv", 3, 25)),
        ("spec.cabling-port-used", Place("a.csv", 4, 11)),
    ]
    assert "line 2" in found[0].message


def test_all_problems_come_at_once_and_are_bounded() -> None:
    found = problems_of(HEAD + "host 1,x,leaf 1,y,z,,,\n" * 5)
    assert len(found) == 15
    many = problems_of(HEAD + "host 1,x,leaf 1,y,z,,,\n" * 5000)
    assert 100 <= len(many) < 110
    assert many[-1].code == "spec.cabling-more"
    assert many[-1].severity == "note"


@pytest.mark.parametrize(
    ("head", "column", "words"),
    [
        ("a_device,a_prt,b_device,b_port", 10, "did you mean a_port?"),
        ("a_device;a_port;b_device;b_port", 1, "by commas"),
        ("a_device,a_port,b_device", 1, "missing column b_port"),
        ("a_device,a_port,b_device,b_port,a_port", 33, "stands twice"),
        ("a_device,a_port,b_device,b_port,colour", 33, "the columns are"),
        ("<html>", 1, "the columns are"),
    ],
)
def test_a_wrong_header_is_refused(head: str, column: int, words: str) -> None:
    (problem, *_) = problems_of(head + "\n" + GOOD)
    assert problem.code == "spec.cabling-header"
    assert problem.where == Place("a.csv", 1, column)
    assert words in f"{problem.message} {problem.hint}"


@pytest.mark.parametrize("text", ["", "\n\n", HEAD, HEAD.strip(), "# only notes\n"])
def test_an_empty_list_is_refused(text: str) -> None:
    assert [problem.code for problem in problems_of(text)] == ["spec.cabling-row"]


def test_binary_is_refused_at_once() -> None:
    assert [p.code for p in problems_of("\x7fELF\x02\x01\x01\x00" * 10_000)] == ["spec.cabling-size"]
    assert [p.code for p in problems_of("PK\x03\x04\n" * 10_000)] == ["spec.cabling-text"]


def test_a_huge_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_ROWS", 1)
    assert [p.code for p in problems_of(HEAD + GOOD + "host-0002,nic1,leaf-001,2,,,,\n" * 3)] == ["spec.cabling-size"]
    monkeypatch.setattr(reading, "MAX_LINES", 3)
    assert [p.code for p in problems_of(HEAD + "\n\n\n" + GOOD)] == ["spec.cabling-size"]
    monkeypatch.setattr(reading, "MAX_CHARACTERS", 10)
    assert [p.code for p in problems_of(HEAD)] == ["spec.cabling-size"]


@given(st.text(alphabet=st.sampled_from('ab,"\n\r\x00;=10-. '), max_size=60), st.booleans())
def test_any_text_gives_rows_or_problems(text: str, has_head: bool) -> None:
    found = read_cabling((HEAD if has_head else "") + text, "a.csv")
    if isinstance(found, tuple):
        assert all(isinstance(problem.where, Place) and problem.where.line for problem in found)
        assert found
    else:
        assert found.rows
