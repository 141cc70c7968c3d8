"""Links of unequal rates: destinations share them in proportion, and where all are equal nothing changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import from_links, make_fabric
from tests.unit.route.walks import members, reorder_switches
from weftline.kernels.column import F64, I64, NIL
from weftline.model.fabric import Fabric, Tier
from weftline.model.proof import ProofRules
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.route import compute_routes, fattree, layered, rates, updown
from weftline.route.graph import SwitchGraph, read_destinations, read_graph
from weftline.route.updown import fill_ways

ENGINES = ("fat-tree", "updown", "layered")


def two_uplinks(links: tuple[int, int] = (1, 1), *, hosts: int = 6) -> Fabric:
    """Make four leaves of six hosts, with ``links`` to each of two spines."""
    names = [*(f"leaf-{i + 1:03d}" for i in range(4)), "spine-01", "spine-02"]
    cables = [(leaf, 4 + spine) for leaf in range(4) for spine in (0, 1) for _ in range(links[spine])]
    homes = {f"host-{i + 1:04d}": names[i // hosts] for i in range(4 * hosts)}
    return from_links(names, homes, cables, tiers={"spine-01": Tier.SPINE, "spine-02": Tier.SPINE})


def set_rates(fabric: Fabric, rate_of: Callable[[str, str], float]) -> Fabric:
    """Set the rate of both ends of every link by the names of its nodes, the lower port first."""
    rate = fabric.port_rate_gbps.copy()
    for port, peer in enumerate(fabric.port_peer.tolist()):
        if port < peer:
            rate[[port, peer]] = rate_of(*(fabric.node_name[int(fabric.port_node[end])] for end in (port, peer)))
    return replace(fabric, port_rate_gbps=rate)


def slow_spine(a: str, b: str) -> float:
    """Say that hosts have 100 Gbit/s, the second spine 200 and the first 400."""
    return 100.0 if "host" in a + b else 200.0 if "spine-02" in (a, b) else 400.0


def count_uplinks(fabric: Fabric, routes: Routes, leaf: int, goals: range) -> dict[str, int]:
    """Count the destinations of ``goals`` that a leaf sends to each spine."""
    found: Counter[str] = Counter()
    for goal in goals:
        ports = members(routes, leaf, goal)
        assert ports is not None
        assert len(ports) == 1
        found[fabric.node_name[int(fabric.port_node[fabric.port_peer[ports[0]]])]] += 1
    return dict(found)


def balance(fabric: Fabric, routes: Routes) -> float | None:
    """Prove the tables; return the worst load over rate of all shifts."""
    report = prove(fabric, routes, ProofRules(required=("reach", "deadlock")))
    assert report.is_accepted, report.proofs
    return report.proofs[2].bound


def as_before(fabric: Fabric, engine: str, monkeypatch: pytest.MonkeyPatch) -> Routes:
    """Route as if all rates were equal."""

    def is_mixed(_fabric: Fabric, _graph: SwitchGraph) -> bool:
        return False

    def all_one(rate: F64) -> I64:
        return np.ones(len(rate), dtype=np.int64)

    with monkeypatch.context() as patch:
        for module in (fattree, updown):
            patch.setattr(module, "has_mixed_rates", is_mixed)
        patch.setattr(layered, "count_tolls", all_one)
        return compute_routes(fabric, engine, to_switches=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_of_two_uplinks_the_faster_takes_two_thirds(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """400 beside 200 Gbit/s: of 18 destinations behind other leaves 12 and 6, and no shift overloads a link."""
    fabric = set_rates(two_uplinks(), slow_spine)
    routes = compute_routes(fabric, engine, to_switches=False)
    assert count_uplinks(fabric, routes, 0, range(6, 24)) == {"spine-01": 12, "spine-02": 6}
    assert (engine == "fat-tree") == ("differ in rate" in routes.guarantee)
    before = as_before(fabric, engine, monkeypatch)
    assert count_uplinks(fabric, before, 0, range(6, 24)) == {"spine-01": 9, "spine-02": 9}
    assert balance(fabric, before) == 1.5
    if engine != "layered":
        assert balance(fabric, routes) == 1.0


@pytest.mark.parametrize("engine", ["fat-tree", "updown"])
def test_one_degraded_link_is_spared_in_both_directions(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up from leaf-001 to everyone, and down to it from everyone; other leaves share as before."""

    def degraded(a: str, b: str) -> float:
        return 100.0 if "host" in a + b else 200.0 if {a, b} == {"leaf-001", "spine-02"} else 400.0

    fabric = set_rates(two_uplinks(), degraded)
    routes = compute_routes(fabric, engine, to_switches=False)
    assert count_uplinks(fabric, routes, 0, range(6, 24)) == {"spine-01": 12, "spine-02": 6}
    assert count_uplinks(fabric, routes, 1, range(6)) == {"spine-01": 4, "spine-02": 2}
    assert count_uplinks(fabric, routes, 1, range(12, 24)) == {"spine-01": 6, "spine-02": 6}
    assert balance(fabric, as_before(fabric, engine, monkeypatch)) == 1.5
    assert balance(fabric, routes) == 1.0


