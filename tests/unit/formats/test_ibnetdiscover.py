"""The plain form of ibnetdiscover: what is tolerated, and what is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.errors import Problem
from weftline.formats import ibnetdiscover
from weftline.formats.ibnetdiscover import MAX_BYTES, parse
from weftline.model.discovery import Discovery

SMALL = """\
#
# Topology file: generated on Mon Nov 30 11:30:08 2026
#

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x2c90300100000
switchguid=0x2c90300100000(2c90300100000)
Switch\t40 "S-0002c90300100000"\t\t# "leaf-001" enhanced port 0 lid 2 lmc 0
[1]\t"H-0002c90300800000"[1](2c90300800001) \t\t# "host-0001 HCA-1" lid 1 4xNDR

vendid=0x2c9
devid=0x1021
sysimgguid=0x2c90300800000
caguid=0x2c90300800000
Ca\t1 "H-0002c90300800000"\t\t# "host-0001 HCA-1"
[1](2c90300800001) \t"S-0002c90300100000"[1]\t\t# lid 1 lmc 0 "leaf-001" lid 2 4xNDR
"""


def read(text: str) -> Discovery:
    found = parse(text.encode(), "dump.txt")
    assert isinstance(found, Discovery), found
    return found


def problems(text: str | bytes) -> tuple[Problem, ...]:
    found = parse(text.encode() if isinstance(text, str) else text, "dump.txt")
    return found.problems if isinstance(found, Discovery) else found


def only(found: tuple[Problem, ...]) -> tuple[str, str, str]:
    assert len(found) == 1, found
    return found[0].code, str(found[0].where), found[0].severity


def test_reads_every_field() -> None:
    found = read(SMALL)
    switch, adapter = found.nodes
    assert not found.problems
    assert (switch.kind, switch.key, switch.port_count, switch.guid) == (
        "switch", "S-0002c90300100000", 40, 0x2C90300100000,
    )  # fmt: skip
    assert (switch.description, switch.lid, switch.device_id, switch.line) == ("leaf-001", 2, 0xD2F2, 9)
    down = switch.ports[0]
    assert (down.number, down.peer, down.peer_number, down.peer_guid) == (1, "H-0002c90300800000", 1, 0x2C90300800001)
    assert (down.peer_description, down.width, down.speed, down.line) == ("host-0001 HCA-1", 4, "NDR", 10)
    up = adapter.ports[0]
    assert (adapter.kind, up.guid, up.lid, up.lmc, up.speed) == ("ca", 0x2C90300800001, 1, 0, "NDR")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\t", ""),
        ("\t", "        "),
        ("\n", "\r\n"),
        ("\n", "\r\r\n"),
        ("\n\n", "\n"),
        ("\n\n", "\n \n\n"),
        ("#\n#", "# x\n#"),
        ("Ca\t1", "Hca 1"),
        ("lmc 0\n[", "lmc 0\n\n["),
        ("vendid=0x2c9\n", ""),
        ("switchguid=0x2c90300100000(2c90300100000)\n", ""),
    ],
)
def test_tolerates_what_terminals_and_editors_do(old: str, new: str) -> None:
    found = read(SMALL.replace(old, new))
    assert not found.problems
    nodes = [(node.kind, node.key, node.guid, len(node.ports)) for node in found.nodes]
    assert nodes == [(node.kind, node.key, node.guid, len(node.ports)) for node in read(SMALL).nodes]
    assert found.nodes[0].ports[0].speed == "NDR"


def test_terminal_text_around_the_dump_is_a_note() -> None:
    text = "=~=~= PuTTY log 2026.01.01 =~=~=\r\n\r\n" + SMALL + "\rswitch [ master ] (config) # "
    found = read(text)
    assert [(item.code, item.severity) for item in found.problems] == [("artifact.terminal-text", "note")] * 2
    assert len(found.nodes) == 2


def test_text_in_the_middle_is_refused() -> None:
    lines = SMALL.splitlines()
    lines.insert(10, "some words")
    assert only(problems("\n".join(lines))) == ("artifact.dump-line", "dump.txt:11:1", "error")


def test_chassis_lines_and_warnings_of_the_tool() -> None:
    text = SMALL.replace("\n\nvendid", "\n\nChassis 1 (guid 0x1)\n\nvendid", 1)
    assert not problems(text)
    noisy = SMALL.replace("\n\nvendid", "\nibwarn: [17] mad_rpc: timeout\n\nvendid", 1)
    assert only(problems(noisy))[::2] == ("artifact.discovery-warning", "warning")


@pytest.mark.parametrize("words", ["a # b", "a;b:c/d", 'say "x" twice', "lid 7 lmc 3", "", "é\N{SNOWMAN}", "port 0"])
def test_descriptions_may_hold_anything(words: str) -> None:
    found = read(SMALL.replace("leaf-001", words))
    assert not found.problems
    assert found.nodes[0].description == words.strip()
    assert (found.nodes[0].lid, found.nodes[1].ports[0].lid, found.nodes[1].ports[0].speed) == (2, 1, "NDR")


def test_symbolic_ids_without_comments() -> None:
    text = 'Switch\t8 "Switch1"\n[1]\t"Hca1"[1]\n[3]\t"Hca1"[2]\tw=12\n\nHca 2 "Hca1"\n[1] "Switch1" [1]\n'
    found = read(text)
    assert [(node.kind, node.key, node.guid) for node in found.nodes] == [("switch", "Switch1", 0), ("ca", "Hca1", 0)]
    assert [(port.width, port.speed, port.lid) for port in found.nodes[0].ports] == [(0, "", -1), (12, "", -1)]


def test_unknown_speeds_are_unknown() -> None:
    for words in ("4x???", "4xABC", "7xNDR", ""):
        assert read(SMALL.replace("4xNDR", words)).nodes[1].ports[0].speed == ""


@pytest.mark.parametrize(
    ("line", "place", "code"),
    [
        ('[2]\t"H-0002c90300800000"', "11:25", "artifact.dump-line"),
        ('[2]\tH-0002c90300800000"[1]', "11:5", "artifact.dump-line"),
        ('[2x]\t"H-0002c90300800000"[1]', "11:1", "artifact.dump-line"),
        ('  [2](zz)\t"H-0002c90300800000"[1]', "11:6", "artifact.dump-line"),
        ("[2]", "11:4", "artifact.dump-line"),
        ('[41]\t"H-0002c90300800000"[1]', "11:2", "artifact.port-range"),
        ('[0]\t"H-0002c90300800000"[1]', "11:2", "artifact.port-range"),
        ('[2]\t"H-0002c90300800000"[300]', "11:26", "artifact.port-range"),
        ('[1]\t"H-0002c90300800000"[1]', "11:2", "artifact.duplicate-port"),
        ('Switch\t"S-1"', "11:1", "artifact.dump-line"),
        ('Switch\t255 "S-1"', "11:8", "artifact.port-range"),
        ("caguid=hello", "11:8", "artifact.dump-line"),
        ("x" * 5000, "11:1", "artifact.dump-line"),
        ('include "other"', "11:1", "artifact.dump-line"),
    ],
)
def test_a_refused_line_has_its_place(line: str, place: str, code: str) -> None:
    lines: list[str] = [*SMALL.splitlines()]
    lines.insert(10, line)
    found = problems("\n".join(lines))
    assert (code, f"dump.txt:{place}", "error") in [(item.code, str(item.where), item.severity) for item in found]


def test_a_port_of_no_node() -> None:
    lines = [line for line in SMALL.splitlines() if not line.startswith("Ca")]
    found = problems("\n".join(lines))
    assert ("artifact.stray-port", "dump.txt:16:1") in [(item.code, str(item.where)) for item in found]


def test_a_dump_that_is_cut_off() -> None:
    lines = SMALL.splitlines()
    assert only(problems("\n".join(lines[:-1]))) == ("artifact.dump-truncated", "dump.txt:16:1", "error")
    assert only(problems("\n".join(lines[:-2]))) == ("artifact.dump-truncated", "dump.txt:15:1", "error")


def test_what_is_no_dump() -> None:
    assert only(problems("")) == ("artifact.dump-empty", "dump.txt:1:1", "error")
    assert problems("hello\nworld\n")[-1].code in {"artifact.dump-empty", "artifact.terminal-text"}
    assert "artifact.dump-empty" in {item.code for item in problems("hello\nworld\n")}
    assert only(problems(b"#\n\x1f\x8b\x00")) == ("artifact.dump-binary", "dump.txt:2:1", "error")
    assert only(problems(SMALL.encode("utf-16")))[0] == "artifact.dump-binary"
    assert only(problems(b"\n" * (MAX_BYTES + 1))) == ("artifact.dump-too-large", "dump.txt", "error")


def test_many_problems_are_counted() -> None:
    found = problems(SMALL + "[x\n" * 500)
    assert len(found) == 101
    assert (found[-1].code, found[-1].severity) == ("artifact.dump-repeated", "error")
    assert found[-1].message.startswith("400 more")


@given(st.binary(max_size=300))
def test_never_raises_on_bytes(data: bytes) -> None:
    found = parse(data, "x")
    assert isinstance(found, Discovery) or any(problem.severity == "error" for problem in found)


@given(st.integers(0, len(SMALL) - 1), st.integers(0, 60), st.text(max_size=6))
def test_never_raises_on_a_damaged_dump(start: int, length: int, words: str) -> None:
    parse((SMALL[:start] + words + SMALL[start + length :]).encode("utf-8", "surrogatepass"), "x")


def test_tells_its_form() -> None:
    assert ibnetdiscover.looks_like(SMALL.encode())
    assert not ibnetdiscover.looks_like(b"CA 1 1 0x1 4x EDR - SW 2 1 0x2 ( 'a' - 'b' )\n")


def test_limits_of_lines_and_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "artifact.dump-empty" in {item.code for item in problems(SMALL + "[x\n" * 2_000)}
    assert "artifact.dump-empty" in {item.code for item in problems("words\n" * 2_000)}
    monkeypatch.setattr(ibnetdiscover, "MAX_NODES", 1)
    assert only(problems(SMALL)) == ("artifact.dump-too-large", "dump.txt:16:1", "error")
    monkeypatch.setattr("weftline.formats.text.MAX_LINES", 5)
    assert only(problems(SMALL)) == ("artifact.dump-too-large", "dump.txt", "error")
