"""Dumps of unicast forwarding tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats import lft
from weftline.formats.lft import LftDump, parse

TOOL = """\
Unicast lids [0x0-0x3] of switch Lid 2 guid 0x0002c90300100000 (leaf-001):
  Lid  Out   Destination
       Port     Info
0x0001 001 : (Channel Adapter portguid 0x0002c90300800001: 'host-0001 HCA-1')
0x0002 000 : (Switch portguid 0x0002c90300100000: 'leaf-001')
0x0003 255 : (path #0 - illegal port)
3 valid lids dumped
Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0002c90300100000 (leaf-001):
            0                   1
     Ports: 0 1 2 3 4 5 6 7 8 9 0
 MLid
0xc000        x
1 valid mlids dumped
Unicast lids [0x0-0x3] of switch DR path slid 0; dlid 0; 0,1 guid 0x0002c90300100040 (leaf-002):
0x0001 007
1 valid lids dumped
"""


def read(text: str) -> LftDump:
    found = parse(text.encode(), "lft.txt")
    assert isinstance(found, LftDump), found
    return found


def test_a_mark_of_byte_order_is_no_text() -> None:
    assert entries(read("\ufeff" + TOOL)) == entries(read(TOOL))


def entries(dump: LftDump) -> list[tuple[int, int, int]]:
    return list(zip(dump.entry_lid.tolist(), dump.entry_port.tolist(), dump.entry_line.tolist(), strict=True))


def test_reads_the_output_of_the_tools() -> None:
    dump = read(TOOL)
    assert [(table.guid, table.lid, table.name, table.line) for table in dump.tables] == [
        (0x2C90300100000, 2, "leaf-001", 1),
        (0x2C90300100040, 0, "leaf-002", 14),
    ]
    assert dump.table_ptr.tolist() == [0, 3, 4]
    assert entries(dump) == [(1, 1, 4), (2, 0, 5), (3, 255, 6), (1, 7, 15)]
    assert not dump.problems


def test_reads_what_opensm_writes() -> None:
    text = (
        "Unicast lids [0-2] of switch Lid 2 guid 0x0002c90300100000 ('leaf-001'):\n"
        "0x0001 001 # Channel Adapter portguid 0x0002c90300800001: 'host-0001 HCA-1'\n"
        "# a comment\n"
        "0x0002 000 # Switch portguid 0x0002c90300100000: 'leaf-001'\n"
        "3 lids dumped\n"
    )
    dump = read(text)
    assert (dump.tables[0].name, entries(dump), dump.problems) == ("leaf-001", [(1, 1, 2), (2, 0, 4)], ())


def test_reads_the_other_table_of_opensm() -> None:
    text = (
        "dump_ucast_routes: Switch 0x0002c90300100000\nLID    : Port : Hops : Optimal\n"
        "0x0001 : 001  : 01   : yes\n0x000A : UNREACHABLE\n0x000B : 017  : 02   : No 1 hop path possible\n"
    )
    assert entries(read(text)) == [(1, 1, 3), (11, 17, 5)]


def test_entries_in_odd_columns_keep_their_order() -> None:
    text = "Unicast lids [0-4] of switch guid 0x1 (a):\n0x0001 001\n 0x2 2\n0x0003 003\r\n0x4 4"
    assert entries(read(text)) == [(1, 1, 2), (2, 2, 3), (3, 3, 4), (4, 4, 5)]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("0x0001 256", "2:1"),
        ("0x0001 abc", "2:1"),
        (" 0x10001 001", "2:2"),
        ("0x0001", "2:1"),
        ("words", "2:1"),
        ("Unicast lids [0-4] of switch", "2:1"),
    ],
)
def test_a_refused_line_has_its_place(line: str, place: str) -> None:
    dump = read(f"Unicast lids [0-4] of switch guid 0x1 (a):\n{line}\n0x0003 003\n")
    assert [(item.code, str(item.where)) for item in dump.problems] == [("artifact.table-line", f"lft.txt:{place}")]
    assert entries(dump) == [(3, 3, 3)]


def test_entries_before_any_switch() -> None:
    dump = read("0x0001 001\n0x0002 001\n" + TOOL)
    assert [(item.code, str(item.where)) for item in dump.problems] == [("artifact.table-line", "lft.txt:1:1")]
    assert dump.table_ptr.tolist() == [0, 3, 4]


def test_a_table_that_is_cut_off() -> None:
    lost = read(TOOL.replace("0x0001 001 : (Channel Adapter portguid 0x0002c90300800001: 'host-0001 HCA-1')\n", ""))
    assert [(item.code, str(item.where)) for item in lost.problems] == [("artifact.dump-truncated", "lft.txt:1:1")]
    cut = read(TOOL.removesuffix("1 valid lids dumped\n"))
    assert [(item.code, str(item.where)) for item in cut.problems] == [("artifact.dump-truncated", "lft.txt:14:1")]


def test_what_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    for data, code in (
        (b"", "artifact.dump-empty"),
        (b"hello\n", "artifact.dump-empty"),
        (b"a\0", "artifact.dump-binary"),
    ):
        found = parse(data, "lft.txt")
        assert isinstance(found, tuple)
        assert found[-1].code == code or found[0].code == code
    monkeypatch.setattr(lft, "MAX_BYTES", 10)
    found = parse(TOOL.encode(), "lft.txt")
    assert isinstance(found, tuple)
    assert found[0].code == "artifact.dump-too-large"


def test_gives_up_on_a_file_of_broken_lines() -> None:
    found = parse(b"Unicast lids [0-4] of switch guid 0x1 (a):\n" + b"junk\n" * 5_000, "lft.txt")
    assert isinstance(found, tuple)
    assert "artifact.dump-empty" in {item.code for item in found}
    assert "artifact.dump-repeated" in {item.code for item in found}


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(TOOL)
    monkeypatch.setattr(lft, "_CHUNK", 120)
    assert entries(read(TOOL)) == entries(whole)


def test_a_line_longer_than_a_chunk_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lft, "_CHUNK", 50)
    assert isinstance(parse(TOOL.encode(), "lft.txt"), tuple)


@given(st.integers(0, len(TOOL) - 1), st.integers(0, 60), st.text(max_size=6))
def test_never_raises_on_a_damaged_dump(start: int, length: int, words: str) -> None:
    parse((TOOL[:start] + words + TOOL[start + length :]).encode("utf-8", "surrogatepass"), "x")


@given(st.lists(st.tuples(st.integers(0, 65_535), st.integers(0, 255)), max_size=30))
def test_columns_equal_plain_parsing(rows: list[tuple[int, int]]) -> None:
    text = "Unicast lids of switch guid 0x1 (a):\n" + "".join(f"0x{lid:04x} {port:03d}\n" for lid, port in rows)
    dump = read(text)
    assert list(zip(dump.entry_lid.tolist(), dump.entry_port.tolist(), strict=True)) == rows


def test_tells_its_form() -> None:
    assert lft.looks_like(TOOL.encode())
    assert not lft.looks_like(b"Switch 8\n")


FDBS = """\
osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c90300100000
PLFT_NUM: 0
LID    : Port : Hops : Optimal
0x0001 : 001  : 00   : yes
0x0002 : UNREACHABLE
0x000A : 255  : 00   : yes
0x000B : 004  : HOPS UNKNOWN
0x000C : 005  : 02   : No 2 hop path possible via port 5!
0x000D : No path
PLFT_NUM: 1
LID    : Port : Hops : Optimal
0x0001 : 002  : 00   : yes
dump_ucast_routes: Switch 0x0002c90300100040
LID    : Port : Hops : Optimal
0x0001 : 000  : 00   : yes
"""


def test_reads_fdbs_of_both_writers_and_keeps_private_tables_apart() -> None:
    dump = read(FDBS)
    assert [(table.guid, table.private, table.line) for table in dump.tables] == [
        (0x2C90300100000, 0, 1),
        (0x2C90300100000, 1, 10),
        (0x2C90300100040, 0, 13),
    ]
    assert entries(dump) == [(1, 1, 4), (10, 255, 6), (11, 4, 7), (12, 5, 8), (1, 2, 12), (1, 0, 15)]
    assert dump.table_ptr.tolist() == [0, 4, 5, 6]
    assert not dump.problems


def test_reads_fdbs_without_a_writer() -> None:
    text = "Switch 0x0002c90300100000\nLID    : Port : Hops : Optimal\n0x0001 : 003  : 01   : yes"
    assert lft.looks_like(text.encode())
    assert entries(read(text)) == [(1, 3, 3)]
    assert not lft.looks_like(b"Switch 0x0002c90300100000\nLID    : Out Port(s)\n")


def test_damaged_fdbs() -> None:
    dump = read(FDBS.replace("0x0001 : 001  : 00", "0x0001 : 0O1  : 00"))
    assert [(problem.code, str(problem.where)) for problem in dump.problems] == [("artifact.table-line", "lft.txt:4:1")]
    for at in range(0, len(FDBS), 3):
        parse(FDBS[:at].encode(), "lft.txt")
