"""The simulation without contention against closed forms and the figures published for them."""

from __future__ import annotations

import pytest

from tests.fabrics import make_fabric
from weftline.expect import closed_form
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.model.traffic import Algorithm, Collective, CollectiveKind
from weftline.route import compute_routes
from weftline.schedule import expand, place_ranks
from weftline.simulate import SimOptions, simulate

MIB = 2**20
OPTIONS = SimOptions(latency_us=1.0, inside_host_gbytes_per_s=450.0)
Routed = tuple[Fabric, Routes]


@pytest.fixture(scope="module")
def two_tiers() -> Routed:
    """1,024 endpoints behind switches of 64 ports."""
    fabric = make_fabric(hosts=128, rails=8, ports=64)
    return fabric, compute_routes(fabric, "fat-tree", to_switches=False)


@pytest.fixture(scope="module")
def three_tiers() -> Routed:
    """1,024 endpoints behind switches of 16 ports."""
    fabric = make_fabric(hosts=128, rails=8, ports=16)
    return fabric, compute_routes(fabric, "fat-tree", to_switches=False)


def time_of(collective: Collective, routed: Routed) -> float:
    """Simulate a collective placed in order."""
    result = simulate(expand(collective, place_ranks(routed[0], collective.ranks)), *routed, OPTIONS)
    assert result.total_us >= result.bound_low_us * (1 - 1e-9)
    return result.total_us


@pytest.mark.parametrize(("ranks", "time"), [(16, 2546.6), (128, 2917.4), (1024, 4727.7)])
def test_a_ring_all_reduce_takes_what_is_published(
    ranks: int, time: float, two_tiers: Routed, three_tiers: Routed
) -> None:
    for routed in (two_tiers, three_tiers):
        measured = time_of(Collective("all-reduce", "ring", 64 * MIB, ranks), routed)
        assert measured == pytest.approx(time, rel=1e-3)
        assert measured == pytest.approx(time, abs=0.06)


def test_an_all_to_all_takes_what_is_published(two_tiers: Routed, three_tiers: Routed) -> None:
    for routed in (two_tiers, three_tiers):
        assert time_of(Collective("all-to-all", "ring", 16 * MIB, 128), routed) == pytest.approx(332.9 + 1, rel=1e-3)


@pytest.mark.parametrize("ranks", [2, 8, 16, 64, 256])
@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        ("all-reduce", "ring"), ("all-gather", "ring"), ("reduce-scatter", "ring"), ("all-to-all", "ring"),
        ("all-reduce", "hierarchical"), ("all-gather", "hierarchical"), ("reduce-scatter", "hierarchical"),
    ],
)  # fmt: skip
def test_every_closed_form_is_met(
    kind: CollectiveKind, algorithm: Algorithm, ranks: int, two_tiers: Routed, three_tiers: Routed
) -> None:
    collective = Collective(kind, algorithm, 5 * MIB + 1, ranks)
    form = closed_form(
        collective, rate_gbps=400, latency_us=1, ranks_per_host=min(8, ranks), inside_host_gbytes_per_s=450
    )
    for routed in (two_tiers, three_tiers):
        assert time_of(collective, routed) == pytest.approx(form.time_us, rel=1e-9)


def test_two_planes_carry_twice_as_much() -> None:
    fabric = make_fabric(hosts=16, rails=2, ports=16, planes=2)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    collective = Collective("all-reduce", "ring", 64 * MIB, 32)
    form = closed_form(collective, rate_gbps=800, latency_us=1)
    assert time_of(collective, (fabric, routes)) == pytest.approx(form.time_us, rel=1e-9)


def test_a_permutation_without_contention_takes_one_message(two_tiers: Routed) -> None:
    """Two ranks exchange; more would share links."""
    assert time_of(Collective("permutation", "ring", 4 * MIB, 2), two_tiers) == pytest.approx(4 * MIB / 50_000 + 1)


def test_a_pipelined_tree_is_bound_by_the_three_messages_of_an_inner_rank() -> None:
    """An inner rank sends each chunk up once and down twice through one NIC."""
    fabric = make_fabric(hosts=8, rails=1, ports=16)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    size = 512 * MIB
    time = time_of(Collective("all-reduce", "tree", size, 7), (fabric, routes))
    assert 3 * size / 50_000 <= time <= 3.1 * size / 50_000
