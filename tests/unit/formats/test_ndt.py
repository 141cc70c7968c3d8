"""Cabling plans as CSV, and every way to get one wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.errors import Place
from weftline.formats.ndt import looks_like, parse
from weftline.model.survey import PlannedCable

BRIEF = """\
#StartDevice,StartPort,EndDevice,EndPort,LinkType
host-a,host-a ibp11s0f0,LEAF-1,Port 1, Data
LEAF-1,Port 33,CORE,Blade 16_Port 2/20,Data
"""
FULL = """\
,rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndLocation,U height,State,Domain
,"R, 1",U1,leaf-1,Port 1,x,spine-1,Port 2,y,U2,Active,In-Scope
,R1,U1,leaf-1,Port 3,x,spine-1,Port 4,y,U2,Disabled,In-Scope
,R1,U1,leaf-1,Port 5,x,spine-1,Port 6,y,U2,Active,Boundary

"""


def test_a_plan_is_read() -> None:
    part = parse(BRIEF.encode(), "plan.ndt")
    assert not part.problems
    assert part.plan == (
        PlannedCable("host-a", "host-a ibp11s0f0", "LEAF-1", "Port 1", Place("plan.ndt", 2)),
        PlannedCable("LEAF-1", "Port 33", "CORE", "Blade 16_Port 2/20", Place("plan.ndt", 3)),
    )
    assert looks_like(BRIEF.encode())
    assert parse(b"\xef\xbb\xbf" + BRIEF.replace("\n", "\r\n").encode(), "plan.ndt").plan == part.plan


def test_columns_are_found_by_name_and_states_count() -> None:
    part = parse(FULL.encode(), "plan.csv")
    assert not part.problems
    assert [(c.a_port, c.b_port, c.is_expected) for c in part.plan] == [
        ("Port 1", "Port 2", True), ("Port 3", "Port 4", False), ("Port 5", "Port 6", False),
    ]  # fmt: skip


def test_our_own_list_is_a_plan() -> None:
    text = "a_device,a_port,b_device,b_port,length_m\nhost-0001,nic1,leaf-001,1,5\n"
    assert looks_like(text.encode())
    assert parse(text.encode(), "x").plan[0].a_port == "nic1"


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "column"),
    [
        ("StartPort,", "", "artifact.plan-header", 1, 1),
        ("LinkType", "EndPort", "artifact.plan-header", 1, 42),
        ("Port 1,", "abra,", "artifact.plan-port", 2, 32),
        ("host-a ibp11s0f0", "cadabra", "artifact.plan-port", 2, 8),
        (",LEAF-1,Port 1, Data", "", "artifact.plan-row", 2, 1),
        ("LEAF-1,Port 1,", ",Port 1,", "artifact.plan-row", 2, 25),
        ("LEAF-1,Port 1,", f"{'x' * 200},Port 1,", "artifact.plan-row", 2, 25),
        ("LEAF-1,Port 1,", '"LEAF-1,Port 1,', "artifact.plan-row", 2, 25),
        ("LEAF-1,Port 1,", "host-a,host-a ibp11s0f0,", "artifact.plan-row", 2, 32),
        ("host-a,", f"{'x' * 5000},", "artifact.plan-row", 2, 1),
        ("LEAF-1,Port 33", "leaf-1,PORT 1", "artifact.plan-twice", 3, 8),
    ],
)
def test_what_is_wrong_has_a_place(old: str, new: str, code: str, line: int, column: int) -> None:
    part = parse(BRIEF.replace(old, new, 1).encode(), "plan.ndt")
    assert [(problem.code, problem.where) for problem in part.problems] == [(code, Place("plan.ndt", line, column))]
    assert part.problems[0].is_error == (code != "artifact.plan-twice")


def test_what_is_no_plan() -> None:
    for data in (b"cyber sport > usual sport", b"", b"\n\n", b"a,b,c\n1,2,3\n"):
        assert not looks_like(data)
        part = parse(data, "x")
        assert not part.plan
        assert any(problem.is_error for problem in part.problems)
    assert parse(b"a\0b", "x").problems[0].code == "artifact.dump-binary"
    only = parse(BRIEF.splitlines()[0].encode(), "x")
    assert [problem.code for problem in only.problems] == ["artifact.plan-row"]


def test_reading_stops_where_nothing_makes_sense() -> None:
    part = parse((BRIEF.splitlines()[0] + "\n" + "a,b\n" * 100_000).encode(), "x")
    assert len(part.problems) < 200
    assert any(
        "reading stopped" in problem.message or problem.code == "artifact.dump-repeated" for problem in part.problems
    )


CELLS = ("host-a", "Port 1", "Blade 1_Port 1/1", '"', '"x,y"', "", " ", "#", "nic1", "StartDevice", "EndDevice")


@given(st.lists(st.lists(st.sampled_from(CELLS), max_size=7).map(",".join), max_size=12))
def test_any_rows_give_cables_or_problems(rows: list[str]) -> None:
    text = "\n".join([BRIEF.splitlines()[0], *rows])
    part = parse(text.encode(), "x")
    assert part.plan or part.problems
    for cable in part.plan:
        assert all((cable.a_device, cable.a_port, cable.b_device, cable.b_port))


@given(st.binary(max_size=200))
def test_bytes_never_raise(data: bytes) -> None:
    looks_like(data)
    parse(BRIEF.encode()[: len(data)] + data, "x")
