from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fabrics import make_design, make_fabric
from weftline.compile import build_fabric, count_fabric
from weftline.errors import Problem
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind


def plugged(fabric: Fabric) -> list[str]:
    """Where the ports of extra endpoints end."""
    ports = [p for p in fabric.endpoint_port if fabric.node_kind[fabric.port_node[p]] == NodeKind.EXTRA]
    return [fabric.link_name(p) for p in ports]


def refusal(**options: Any) -> Problem:
    built = build_fabric(make_design(**options))
    assert isinstance(built, tuple)
    return built[0]


def test_auto_takes_one_free_port_per_leaf_rail_by_rail() -> None:
    fabric = make_fabric(
        "rail-optimised", hosts=6, rails=3, ports=8, unit_size=4, extras=[("ufm", 4, "auto"), ("store", 1, "auto")]
    )
    assert plugged(fabric) == [
        "ufm/1~leaf-004/3", "ufm/2~leaf-005/3", "ufm/3~leaf-006/3", "ufm/4~leaf-004/4", "store/1~leaf-005/4",
    ]  # fmt: skip
    assert fabric.node_name[6:8] == ("ufm", "store")
    ports = fabric.endpoint_port[-5:]
    assert fabric.port_rail[ports].tolist() == [0, 1, 2, 0, 1]
    assert fabric.node_component[6:8].tolist() == [0, 0]
    assert fabric.node_tenant[6:8].tolist() == [NIL, NIL]


def test_auto_covers_the_planes() -> None:
    fabric = make_fabric("rail-optimised", hosts=3, rails=2, ports=8, unit_size=4, planes=2, extras=[("u", 4, "auto")])
    ports = fabric.endpoint_port[-4:]
    assert fabric.port_plane[ports].tolist() == [0, 1, 0, 1]
    assert fabric.port_rail[ports].tolist() == [0, 0, 1, 1]
    assert fabric.node_component[3] == NIL


def test_auto_goes_on_to_ports_that_no_unit_uses() -> None:
    fabric = make_fabric("fat-tree", hosts=4, ports=6, unit_size=2, extras=[("ufm", 3, "auto")])
    assert plugged(fabric) == ["ufm/1~leaf-001/5", "ufm/2~leaf-002/5", "ufm/3~leaf-001/6"]


def test_a_tier_or_a_switch_can_be_named() -> None:
    base: dict[str, Any] = {"hosts": 12, "ports": 8}
    assert plugged(make_fabric(**base, extras=[("x", 2, "spine")])) == ["x/1~spine-01/7", "x/2~spine-02/7"]
    assert plugged(make_fabric(**base, extras=[("x", 2, "spine-02")])) == ["x/1~spine-02/7", "x/2~spine-02/8"]
    assert plugged(make_fabric(hosts=14, ports=8, extras=[("x", 1, "leaf")])) == ["x/1~leaf-004/3"]


def test_the_rest_of_the_fabric_stays_as_it_is() -> None:
    plain = make_fabric("rail-optimised", hosts=6, rails=3, ports=8, unit_size=4)
    more = make_fabric("rail-optimised", hosts=6, rails=3, ports=8, unit_size=4, extras=[("ufm", 4, "auto")])
    a, b = count_fabric(plain), count_fabric(more)
    assert (b.extra_endpoints, b.extra_cables, b.extra_links) == (4, 4, 4)
    assert (a.cables, a.links, a.by_plane, a.endpoints) == (b.cables, b.links, b.by_plane, b.endpoints)
    names = {plain.link_name(int(p)) for p in np.flatnonzero(plain.port_peer != NIL)}
    assert names < {more.link_name(int(p)) for p in np.flatnonzero(more.port_peer != NIL)}


def test_a_full_last_unit_is_refused_with_the_arithmetic() -> None:
    problem = refusal(hosts=16, ports=8, extras=[("ufm", 4, "auto")])
    assert problem.code == "spec.no-free-port"
    assert "4 leaves x 8 ports - 16 endpoints - 4 x 4 uplinks" in problem.message
    assert "remove 4 host(s)" in problem.hint
    assert problem.where is not None
    assert problem.where.path == "hosts.extra_endpoints[0].where"


def test_a_tier_that_is_not_there_is_refused() -> None:
    problem = refusal(hosts=16, ports=8, extras=[("ufm", 4, "core")])
    assert problem.code == "spec.no-free-port"
    assert "no core switches" in problem.message


@pytest.mark.parametrize(("where", "hint"), [("leaff-001", "leaf-001"), ("host-0001", "as leaf-001"), ("zzz", "auto")])
def test_a_switch_that_is_not_there_is_refused(where: str, hint: str) -> None:
    problem = refusal(hosts=12, ports=8, extras=[("ufm", 1, where)])
    assert problem.code == "spec.unknown-switch"
    assert hint in problem.hint


def test_names_that_could_be_mistaken_are_refused() -> None:
    assert refusal(hosts=8, ports=8, extras=[("leaf-9", 1, "auto")]).code == "spec.duplicate-name"
    assert refusal(hosts=8, ports=8, extras=[("a", 1, "auto"), ("a", 1, "auto")]).code == "spec.duplicate-name"
