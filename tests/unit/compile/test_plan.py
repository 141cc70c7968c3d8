from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import make_design, make_fabric
from weftline.compile import build_fabric, count_fabric, plan_counts
from weftline.compile.plan import ClosPlan, leaf_uplinks, plan_clos, smallest_divisor
from weftline.errors import Place, Problem
from weftline.model.counts import FabricCounts


def refusal(kind: str, **options: Any) -> Problem:
    """The one problem that a design is refused with; building and planning must agree on it."""
    design = make_design(kind, **options)
    built = build_fabric(design)
    assert isinstance(built, tuple)
    assert built == plan_counts(design)
    (problem,) = built
    return problem


def test_a_leaf_with_too_few_ports_is_refused_with_the_arithmetic() -> None:
    problem = refusal("rail-optimised", hosts=64, rails=8, ports=40, unit_size=32)
    assert problem.code == "spec.leaf-ports"
    assert "32 hosts" in problem.message
    assert "32 + 32 = 64 > 40 ports of generic-leaf" in problem.message
    assert "unit_size: 20" in problem.hint
    assert problem.where == Place(file="", path="hosts.unit_size")


def test_a_fat_tree_leaf_that_cannot_hold_one_host_is_told_so() -> None:
    problem = refusal("fat-tree", hosts=4, rails=8, ports=12, unit_size=1)
    assert problem.code == "spec.leaf-ports"
    assert "1 hosts x 8 rails" in problem.message
    assert "kind: rail-optimised" in problem.hint


@pytest.mark.parametrize("ports", [8, 12, 40, 64])
def test_the_unit_size_that_a_hint_names_works(ports: int) -> None:
    options: dict[str, Any] = {"hosts": 4, "rails": 2, "ports": ports, "oversubscription": 1.5}
    problem = refusal("fat-tree", unit_size=ports, **options)
    size = int(problem.hint.partition("unit_size: ")[2].partition(",")[0])
    assert not isinstance(plan_counts(make_design("fat-tree", unit_size=size, **options)), tuple)
    options["tiers"] = 2
    assert isinstance(plan_counts(make_design("fat-tree", unit_size=size + 1, **options)), tuple)


def test_two_tiers_with_too_many_leaves_are_refused() -> None:
    problem = refusal(
        "rail-optimised", hosts=1024, rails=8, ports=96, unit_size=64, oversubscription=2, spine_ports=64, tiers=2
    )
    assert problem.code == "spec.spine-reach"
    assert "128 x 32 = 4,096 uplinks need 64 spines of 64 ports" in problem.message
    assert "the 32 uplinks of a leaf reach at most 32" in problem.message
    assert "tiers: 3" in problem.hint
    assert problem.where == Place(file="", path="topology.tiers")


def test_a_spine_of_one_port_cannot_be_in_the_middle() -> None:
    assert refusal("fat-tree", hosts=16, ports=8, spine_ports=1, tiers=3).code == "spec.spine-reach"


def test_one_tier_with_too_many_hosts_is_refused() -> None:
    problem = refusal("rail-optimised", hosts=32, rails=8, ports=64, unit_size=32, tiers=1)
    assert problem.code == "spec.tiers-too-few"
    assert "1 units x 8 rails = 8 leaves" in problem.message
    assert "rail-only" in problem.hint
    assert "3 units = 3 leaves" in refusal("fat-tree", hosts=9, ports=8, unit_size=3, tiers=1).message


