"""Records become a fabric: hosts, tiers, shapes, addresses, and everything that is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.unit.adopt.dumps import adopt, codes, number, read, rediscover
from weftline.adopt import build_fabric, compare
from weftline.formats import ibnetdiscover
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind, Tier

SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"kind": "fat-tree", "hosts": 16}, "fat-tree"),
    ({"kind": "fat-tree", "hosts": 15}, "fat-tree"),
    ({"kind": "fat-tree", "hosts": 64}, "fat-tree"),
    ({"kind": "rail-optimised", "hosts": 16, "rails": 4, "ports": 16}, "rail-optimised"),
    ({"kind": "rail-optimised", "hosts": 48, "rails": 8, "ports": 16, "unit_size": 4}, "rail-optimised"),
    ({"kind": "rail-only", "hosts": 16, "rails": 4, "ports": 16}, "rail-only"),
    ({"kind": "rail-only", "hosts": 4, "rails": 4, "ports": 16}, "rail-only"),
    ({"kind": "fat-tree", "hosts": 4, "ports": 8, "unit_size": 4}, "single-switch"),
]


@pytest.mark.parametrize(("options", "shape"), SHAPES)
def test_what_was_written_is_recognised(options: dict[str, Any], shape: str) -> None:
    fabric = make_fabric(**options)
    found = rediscover(fabric)
    assert found.shape == found.fabric.shape == shape
    assert not found.problems
    assert found.fabric.node_name == fabric.node_name
    for column in ("node_tier", "node_kind", "port_component", "node_unit", "node_rail"):
        assert np.array_equal(getattr(found.fabric, column), getattr(fabric, column)), column
    lit = fabric.port_peer[fabric.endpoint_port] != NIL
    assert np.array_equal(
        found.fabric.port_rail[found.fabric.endpoint_port], fabric.port_rail[fabric.endpoint_port][lit]
    )
    assert not compare(fabric, found.fabric)
    assert not compare(found.fabric, fabric)


def links(fabric: Fabric) -> set[frozenset[tuple[str, int]]]:
    nodes: list[int] = fabric.port_node.tolist()
    numbers: list[int] = fabric.port_number.tolist()
    names = [(fabric.node_name[node], number) for node, number in zip(nodes, numbers, strict=True)]
    peers: list[int] = fabric.port_peer.tolist()
    return {frozenset((names[a], names[b])) for a, b in enumerate(peers) if b != NIL}


@pytest.mark.parametrize("options", [options for options, _ in SHAPES])
def test_parse_of_write_has_the_same_links(options: dict[str, Any]) -> None:
    fabric = make_fabric(**options)
    addresses = number(fabric)
    text = ibnetdiscover.write(fabric, addresses)
    found = adopt(text)
    assert links(found.fabric) == links(fabric)
    assert text == ibnetdiscover.write(fabric, addresses)
    lit = fabric.port_peer != NIL
    rates = {(fabric.port_rate_gbps[at]) for at in np.flatnonzero(lit)}
    assert {found.fabric.port_rate_gbps[at] for at in np.flatnonzero(found.fabric.port_peer != NIL)} == rates


def test_addresses_come_back() -> None:
    fabric = make_fabric(hosts=16)
    addresses = number(fabric)
    found = rediscover(fabric)
    switches = fabric.switch_node
    assert np.array_equal(found.addresses.node_id[switches], addresses.node_id[switches])
    assert np.array_equal(found.addresses.node_address[switches], addresses.node_address[switches])
    ends = fabric.endpoint_port
    assert np.array_equal(found.addresses.port_id[found.fabric.endpoint_port], addresses.port_id[ends])
    assert np.array_equal(found.addresses.port_address[found.fabric.endpoint_port], addresses.port_address[ends])
    assert found.addresses.fabric_digest == found.fabric.digest
    assert found.port_adapter[0] == "host-0001 HCA-1"
    assert found.node_description[-1] == fabric.node_name[-1]


def test_extra_endpoints_of_several_ports() -> None:
    fabric = make_fabric("rail-optimised", hosts=12, rails=4, ports=16, unit_size=4, extras=(("ufm", 2, "leaf"),))
    found = rediscover(fabric)
    assert links(found.fabric) == links(fabric)
    assert not compare(fabric, found.fabric)


@pytest.mark.parametrize(
    ("fabric", "shape", "words"),
    [
        (from_links(4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)]), "ring", "4 switches"),
        (from_links(2, 2, [(0, 1)]), "irregular", "joined directly"),
        (from_links(3, 1, [(0, 1), (1, 2)]), "irregular", "and 1 more pairs"),
        (
            from_links(5, {"host-0001": "leaf-001"}, [(0, 1), (1, 2), (2, 3), (3, 4)]),
            "irregular",
            "tiers from the hosts",
        ),
    ],
)
def test_irregular_shapes_say_why(fabric: Any, shape: str, words: str) -> None:
    found = rediscover(fabric)
    assert (found.shape, words in found.shape_reason) == (shape, True), found.shape_reason
    assert not codes(found)


def test_a_host_on_a_spine_does_not_make_it_a_leaf() -> None:
    homes = {f"host-{at:04d}": f"leaf-00{at % 4 + 1}" for at in range(1, 25)} | {"manager": "spine-01"}
    names = ["leaf-001", "leaf-002", "leaf-003", "leaf-004", "spine-01", "spine-02"]
    fabric = from_links(names, homes, [(a, b) for a in names[:4] for b in names[4:]])
    found = rediscover(fabric)
    tier = dict(zip(found.fabric.node_name, found.fabric.node_tier.tolist(), strict=True))
    assert (tier["spine-01"], tier["spine-02"], tier["leaf-004"]) == (Tier.SPINE, Tier.SPINE, Tier.LEAF)
    assert found.shape == "fat-tree"


def test_a_leaf_without_hosts_is_a_leaf() -> None:
    homes = {f"host-{at:04d}": f"leaf-00{at % 3 + 1}" for at in range(1, 13)}
    names = ["leaf-001", "leaf-002", "leaf-003", "leaf-004", "spine-01", "spine-02"]
    found = rediscover(from_links(names, homes, [(a, b) for a in names[:4] for b in names[4:]]))
    assert found.fabric.node_tier[list(found.fabric.node_name).index("leaf-004")] == Tier.LEAF


def test_aggregation_nodes_are_extra_and_leave_tiers_alone() -> None:
    homes = {f"host-{at:04d}": f"leaf-00{at % 2 + 1}" for at in range(1, 9)} | {"x1": "spine-01", "x2": "leaf-001"}
    names = ["leaf-001", "leaf-002", "spine-01"]
    fabric = from_links(names, homes, [(a, b) for a in names[:2] for b in names[2:]])
    text = ibnetdiscover.write(fabric, number(fabric))
    for name in ("x1 HCA-1", "x2 HCA-1"):
        text = text.replace(name, "Mellanox Technologies Aggregation Node")
    found = adopt(text)
    assert np.count_nonzero(found.fabric.node_kind == NodeKind.EXTRA) == 2
    assert found.fabric.node_tier[-1] == Tier.SPINE
    assert found.shape == "fat-tree"
    assert found.fabric.endpoint_port[-1] == found.fabric.port_ptr[10] - 1


def dump(*blocks: tuple[str, list[str]]) -> str:
    return "\n".join(head + "\n" + "\n".join(lines) + "\n" for head, lines in blocks)


def adapter(name: str, guid: int, port: int, lid: int) -> tuple[str, list[str]]:
    head = f'Ca\t2 "H-{guid - 1:016}"\t# "{name} HCA-1"'
    return head, [f'[1]({guid})\t"S-0000000000000001"[{port}]\t# lid {lid} lmc 0 "leaf" lid 1 4xHDR']


def good() -> list[tuple[str, list[str]]]:
    return [
        ('Switch\t8 "S-0000000000000001"\t# "leaf" base port 0 lid 1 lmc 0', [
            '[1]\t"H-0000000000000010"[1](11)\t# "a HCA-1" lid 2 4xHDR',
            '[2]\t"H-0000000000000020"[1](21)\t# "b HCA-1" lid 3 4xHDR',
            '[3]\t"H-0000000000000030"[1](31)\t# "c HCA-1" lid 4 4xHDR',
        ]),
        adapter("a", 11, 1, 2),
        adapter("b", 21, 2, 3),
        adapter("c", 31, 3, 4),
    ]  # fmt: skip


def found_in(text: str) -> list[tuple[str, str, str]]:
    return [(item.code, str(item.where), item.severity) for item in adopt(text).problems]


def test_the_good_dump_is_good() -> None:
    assert not found_in(dump(*good()))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"S-0000000000000001"[3]', '"S-0000000000000009"[3]',
         [("artifact.one-sided-cable", "4:1", "error"), ("artifact.dangling-cable", "13:1", "error")]),
        ('"S-0000000000000001"[3]', '"S-0000000000000001"[7]',
         [("artifact.asymmetric-cable", "4:1", "error")]),
        ('"S-0000000000000001"[3]', '"S-0000000000000001"[2]',
         [("artifact.asymmetric-cable", "4:1", "error"), ("artifact.asymmetric-cable", "13:1", "error")]),
        ('"S-0000000000000001"[3]', '"S-0000000000000001"[9]',
         [("artifact.one-sided-cable", "4:1", "error"), ("artifact.port-range", "13:1", "error")]),
        ('"H-0000000000000030"[1]', '"S-0000000000000001"[3]',
         [("artifact.asymmetric-cable", "4:1", "error"), ("artifact.one-sided-cable", "13:1", "error")]),
        ('[1](31)\t"S', '[1](21)\t"S', [("artifact.duplicate-guid", "13:1", "error")]),
        ("lid 4 lmc 0", "lid 3 lmc 0", [("artifact.duplicate-lid", "13:1", "error")]),
        ("lid 4 lmc 0", "lid 1 lmc 0", [("artifact.duplicate-lid", "13:1", "error")]),
        ("lid 2 lmc 0", "lid 2 lmc 1", [("artifact.duplicate-lid", "10:1", "error")]),
        ("lid 4 lmc 0", "lid 65535 lmc 0", [("artifact.unassigned-lid", "13:1", "warning")]),
        ("lid 4 lmc 0", "lid 0 lmc 0", [("artifact.unassigned-lid", "13:1", "warning")]),
        ("lid 4 lmc 0", "lid 50000 lmc 0", [("artifact.bad-lid", "13:1", "error")]),
        ("lid 4 lmc 0", "lid 999999999 lmc 0", [("artifact.bad-lid", "13:1", "error")]),
        ("lid 1 lmc", "lid 0 lmc", [("artifact.unassigned-lid", "1:1", "warning")]),
        ('"c HCA-1" lid 4 4xHDR', '"c HCA-1" lid 4 1xHDR', [("artifact.slow-link", "4:1", "warning")]),
    ],
)  # fmt: skip
def test_each_fault_has_its_code_and_line(old: str, new: str, expected: list[tuple[str, str, str]]) -> None:
    text = dump(*good())
    assert old in text
    changed = text.replace(old, new, 1)
    assert sorted(found_in(changed)) == sorted(
        (code, f"dump.txt:{place}", severity) for code, place, severity in expected
    )


def test_a_slow_link_among_faster_ones() -> None:
    text = dump(*good()).replace('"c HCA-1" lid 4 4xHDR', '"c HCA-1" lid 4 4xEDR')
    text = text.replace('lid 4 lmc 0 "leaf" lid 1 4xHDR', 'lid 4 lmc 0 "leaf" lid 1 4xEDR')
    adoption = adopt(text)
    assert [(item.code, str(item.where)) for item in adoption.problems] == [("artifact.slow-link", "dump.txt:4:1")]
    assert "100 Gb/s" in adoption.problems[0].message
    assert "200 Gb/s" in adoption.problems[0].message
    assert sorted(adoption.fabric.port_rate_gbps[adoption.fabric.endpoint_port].tolist()) == [100.0, 200.0, 200.0]
    assert not any(problem.is_error for problem in adoption.problems)


def test_unknown_speed_takes_the_usual() -> None:
    text = dump(*good()).replace('"c HCA-1" lid 4 4xHDR', '"c HCA-1" lid 4').replace(
        'lid 4 lmc 0 "leaf" lid 1 4xHDR', 'lid 4 lmc 0 "leaf" lid 1 4x???'
    )  # fmt: skip
    adoption = adopt(text)
    assert [(item.code, item.severity) for item in adoption.problems] == [("artifact.unknown-speed", "note")]
    assert set(adoption.fabric.port_rate_gbps.tolist()) == {200.0}


def test_a_node_that_stands_twice() -> None:
    blocks = good()
    blocks.append(('Ca\t2 "H-0000000000000010"\t# "a HCA-1"', blocks[1][1]))
    assert found_in(dump(*blocks)) == [("artifact.duplicate-guid", "dump.txt:15:1", "error")]


def test_an_island() -> None:
    blocks = good()
    text = dump(*blocks)
    other = text.replace("S-00000000000000", "S-00000000000001").replace("H-00000000000000", "H-00000000000001")
    other = other.replace(" HCA-1", "x HCA-1").replace("(", "(1").replace("lid ", "lid 1").replace('"leaf"', '"leaf2"')
    assert found_in(text + "\n" + other) == [("artifact.island", "dump.txt:15:1", "error")]


def test_a_dump_without_a_link_is_refused() -> None:
    text = 'Switch\t8 "S-0000000000000001"\t# "leaf" base port 0 lid 1 lmc 0\n'
    found = build_fabric(read(text))
    assert isinstance(found, tuple)
    assert [(item.code, str(item.where)) for item in found] == [("artifact.no-links", "dump.txt:1:1")]


def test_too_many_ports_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weftline.adopt.build.MAX_PORTS", 7)
    found = build_fabric(read(dump(*good())))
    assert isinstance(found, tuple)
    assert found[-1].code == "artifact.dump-too-large"
