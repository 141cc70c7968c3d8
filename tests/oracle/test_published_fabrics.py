"""The examples after JUPITER, Leonardo and LUMI against what was published of these machines."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from weftline.compile import build_fabric, check_expect, count_fabric, plan_counts, plan_direct, promised_load
from weftline.compile.direct import build_dragonfly
from weftline.declare import load_catalog, read_spec, resolve_spec
from weftline.kernels.column import NIL
from weftline.model.counts import FabricCounts
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind, Tier

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def load(name: str) -> tuple[ResolvedSpec, Fabric, FabricCounts]:
    declaration = read_spec(EXAMPLES / f"{name}-like.yaml")
    assert not isinstance(declaration, tuple), declaration
    design = resolve_spec(declaration, load_catalog())
    assert not isinstance(design, tuple), design
    counts, fabric = plan_counts(design), build_fabric(design)
    assert isinstance(counts, FabricCounts)
    assert isinstance(fabric, Fabric)
    return design, fabric, counts


@pytest.mark.parametrize("name", ["jupiter", "leonardo", "lumi"])
def test_the_expected_counts_hold_as_planned_and_as_built(name: str) -> None:
    design, fabric, counts = load(name)
    assert count_fabric(fabric, design) == counts
    assert check_expect(design, counts) == ()
    assert design.spec.expect.groups is not None


def test_jupiter_has_its_published_switches_and_endpoints() -> None:
    _, fabric, counts = load("jupiter")
    assert sum(counts.switches.values()) == 867
    assert counts.endpoints + counts.extra_endpoints == 25_400
    assert counts.groups == 27
    group, tier = fabric.node_group, fabric.node_tier
    for booster in range(25):
        assert np.count_nonzero((group == booster) & (tier == Tier.LEAF)) == 15
        assert np.count_nonzero((group == booster) & (tier == Tier.SPINE)) == 16
    first = fabric.node_name.index("leaf-001")
    ports = slice(int(fabric.port_ptr[first]), int(fabric.port_ptr[first + 1]))
    rate = fabric.port_rate_gbps[ports][fabric.port_peer[ports] != NIL]
    assert (np.count_nonzero(rate == 200), np.count_nonzero(rate == 400)) == (64, 32)


def test_leonardo_has_one_link_from_each_spine_to_every_other_cell() -> None:
    """18 links over 18 spines: spine k of a cell has exactly one to each of the 22 others."""
    _, fabric, counts = load("leonardo")
    assert counts.run_links["between_groups"] == 4_554
    assert counts.hosts == 3_456
    assert counts.extra_endpoints == 1_536
    node, group = fabric.port_node, fabric.node_group
    for spine in np.flatnonzero(fabric.node_tier == Tier.SPINE)[::37].tolist():
        ports = np.arange(int(fabric.port_ptr[spine]), int(fabric.port_ptr[spine + 1]))
        far = group[node[fabric.port_peer[ports[fabric.port_peer[ports] != NIL]]]]
        assert sorted(far[far != group[spine]].tolist()) == sorted(set(range(23)) - {int(group[spine])})


def test_lumi_has_its_groups_and_a_nodes_ports_on_four_switches() -> None:
    _, fabric, counts = load("lumi")
    assert counts.hosts == 23 * 124 + 126 == 2_978
    assert counts.switches["leaf"] == 24 * 32 + 8 * 16
    home = fabric.port_node[fabric.port_peer[fabric.endpoint_port[: counts.endpoints]]].reshape(-1, 4)
    assert (np.diff(np.sort(home, axis=1), axis=1) > 0).all()
    assert (np.ptp(fabric.node_group[home], axis=1) == 0).all()
    ends = np.bincount(fabric.port_node[fabric.port_peer[fabric.endpoint_port]], minlength=fabric.node_count)
    assert ends.max() == 16
    leaf = np.flatnonzero((fabric.node_kind == NodeKind.SWITCH) & (fabric.node_group == 0))
    joined = {
        (a, b)
        for a in leaf.tolist()
        for b in fabric.port_node[fabric.port_peer[fabric.port_ptr[a] : fabric.port_ptr[a + 1]]].tolist()
        if a < b and fabric.node_group[b] == 0
    }
    assert len(joined) == 32 * 31 // 2


@pytest.mark.parametrize(("name", "load_promised"), [("jupiter", 24), ("leonardo", 20), ("lumi", 126 * 4 / 17)])
def test_the_worst_shift_sends_a_whole_group_to_one_other(name: str, load_promised: float) -> None:
    """960 x 200 / (20 x 400), 720 x 100 / (18 x 200), 504 / 17."""
    design, _, _ = load(name)
    plan = plan_direct(design)
    assert not isinstance(plan, tuple)
    assert promised_load(design, plan) == pytest.approx(load_promised)


@pytest.mark.parametrize("name", ["jupiter", "leonardo", "lumi"])
def test_every_switch_reaches_every_other(name: str) -> None:
    _, fabric, _ = load(name)
    lit = np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count))
    graph: nx.Graph[int] = nx.Graph()
    near: list[int] = fabric.port_node[lit].tolist()
    far: list[int] = fabric.port_node[fabric.port_peer[lit]].tolist()
    graph.add_edges_from(zip(near, far, strict=True))
    assert len(graph) == fabric.node_count
    assert nx.is_connected(graph)


def test_a_switch_of_64_ports_makes_545_groups_at_most() -> None:
    """Rosetta with 16 endpoints, 31 local and 17 global ports: 17 x 32 + 1 groups; small twin of the same formula."""
    assert 17 * 32 + 1 == 545
    fabric = build_dragonfly(1, 4, 3, 13)
    assert len(fabric.switch_node) == 4 * 13
    with pytest.raises(ValueError, match="13 other groups"):
        build_dragonfly(1, 4, 3, 14)
