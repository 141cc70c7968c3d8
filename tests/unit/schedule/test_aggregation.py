"""Aggregation trees on small fabrics: where they stand, what they share, and why there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.reduction import AggregationTree, ReductionLimits, ReductionPlan
from weftline.schedule import place_ranks, plan_trees

FREE = ReductionLimits("part", reduces=True, latency_ns=0.0)
ETHERNET = ReductionLimits("ethernet", reduces=False)


def plan(fabric: Fabric, *limits: ReductionLimits, ranks: int | None = None) -> ReductionPlan:
    """Plan with the limits of leaves, spines and cores; those that are not given are as the last."""
    tiers = (*limits, *[limits[-1]] * (3 - len(limits)))
    return plan_trees(fabric, place_ranks(fabric, ranks), tiers)


def without_link(fabric: Fabric, node: str) -> Fabric:
    """Take the first link of a switch to one of a higher tier down."""
    at = fabric.node_name.index(node)
    peer = fabric.port_peer.copy()
    for port in range(int(fabric.port_ptr[at]), int(fabric.port_ptr[at + 1])):
        far = int(peer[port])
        if far != NIL and fabric.node_tier[fabric.port_node[far]] > fabric.node_tier[at]:
            peer[[port, far]] = NIL
            return replace(fabric, port_peer=peer)
    raise AssertionError(node)


def check_tree(tree: AggregationTree, fabric: Fabric) -> None:
    """Follow every member up its links to the root."""
    for port, parent in zip(tree.member_port.tolist(), tree.member_parent.tolist(), strict=True):
        node = int(fabric.port_node[fabric.port_peer[port]])
        at = int(parent)
        while True:
            assert tree.switch[at] == node
            if at == 0:
                break
            up = int(tree.up_port[at])
            assert fabric.port_node[up] == node
            node, below = int(fabric.port_node[fabric.port_peer[up]]), at
            at = int(tree.parent[at])
            assert tree.level[below] == tree.level[at] + 1
    assert (tree.up_port == NIL).tolist() == [True] + [False] * (len(tree.switch) - 1)


def list_links(tree: AggregationTree) -> set[int]:
    return {*tree.member_port.tolist(), *tree.up_port[1:].tolist()}


@pytest.mark.parametrize("options", [
    {"hosts": 16, "ports": 8}, {"hosts": 16, "rails": 4, "ports": 16}, {"hosts": 64, "ports": 8, "tiers": 3},
    {"kind": "rail-optimised", "hosts": 16, "rails": 2, "ports": 8}, {"hosts": 16, "ports": 8, "planes": 2},
])  # fmt: skip
def test_every_member_reaches_the_root_and_trees_share_no_link(options: dict[str, object]) -> None:
    fabric = make_fabric(**options)  # type: ignore[arg-type]
    found = plan(fabric, replace(FREE, trees_per_port=1))
    assert found.reason is None
    assert found.shared_links == 0
    rails = int(options.get("rails", 1))  # type: ignore[call-overload]
    assert len(found.trees) == rails * fabric.planes
    links = [link for tree in found.trees for link in list_links(tree)]
    assert len(links) == len(set(links))
    for tree in found.trees:
        check_tree(tree, fabric)
        assert len(tree.rank) == int(options["hosts"])  # type: ignore[call-overload]
        assert len({int(fabric.port_plane[port]) for port in tree.member_port}) == 1


def test_three_tiers_have_a_core_as_root_where_pods_take_part_and_a_spine_within_one() -> None:
    fabric = make_fabric(hosts=64, ports=8, tiers=3)
    whole, pod = plan(fabric, FREE).trees[0], plan(fabric, FREE, ranks=8).trees[0]
    assert fabric.node_tier[whole.switch[0]] == Tier.CORE
    assert whole.levels == 3
    assert fabric.node_tier[pod.switch[0]] == Tier.SPINE
    assert pod.levels == 2
    leaf = plan(fabric, FREE, ranks=3).trees[0]
    assert [fabric.node_name[node] for node in leaf.switch] == ["leaf-001"]


def test_the_root_is_the_first_by_name_and_never_another() -> None:
    fabric = make_fabric(hosts=16, ports=8)
    roots = [fabric.node_name[int(plan(fabric, FREE).trees[0].switch[0])] for _ in range(3)]
    assert roots == ["spine-01"] * 3


def test_a_link_that_is_down_is_gone_around() -> None:
    fabric = make_fabric(hosts=16, ports=8)
    broken = without_link(fabric, "leaf-002")
    before, after = plan(fabric, FREE).trees[0], plan(broken, FREE).trees[0]
    check_tree(after, broken)
    assert list_links(before) - list_links(after)
    down = {port for port in range(fabric.port_count) if broken.port_peer[port] != fabric.port_peer[port]}
    assert not down & list_links(after)


def test_leaves_without_a_switch_above_both_are_named() -> None:
    fabric = from_links(["leaf-001", "leaf-002"], {"host-0001": "leaf-001", "host-0002": "leaf-002"}, [])
    found = plan(fabric, FREE)
    assert found.trees == ()
    assert found.reason == "no switch stands above leaf-001 and leaf-002, over links that are up"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ((ETHERNET,), "switch leaf-001 (ethernet) does not reduce, as far as its part says"),
        ((FREE, ETHERNET), "switch spine-01 (ethernet) does not reduce, as far as its part says"),
        ((replace(FREE, children=3),), "switch spine-01 (part) gathers from 3 ports at most, and 4 are needed"),
        ((replace(FREE, trees_per_switch=1),), "switch leaf-001 (part) takes part in 1 tree at one time at most"),
        ((replace(FREE, trees_in_fabric=3),), "a fabric with spine-02 (part) has 3 trees at most"),
    ],
)
def test_what_stands_in_the_way_is_named(limits: tuple[ReductionLimits, ...], reason: str) -> None:
    fabric = make_fabric(hosts=16, rails=4, ports=32, unit_size=4)
    found = plan(fabric, *limits)
    assert found.trees == ()
    assert found.reason == reason


def test_trees_share_links_only_where_there_are_not_enough() -> None:
    links = [("leaf-001", "spine-01"), ("leaf-002", "spine-01")]
    hosts = {"host-0001": "leaf-001", "host-0002": "leaf-002"}
    fabric = from_links(["leaf-001", "leaf-002", "spine-01"], hosts, links, tiers={"spine-01": Tier.SPINE})
    two = np.array([[0], [0], [1], [1]], dtype=np.int32)
    placement = replace(
        place_ranks(fabric), rank_port=two, rank_host=np.array([0, 0, 1, 1], dtype=np.int32),
        rank_rail=np.array([0, 1, 0, 1], dtype=np.int32),
    )  # fmt: skip
    shared = plan_trees(fabric, placement, (FREE,) * 3)
    assert len(shared.trees) == 2
    assert shared.shared_links == 4
    limit = replace(FREE, trees_per_port=1)
    refused = plan_trees(fabric, placement, (limit,) * 3)
    assert refused.reason == "port leaf-001/1 (part) takes part in 1 tree at one time at most"


def test_figures_that_nobody_publishes_are_told() -> None:
    fabric = make_fabric(hosts=16, ports=8)
    known = replace(FREE, children=64, trees_per_port=1)
    assert plan(fabric, known).assumptions == ()
    texts = plan(fabric, ReductionLimits("part", reduces=True)).assumptions
    assert [word for word in ("reduction_children", "reduction_latency_ns", "reduction_trees") if word in str(texts)]
    assert len(texts) == 3


def test_ranks_on_one_host_have_no_tree() -> None:
    fabric = make_fabric(hosts=16, rails=4, ports=16)
    assert plan(fabric, FREE, ranks=4).reason == "all ranks stand on one host: no switch is between them"


def test_uneven_hosts_have_no_tree() -> None:
    fabric = make_fabric(hosts=16, rails=4, ports=16)
    reason = plan(fabric, FREE, ranks=6).reason
    assert reason is not None
    assert "do not use the same rails of each host" in reason
