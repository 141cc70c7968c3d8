"""Spread of loads: optimum, what flows are left with, same seed same figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.tables import minimal_routes
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.routes import Routes
from weftline.model.spread import Family
from weftline.prove.balance import gather_crowd, load_pairs
from weftline.prove.reach import measure_distances
from weftline.prove.spread import STRIDE, SpreadChoice, _pair_up, measure_spread
from weftline.prove.tables import read_tables
from weftline.route import compute_routes


@pytest.fixture
def tree() -> tuple[Fabric, Routes]:
    fabric = make_fabric("fat-tree", hosts=16, ports=8, tiers=2)
    return fabric, compute_routes(fabric, "fat-tree", to_switches=False)


def spread(fabric: Fabric, routes: Routes, **choice: int) -> dict[str, Family]:
    wanted = SpreadChoice(**{"permutations": 20, "seed": 3, **choice})
    return {family.name: family for family in measure_spread(fabric, routes, ProofRules(), wanted).families}


def test_every_shift_of_a_full_tree_is_at_the_optimum(tree: tuple[Fabric, Routes]) -> None:
    shifts = spread(*tree)["shifts"]
    assert shifts.pattern.tolist() == list(range(1, 16))
    assert shifts.of == 15
    assert set(shifts.worst) == set(shifts.optimum) == {1.0}
    assert shifts.share_mean.tolist() == [1.0] * 15
    assert (shifts.lost, shifts.at_most) == (0, None)


def test_a_sample_of_shifts_says_what_none_exceeds(tree: tuple[Fabric, Routes]) -> None:
    shifts = spread(*tree, shifts=4)["shifts"]
    assert (len(shifts.pattern), shifts.of, shifts.at_most) == (4, 15, 1.0)


def test_permutations_pair_endpoints_and_repeat_with_their_seed(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    crowd = gather_crowd(fabric, read_tables(fabric, routes))
    source, target, _ = _pair_up(crowd, 3, 5)
    pairs = {(int(a), int(fabric.endpoint_port[b])) for a, b in zip(source, target, strict=True)}
    assert sorted(a for a, _ in pairs) == sorted(b for _, b in pairs) == fabric.endpoint_port.tolist()
    assert all((b, a) in pairs and a != b for a, b in pairs)
    one, again, other = (spread(fabric, routes, seed=seed)["permutations"] for seed in (3, 3, 4))
    assert np.array_equal(one.share_mean, again.share_mean)
    assert not np.array_equal(one.share_mean, other.share_mean)
    assert STRIDE > 1_000_000


def test_loads_are_those_of_the_balance_proof(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    tables = read_tables(fabric, routes)
    crowd, distance = gather_crowd(fabric, tables), measure_distances(tables, ProofRules())
    family = spread(fabric, routes)["permutations"]
    for at in range(20):
        load, lost = load_pairs(fabric, tables, distance, _pair_up(crowd, 3, at))
        assert lost == 0
        assert family.worst[at] == pytest.approx((load / crowd.port_rate).max())
        assert family.share_least[at] == pytest.approx(1 / family.worst[at])
    assert family.load_count.sum() == 20 * np.count_nonzero(
        (tables.port_row >= 0) & (fabric.switch_row[fabric.port_node] >= 0)
    )


def test_one_spine_for_all_is_four_times_the_optimum(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    shifts = spread(fabric, minimal_routes(fabric))["shifts"]
    assert shifts.worst.max() == 4.0
    assert shifts.optimum.max() == 1.0
    assert shifts.worst_link.startswith("leaf-00")


def test_half_the_uplinks_make_the_optimum_two() -> None:
    fabric = make_fabric("fat-tree", hosts=18, ports=9, unit_size=6, oversubscription=2.0, tiers=2)
    routes = compute_routes(fabric, "updown", to_switches=False)
    shifts = spread(fabric, routes)["shifts"]
    assert shifts.optimum.max() == 2.0
    assert np.all(shifts.worst >= shifts.optimum)


def test_hashed_sets_are_led_by_one_way_each() -> None:
    fabric = make_fabric("fat-tree", hosts=16, ports=8, tiers=2)
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    families = spread(fabric, routes)
    assert families["shifts"].lost == 0
    assert families["shifts"].worst.max() > 1.0
    assert all(np.all(family.worst >= family.optimum - 1e-9) for family in families.values())


def test_jobs_count_with_their_names_and_lost_flows(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    pairs = (np.array([0, 1], dtype=np.int32), np.array([4, 9], dtype=np.int32))
    job = measure_spread(fabric, routes, ProofRules(), SpreadChoice(0, 0, 1), [("train", pairs)]).families
    assert [family.name for family in job] == ["job train"]
    assert job[0].worst.tolist() == [1.0]
    broken = minimal_routes(fabric)
    group = broken.group.copy()
    group[0] = 255
    lost = measure_spread(
        fabric, replace(broken, group=group), ProofRules(), SpreadChoice(0, 0, 1), [("train", pairs)]
    ).families
    assert (lost[0].lost, lost[0].share_least.tolist()) == (2, [0.0])
