"""The port list of ``ibnetdiscover -p``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats import portlist
from weftline.formats.portlist import parse
from weftline.model.discovery import Discovery

SMALL = """\
CA     1  1 0x0002c90300800001 4x HDR - SW     3  1 0x0002c90300100000 ( 'host-0001 HCA-1' - 'leaf-001' )
CA     2  2 0x0002c90300800002 4x HDR - SW     3  2 0x0002c90300100000 ( 'host-0001 HCA-1' - 'leaf-001' )
SW     3  3 0x0002c90300100000 4x ???                                    'leaf-001'
SW     3  2 0x0002c90300100000 4x HDR - CA     2  2 0x0002c90300800002 ( 'leaf-001' - 'host-0001 HCA-1' )
SW     3  1 0x0002c90300100000 4x HDR - CA     1  1 0x0002c90300800001 ( 'leaf-001' - 'host-0001 HCA-1' )
"""


def read(text: str) -> Discovery:
    found = parse(text.encode(), "ports.txt")
    assert isinstance(found, Discovery), found
    return found


def test_ports_of_one_adapter_are_one_node() -> None:
    adapter, switch = read(SMALL).nodes
    assert (adapter.kind, adapter.key, adapter.guid, adapter.port_count) == (
        "ca", "H-0002c90300800000", 0x2C90300800000, 2,
    )  # fmt: skip
    assert [(port.number, port.lid, port.guid, port.peer, port.peer_number) for port in adapter.ports] == [
        (1, 1, 0x2C90300800001, "S-0002c90300100000", 1),
        (2, 2, 0x2C90300800002, "S-0002c90300100000", 2),
    ]
    assert (switch.kind, switch.description, switch.lid, switch.port_count) == ("switch", "leaf-001", 3, 3)
    assert [port.peer for port in switch.ports] == ["", "H-0002c90300800000", "H-0002c90300800000"]
    assert (switch.ports[0].width, switch.ports[0].speed) == (4, "")


def test_an_adapter_of_one_port_is_named_by_it() -> None:
    lines = SMALL.splitlines()
    adapter = read("\n".join([lines[0], lines[4]])).nodes[0]
    assert (adapter.key, adapter.guid) == ("H-0002c90300800001", 0x2C90300800001)


@pytest.mark.parametrize("words", ["it's", "a - b", " x ", "a;b#c:d", "(x)"])
def test_descriptions_may_hold_anything(words: str) -> None:
    found = read(SMALL.replace("leaf-001", words))
    assert not found.problems
    assert found.nodes[1].description == words.strip()


def test_a_description_without_quotes() -> None:
    found = read("SW   479 22 0x0002c9020040f161 4x QDR      Infiniscale-IV Mellanox Technologies\n")
    assert found.nodes[0].description == "Infiniscale-IV Mellanox Technologies"


@pytest.mark.parametrize(
    ("line", "place", "code"),
    [
        ("CA  x 1 0x1", "3:5", "artifact.dump-line"),
        ("CA  1 1 0xzz 4x HDR", "3:9", "artifact.dump-line"),
        ("CA  1 1 0x1 4x HDR - XX 3 1 0x2 ( 'a' - 'b' )", "3:22", "artifact.dump-line"),
        ("CA  1 1 0x1 4x HDR - SW 3 1", "3:27", "artifact.dump-line"),
        ("CA  1 1 0x1 4x HDR - SW 3 1 ", "3:27", "artifact.dump-line"),
        ("words", "3:1", "artifact.dump-line"),
        ("SW 3 255 0x1 4x HDR 'x'", "3:1", "artifact.port-range"),
        ("SW 65536 1 0x1 4x HDR 'x'", "3:1", "artifact.port-range"),
        (SMALL.splitlines()[0], "3:1", "artifact.duplicate-port"),
        ("CA " + "1" * 5000, "3:1", "artifact.dump-line"),
    ],
)
def test_a_refused_line_has_its_place(line: str, place: str, code: str) -> None:
    lines: list[str] = [*SMALL.splitlines()]
    lines.insert(2, line)
    found = read("\n".join(lines)).problems
    assert [(item.code, str(item.where)) for item in found] == [(code, f"ports.txt:{place}")]


def test_terminal_text_around_is_a_note() -> None:
    found = read("$ ibnetdiscover -p\n" + SMALL + "$ exit\n")
    assert [(item.code, item.severity) for item in found.problems] == [("artifact.terminal-text", "note")] * 2


def test_no_port_at_all() -> None:
    found = parse(b"nothing\n", "ports.txt")
    assert isinstance(found, tuple)
    assert found[-1].code in {"artifact.terminal-text", "artifact.dump-empty"}
    assert any(item.code == "artifact.dump-empty" for item in found)


@given(st.integers(0, len(SMALL) - 1), st.integers(0, 60), st.text(max_size=6))
def test_never_raises_on_a_damaged_list(start: int, length: int, words: str) -> None:
    parse((SMALL[:start] + words + SMALL[start + length :]).encode("utf-8", "surrogatepass"), "x")


def test_tells_its_form() -> None:
    assert portlist.looks_like(SMALL.encode())
    assert not portlist.looks_like(b'Ca 1 "H-1"\n')


def test_limits_of_lines_and_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = parse((SMALL + "CA x\n" * 2_000).encode(), "ports.txt")
    assert isinstance(found, tuple)
    assert "artifact.dump-empty" in {item.code for item in found}
    monkeypatch.setattr(portlist, "MAX_NODES", 1)
    found = parse(SMALL.encode(), "ports.txt")
    assert isinstance(found, tuple)
    assert [(item.code, str(item.where)) for item in found] == [("artifact.dump-too-large", "ports.txt:2:1")]
