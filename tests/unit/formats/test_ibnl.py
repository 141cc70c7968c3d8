"""IBNL files: systems, boards, chips and wires, and every way to get them wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.errors import Problem
from weftline.formats.ibnl import Netlist, Wire, parse

DUO = """\
# two chips on one board each
SYSTEM CARD,CARD:4x,CARD:12x

NODE SW 8 CHIP77 U1
   1 -> P1
   2 -4x-5G-> P2
   7 -10G-> U2 3

NODE SW 8 CHIP77 U2
   3 -10G-> U1 7
   4 -12x-> Q4

TOPSYSTEM Duo,DUO-2

card1/U1=isSpecial

SUBSYSTEM CARD card1
   P1 -> card2 P1
   P2 -> L1/P2

SUBSYSTEM CARD card2
   P1 -> card1 P1
   P2 -> L2/P2
"""


def read(text: str) -> Netlist:
    found = parse(text.encode(), "duo.ibnl")
    assert isinstance(found, Netlist), found
    return found


def test_a_system_is_read() -> None:
    found = read(DUO)
    assert found.names == ("Duo", "DUO-2")
    assert [(part.name, part.master, part.kind) for part in found.top.parts] == [
        ("card1", "CARD", "board"), ("card2", "CARD", "board"),
    ]  # fmt: skip
    (card,) = found.boards
    assert card.names == ("CARD", "CARD:4x", "CARD:12x")
    first, second = card.parts
    assert (first.name, first.kind, first.port_count) == ("U1", "switch", 8)
    assert first.wires == (
        Wire("1", "", "P1", 0, ""), Wire("2", "", "P2", 4, "DDR"), Wire("7", "U2", "3", 0, "QDR"),
    )  # fmt: skip
    assert second.wires[1] == Wire("4", "", "Q4", 12, "")
    assert found.top.parts[0].wires[0] == Wire("P1", "card2", "P1", 0, "")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("   1 -> P1", "   9 -> P1", 5, "no port 9"),
        ("   1 -> P1", "   1 => P1", 5, "is no line of such a file"),
        ("NODE SW 8 CHIP77 U2", "NODE SW 8 CHIP77 U1", 9, "two parts of CARD are called U1"),
        ("NODE SW 8 CHIP77 U2", "NODE SW 900 CHIP77 U2", 9, "900 ports"),
        ("TOPSYSTEM Duo,DUO-2", "SYSTEM Duo", 1, "0 TOPSYSTEM"),
        ("TOPSYSTEM Duo,DUO-2", "TOPSYSTEM a b c", 13, "no list of names"),
        ("SYSTEM CARD,CARD:4x,CARD:12x", "", 4, "before the first SYSTEM"),
        ("card1/U1=isSpecial", "   1 -> P4", 15, "belongs to no chip"),
        ("card1/U1=isSpecial", "x" * 5000, 15, "characters"),
    ],
)
def test_a_broken_line_refuses_the_file(old: str, new: str, line: int, words: str) -> None:
    found = parse(DUO.replace(old, new, 1).encode(), "duo.ibnl")
    assert isinstance(found, tuple)
    assert found[0].code == "artifact.netlist"
    assert words in found[0].message
    assert found[0].where is not None
    assert found[0].where.line == line


def test_what_is_no_such_file_is_given_up_soon() -> None:
    found = parse(b"nonsense here\n" * 100_000, "x")
    assert isinstance(found, tuple)
    assert len(found) < 30
    binary = parse(b"TOPSYSTEM\0", "x")
    assert isinstance(binary, tuple)
    assert binary[0].code == "artifact.dump-binary"


@given(st.lists(st.sampled_from([*DUO.splitlines(), "NODE", "SUBSYSTEM A a", "1 -> ->", "TOPSYSTEM", "\t", "= ="])))
def test_shuffled_lines_never_raise(lines: list[str]) -> None:
    found = parse("\n".join(lines).encode(), "x")
    assert isinstance(found, Netlist) or all(isinstance(problem, Problem) for problem in found)


@given(st.binary(max_size=300))
def test_bytes_never_raise(data: bytes) -> None:
    parse(DUO.encode()[: len(data)] + data, "x")
