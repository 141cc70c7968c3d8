from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats.inventory import HEADER, parse

A = "host-0001/nic1,0x0002c90300a00000,0x0002c90300a00001"


def codes(*lines: str) -> list[tuple[str, int | None]]:
    """List code and line of what is wrong with an inventory."""
    _, problems = parse("\n".join((HEADER, *lines)).encode(), "inventory.csv")
    return [(one.code, one.where.line if one.where else None) for one in problems]


def test_an_inventory_is_read() -> None:
    text = f"\ufeff# site 1\n{HEADER.upper()}\n{A}\n\nleaf-001, 0002:c903:0010:0000 ,\n"
    rows, problems = parse(text.encode(), "inventory.csv")
    assert problems == ()
    assert [(row.name, row.node_id, row.port_id, row.where.line) for row in rows] == [
        ("host-0001/nic1", 0x0002C90300A00000, 0x0002C90300A00001, 3),
        ("leaf-001", 0x0002C90300100000, 0x0002C90300100000, 5),
    ]


def test_a_port_may_have_the_guid_of_its_own_adapter() -> None:
    assert codes("host-0001/nic1,0x0002c90300a00000,0x0002c90300a00000") == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("host-0002/nic1,0x0002c90300a10000", "spec.inventory-line"),
        (",0x0002c90300a10000,0x0002c90300a10001", "spec.inventory-line"),
        ("host-0002/nic1,0x0002c90300a1000,0x0002c90300a10001", "spec.inventory-line"),
        ("host-0002/nic1,0x0000000000000000,0x0002c90300a10001", "spec.inventory-line"),
        ("host-0002/nic1,0x0002c90300a10000,0xffffffffffffffff", "spec.inventory-line"),
        ("host-0001/nic1,0x0002c90300a10000,0x0002c90300a10001", "spec.inventory-name"),
        ("host-0002/nic1,0x0002c90300a10000,0x0002c90300a00001", "spec.inventory-guid"),
        ("host-0002/nic1,0x0002c90300a10000,0x0002c90300a00000", "spec.inventory-guid"),
    ],
)
def test_lines_that_are_wrong(line: str, code: str) -> None:
    assert codes(A, line) == [(code, 3)]


def test_a_file_that_is_something_else() -> None:
    for data in (b"", b"node,guid\n", b"# nothing\n", b"\x00\x01\x02"):
        rows, problems = parse(data, "x")
        assert rows == ()
        assert problems


@given(st.binary(max_size=300))
def test_any_bytes_are_rows_or_problems(data: bytes) -> None:
    rows, problems = parse(HEADER.encode() + b"\n" + data, "x")
    assert all(problem.where is not None for problem in problems)
    assert len(rows) <= data.count(b"\n") + 1
