from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import make_design
from weftline.compile import build_fabric, count_fabric, plan_counts
from weftline.compile.parts import connected_parts, uniform_value
from weftline.errors import Place, Problem
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, Tier

HEAD = "a_device,a_port,b_device,b_port,length_m,part,cable\n"


def wire(rows: str, **options: Any) -> Fabric | tuple[Problem, ...]:
    whole: dict[str, Any] = {"hosts": 2, "ports": 4, "unit_size": 1, **options}
    design = make_design("cabling", **whole)
    return build_fabric(design, HEAD + "".join(row + (",,," + "\n") for row in rows.split()))


def problem_of(rows: str, **options: Any) -> Problem:
    found = wire(rows, **options)
    assert isinstance(found, tuple), found.node_name
    return found[0]


def fabric_of(rows: str, **options: Any) -> Fabric:
    found = wire(rows, **options)
    assert isinstance(found, Fabric), found
    return found


HOSTS = "host-0001,nic1,sw-a,1 host-0002,nic1,sw-b,1 "


def test_tiers_come_from_the_distance_to_hosts() -> None:
    fabric = fabric_of(HOSTS + "sw-a,2,top,1 sw-b,2,top,2 top,3,roof-1,1 attic,1,roof-1,2 top,4,attic,2")
    assert fabric.node_name == ("host-0001", "host-0002", "sw-a", "sw-b", "top", "attic", "roof-1")
    assert fabric.node_tier.tolist() == [0, 0, Tier.LEAF, Tier.LEAF, Tier.SPINE, Tier.CORE, Tier.CORE]
    assert fabric.shape == "cabling"
    counts = count_fabric(fabric)
    assert counts.run_links == {"host_leaf": 2, "leaf_spine": 2, "spine_core": 2}
    assert counts.links == 7


def test_tiers_come_from_names_where_they_say_so() -> None:
    fabric = fabric_of("host-0001,nic1,spine-2,1 host-0002,nic1,leaf-10,1 leaf-9,1,spine-2,2 leaf-10,2,leaf-9,2")
    assert fabric.node_name[2:] == ("leaf-9", "leaf-10", "spine-2")
    assert fabric.node_tier[2:].tolist() == [Tier.LEAF, Tier.LEAF, Tier.SPINE]


def test_ends_may_be_listed_the_other_way_round() -> None:
    a = fabric_of(HOSTS + "sw-a,2,sw-b,2")
    b = fabric_of("sw-b,1,host-0002,nic1 sw-b,2,sw-a,2 sw-a,1,host-0001,nic1")
    assert np.array_equal(a.port_peer, b.port_peer)
    assert a.node_name == b.node_name


def test_the_source_digest_is_of_the_list_too() -> None:
    first, second = fabric_of(HOSTS + "sw-a,2,sw-b,2"), fabric_of(HOSTS + "sw-a,2,sw-b,3")
    assert first.source_digest != second.source_digest
    assert first.source_digest == fabric_of(HOSTS + "sw-a,2,sw-b,2").source_digest


def test_separate_parts_are_components() -> None:
    fabric = fabric_of("host-0001,nic1,sw-b,1 host-0002,nic1,sw-a,1", hosts=2)
    assert fabric.node_component.tolist() == [1, 0, 0, 1]
    assert fabric.port_component[:2].tolist() == [1, 0]


def test_dark_nics_are_allowed_but_absent_hosts_are_not() -> None:
    fabric = fabric_of(HOSTS + "sw-a,2,sw-b,2", rails=2)
    assert (fabric.port_peer[:4] == NIL).tolist() == [False, True, False, True]
    assert fabric.port_component[1] == NIL
    problem = problem_of(HOSTS + "sw-a,2,sw-b,2", hosts=3)
    assert problem.code == "spec.cabling-host"
    assert "host-0003 is declared but has no cable" in problem.message