def test_bundles_count_by_the_sum_of_their_links(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = set_rates(two_uplinks((2, 1)), lambda a, b: 100.0 if "host" in a + b else 200.0)
    routes = compute_routes(fabric, "updown", to_switches=False)
    assert count_uplinks(fabric, routes, 0, range(6, 24)) == {"spine-01": 12, "spine-02": 6}
    assert balance(fabric, as_before(fabric, "updown", monkeypatch)) == 1.5
    assert balance(fabric, routes) == 1.0


def test_a_slow_link_two_tiers_up_is_seen_by_the_leaves() -> None:
    """Of four spines of each pod one is slow: every leaf sends it half as much, and its cores get alike."""
    fabric = make_fabric(hosts=128, ports=8, tiers=3)
    slow = [name for name in fabric.node_name if name.startswith("spine")][3::4]
    fabric = set_rates(fabric, lambda a, b: 100.0 if "host" in a + b else 200.0 if a in slow or b in slow else 400.0)
    routes = compute_routes(fabric, "updown", to_switches=False)
    counts = sorted(count_uplinks(fabric, routes, 0, range(16, 128)).values())
    assert counts == [16, 32, 32, 32]
    row = fabric.switch_row[fabric.node_name.index(slow[0])]
    by_core = count_uplinks(fabric, routes, int(row), range(16, 128))
    assert sorted(by_core.values()) == [28] * 4
    assert balance(fabric, routes) == 1.0


@pytest.mark.parametrize("engine", ["fat-tree", "updown"])
def test_further_addresses_take_their_turn_too(engine: str) -> None:
    fabric = set_rates(two_uplinks(), slow_spine)
    routes = compute_routes(fabric, engine, to_switches=False, paths=2)
    assert count_uplinks(fabric, routes, 0, range(24 + 6, 48)) == {"spine-01": 12, "spine-02": 6}
    ways = [(members(routes, 0, goal), members(routes, 0, 24 + goal)) for goal in range(6, 24)]
    # two of three pairs differ: all could only where each spine took half
    assert sum(one != two for one, two in ways) == 12


@pytest.mark.parametrize("engine", ["fat-tree", "updown"])
@pytest.mark.parametrize("step", [1, 3, 5])
def test_the_worst_load_never_rises(engine: str, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On full 1:1 leaves with slow links shares may help nobody, and equal ones then stay."""
    fabric = make_fabric(hosts=16, ports=8)
    rate = fabric.port_rate_gbps.copy()
    row = fabric.switch_row[fabric.port_node]
    for port in [p for p, q in enumerate(fabric.port_peer.tolist()) if p < q and row[p] != NIL][::step][:3]:
        rate[[port, fabric.port_peer[port]]] = 200.0
    fabric = replace(fabric, port_rate_gbps=rate)
    before = balance(fabric, as_before(fabric, engine, monkeypatch)) or 0.0
    assert (balance(fabric, compute_routes(fabric, engine, to_switches=False)) or 0.0) <= before == 2.0


def test_shifts_are_measured_as_the_proof_measures_them() -> None:
    fabric = set_rates(two_uplinks(), slow_spine)
    graph, goals = read_graph(fabric), read_destinations(fabric, to_switches=True)
    nowhere = np.zeros(0, dtype=np.int32)
    for rate, worst in ((None, 1.5), (rates.read_rates(fabric, graph), 1.0)):
        made = fill_ways(fabric, graph, goals, nowhere, rate)
        assert rates.measure_shifts(fabric, goals, made).max() == worst


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_where_all_rates_are_equal_nothing_changes(engine: str, factor: float) -> None:
    fabric = make_fabric(hosts=32, ports=8, uplink_gbps=800.0)
    other = replace(fabric, port_rate_gbps=fabric.port_rate_gbps * factor)
    one, two = (compute_routes(each, engine, to_switches=True) for each in (fabric, other))
    assert np.array_equal(one.group, two.group)


def test_a_rate_that_nobody_knows_counts_like_the_fastest() -> None:
    fabric = two_uplinks()
    between = (fabric.switch_row[fabric.port_node] != NIL) & (
        fabric.switch_row[fabric.port_node[fabric.port_peer]] != NIL
    )
    for unknown in (np.nan, 0.0):
        rate = fabric.port_rate_gbps.copy()
        rate[np.flatnonzero(between)[:3]] = unknown
        holed = replace(fabric, port_rate_gbps=rate)
        assert not rates.has_mixed_rates(holed, read_graph(holed))
        none = replace(fabric, port_rate_gbps=np.full(fabric.port_count, unknown))
        assert set(rates.read_rates(none, read_graph(none)).tolist()) == {1.0}


def test_tolls_are_inverse_to_rates() -> None:
    assert rates.count_tolls(np.array([400.0, 200.0, 100.0])).tolist() == [1, 2, 4]
    assert rates.count_tolls(np.array([300.0, 200.0])).tolist() == [2, 3]
    assert rates.count_tolls(np.array([400.0, 1.0])).tolist() == [1, 20]
    assert rates.count_tolls(np.array([56.25] * 3)).tolist() == [1, 1, 1]


@settings(max_examples=25)
@given(st.lists(st.sampled_from([50.0, 100.0, 200.0, 400.0]), min_size=2, max_size=6), st.integers(1, 5))
def test_any_uplinks_are_shared_within_two_destinations(uplinks: list[float], hosts: int) -> None:
    """Each uplink has its exact share of what a leaf sends, give or take less than two, whatever its spine's number."""
    names = [f"leaf-{i + 1:03d}" for i in range(5)] + [f"spine-{i + 1:02d}" for i in range(len(uplinks))]
    cables = [(leaf, 5 + spine) for leaf in range(5) for spine in range(len(uplinks))]
    homes = {f"host-{i + 1:04d}": names[i // hosts] for i in range(5 * hosts)}
    fabric = from_links(names, homes, cables, tiers=dict.fromkeys(names[5:], Tier.SPINE))
    fabric = set_rates(fabric, lambda a, b: 50.0 if "host" in a else uplinks[int(b.removeprefix("spine-")) - 1])
    moved = reorder_switches(fabric, [*range(5), *reversed(range(5, len(names)))])
    for world in (fabric, moved):
        graph, goals = read_graph(world), read_destinations(world, to_switches=False)
        made = fill_ways(world, graph, goals, np.zeros(0, dtype=np.int32), rates.read_rates(world, graph))
        routes = replace(
            compute_routes(world, "updown", to_switches=False), group=made.group, group_ptr=made.group_ptr,
            member_ptr=made.member_ptr, member_port=made.member_port,
        )  # fmt: skip
        assert prove(world, routes, ProofRules(required=("reach", "deadlock"))).is_accepted
        found = count_uplinks(world, routes, 0, range(hosts, 5 * hosts))
        for number, rate in enumerate(uplinks):
            assert abs(found.get(names[5 + number], 0) - 4 * hosts * rate / sum(uplinks)) < 2
