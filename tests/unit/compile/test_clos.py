from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import make_design, make_fabric
from tests.unit.compile import slow
from weftline.compile import build_fabric, count_fabric, plan_counts
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind, Tier


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["fat-tree", "rail-optimised", "rail-only"]))
    rails = draw(st.integers(1, 3))
    ports = draw(st.integers(4, 12))
    ratio = draw(st.sampled_from([1.0, 1.5, 2.0, 3.0]))
    most = max(1, int(ports * ratio / (1 + ratio)) // (rails if kind == "fat-tree" else 1))
    return {
        "kind": kind,
        "hosts": draw(st.integers(1, 60)),
        "rails": rails,
        "ports": ports,
        "spine_ports": draw(st.integers(2, 12)),
        "core_ports": draw(st.integers(2, 16)),
        "unit_size": draw(st.integers(1, most)),
        "planes": draw(st.integers(1, 3)),
        "oversubscription": ratio,
        "tiers": draw(st.sampled_from(["auto", "auto", 1, 2, 3])),
        "cable_links": (draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 4))),
    }


def tiers_of(fabric: Fabric) -> int:
    return int(fabric.node_tier.max())


def link_ends(fabric: Fabric) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """All links as (node, port number) of the lower and the upper end."""
    ends: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for port, peer in enumerate(fabric.port_peer.tolist()):
        a, b = int(fabric.port_node[port]), int(fabric.port_node[peer])
        if peer != NIL and fabric.node_tier[a] < fabric.node_tier[b]:
            ends.add(((a, int(fabric.port_number[port])), (b, int(fabric.port_number[peer]))))
    return ends


@given(options())
def test_every_link_is_where_the_slow_twin_puts_it(given_options: dict[str, Any]) -> None:
    design = make_design(**given_options)
    fabric = build_fabric(design)
    if not isinstance(fabric, Fabric):
        assert all(problem.code.startswith("spec.") and problem.hint for problem in fabric)
        return
    twin = slow.build(design, tiers_of(fabric))
    names = [("host", i) for i in range(design.spec.hosts.count)] + twin.leaves + twin.spines + twin.cores
    index = {name: i for i, name in enumerate(names)}
    assert fabric.node_count == len(index)
    assert link_ends(fabric) == {((index[a], p), (index[b], q)) for (a, p), (b, q) in twin.links}


@given(options())
def test_a_plan_counts_what_is_built(given_options: dict[str, Any]) -> None:
    design = make_design(**given_options)
    fabric, planned = build_fabric(design), plan_counts(design)
    if not isinstance(fabric, Fabric):
        assert planned == fabric
        return
    assert planned == count_fabric(fabric, design)


@given(options())
def test_columns_agree_with_each_other(given_options: dict[str, Any]) -> None:
    fabric = build_fabric(make_design(**given_options))
    if not isinstance(fabric, Fabric):
        return
    linked = np.flatnonzero(fabric.port_peer != NIL)
    peer = fabric.port_peer[linked]
    assert (fabric.port_peer[peer] == linked).all()
    assert (fabric.port_plane[linked] == fabric.port_plane[peer]).all()
    assert (fabric.port_component[linked] == fabric.port_component[peer]).all()
    assert (fabric.port_cable[linked] == fabric.port_cable[peer]).all()
    assert (fabric.port_rate_gbps[linked] == fabric.port_rate_gbps[peer]).all()
    assert (fabric.port_cable[fabric.port_peer == NIL] == NIL).all()
    assert fabric.port_cable.max() == len(fabric.cable_part) - 1
    assert (fabric.port_peer[fabric.endpoint_port] != NIL).all()
    sizes = np.diff(fabric.port_ptr)
    assert sizes.sum() == fabric.port_count
    assert fabric.port_number.tolist() == [number for size in sizes for number in range(1, int(size) + 1)]


@given(options())
def test_leaves_of_a_pod_share_its_spines_and_no_cable_is_overfull(given_options: dict[str, Any]) -> None:
    design = make_design(**given_options)
    fabric = build_fabric(design)
    if not isinstance(fabric, Fabric):
        return
    cables, tier = fabric.port_cable, fabric.node_tier[fabric.port_node]
    low = np.flatnonzero((fabric.port_peer != NIL) & (tier < tier[fabric.port_peer]))
    for index, run in enumerate((design.host_leaf, design.leaf_spine, design.spine_core)):
        ports = low[tier[low] == index]
        if len(ports):
            used = cables[ports]
            assert np.bincount(used).max() <= run.links
            assert {fabric.cable_part[c] for c in used} == {run.name}
            assert set(fabric.cable_length_m[used].tolist()) == {run.length_m}
            owners = np.unique(np.stack((used, fabric.port_node[ports])), axis=1)
            assert owners.shape[1] == len(np.unique(used)), "a cable starts at one device"
    if tiers_of(fabric) == 3:
        for leaf in np.flatnonzero(fabric.node_tier == Tier.LEAF):
            span = slice(fabric.port_ptr[leaf], fabric.port_ptr[leaf + 1])
            ups = fabric.port_peer[span][fabric.port_peer[span] != NIL]
            spines = fabric.port_node[ups]
            spines = spines[fabric.node_tier[spines] == Tier.SPINE]
            assert set(fabric.node_group[spines].tolist()) == {int(fabric.node_group[leaf])}
            rail = int(fabric.node_rail[leaf])
            assert set(fabric.node_rail[spines].tolist()) == {rail}


