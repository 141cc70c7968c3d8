"""Declared dragonfly, dragonfly+ and torus: what is counted is what is built, and hosts sit as documented."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.direct_designs import declare, design_of, fabric_of
from weftline.compile import (
    build_fabric,
    check_expect,
    count_fabric,
    plan_counts,
    plan_direct,
    read_cabling,
    write_cabling,
)
from weftline.compile.cabling import CablingList
from weftline.compile.groups import GroupPlan
from weftline.errors import Problem
from weftline.kernels.column import NIL
from weftline.model.counts import FabricCounts
from weftline.model.fabric import Fabric, NodeKind, Tier

SMALL = settings(max_examples=20, deadline=None)


def counted(design: Any) -> FabricCounts:
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts), counts
    return counts


def links_of(fabric: Fabric) -> list[tuple[str, str]]:
    """List every link once by the names of its devices, walking the ports one by one."""
    found: list[tuple[str, str]] = []
    for port, peer in enumerate(fabric.port_peer.tolist()):
        if peer > port:
            a, b = int(fabric.port_node[port]), int(fabric.port_node[peer])
            found.append((fabric.node_name[a], fabric.node_name[b]))
    return found


@st.composite
def declared_groups(draw: st.DrawFn) -> dict[str, Any]:
    plus = draw(st.booleans())
    rails = draw(st.integers(1, 5))
    kinds: list[dict[str, Any]] = []
    hosts = 0
    for index in range(draw(st.integers(1, 3))):
        group: dict[str, Any] = {
            "name": f"kind-{index}",
            "count": draw(st.integers(1, 3)),
            "leaf": draw(st.integers(1, 6)),
            "hosts": draw(st.integers(1 if index == 0 else 0, 9)),
            "others": draw(st.integers(0, 7)),
        }
        if plus:
            group["spine"] = draw(st.integers(1, 4))
        if draw(st.booleans()):
            group["global_links"] = draw(st.integers(0, 3))
        kinds.append(group)
        hosts += group["count"] * group["hosts"]
    topology = {
        "kind": "dragonfly-plus" if plus else "dragonfly",
        "groups": kinds,
        "global_links": draw(st.integers(0, 3)),
        "local_links": draw(st.integers(1, 3)),
        "arrangement": draw(st.sampled_from(["palmtree", "absolute"])),
    }
    extras = [{"name": "ufm", "ports": 2}] if draw(st.booleans()) else []
    return declare(topology, hosts=draw(st.integers(1, hosts)), rails=rails, extras=extras)


@SMALL
@given(declared_groups())
def test_what_is_counted_is_what_is_built(content: dict[str, Any]) -> None:
    design = design_of(content)
    fabric = fabric_of(design)
    counts = counted(design)
    assert count_fabric(fabric, design) == counts
    kinds = content["topology"]["groups"]
    assert counts.switches["leaf"] == sum(kind["count"] * kind["leaf"] for kind in kinds)
    assert counts.switches["spine"] == sum(kind["count"] * kind.get("spine", 0) for kind in kinds)
    assert counts.groups == sum(kind["count"] for kind in kinds)
    assert fabric.shape == content["topology"]["kind"]


@SMALL
@given(declared_groups())
def test_groups_are_joined_inside_and_to_each_other_as_declared(content: dict[str, Any]) -> None:
    design = design_of(content)
    fabric = fabric_of(design)
    topology = content["topology"]
    each = [kind for kind in topology["groups"] for _ in range(kind["count"])]
    group = dict(zip(fabric.node_name, fabric.node_group.tolist(), strict=True))
    tier = dict(zip(fabric.node_name, fabric.node_tier.tolist(), strict=True))
    inside: Counter[tuple[str, str]] = Counter()
    between: Counter[tuple[int, int]] = Counter()
    used: Counter[str] = Counter()
    for a, b in links_of(fabric):
        if group[a] == NIL:
            continue
        if group[a] == group[b]:
            inside[a, b] += 1
        else:
            between[min(group[a], group[b]), max(group[a], group[b])] += 1
            used[a] += 1
            used[b] += 1
    wish = [kind.get("global_links", topology["global_links"]) for kind in each]
    all_pairs = combinations(range(len(each)), 2)
    assert between == Counter({(i, j): n for i, j in all_pairs if (n := min(wish[i], wish[j]))})
    for (a, b), links in inside.items():
        assert links == topology["local_links"]
        assert (tier[a] != tier[b]) == (topology["kind"] == "dragonfly-plus")
    for index, kind in enumerate(each):
        spine = kind.get("spine", 0)
        pairs = kind["leaf"] * spine or kind["leaf"] * (kind["leaf"] - 1) // 2
        assert sum(1 for a, _ in inside if group[a] == index) == pairs
        edge = [name for name in group if group[name] == index and tier[name] == (Tier.SPINE if spine else Tier.LEAF)]
        ends = [used[name] for name in edge]
        assert max(ends) - min(ends) <= 1


@SMALL
@given(declared_groups())
def test_nics_of_a_host_take_switches_that_follow_one_another(content: dict[str, Any]) -> None:
    design = design_of(content)
    fabric = fabric_of(design)
    rails = design.rails
    plan = plan_direct(design)
    assert isinstance(plan, GroupPlan)
    first = np.cumsum([0, *(shape.leaves for shape in plan.shapes)])
    names = [name for name in fabric.node_name if name.startswith("leaf-")]
    index = {name: i for i, name in enumerate(names)}
    home = fabric.port_node[fabric.port_peer[fabric.endpoint_port]]
    at = 0
    for group, hosts in enumerate(plan.hosts.tolist()):
        leaves = plan.shapes[group].leaves
        for _ in range(hosts):
            seats = [index[fabric.node_name[node]] - int(first[group]) for node in home[at : at + rails]]
            at += rails
            assert all(0 <= seat < leaves for seat in seats)
            assert len(set(seats)) == min(rails, leaves)
            if leaves % rails == 0:
                assert [seat % rails for seat in seats] == list(range(rails))
    numbers = fabric.port_number[fabric.port_peer[fabric.endpoint_port]]
    plugged = list(zip(home.tolist(), numbers.tolist(), strict=True))
    assert len(set(plugged)) == len(plugged)


def test_a_torus_counts_as_it_is_built_and_keeps_a_hosts_nics_together() -> None:
    topology = {"kind": "torus", "sizes": [4, 2, 3], "dimension_links": [2, 1, 1]}
    design = design_of(declare(topology, hosts=50, rails=2, extras=[{"name": "ufm", "ports": 2}]))
    fabric = fabric_of(design)
    counts = counted(design)
    assert count_fabric(fabric, design) == counts
    assert counts.switches["leaf"] == 24
    assert counts.cables["leaf_leaf"] == 24 * 2 + 12 + 24
    assert counts.groups == 0
    home = fabric.port_node[fabric.port_peer[fabric.endpoint_port[:100]]].reshape(50, 2)
    assert (home[:, 0] == home[:, 1]).all()
    assert fabric.node_place is not None
    assert fabric.node_place[fabric.switch_node].max(axis=0).tolist() == [3, 1, 2]


def test_unequal_groups_hold_others_and_all_reach_each_other() -> None:
    topology = {
        "kind": "dragonfly-plus",
        "groups": [
            {"name": "compute", "count": 3, "leaf": 4, "spine": 2, "hosts": 6},
            {"name": "storage", "count": 1, "leaf": 2, "spine": 2, "hosts": 0, "others": 9},
        ],
    }
    fabric = fabric_of(design_of(declare(topology, hosts=18, rails=2)))
    others = [i for i, name in enumerate(fabric.node_name) if name.startswith("storage-")]
    assert len(others) == 9
    assert (fabric.node_kind[others] == NodeKind.EXTRA).all()
    graph: nx.Graph[str] = nx.Graph(links_of(fabric))
    assert nx.is_connected(graph)
    homes = {next(iter(graph[fabric.node_name[i]])) for i in others}
    assert homes == {"leaf-013", "leaf-014"}


def test_split_ports_leave_whole_ports_for_switches() -> None:
    """40 endpoints at 200 Gb/s on ports of 400 take 20 whole ports of 64, which leaves 44."""
    topology = {
        "kind": "dragonfly",
        "trunk_gbps": 400.0,
        "groups": [{"count": 2, "leaf": 4, "endpoints": 40}],
    }
    content = declare(topology, hosts=80, rails=4)
    content["hosts"]["rate_gbps"] = 200
    design = design_of(content)
    fabric = fabric_of(design)
    leaf = fabric.node_name.index("leaf-001")
    ports = slice(int(fabric.port_ptr[leaf]), int(fabric.port_ptr[leaf + 1]))
    assert ports.stop - ports.start == 40 + 44
    rate = fabric.port_rate_gbps[ports]
    lit = fabric.port_peer[ports] != NIL
    far = fabric.node_kind[fabric.port_node[fabric.port_peer[ports]]]
    assert set(rate[lit & (far == NodeKind.HOST)].tolist()) == {200.0}
    assert set(rate[lit & (far == NodeKind.SWITCH)].tolist()) == {400.0}
    assert counted(design).cables["between_groups"] == 4 * (44 - 3)


def test_a_cabling_list_of_a_dragonfly_is_read_back() -> None:
    topology = {"kind": "dragonfly", "groups": [{"count": 5, "leaf": 2}], "global_links": 1}
    fabric = fabric_of(design_of(declare(topology, hosts=10)))
    text = write_cabling(fabric)
    listed = read_cabling(text, "list.csv")
    assert isinstance(listed, CablingList)
    assert len(listed.rows) == 10 + 5 + 10
    assert "groups 1 and 2" in text


@pytest.mark.parametrize(
    ("topology", "code"),
    [
        ({"kind": "torus", "sizes": [4096, 4096]}, "spec.too-large"),
        ({"kind": "dragonfly", "groups": [{"count": 2047, "leaf": 62}], "global_links": 0}, "spec.too-large"),
        (
            {
                "kind": "dragonfly",
                "groups": [{"name": f"g{i}", "count": 2000, "leaf": 1, "hosts": 1} for i in (1, 2)],
            },
            "spec.too-large",
        ),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_built(topology: dict[str, Any], code: str) -> None:
    counts = plan_counts(design_of(declare(topology, hosts=2000)))
    assert isinstance(counts, tuple)
    assert counts[0].code == code


def test_an_extra_endpoint_may_not_be_called_as_one_of_the_others() -> None:
    topology = {"kind": "dragonfly", "groups": [{"name": "io", "count": 2, "leaf": 2, "hosts": 4, "others": 2}]}
    design = design_of(declare(topology, hosts=8, extras=[{"name": "io-0001", "ports": 1}]))
    built = build_fabric(design)
    assert isinstance(built, tuple)
    assert built[0].code == "spec.duplicate-name"


def test_every_false_count_is_a_problem() -> None:
    topology = {"kind": "dragonfly", "groups": [{"count": 4, "leaf": 4}]}
    true = {"groups": 4, "leaf": 16, "leaf_leaf": 24, "endpoints": 32, "units": 4, "host_leaf": 32, "spine": 0}
    design = design_of(declare(topology, hosts=32, expect=true))
    assert check_expect(design, counted(design)) == ()
    for key, count in true.items():
        design = design_of(declare(topology, hosts=32, expect={**true, key: count + 1}))
        problems: tuple[Problem, ...] = check_expect(design, counted(design))
        assert [problem.code for problem in problems] == ["spec.expect"]
