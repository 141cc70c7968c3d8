"""A fabric without a tree on several planes: each is the fabric of one plane in links, tables and proofs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.direct_designs import declare, design_of, fabric_of, resolve
from weftline.compile import check_expect, count_fabric, plan_counts, read_cabling, write_cabling
from weftline.compile.cabling import CablingList
from weftline.kernels.column import NIL
from weftline.model.counts import FabricCounts
from weftline.model.fabric import Fabric, NodeKind, Tier
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.route import compute_routes

GROUPS = {"kind": "dragonfly", "groups": [{"count": 4, "leaf": 3, "hosts": 4, "others": 1}]}
PLUS = {"kind": "dragonfly-plus", "groups": [{"count": 3, "leaf": 3, "spine": 2, "hosts": 4}]}
TORUS = {"kind": "torus", "sizes": [5, 3], "endpoints": 2}
ENGINES = (
    (GROUPS, "dragonfly"), (GROUPS, "dragonfly-adaptive"), (GROUPS, "updown"), (GROUPS, "layered"),
    (PLUS, "dragonfly-plus"), (PLUS, "dragonfly-plus-adaptive"), (PLUS, "ecmp"),
    (TORUS, "torus"), (TORUS, "layered"),
)  # fmt: skip
SHARING = ("updown", "layered")
"""Engines that share destinations out over all planes: each plane is proved like one alone, and not the same."""
SOURCE: dict[str, Any] = {"figures": ["ports"], "text": "made up for a test", "date": "2026-12-01"}
NIC: dict[str, Any] = {
    "title": "a NIC of several ports",
    "technologies": ["infiniband", "roce"],
    "ports": [{"rate_gbps": 400, "count": 4, "per_cage": 2}],
    "sources": [SOURCE],
}
RULES = ProofRules(required=(), max_hops=16, balance_threshold=64.0, all_shifts_up_to=64, sample_shifts=8)


def on_planes(topology: dict[str, Any], planes: int, *, hosts: int = 12, rails: int = 2, **more: Any) -> dict[str, Any]:
    """Declare a topology on so many planes, with NICs of as many ports."""
    content = declare({**topology, "planes": planes}, hosts=hosts, rails=rails, **more)
    content["hosts"]["part"] = "own-host"
    host = {"title": "a host", "technologies": NIC["technologies"], "gpus": rails, "rails": rails, "nic": "own-nic"}
    source = {**SOURCE, "figures": ["gpus", "rails"]}
    content["parts"] = {"nics": {"own-nic": NIC}, "hosts": {"own-host": {**host, "sources": [source]}}}
    return content


def map_planes(whole: Fabric, one: Fabric) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Match ``[plane, port of one plane]`` with the ports of the whole, by what devices and ports are called."""
    planes = whole.planes
    number = {name: at for at, name in enumerate(whole.node_name)}
    per_plane = {tier: int(np.count_nonzero(one.node_tier[one.switch_node] == tier)) for tier in (1, 2)}
    found = np.zeros((planes, one.port_count), dtype=np.int64)
    for port in range(one.port_count):
        node, place = int(one.port_node[port]), int(one.port_number[port])
        name = one.node_name[node]
        for plane in range(planes):
            other, at = name, place
            if one.node_kind[node] == NodeKind.SWITCH:
                tier, index = re.fullmatch(r"([a-z]+)-(\d+)", name).groups()  # type: ignore[union-attr]
                other = next(
                    text
                    for width in (2, 3, 4)
                    if (text := f"{tier}-{int(index) + plane * per_plane[1 + (tier == 'spine')]:0{width}d}") in number
                )
            else:
                at = (place - 1) * planes + plane + 1
            found[plane, port] = whole.port_ptr[number[other]] + at - 1
    return found


@pytest.mark.parametrize("topology", [GROUPS, PLUS, TORUS], ids=["dragonfly", "dragonfly-plus", "torus"])
@pytest.mark.parametrize("planes", [2, 3])
def test_each_plane_is_a_copy_and_counts_say_so(topology: dict[str, Any], planes: int) -> None:
    one = fabric_of(design_of(on_planes(topology, 1)))
    design = design_of(on_planes(topology, planes))
    whole = fabric_of(design)
    ports = map_planes(whole, one)
    assert len(np.unique(ports)) == ports.size == whole.port_count
    for plane in range(planes):
        own = ports[plane]
        assert np.array_equal(whole.port_peer[own], np.where(one.port_peer == NIL, NIL, own[one.port_peer]))
        assert np.array_equal(whole.port_rail[own], one.port_rail)
        lit = one.port_peer != NIL
        assert (whole.port_plane[own[lit]] == plane).all()
        assert (whole.port_component[own[lit]] == plane).all()
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts)
    assert counts == count_fabric(whole, design)
    assert len({(plan.endpoints, plan.links) for plan in counts.by_plane}) == 1
    assert counts.cables["host_leaf"] == counts.run_links["host_leaf"] == 12 * 2 * planes


