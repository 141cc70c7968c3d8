from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import cut
from tests.unit.route.walks import find_port, follow, host_endpoints, members, switch_links, walk, worst_shift_load
from weftline.errors import CapabilityError
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.routes import no_route
from weftline.route import compute_routes


def components(fabric: Fabric) -> list[int]:
    return sorted(set(fabric.port_component[fabric.endpoint_port].tolist()))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("fat-tree", {"hosts": 64, "rails": 8, "ports": 64}),
        ("rail-optimised", {"hosts": 64, "rails": 8, "ports": 64, "unit_size": 32}),
        ("fat-tree", {"hosts": 16, "ports": 8}),
        ("fat-tree", {"hosts": 16, "ports": 8, "tiers": 3}),
        ("fat-tree", {"hosts": 64, "ports": 8, "tiers": 3, "leaf_ports": 16}),
        ("fat-tree", {"hosts": 128, "ports": 8}),
        ("rail-optimised", {"hosts": 32, "rails": 4, "ports": 8, "unit_size": 4}),
        ("rail-optimised", {"hosts": 256, "rails": 4, "ports": 16, "unit_size": 8}),
        ("rail-optimised", {"hosts": 32, "rails": 4, "ports": 16, "unit_size": 8, "planes": 2}),
        ("fat-tree", {"hosts": 32, "rails": 2, "ports": 8, "planes": 2}),
        ("rail-only", {"hosts": 32, "rails": 4, "ports": 8, "unit_size": 4}),
    ],
)
@pytest.mark.parametrize("engine", ["fat-tree", "updown"])
def test_every_shift_of_a_full_tree_loads_each_link_once(kind: str, options: dict[str, Any], engine: str) -> None:
    fabric = make_fabric(kind, **options)
    routes = compute_routes(fabric, engine, to_switches=False)
    assert [worst_shift_load(fabric, routes, part) for part in components(fabric)] == [1] * len(components(fabric))


def test_parallel_links_are_spread_too() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    uplinks = {port for goal in range(4, 8) for port in members(routes, 0, goal) or []}
    assert len({int(fabric.port_node[fabric.port_peer[port]]) for port in uplinks}) < len(uplinks) == 4


def test_oversubscription_bounds_the_load() -> None:
    fabric = make_fabric("fat-tree", hosts=18, ports=9, unit_size=6, oversubscription=2.0)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    assert worst_shift_load(fabric, routes, 0) == 2


def test_partial_units_are_delivered() -> None:
    fabric = make_fabric("rail-optimised", hosts=19, rails=2, ports=8, unit_size=4)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    for part in components(fabric):
        goals = host_endpoints(fabric, part)
        source, target = np.repeat(fabric.endpoint_port[goals], len(goals)), np.tile(goals, len(goals))
        assert not walk(fabric, routes, source, target)[2].any()


def test_rails_of_a_rail_only_fabric_have_no_route_to_each_other() -> None:
    fabric = make_fabric("rail-only", hosts=32, rails=4, ports=8, unit_size=4)
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    rail = fabric.port_rail[fabric.endpoint_port]
    _, _, status = walk(fabric, routes, fabric.endpoint_port[:4].repeat(4), np.tile(np.arange(4, dtype=np.int32), 4))
    assert (status.reshape(4, 4) == 0).tolist() == np.eye(4, dtype=bool).tolist()
    leaf_rail = fabric.node_rail[fabric.switch_node]
    same = leaf_rail[:, None] == rail[None, :]
    assert (routes.group[:, : len(rail)] != no_route(routes.group))[same].all()
    assert (routes.group[:, : len(rail)] == no_route(routes.group))[~same].all()


def test_a_dark_endpoint_stays_a_destination_without_routes() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    dark = cut(fabric, [int(fabric.endpoint_port[5])])
    for engine in ("fat-tree", "updown", "ecmp"):
        routes = compute_routes(dark, engine, to_switches=False)
        assert (routes.group[:, 5] == no_route(routes.group)).all()
        assert routes.destination_port[5] == fabric.endpoint_port[5]
        assert (routes.group[:, 4] != no_route(routes.group)).all()


