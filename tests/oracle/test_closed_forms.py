"""The simulation without contention against closed forms and the figures published for them."""

from __future__ import annotations

from functools import cache

import pytest

from tests.fabrics import from_links, make_fabric
from weftline.expect import closed_form
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.model.traffic import Algorithm, Collective, CollectiveKind
from weftline.route import compute_routes
from weftline.schedule import ALGORITHMS, expand, pipelined_chunks, place_ranks
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
        ("all-reduce", "halving-doubling"), ("all-gather", "halving-doubling"), ("gather", "ring"), ("scatter", "ring"),
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


@cache
def star(ports: int) -> Routed:
    """Hosts on one switch: nothing but NICs can bind."""
    fabric = from_links(1, ports, [])
    return fabric, compute_routes(fabric, "updown", to_switches=False, roots=("leaf-001",))


EVERY: list[tuple[CollectiveKind, Algorithm]] = [
    (kind, way)  # type: ignore[misc]
    for kind, ways in ALGORITHMS.items()
    for way in ways
    if way != "hierarchical"
]


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 7, 8, 9, 16, 23, 33])
@pytest.mark.parametrize(("kind", "algorithm"), [pair for pair in EVERY if pair[0] != "permutation"])
def test_no_algorithm_beats_what_its_bytes_and_steps_allow(
    kind: CollectiveKind, algorithm: Algorithm, ranks: int
) -> None:
    """Exact where nothing meets; all-reduces by trees are estimated to a fifth, and to a twentieth for much data."""
    for size in (1000, 5 * MIB + 1, 64 * MIB):
        for latency in (0.0, 1.0, 20.0):
            collective = Collective(kind, algorithm, size, ranks)
            form = closed_form(collective, rate_gbps=400, latency_us=latency, chunks=pipelined_chunks(collective))
            flows = expand(collective, place_ranks(star(33)[0], ranks))
            result = simulate(flows, *star(33), SimOptions(latency))
            busbw = collective.bus_bandwidth(result.total_us)
            assert busbw is not None
            assert busbw <= 50 * (1 + 1e-9)
            assert result.total_us >= form.bound_low_us * (1 - 1e-9)
            assert form.time_us >= form.bound_low_us * (1 - 1e-9)
            if kind != "all-reduce" or "tree" not in algorithm:
                assert result.total_us == pytest.approx(form.time_us, rel=1e-9)
                continue
            near = 0.95 if ranks >= 8 and size > 5 * MIB + 1 else 0.8
            assert near <= result.total_us / form.time_us <= 1.02


def test_a_broadcast_takes_one_way_of_the_bytes_and_a_tree_wins_where_latency_binds() -> None:
    times = {
        (way, size): closed_form(Collective("broadcast", way, size, 64), rate_gbps=400, latency_us=5).time_us
        for way in ("ring", "tree")
        for size in (1, 2**30)
    }
    assert times["tree", 1] < times["ring", 1]


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
