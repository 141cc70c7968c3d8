from __future__ import annotations

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from weftline.errors import CapabilityError, SpecError
from weftline.route import ENGINES, compute_routes
from weftline.route.graph import read_destinations
from weftline.route.table import MOST_GROUPS, check_size, empty_table

OF_TREES = ["fat-tree", "updown", "ecmp", "weighted-ecmp", "layered"]
"""Engines that route trees."""
OF_GROUPS = ["dragonfly", "dragonfly-adaptive", "dragonfly-plus", "dragonfly-plus-adaptive"]
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_the_table_names_each_engine_with_a_guarantee() -> None:
    assert list(ENGINES) == [*OF_TREES, *OF_GROUPS, "torus"]
    assert all(name == engine.name and engine.guarantee.endswith(".") for name, engine in ENGINES.items())


def test_an_unknown_engine_gets_the_nearest_name() -> None:
    with pytest.raises(SpecError, match="fattree") as caught:
        compute_routes(from_links(4, 1, RING), "fattree", to_switches=False)
    assert caught.value.code == "spec.unknown-engine"
    assert "fat-tree" in caught.value.hint


@pytest.mark.parametrize("root", ["leaf-01", "host-0001", ""])
def test_a_root_must_be_a_switch(root: str) -> None:
    with pytest.raises(SpecError) as caught:
        compute_routes(from_links(4, 1, RING), "updown", to_switches=False, roots=(root,))
    assert caught.value.code == "spec.unknown-root"
    assert "leaf-001" in caught.value.hint


def test_lanes_are_refused_where_they_do_nothing() -> None:
    for engine in ("fat-tree", "updown", "ecmp"):
        with pytest.raises(SpecError) as caught:
            compute_routes(make_fabric(), engine, to_switches=False, lanes=2)
        assert caught.value.code == "spec.lanes-not-used"


def test_roots_are_refused_where_they_do_nothing() -> None:
    with pytest.raises(SpecError) as caught:
        compute_routes(make_fabric(), "fat-tree", to_switches=False, roots=("spine-01",))
    assert caught.value.code == "spec.roots-not-used"


def test_tables_beyond_memory_are_refused_with_the_arithmetic() -> None:
    check_size(5_120, 65_536)
    with pytest.raises(CapabilityError, match="100,000 switches x 1,000,000 destinations = 100,000,000,000") as caught:
        check_size(100_000, 1_000_000)
    assert caught.value.code == "capability.table-too-large"


@pytest.mark.parametrize("engine", OF_TREES)
def test_every_engine_counts_its_entries_before_it_starts(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = make_fabric("fat-tree", hosts=8, ports=8)
    switches, endpoints = len(fabric.switch_node), len(fabric.endpoint_port)
    for to_switches in (False, True):
        entries = switches * (endpoints + to_switches * switches)
        monkeypatch.setattr("weftline.route.table.MOST_ENTRIES", entries)
        assert compute_routes(fabric, engine, to_switches=to_switches).group.size == entries
        monkeypatch.setattr("weftline.route.table.MOST_ENTRIES", entries - 1)
        with pytest.raises(CapabilityError, match=f"= {entries:,} entries") as caught:
            compute_routes(fabric, engine, to_switches=to_switches)
        assert caught.value.code == "capability.table-too-large"


def test_groups_beyond_two_bytes_are_refused() -> None:
    fabric = from_links(1, 1, [])
    goals = read_destinations(fabric, to_switches=False)
    assert empty_table(fabric, goals, MOST_GROUPS).dtype == np.uint16
    with pytest.raises(CapabilityError) as caught:
        empty_table(fabric, goals, MOST_GROUPS + 1)
    assert caught.value.code == "capability.too-many-groups"


@pytest.mark.parametrize("engine", OF_TREES)
def test_destinations_are_endpoints_then_switches(engine: str) -> None:
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)
    short = compute_routes(fabric, engine, to_switches=False)
    full = compute_routes(fabric, engine, to_switches=True)
    assert short.destination_port.tolist() == fabric.endpoint_port.tolist()
    assert full.destination_node.tolist() == [*short.destination_node.tolist(), *fabric.switch_node.tolist()]
    assert full.fabric_digest == fabric.digest
    assert full.guarantee == ENGINES[engine].guarantee


@pytest.mark.parametrize("engine", OF_TREES)
def test_two_calls_agree(engine: str) -> None:
    fabric = make_fabric("rail-optimised", hosts=16, rails=2, ports=8, unit_size=4)
    first, second = (compute_routes(fabric, engine, to_switches=True) for _ in range(2))
    assert first.digest == second.digest