def test_switches_are_reached_from_every_leaf_and_spines_not_from_spines() -> None:
    fabric = make_fabric("fat-tree", hosts=32, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    rows = len(fabric.switch_node)
    to_switch = routes.group[:, -rows:]
    is_leaf = fabric.node_tier[fabric.switch_node] == Tier.LEAF
    assert (to_switch[is_leaf] != no_route(routes.group)).all()
    between_spines = to_switch[~is_leaf][:, ~is_leaf]
    assert ((between_spines != no_route(routes.group)) == np.eye((~is_leaf).sum(), dtype=bool)).all()
    source = np.repeat(fabric.endpoint_port, rows)
    endpoints = len(fabric.endpoint_port)
    target = np.tile(np.arange(endpoints, endpoints + rows, dtype=np.int32), endpoints)
    assert not walk(fabric, routes, source, target)[2].any()


def test_endpoints_on_spines_and_cores_are_reached_from_hosts_and_reach_them() -> None:
    pods, cores = 4, 4
    names = [f"leaf-{i + 1:03d}" for i in range(8)] + [f"spine-{i + 1:02d}" for i in range(8)]
    names += [f"core-{i + 1:02d}" for i in range(cores)]
    tiers = {name: Tier[name.partition("-")[0].upper()] for name in names}
    links = [(2 * pod + leaf, 8 + 2 * pod + place) for pod in range(pods) for leaf in (0, 1) for place in (0, 1)]
    links += [(8 + 2 * pod + place, 16 + 2 * place + c) for pod in range(pods) for place in (0, 1) for c in (0, 1)]
    homes = {f"host-{i + 1:04d}": names[i // 2] for i in range(16)}
    fabric = from_links(names, {**homes, "ufm": "spine-03", "store": "core-04"}, links, tiers=tiers)
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    for goal in range(18):
        for source in fabric.endpoint_port[:18]:
            if {int(fabric.endpoint_port[goal]), int(source)} == set(fabric.endpoint_port[16:18].tolist()):
                continue  # spine-03 and core-04 are at unlike positions: no way up and then down
            assert follow(fabric, routes, int(source), goal)[0], (goal, source)


def test_three_unequal_pods_are_delivered() -> None:
    fabric = make_fabric("fat-tree", hosts=39, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    assert not np.isin(routes.group[:, :39], no_route(routes.group)).any()


def refusal(fabric: Fabric) -> str:
    with pytest.raises(CapabilityError) as caught:
        compute_routes(fabric, "fat-tree", to_switches=False)
    assert caught.value.code == "capability.engine-needs-tree"
    assert "updown" in caught.value.hint
    return caught.value.message


def test_a_lost_link_is_named() -> None:
    fabric = make_fabric("fat-tree", hosts=32, ports=8)
    assert "leaf-001 has no link to spine-01" in refusal(cut(fabric, [find_port(fabric, "leaf-001/5")]))


def test_a_lost_link_amid_others_is_named() -> None:
    fabric = make_fabric("fat-tree", hosts=32, ports=8)
    port = find_port(fabric, "leaf-003/7")
    spine = fabric.node_name[fabric.port_node[fabric.port_peer[port]]]
    assert spine == "spine-03"
    assert "leaf-003 has no link to spine-03" in refusal(cut(fabric, [port]))


def test_a_thin_pair_is_named() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8)
    assert "leaf-001 and spine-01 are joined by 1 links, others by 2" in refusal(
        cut(fabric, [find_port(fabric, "leaf-001/5")])
    )


def test_a_lost_link_to_a_core_is_named() -> None:
    fabric = make_fabric("fat-tree", hosts=128, ports=8)
    message = refusal(cut(fabric, [find_port(fabric, "spine-01/5")]))
    assert "spine-01 has no link to core-01" in message


def test_a_ring_is_no_tree() -> None:
    assert "does not join neighbouring tiers" in refusal(from_links(4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)]))


def test_four_tiers_are_too_many() -> None:
    fabric = from_links(4, 1, [(0, 1), (1, 2), (2, 3)])
    tier = fabric.node_tier.copy()
    tier[fabric.switch_node] = [1, 2, 3, 4]
    assert "more than three tiers" in refusal(replace(fabric, node_tier=tier))


LEAF, SPINE, CORE = Tier.LEAF, Tier.SPINE, Tier.CORE


@pytest.mark.parametrize(
    ("tiers", "links", "reason"),
    [
        ([LEAF, SPINE, SPINE, CORE], [(0, 1), (2, 3), (1, 3)], "s2 has no link to a leaf"),
        ([LEAF, SPINE, SPINE, CORE], [(0, 1), (0, 2), (1, 3)], "s2 has no link to a core"),
        ([LEAF, SPINE, SPINE, CORE], [(0, 1), (0, 2), (1, 3), (2, 3)], "s1 and s2 of one pod share a core"),
        (
            [LEAF, LEAF, SPINE, SPINE, SPINE, CORE, CORE],
            [(0, 2), (0, 3), (1, 4), (2, 5), (3, 6), (4, 5)],
            "s1 has 1 spines in its pod, others have 2",
        ),
        (
            [LEAF, LEAF, SPINE, SPINE, CORE],
            [(0, 2), (1, 3), (1, 3), (2, 4), (3, 4)],
            "s0 has 1 links to each spine, others have 2",
        ),
        (
            [LEAF, LEAF, SPINE, SPINE, SPINE, SPINE, CORE, CORE, CORE],
            [(0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (4, 6), (3, 7), (5, 7), (3, 8), (5, 8)],
            "s2 has 1 cores at its position, others have 2",
        ),
        (
            [LEAF, LEAF, SPINE, SPINE, SPINE, SPINE, CORE, CORE],
            [(0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (4, 6), (3, 7), (5, 7), (3, 7), (5, 7)],
            "s2 has 1 links to each core, others have 2",
        ),
        (
            [LEAF, LEAF, LEAF, SPINE, SPINE, SPINE, SPINE, SPINE, SPINE, CORE, CORE, CORE],
            [(0, 3), (0, 4), (1, 5), (1, 6), (2, 7), (2, 8), (3, 9), (5, 9), (4, 10), (7, 10), (6, 11), (8, 11)],
            "the cores of s3 reach 2 of 3 pods",
        ),
    ],
)
def test_what_is_in_the_way_is_named(tiers: list[Tier], links: list[tuple[int, int]], reason: str) -> None:
    names = [f"s{i}" for i in range(len(tiers))]
    fabric = from_links(names, {"h": "s0"}, links, tiers=dict(zip(names, tiers, strict=True)))
    assert reason in refusal(fabric)


def test_what_is_refused_as_a_tree_is_routed_by_updown() -> None:
    fabric = make_fabric("fat-tree", hosts=128, ports=8)
    broken = cut(fabric, switch_links(fabric)[::17])
    refusal(broken)
    routes = compute_routes(broken, "updown", to_switches=False)
    port = broken.endpoint_port
    source, target = np.repeat(port, len(port)), np.tile(np.arange(len(port), dtype=np.int32), len(port))
    assert not walk(broken, routes, source, target)[2].any()
    assert (broken.port_peer[port] != NIL).all()