@pytest.mark.parametrize(
    ("rows", "code", "where", "words"),
    [
        (HOSTS + "host-0003,nic1,sw-a,2", "spec.cabling-host", (4, 1), "none of the 2 declared hosts"),
        ("host-1,nic1,sw-a,1", "spec.cabling-host", (2, 1), "write host-0001"),
        (HOSTS + "sw-a,5,sw-b,2", "spec.cabling-port", (4, 6), "sw-a has 4 ports, not 5"),
        (HOSTS.replace("sw-b,1", "sw-b,9"), "spec.cabling-port", (3, 21), "4 ports, not 9"),
        (HOSTS.replace("nic1", "nic2"), "spec.cabling-port", (2, 11), "no nic2"),
        (HOSTS.replace("nic1", "nic1p2"), "spec.cabling-port", (2, 11), "no nic1p2"),
        ("host-0001,nic1,host-0002,nic1", "spec.cabling-device", (2, 16), "both endpoints"),
        (HOSTS + "leaf-1,1,sw-a,2 leaf-001,1,sw-b,2", "spec.cabling-device", (5, 1), "same switch by number"),
    ],
)
def test_what_does_not_fit_the_declaration_is_a_problem(
    rows: str, code: str, where: tuple[int, int], words: str
) -> None:
    problem = problem_of(rows)
    assert problem.code == code
    assert problem.where == Place("cabling.csv", *where)
    assert words in f"{problem.message} {problem.hint}"


def test_nics_of_planes_are_named_by_plane() -> None:
    rows = "host-0001,nic1p1,a,1 host-0001,nic1p2,b,1 host-0002,nic1p1,a,2 host-0002,nic1p2,b,2"
    fabric = fabric_of(rows, planes=2)
    assert fabric.node_plane.tolist() == [NIL, NIL, 0, 1]
    assert "nic1p2 for the second port" in problem_of(rows.replace("nic1p2", "nic2"), planes=2).hint
    assert problem_of(rows.replace("nic1p2", "nic1p3"), planes=2).code == "spec.cabling-port"


def test_extra_endpoints_are_known_by_name() -> None:
    fabric = fabric_of(HOSTS + "ufm,1,sw-a,2 ufm,2,sw-b,2", extras=[("ufm", 2, "auto")])
    assert fabric.node_name[2] == "ufm"
    assert count_fabric(fabric).extra_endpoints == 2
    assert problem_of(HOSTS + "ufm,3,sw-a,2", extras=[("ufm", 2, "auto")]).code == "spec.cabling-port"
    assert problem_of(HOSTS + "sw-a,2,sw-b,2", extras=[("ufm", 2, "auto")]).code == "spec.cabling-host"


def test_links_of_a_cable_agree() -> None:
    design = make_design("cabling", hosts=2, ports=16, unit_size=2)
    rows = "host-0001,nic1,a,1,3,DAC,x\nhost-0002,nic1,a,2,4,DAC,x\n"
    found = build_fabric(design, HEAD + rows)
    assert isinstance(found, tuple)
    assert (found[0].code, found[0].where) == ("spec.cabling-cable", Place("cabling.csv", 3, 1))
    many = "host-0001,nic1,a,1,,,\nhost-0002,nic1,a,2,,,\n" + "".join(f"a,{i},b,{i},,,x\n" for i in range(3, 12))
    found = build_fabric(design, HEAD + many)
    assert isinstance(found, tuple)
    assert "more than 8 links" in found[0].message


def test_no_list_is_refused() -> None:
    found = build_fabric(make_design("cabling", hosts=2))
    assert isinstance(found, tuple)
    assert found[0].code == "spec.cabling-missing"


def test_too_many_ports_are_refused_before_they_are_built() -> None:
    rows = HOSTS + " ".join(f"sw-{i},1,sw-{i + 1},2" for i in range(2000))
    problem = problem_of(rows, ports=4096)
    assert problem.code == "spec.too-large"
    assert "one fabric holds at most 8,000,000" in problem.message
    design = make_design("cabling", hosts=1_000_000, rails=64, ports=64)
    assert plan_counts(design) == build_fabric(design, HEAD)
    assert isinstance(plan_counts(design), tuple)


def test_problems_are_bounded() -> None:
    found = wire(" ".join(f"host-{i:04d},nic1,sw,{i}" for i in range(3, 900)))
    assert isinstance(found, tuple)
    assert len(found) == 100


edges = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=30)


@given(edges)
def test_connected_parts_are_those_of_a_plain_search(pairs: list[tuple[int, int]]) -> None:
    label = list(range(20))
    for _ in range(20):
        for a, b in pairs:
            label[a] = label[b] = min(label[a], label[b])
    a, b = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in range(2))
    assert connected_parts(20, a, b).tolist() == label


@given(edges)
def test_a_uniform_value_is_shared_by_all(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in range(2))
    seen = [{v for n, v in pairs if n == node} for node in range(20)]
    assert uniform_value(20, a, b).tolist() == [min(s) if len(s) == 1 else NIL for s in seen]
