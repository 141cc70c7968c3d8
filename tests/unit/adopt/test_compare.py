"""Declared against discovered: each change of the cabling gives exactly its difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import from_links, make_fabric
from tests.unit.adopt.dumps import number, rediscover, rewire, slow_down
from weftline.adopt import compare, match_nodes
from weftline.kernels.column import NIL
from weftline.model.difference import Difference
from weftline.model.fabric import Fabric, NodeKind

TREE = make_fabric(hosts=15)
"""4 leaves of 4 hosts, the last one short of a host, and 2 spines of 8 ports."""
UP = "leaf-001/5~spine-01/1"


def kinds(found: tuple[Difference, ...]) -> list[tuple[str, str]]:
    return [(item.kind, item.subject) for item in found]


def changed(*links: tuple[str, str | None]) -> tuple[Difference, ...]:
    """Compare the tree with itself after a change, through a dump too, which must say the same."""
    other = rewire(TREE, *links)
    found = compare(TREE, other)
    assert compare(TREE, rediscover(other).fabric) == found
    return found


def rename(fabric: Fabric, prefix: str = "x-") -> Fabric:
    return replace(fabric, node_name=tuple(prefix + name[::-1] for name in fabric.node_name))


def test_the_same_is_no_difference() -> None:
    assert TREE.link_name(int(TREE.port_ptr[15]) + 4) == UP
    assert compare(TREE, TREE) == ()
    assert changed() == ()


def test_a_missing_cable() -> None:
    found = changed(("leaf-001/5", None))
    assert found == (Difference("missing-cable", UP, f"{UP} is declared and was not found", (UP,), ()),)


def test_an_extra_cable() -> None:
    found = compare(rewire(TREE, ("leaf-001/5", None)), TREE)
    assert found == (Difference("extra-cable", UP, f"{UP} was found and is not declared", (), (UP,)),)


def test_a_moved_cable() -> None:
    found = changed(("host-0001/nic1", "leaf-004/4"))
    assert kinds(found) == [("moved-cable", "host-0001/nic1~leaf-001/1")]
    assert found[0].message == "host-0001/nic1~leaf-001/1 was found as host-0001/nic1~leaf-004/4"


def test_two_exchanged_cables_are_one_difference() -> None:
    found = changed(("host-0001/nic1", "leaf-001/2"), ("host-0002/nic1", "leaf-001/1"))
    assert kinds(found) == [("swapped-cables", "host-0001/nic1~leaf-001/1")]
    assert found[0].declared == ("host-0001/nic1~leaf-001/1", "host-0002/nic1~leaf-001/2")
    assert found[0].found == ("host-0001/nic1~leaf-001/2", "host-0002/nic1~leaf-001/1")


def test_three_rotated_cables_are_one_difference() -> None:
    found = changed(
        ("host-0001/nic1", "leaf-001/2"), ("host-0002/nic1", "leaf-001/3"), ("host-0003/nic1", "leaf-001/1")
    )
    assert [(item.kind, len(item.declared)) for item in found] == [("swapped-cables", 3)]


def test_swapped_uplinks() -> None:
    found = changed(("leaf-001/5", "spine-02/1"), ("leaf-001/7", "spine-01/1"))
    assert kinds(found) == [("swapped-cables", UP)]


def test_chains_name_each_cable_once() -> None:
    found = compare(TREE, rewire(TREE, ("host-0001/nic1", "leaf-001/2"), ("host-0002/nic1", None)))
    assert sorted(item.kind for item in found) == ["missing-cable", "moved-cable"]
    assert sorted(name for item in found for name in item.declared) == [
        "host-0001/nic1~leaf-001/1", "host-0002/nic1~leaf-001/2",
    ]  # fmt: skip


def test_a_missing_node_takes_its_cables_along() -> None:
    pulled = rewire(TREE, ("host-0001/nic1", None))
    assert kinds(compare(TREE, pulled)) == [("missing-cable", "host-0001/nic1~leaf-001/1")]
    found = compare(TREE, rediscover(pulled).fabric)
    assert [(item.kind, item.subject, item.declared) for item in found] == [
        ("missing-node", "host-0001", ("host-0001/nic1~leaf-001/1",))
    ]
    gone = from_links(2, {"h1": "leaf-001", "h2": "leaf-002"}, [(0, 1)])
    whole = from_links(3, {"h1": "leaf-001", "h2": "leaf-002"}, [(0, 1), (0, 2), (1, 2)])
    found = compare(whole, gone)
    assert kinds(found) == [("missing-node", "leaf-003")]
    assert found[0].message == "leaf-003 is declared and was not found, nor its 2 cables"
    assert found[0].declared == ("leaf-001/3~leaf-003/1", "leaf-002/3~leaf-003/2")
    assert kinds(compare(gone, whole)) == [("extra-node", "leaf-003")]


def test_declared_nodes_without_cables_are_not_looked_for() -> None:
    spare = rewire(TREE, *((f"leaf-004/{port}", None) for port in range(1, 9)))
    lit = {"host-0013", "host-0014", "host-0015"}
    assert not [item for item in compare(spare, rediscover(spare).fabric) if item.subject not in lit]


def test_a_wrong_rate() -> None:
    found = compare(TREE, rediscover(slow_down(TREE, "leaf-001/5", 200.0)).fabric)
    assert found == (
        Difference("wrong-rate", UP, f"{UP} runs at 200 Gb/s where 400 Gb/s is declared", (UP,), (UP,)),
    )  # fmt: skip


def test_several_differences_are_all_named() -> None:
    found = changed(
        ("host-0001/nic1", "leaf-001/2"),
        ("host-0002/nic1", "leaf-001/1"),
        ("leaf-002/5", None),
        ("leaf-004/4", "spine-01/3"),
    )
    assert [item.kind for item in found] == ["moved-cable", "swapped-cables"]


@pytest.mark.parametrize(
    "options",
    [{"hosts": 16}, {"hosts": 64}, {"kind": "rail-optimised", "hosts": 16, "rails": 4, "ports": 16}],
)
def test_names_that_differ_everywhere_are_matched_by_wiring(options: dict[str, object]) -> None:
    fabric = make_fabric(**options)  # type: ignore[arg-type]
    other = rename(fabric)
    assert match_nodes(fabric, other) == {node: node for node in range(fabric.node_count)}
    assert compare(fabric, other) == ()


def test_wiring_matches_in_spite_of_a_fault() -> None:
    other = rename(rewire(TREE, ("leaf-001/5", None)))
    assert kinds(compare(TREE, other)) == [("missing-cable", UP)]
    swapped = rename(rewire(TREE, ("leaf-001/5", "spine-02/1"), ("leaf-001/7", "spine-01/1")))
    assert [item.kind for item in compare(TREE, swapped)] == ["swapped-cables"]


def test_guids_match_where_names_do_not() -> None:
    ring = from_links(4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)])
    names = [name if "leaf" in name else f"new-{name}" for name in ring.node_name]
    other = replace(ring, node_name=tuple(names))
    assert len(match_nodes(ring, other)) == 8
    hidden = replace(ring, node_name=tuple(f"n{at}" for at in range(8)))
    assert match_nodes(ring, hidden, number(ring), number(hidden)) == {at: at for at in range(8)}
    foreign = replace(number(hidden), scheme="ipv4")
    assert match_nodes(ring, hidden, number(ring), foreign) == match_nodes(ring, hidden)


def test_what_cannot_be_told_apart_is_not_guessed() -> None:
    twins = from_links(2, 1, [])
    blank = replace(twins, node_name=("p", "q", "r", "s"))
    assert match_nodes(twins, blank) == {}
    assert match_nodes(twins, replace(blank, node_name=("p", "q", "leaf-001", "s"))) == {0: 0, 1: 1, 2: 2}


def test_one_renamed_host_among_known_ones_is_another_host() -> None:
    names = ["storage" if name == "host-0003" else name for name in TREE.node_name]
    found = compare(TREE, replace(TREE, node_name=tuple(names)))
    assert kinds(found) == [("missing-node", "host-0003"), ("extra-node", "storage")]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), max_size=6))
def test_every_change_is_named_once(swaps: list[tuple[int, int]]) -> None:
    """Exchange the far ends of random cables: what is named equals the difference of the two sets of links."""
    peer = TREE.port_peer.copy()
    for first, second in swaps:
        lit = np.flatnonzero(peer != NIL)
        a, b = int(lit[first % len(lit)]), int(lit[second % len(lit)])
        c, d = int(peer[a]), int(peer[b])
        if len({a, b, c, d}) == 4:
            peer[a], peer[d], peer[b], peer[c] = d, a, c, b
    other = replace(TREE, port_peer=peer)
    want = {TREE.link_name(at) for at in range(TREE.port_count) if TREE.port_peer[at] > at}
    have = {other.link_name(at) for at in range(other.port_count) if other.port_peer[at] > at}
    found = compare(TREE, other)
    assert sorted(name for item in found for name in item.declared) == sorted(want - have)
    assert sorted(name for item in found for name in item.found) == sorted(have - want)
    assert all(item.kind == "swapped-cables" for item in found)


def test_extra_endpoints_that_are_not_declared() -> None:
    found = compare(TREE, rediscover(rewire(make_fabric(hosts=16))).fabric)
    assert kinds(found) == [("extra-node", "host-0016")]
    assert TREE.node_kind[0] == NodeKind.HOST