def test_names_follow_the_grammar() -> None:
    fabric = make_fabric("rail-optimised", hosts=4, rails=2, ports=8, unit_size=2)
    assert fabric.node_name == (
        "host-0001", "host-0002", "host-0003", "host-0004", "leaf-001", "leaf-002", "leaf-003", "leaf-004", "spine-01",
    )  # fmt: skip
    leaf = int(fabric.port_ptr[4])
    assert fabric.link_name(leaf) == "leaf-001/1~host-0001/nic1"
    assert fabric.link_name(leaf + 2) == "leaf-001/3~spine-01/1"
    assert fabric.link_name(leaf + 4) == "leaf-001/5"


def test_names_grow_with_the_count() -> None:
    fabric = make_fabric("fat-tree", hosts=20000, ports=64)
    assert fabric.node_name[0] == "host-00001"
    assert fabric.node_name[-1] == "core-512"
    assert fabric.node_name[20000] == "leaf-001"


def test_two_planes_are_apart() -> None:
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, planes=2)
    assert fabric.planes == 2
    assert fabric.port_name(3) == "host-0001/nic2p2"
    assert (fabric.node_plane[fabric.node_kind == NodeKind.HOST] == NIL).all()
    assert (fabric.node_component[fabric.node_kind == NodeKind.HOST] == NIL).all()
    assert fabric.port_rail[:4].tolist() == [0, 0, 1, 1]
    assert fabric.port_plane[:4].tolist() == [0, 1, 0, 1]
    assert fabric.port_component[:4].tolist() == [0, 1, 0, 1]


def test_rail_only_keeps_rails_apart() -> None:
    fabric = make_fabric("rail-only", hosts=8, rails=2, ports=8, unit_size=4)
    assert fabric.port_component[:2].tolist() == [0, 1]
    switches = fabric.switch_node
    assert set(fabric.node_component[switches].tolist()) == {0, 1}
    assert (fabric.node_rail[switches] == fabric.node_component[switches]).all()
    single = make_fabric("rail-only", hosts=8, rails=2, ports=8, unit_size=8)
    assert single.node_tier.max() == Tier.LEAF
    assert len(single.switch_node) == 2


def test_an_odd_size_builds_whole_units() -> None:
    whole = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)
    odd = make_fabric("rail-optimised", hosts=5, rails=2, ports=8, unit_size=4)
    assert count_fabric(odd).switches == count_fabric(whole).switches
    assert count_fabric(odd).run_links["leaf_spine"] == count_fabric(whole).run_links["leaf_spine"]
    dark = odd.port_peer[odd.port_ptr[5 + 2] : odd.port_ptr[5 + 2] + 4]
    assert (dark != NIL).tolist() == [True, False, False, False]


def test_oversubscription_counts_bandwidth() -> None:
    fabric = make_fabric(
        "rail-optimised", hosts=256, rails=2, ports=256, unit_size=128, rate_gbps=200.0, uplink_gbps=400.0,
        oversubscription=1.067,
    )  # fmt: skip
    assert count_fabric(fabric).run_links["leaf_spine"] == 4 * 60
    leaf = int(fabric.port_ptr[256])
    assert fabric.port_rate_gbps[leaf] == 200
    assert fabric.port_rate_gbps[leaf + 128] == 400


def test_tenants_are_columns() -> None:
    fabric = make_fabric("fat-tree", hosts=4, ports=8, tenants=[("red", "1-2"), ("blue", "4")])
    assert fabric.tenant_name == ("red", "blue")
    assert fabric.node_tenant[:4].tolist() == [0, 0, NIL, 1]
    assert set(fabric.node_tenant[4:].tolist()) == {NIL}


def test_parts_are_columns() -> None:
    fabric = make_fabric("fat-tree", hosts=60, ports=8, extras=[("ufm", 2, "core")], core_ports=20)
    by_tier = {fabric.part_name[fabric.node_part[n]] for n in fabric.switch_node}
    assert by_tier == {"generic-leaf", "generic-spine", "generic-core"}
    assert fabric.part_name[fabric.node_part[0]] == "generic-host"
    assert fabric.node_part[fabric.node_kind == NodeKind.EXTRA].tolist() == [NIL]


@pytest.mark.parametrize("kind", ["fat-tree", "rail-optimised", "rail-only"])
def test_the_same_design_gives_the_same_bytes(kind: str) -> None:
    first = make_fabric(kind, hosts=20, rails=2, ports=8, unit_size=2)
    second = make_fabric(kind, hosts=20, rails=2, ports=8, unit_size=2)
    assert first.digest == second.digest
    assert first.digest != make_fabric(kind, hosts=21, rails=2, ports=8, unit_size=2).digest


def test_sixteen_thousand_endpoints_need_1280_switches() -> None:
    fabric = make_fabric("fat-tree", hosts=16384, ports=64)
    assert count_fabric(fabric).switches == {"leaf": 512, "spine": 512, "core": 256}
    assert len(fabric.endpoint_port) == 16384