def test_cores_that_cannot_reach_all_pods_are_refused() -> None:
    problem = refusal("fat-tree", hosts=500, ports=8)
    assert problem.code == "spec.core-reach"
    assert "1 x 32 groups = 32 pods > 8 ports of generic-core" in problem.message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hosts": 1_000_000, "rails": 8, "ports": 64}, "8,000,000 endpoints"),
        ({"hosts": 1_000_000, "ports": 4096, "unit_size": 1}, "ports with those of the hosts"),
        ({"hosts": 1_000_000, "rails": 64, "ports": 4096, "planes": 8}, "512,000,000 endpoints"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_built(options: dict[str, Any], words: str) -> None:
    problem = refusal("rail-optimised", **options)
    assert problem.code == "spec.too-large"
    assert words in problem.message


def test_a_place_is_found_at_the_nearest_parent() -> None:
    design = make_design("fat-tree", hosts=16, ports=8, unit_size=8)
    built = build_fabric(dataclasses.replace(design, places={"hosts": Place("a.yaml", 3, 1, "hosts")}))
    assert isinstance(built, tuple)
    assert built[0].where == Place("a.yaml", 3, 1, "hosts.unit_size")


def test_a_single_leaf_needs_no_uplinks() -> None:
    plan = plan_clos(make_design("fat-tree", hosts=8, ports=8, unit_size=8))
    assert isinstance(plan, ClosPlan)
    assert (plan.tiers, plan.uplinks, plan.switches) == (1, 0, (1, 0, 0))


def test_declared_tiers_are_built_even_where_fewer_would_do() -> None:
    two = plan_clos(make_design("fat-tree", hosts=4, ports=8, tiers=2))
    three = plan_clos(make_design("fat-tree", hosts=4, ports=8, tiers=3))
    assert isinstance(two, ClosPlan)
    assert isinstance(three, ClosPlan)
    assert two.switches == (1, 1, 0)
    assert three.switches == (1, 1, 1)


@pytest.mark.parametrize(
    ("slots", "rates", "ratio", "uplinks"),
    [
        (32, (400, 400), 1, 32),
        (128, (200, 400), 1.067, 60),
        (64, (400, 400), 64 / 60, 60),
        (20, (100, 100), 2.5, 8),
        (33, (400, 400), 2, 17),
        (48, (25, 100), 3, 4),
    ],
)
def test_uplinks_carry_host_bandwidth_over_the_oversubscription(
    slots: int, rates: tuple[float, float], ratio: float, uplinks: int
) -> None:
    assert leaf_uplinks(slots, *rates, ratio) == uplinks


@given(st.integers(1, 300), st.integers(0, 400))
def test_the_divisor_is_the_smallest_one_that_is_large_enough(number: int, least: int) -> None:
    fitting = [d for d in range(1, number + 1) if number % d == 0 and d >= least]
    assert smallest_divisor(number, least) == (min(fitting) if fitting else None)


@given(
    st.sampled_from(["fat-tree", "rail-optimised", "rail-only"]),
    st.integers(1, 10**6), st.integers(1, 64), st.integers(1, 4096), st.integers(1, 10**6), st.integers(1, 8),
    st.floats(1, 64), st.sampled_from(["auto", 1, 2, 3]),
)  # fmt: skip
def test_any_numbers_are_planned_or_refused_at_once(
    kind: str, hosts: int, rails: int, ports: int, unit: int, planes: int, ratio: float, tiers: Any
) -> None:
    planned = plan_counts(
        make_design(
            kind, hosts=hosts, rails=rails, ports=ports, unit_size=unit, planes=planes, oversubscription=ratio,
            tiers=tiers,
        )
    )  # fmt: skip
    if isinstance(planned, tuple):
        assert all(problem.message and problem.hint for problem in planned)
    else:
        assert planned.endpoints == hosts * rails * planes <= 10**6


def test_a_cabling_list_is_counted_by_its_hosts_until_it_is_read() -> None:
    design = make_design("cabling", hosts=10, rails=3, ports=16, unit_size=4, planes=2, extras=(("ufm", 2, "leaf"),))
    counts = plan_counts(design)
    assert isinstance(counts, FabricCounts)
    assert (counts.hosts, counts.gpus, counts.units, counts.endpoints, counts.extra_endpoints) == (10, 30, 3, 60, 2)
    assert not counts.is_complete
    assert (counts.links, counts.by_plane) == (0, ())


def test_a_fabric_without_a_design_is_counted_by_what_it_holds() -> None:
    fabric = make_fabric("rail-optimised", hosts=10, rails=2, ports=8, unit_size=4)
    counts = count_fabric(fabric)
    assert (counts.hosts, counts.gpus, counts.units, counts.endpoints) == (10, 20, 3, 20)
