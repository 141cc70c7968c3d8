"""Adaptive-routing tables as ibdiagnet dumps them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.errors import Problem
from weftline.formats import far
from weftline.formats.lft import LftDump
from weftline.kernels.column import NIL

TEXT = """\
File version: 1

Switch 0x00aa000000000001 - "leaf-001"
AR: enabled
Groups Definition:
Group   SubGroup  WHBF  Ports
--------------------------------
0       0         0     1,2,3,4
0       1         0     4,5
1       0         0

LFT Definition:
LID     StaticPort  LidState  Group
-----------------------------------
0x0003  5           Static    0
0x0014  1           Free      0
0x0015  2           HBF       0

Switch 0x00aa000000000002
Groups Definition:
Group   SubGroup  WHBF  Ports
--------------------------------
7       0         0     9
LFT Definition:
LID     StaticPort  LidState  Group
-----------------------------------
0x0003  255         Bounded   7
"""


def read(text: str) -> LftDump:
    found = far.parse(text.encode(), "x.far")
    assert isinstance(found, LftDump), found
    return found


def rows(dump: LftDump) -> list[tuple[int, int, int, int]]:
    assert dump.entry_group is not None
    columns = dump.entry_lid, dump.entry_port, dump.entry_group, dump.entry_line
    return list(zip(*(column.tolist() for column in columns), strict=True))


def codes(found: LftDump | tuple[Problem, ...]) -> list[tuple[str, str]]:
    problems = found.problems if isinstance(found, LftDump) else found
    return [(problem.code, str(problem.where)) for problem in problems]


def test_groups_and_states() -> None:
    dump = read(TEXT)
    assert [(t.guid, t.line) for t in dump.tables] == [(0xAA000000000001, 3), (0xAA000000000002, 19)]
    assert dump.table_ptr.tolist() == [0, 3, 4]
    assert rows(dump) == [(3, 5, NIL, 15), (0x14, 1, 0, 16), (0x15, 2, 0, 17), (3, 255, 7, 27)]
    assert dump.groups == ({0: (1, 2, 3, 4, 5), 1: ()}, {7: (9,)})
    assert not dump.problems


def test_entries_are_read_alike_alone_and_together() -> None:
    alone = TEXT.replace("0x0015  2           HBF       0", "0x0015  2           hbf       0")
    assert rows(read(alone)) == rows(read(TEXT))
    assert rows(read(TEXT.replace("\n", "\r\n"))) == rows(read(TEXT))
    assert rows(read(TEXT.rstrip("\n"))) == rows(read(TEXT))


def test_a_state_that_is_not_known_has_its_group_and_is_told() -> None:
    dump = read(TEXT.replace("Static    0", "Sticky    0"))
    assert rows(dump)[0] == (3, 5, 0, 15)
    assert codes(dump) == [("artifact.adaptive-state", "x.far:15:1")]


def test_a_group_that_is_not_defined() -> None:
    dump = read(TEXT.replace("Free      0", "Free      9"))
    assert codes(dump) == [("artifact.adaptive-group", "x.far:16:1")]
    assert dump.problems[0].is_error


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("0x0014  1           Free      0", "0x0014  one         Free      0", 16),
        ("0x0014  1           Free      0", "0x0014  256         Free      0", 16),
        ("0x0014  1           Free      0", "0xC001  1           Free      0", 16),
        ("0x0014  1           Free      0", "0x0014  1           Free", 16),
        ("0x0014  1           Free      0", "0x0014  1           Free      0 0", 16),
        ("1,2,3,4", "1,2,x", 8),
        ("1,2,3,4", "1,2,255", 8),
        ("0       1         0     4,5", "0       1         0     4 5", 9),
    ],
)
def test_a_line_that_cannot_be_read(old: str, new: str, line: int) -> None:
    assert codes(read(TEXT.replace(old, new))) == [("artifact.adaptive-line", f"x.far:{line}:1")]


def test_a_second_private_table_is_a_table_of_its_own() -> None:
    groups = TEXT[TEXT.index("Groups") : TEXT.index("LFT")]
    table = TEXT[TEXT.index("LFT") : TEXT.index("\nSwitch 0x00aa000000000002")]
    text = f"Switch 0x01\nPLFT_NUM: 0\n{groups}{table}PLFT_NUM: 1\n{groups}{table}"
    assert [(t.guid, t.private) for t in read(text).tables] == [(1, 0), (1, 1)]


def test_cut_off_after_the_groups() -> None:
    assert codes(read(TEXT[: TEXT.rindex("LFT")])) == [("artifact.dump-truncated", "x.far:19:1")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "artifact.dump-empty"),
        (b"Switch 0x1\n\0", "artifact.dump-binary"),
        (b"Groups Definition:\nGroup\n----\n0 0 0 1\n", "artifact.adaptive-line"),
        (b"Switch 0x1\nLFT Definition:\n-----\n" + b"1 2\n" * 2_000, "artifact.dump-empty"),
    ],
)
def test_no_table_at_all(data: bytes, code: str) -> None:
    found = far.parse(data, "x.far")
    assert isinstance(found, tuple)
    assert code in {problem.code for problem in found}
    assert all(problem.is_error for problem in found if problem.code == code)


def test_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far, "MAX_BYTES", 10)
    assert codes(far.parse(TEXT.encode(), "x.far")) == [("artifact.dump-too-large", "x.far")]
    monkeypatch.undo()
    monkeypatch.setattr(far, "MAX_ENTRIES", 2)
    assert codes(far.parse(TEXT.encode(), "x.far"))[-1][0] == "artifact.dump-empty"


def test_it_is_recognised() -> None:
    assert far.looks_like(TEXT.encode())
    assert not far.looks_like(b"LFT Definition of terms\n")


@given(st.integers(0, len(TEXT)), st.binary(max_size=20), st.integers(0, 30))
def test_damaged_files_never_raise(at: int, junk: bytes, cut: int) -> None:
    data = TEXT.encode()
    found = far.parse(data[:at] + junk + data[at + cut :], "x.far")
    assert isinstance(found, LftDump) or any(problem.is_error for problem in found)


@given(
    st.lists(
        st.tuples(st.integers(1, 0xBFFF), st.integers(0, 255), st.sampled_from(["Static", "Free", "HBF"])), max_size=40
    )
)
def test_what_is_written_is_read(entries: list[tuple[int, int, str]]) -> None:
    head = TEXT[: TEXT.index("0x0003")]
    text = head + "".join(f"0x{lid:04x} {port} {state} 0\n" for lid, port, state in entries)
    found = [row[:3] for row in rows(read(text))]
    assert found == [(lid, port, NIL if state == "Static" else 0) for lid, port, state in entries]