@pytest.mark.parametrize(("topology", "engine"), ENGINES)
def test_each_plane_is_routed_as_one_alone(topology: dict[str, Any], engine: str) -> None:
    one, whole = (fabric_of(design_of(on_planes(topology, planes))) for planes in (1, 2))
    ports = map_planes(whole, one)
    alone, both = compute_routes(one, engine, to_switches=True), compute_routes(whole, engine, to_switches=True)
    for plane in range(0 if engine in SHARING else 2):
        assert entries(whole, both, plane) == {
            (source, target): tuple(sorted(ports[plane][list(members)].tolist()))
            for (source, target), members in rename(entries(one, alone, 0), ports[plane], one, whole).items()
        }
    proofs = {proof.claim: proof for proof in prove(whole, both, RULES).proofs}
    single = {proof.claim: proof for proof in prove(one, alone, RULES).proofs}
    for claim in ("reach", "deadlock", "balance"):
        assert proofs[claim].verdict is Verdict.PROVED, claim
        assert proofs[claim].bound == single[claim].bound or engine in SHARING


Entries = dict[tuple[int, int], tuple[int, ...]]


def entries(fabric: Fabric, routes: Routes, plane: int) -> Entries:
    """List the ports that each switch of a plane may send to each endpoint port of leaves, and to leaves, by.

    A switch stands for a destination as minus its node. What goes to spines is led by engine updown.
    """
    found: Entries = {}
    row_node = fabric.switch_node
    for row in np.flatnonzero(fabric.node_plane[row_node] == plane).tolist():
        first = int(routes.group_ptr[row])
        count = int(routes.group_ptr[row + 1]) - first
        for at in np.flatnonzero(fabric.node_tier[routes.destination_node] <= Tier.LEAF).tolist():
            number = int(routes.group[row, at])
            if number < count:
                port, node = int(routes.destination_port[at]), int(routes.destination_node[at])
                begin, end = routes.member_ptr[first + number], routes.member_ptr[first + number + 1]
                key = (int(row_node[row]), port if port != NIL else -1 - node)
                found[key] = tuple(sorted(routes.member_port[begin:end].tolist()))
    return found


def rename(found: Entries, own: Any, one: Fabric, whole: Fabric) -> Entries:
    """Give the switches and endpoint ports of one plane their numbers in the whole; members stay as they are."""

    def switch(node: int) -> int:
        return int(whole.port_node[own[one.port_ptr[node]]])

    return {
        (switch(source), int(own[target]) if target >= 0 else -1 - switch(-1 - target)): members
        for (source, target), members in found.items()
    }


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_a_cabling_list_of_planes_is_read_back(data: st.DataObject) -> None:
    topology = data.draw(st.sampled_from([GROUPS, PLUS, TORUS]))
    design = design_of(on_planes(topology, data.draw(st.integers(1, 4)), rails=data.draw(st.integers(1, 2))))
    fabric = fabric_of(design)
    listed = read_cabling(write_cabling(fabric), "cables.csv")
    assert isinstance(listed, CablingList), listed
    assert count_fabric(fabric, design) == plan_counts(design)


def test_a_wrong_plan_is_told_with_its_planes() -> None:
    content = on_planes(GROUPS, 2)
    content["expect"] = {"leaf": 12, "endpoints": 24, "leaf_leaf": 12}
    design = design_of(content)
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts)
    told = [problem.message for problem in check_expect(design, counts)]
    assert len(told) == 3
    assert all("x 2 planes" in message for message in told), told


def test_a_plane_too_few_ports_of_a_nic_is_refused() -> None:
    content = on_planes(TORUS, 5)
    found = resolve(content)
    assert isinstance(found, tuple)
    assert [problem.code for problem in found] == ["capability.nic-ports"]
