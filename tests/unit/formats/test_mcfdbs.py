"""Multicast tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats import mcfdbs

TEXT = """\

Switch 0x0002c90300100000
LID    : Out Port(s)
0xC000 : 0x001  0x01D\x20
0xC001 :\x20

osm_ucast_mgr_dump_mcast_routes: Switch 0x0002c90300100040
LID    : Out Port(s)
0xC000 : 0x000
"""


def test_tables() -> None:
    part = mcfdbs.parse(TEXT.encode(), "m")
    assert [(fact.node, fact.mlid, fact.ports, str(fact.where)) for fact in part.multicast] == [
        (0x2C90300100000, 0xC000, (1, 29), "m:4:1"),
        (0x2C90300100000, 0xC001, (), "m:5:1"),
        (0x2C90300100040, 0xC000, (0,), "m:9:1"),
    ]
    assert not part.problems
    assert mcfdbs.looks_like(TEXT.encode())


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("0x0001 : 0x001", "is no multicast LID"),
        ("0xC000 : 0x0FF", "there is no port 255"),
        ("0xC000 : one", "is no entry"),
        ("0xC000 : 0x001\n0xC000 : 0x002", "stands on line 4 already"),
    ],
)
def test_a_line_that_cannot_be_read(new: str, words: str) -> None:
    part = mcfdbs.parse(TEXT.replace("0xC000 : 0x001  0x01D ", new, 1).encode(), "m")
    assert [problem.code for problem in part.problems] == ["artifact.multicast-line"]
    assert words in part.problems[0].message


def test_an_entry_of_nobody() -> None:
    part = mcfdbs.parse(b"0xC000 : 0x001\n" * 3_000, "m")
    assert "belongs to no switch" in part.problems[0].message
    assert not part.multicast
    assert len(part.problems) < 200
    assert mcfdbs.parse(b"\0", "m").problems[0].code == "artifact.dump-binary"


@given(st.integers(0, len(TEXT)), st.binary(max_size=20), st.integers(0, 30))
def test_damaged_files_never_raise(at: int, junk: bytes, cut: int) -> None:
    data = TEXT.encode()
    part = mcfdbs.parse(data[:at] + junk + data[at + cut :], "m")
    assert all(0xC000 <= fact.mlid <= 0xFFFE for fact in part.multicast)
