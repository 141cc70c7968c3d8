from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats import sonic_show
from weftline.formats.sonic_show import looks_like, read_count, read_show

COUNTERS = b"""\
Last cached time was 2026-11-30 10:00:00
  Port Rx    PFC0    PFC3
---------  ------  ------
Ethernet0       0   1,200
Ethernet4     N/A      17

  Port Tx    PFC0    PFC3
---------  ------  ------
Ethernet0       0       5
"""
HEADROOM = b"""\
admin@leaf-003:~$ show priority-group watermark headroom
Ingress headroom per PG:
     Port    PG0    PG3
---------  -----  ------
Ethernet0      0  104448

admin@leaf-003:~$ show headroom-pool watermark
Headroom pool maximum occupancy:
                 Pool    Bytes
---------------------  -------
ingress_lossless_pool    98304
"""
BUFFERS = b"""\
Lossless traffic pattern:
--------------------  -
default_dynamic_th    0
over_subscribe_ratio  2
--------------------  -

Pool: lossless
----  --------
mode  dynamic
size  17170432
xoff  2097152
----  --------

Profile: **pg_lossless**
----  ---------------
xon   19456
pool  [BUFFER_POOL:lossless]
----  ---------------
"""
HISTORY = b"""\
     Port    Priority    RX Pause Transitions    Recent RX Pause Timestamp
---------  ----------  ----------------------  ---------------------------
Ethernet0        PFC0                       0                          N/A
Ethernet0        PFC3                      12         11/30/2026, 10:00:00

Ethernet4        PFC3                       1         11/30/2026, 10:00:00
"""


def test_two_tables_of_counters_with_their_lines() -> None:
    text = read_show(COUNTERS, "a.txt")
    assert text.problems == ()
    assert [(table.columns[0], table.line, len(table.rows)) for table in text.tables] == [
        ("Port Rx", 2, 2),
        ("Port Tx", 7, 1),
    ]
    assert text.tables[0].rows[0].cells == ("Ethernet0", "0", "1,200")
    assert [row.line for row in text.tables[0].rows] == [4, 5]


def test_a_prompt_names_the_switch_and_a_line_above_names_the_table() -> None:
    text = read_show(HEADROOM, "a.txt")
    assert [(table.host, table.title) for table in text.tables] == [
        ("leaf-003", "Ingress headroom per PG"),
        ("leaf-003", "Headroom pool maximum occupancy"),
    ]


def test_blocks_of_two_columns() -> None:
    text = read_show(BUFFERS, "a.txt")
    assert text.problems == ()
    assert [(block.kind, block.name, block.line) for block in text.blocks] == [
        ("Lossless traffic pattern", "", 1),
        ("Pool", "lossless", 7),
        ("Profile", "pg_lossless", 14),
    ]
    assert text.blocks[1].fields["size"] == ("17170432", 10)
    assert text.blocks[2].fields["pool"] == ("[BUFFER_POOL:lossless]", 17)


def test_a_blank_line_does_not_end_a_table() -> None:
    (table,) = read_show(HISTORY, "a.txt").tables
    assert [row.line for row in table.rows] == [3, 4, 6]
    assert table.rows[1].cells[-1] == "11/30/2026, 10:00:00"


def test_an_empty_cell_is_found_by_the_dashes() -> None:
    text = read_show(
        b"Interface    Alias    Oper    Admin\n"
        b"---------  -------  ------  -------\n"
        b"Ethernet0             down       up\n",
        "a.txt",
    )
    assert text.problems == ()
    assert text.tables[0].rows[0].cells == ("Ethernet0", "", "down", "up")


def test_how_often_the_watchdog_looks_stands_above_its_table() -> None:
    text = read_show(
        b"Changed polling interval to 600ms\n     PORT    ACTION    DETECTION TIME\n---------  --------  ------------\n"
        b"Ethernet0      drop           600\n",
        "a.txt",
    )
    assert [(poll.milliseconds, poll.line) for poll in text.polls] == [(600, 1)]
    assert text.tables[0].rows[0].cells == ("Ethernet0", "drop", "600")


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (COUNTERS + b"Ethernet8  1  2  3  4\n", "artifact.unreadable-line", 10),
        (b"  Port Rx    PFC0\n---------\nEthernet0  1\n", "artifact.no-table", None),
        (b"  a    b\n---------  --  --\nEthernet0  1\n", "artifact.unreadable-line", 1),
        (b"Pool: x\n----  ----\nmode\n----  ----\n", "artifact.unreadable-line", 3),
        (b"Pool: x\n----  ----\nmode  a\nmode  b\n----  ----\n", "artifact.said-twice", 4),
        (b"", "artifact.no-table", None),
        (b"hello\n", "artifact.no-table", None),
        (b"Port Rx\x00\n", "artifact.dump-binary", 1),
        (b"\n" * (sonic_show.MAX_LINES + 1), "artifact.dump-too-large", None),
        (b"x" * (sonic_show.MAX_BYTES + 1), "artifact.dump-too-large", None),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(content: bytes, code: str, line: int | None) -> None:
    problems = read_show(content, "a.txt").problems
    assert (code, line) in [(problem.code, problem.where and problem.where.line) for problem in problems]


def test_counts() -> None:
    assert [read_count(text) for text in ("0", " 17 ", "1,200", "12,000,000")] == [0, 17, 1200, 12000000]
    assert [read_count(text) for text in ("N/A", "", "-1", "1,2", "1.5", "\u0663", "9" * 30)] == [None] * 7


def test_texts_are_recognised() -> None:
    assert all(looks_like(text) for text in (COUNTERS, HEADROOM, BUFFERS, HISTORY))
    assert looks_like(b"root@leaf-003:/home/admin# show pfc counters\n")
    assert not any(looks_like(text) for text in (b"", b"{}", b"router bgp 65001\n", b"a\n---\nb\n", b"\x00\xff"))


@given(st.binary(max_size=400) | st.text(alphabet="-  \n:PortRx0,/$@a#\t", max_size=300).map(str.encode))
def test_no_bytes_raise(content: bytes) -> None:
    text = read_show(content, "a.txt")
    assert text.tables or text.blocks or text.polls or text.problems


@given(st.data())
def test_no_damage_raises(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from([COUNTERS, HEADROOM, BUFFERS, HISTORY])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        piece = data.draw(st.binary(max_size=4) | st.sampled_from([b"\n", b"  ", b"----", b"\n\n", b"Pool: "]))
        content[at : at + data.draw(st.integers(0, 30))] = piece
    text = read_show(bytes(content), "a.txt")
    for table in text.tables:
        assert all(len(row.cells) == len(table.columns) for row in table.rows)
