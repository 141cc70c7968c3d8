"""IBDM topology files: systems and cables, with the place of what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.errors import Place
from weftline.formats.ibdm_topo import Topology, looks_like, parse, parse_plan
from weftline.model.survey import PlannedCable

SMALL = """\
# a leaf and two hosts
Leaf8 leaf-1
   P1 -> Card h-1 P1
   P2 -4x-> Card h-2 P1
\tP8 -4X-25G-> Big spine L1/P3

Big spine CFG: leaf2=R,leaf3=12x
   L1/P3 -> Leaf8 leaf-1 P8
"""


def read(text: str) -> Topology:
    found = parse(text.encode(), "plan.topo")
    assert isinstance(found, Topology), found
    return found


def test_systems_and_cables_are_read() -> None:
    found = read(SMALL)
    assert not found.problems
    assert {system.name: (system.type, system.line) for system in found.systems} == {
        "leaf-1": ("Leaf8", 2), "h-1": ("Card", 3), "h-2": ("Card", 4), "spine": ("Big", 7),
    }  # fmt: skip
    assert found.systems[-1].modifiers == (("leaf2", "R"), ("leaf3", "12x"))
    cables = [(c.a_plug, c.b_system, c.b_plug, c.width, c.speed, c.line) for c in found.cables]
    assert cables == [
        ("P1", "h-1", "P1", 0, "", 3), ("P2", "h-2", "P1", 4, "", 4), ("P8", "spine", "L1/P3", 4, "EDR", 5),
    ]  # fmt: skip
    assert looks_like(SMALL.encode())
    assert read(SMALL.replace("\n", "\r\n")).cables == found.cables


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "column"),
    [
        ("Card h-2 P1", "Card h-1 P1", "artifact.asymmetric-cable", 4, 22),
        ("   P2 -4x->", "   P1 -4x->", "artifact.asymmetric-cable", 4, 4),
        ("Card h-2 P1", "Leaf8 leaf-1 P2", "artifact.asymmetric-cable", 4, 4),
        ("Card h-2", "Other h-1", "artifact.system-type", 4, 1),
        ("-4x-> Card", "-4x- Card", "artifact.dump-line", 4, 1),
        ("leaf2=R", "leaf2", "artifact.dump-line", 7, 1),
        ("Leaf8 leaf-1\n   P1", "\n   P1", "artifact.stray-port", 3, 4),
        ("# a leaf", "x" * 5000, "artifact.dump-line", 1, 1),
    ],
)
def test_what_is_wrong_has_a_place(old: str, new: str, code: str, line: int, column: int) -> None:
    found = read(SMALL.replace(old, new, 1))
    first = found.problems[0]
    assert first.is_error
    assert (first.code, first.where) == (code, Place("plan.topo", line, column))


def test_a_file_without_a_cable_is_refused() -> None:
    for text in ("", "Leaf8 leaf-1\n", "# nothing\n", "x\n" * 5000):
        found = parse(text.encode(), "x")
        assert isinstance(found, tuple)
        assert "artifact.dump-empty" in {problem.code for problem in found}
        assert not looks_like(text.encode())


def test_a_dump_of_ibnetdiscover_looks_otherwise() -> None:
    assert not looks_like(b'Switch\t8 "S-0002c90000000001"\t\t# "a b" enhanced port 0 lid 1 lmc 0\n[1]\t"H-1"[1]\n')


def test_it_is_a_plan() -> None:
    part = parse_plan(SMALL.encode(), "plan.topo")
    assert part.plan[2] == PlannedCable("leaf-1", "P8", "spine", "L1/P3", Place("plan.topo", 5, 2))
    assert parse_plan(b"", "x").problems


@given(
    st.lists(st.sampled_from([*SMALL.splitlines(), "A b", "A b CFG:", "P1 -> ", "P1 -> A b P1", "\t", "->", "a b c d"]))
)
def test_shuffled_lines_never_raise(lines: list[str]) -> None:
    found = parse("\n".join(lines).encode(), "x")
    if isinstance(found, Topology):
        ends = [end for c in found.cables for end in ((c.a_system, c.a_plug), (c.b_system, c.b_plug))]
        assert len(ends) == len(set(ends))
        assert {name for name, _ in ends} <= {system.name for system in found.systems}


@given(st.binary(max_size=300))
def test_bytes_never_raise(data: bytes) -> None:
    parse(SMALL.encode()[: len(data)] + data, "x")
    looks_like(data)
