"""Tables of lanes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats import slvl
from weftline.kernels.column import NIL
from weftline.model.survey import SurveyPart

EVEN = "0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7"
SWAP = "1  0  2  3  4  5  6  7  0  1  2  3  4  5  6  7"
TEXT = f"""\
Switch 0x0002c90300100000, base LID 1, "leaf: one"
#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
#--------------------------------------------------------
0   1   : {EVEN}\x20
1   1   : {EVEN}\x20
0   2   : {SWAP}\x20
1   2   : {SWAP}\x20
#--------------------------------------------------------

Channel Adapter 0x0002c90300800001, base LID 2, "host-0001 HCA-1"
#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
#--------------------------------------------------------
0   0   : {EVEN}\x20
#--------------------------------------------------------
"""
EVEN_LANES, SWAP_LANES = (tuple(int(word) for word in text.split()) for text in (EVEN, SWAP))


def facts(part: SurveyPart) -> list[tuple[int, int, int, tuple[int, ...], str]]:
    return [(fact.node, fact.port_in, fact.port_out, fact.lanes, str(fact.where)) for fact in part.lanes]


def read(text: str) -> SurveyPart:
    return slvl.parse(text.encode(), "sl2vl")


def test_what_opensm_dumps() -> None:
    part = read(TEXT)
    assert facts(part) == [
        (0x2C90300100000, NIL, 1, EVEN_LANES, "sl2vl:4:1"),
        (0x2C90300100000, NIL, 2, SWAP_LANES, "sl2vl:6:1"),
        (0x2C90300800001, NIL, NIL, EVEN_LANES, "sl2vl:13:1"),
    ]
    assert not part.problems


def test_a_list_that_is_not_whole_keeps_its_pairs() -> None:
    part = read(TEXT.replace(f"1   2   : {SWAP}\x20\n", ""))
    assert [fact[1:3] for fact in facts(part)] == [(0, 1), (1, 1), (0, 2), (NIL, NIL)]


def test_rows_that_each_name_their_node() -> None:
    lanes = " ".join(f"0x{lane:x}" for lane in SWAP_LANES)
    text = f"# SL2VL\n0x0002c90300100000 1 2 {EVEN}\n0x0002c90300100000 2 1 {lanes}\n"
    assert slvl.looks_like(text.encode())
    assert [fact[:4] for fact in facts(read(text))] == [
        (0x2C90300100000, 1, 2, EVEN_LANES),
        (0x2C90300100000, 2, 1, SWAP_LANES),
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (f"0   2   : {SWAP}", "0   2   : 0 1 2", "there are 3 lanes"),
        (f"0   2   : {SWAP}", f"0   2   : {SWAP[:-1]}16", "no lanes from 0 to 15"),
        (f"0   2   : {SWAP}", f"0   2   : {SWAP[:-1]}x", "are no lanes"),
        (f"0   2   : {SWAP}", f"0   255 : {SWAP}", "there is no port 255"),
        (f"0   2   : {SWAP}", f"0   1   : {SWAP}", "have other lanes on line 4"),
        (f"0   2   : {SWAP}", "0   2", "is no row of lanes"),
        (f"0   2   : {SWAP}", "something else", "is no row of lanes"),
    ],
)
def test_a_line_that_cannot_be_read(old: str, new: str, words: str) -> None:
    problems = read(TEXT.replace(old, new)).problems
    assert [(problem.code, str(problem.where)) for problem in problems] == [("artifact.lanes-line", "sl2vl:6:1")]
    assert words in problems[0].message
    assert problems[0].is_error


def test_rows_before_the_first_node() -> None:
    part = read("login: admin\n" + TEXT[TEXT.index("0   1") :])
    assert [problem.code for problem in part.problems][:2] == ["artifact.terminal-text", "artifact.lanes-line"]


def test_nothing_to_read() -> None:
    assert [problem.code for problem in read("").problems] == ["artifact.dump-empty"]
    assert [problem.code for problem in read("a\0b").problems] == ["artifact.dump-binary"]
    assert len(read("Switch 0x0001\n" + "1 x\n" * 5_000).problems) < 200


@given(st.integers(0, len(TEXT)), st.binary(max_size=20), st.integers(0, 30))
def test_damaged_files_never_raise(at: int, junk: bytes, cut: int) -> None:
    data = TEXT.encode()
    part = slvl.parse(data[:at] + junk + data[at + cut :], "sl2vl")
    assert all(len(fact.lanes) == 16 and max(fact.lanes) <= 15 for fact in part.lanes)
