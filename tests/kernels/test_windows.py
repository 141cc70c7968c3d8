"""Windows of places against windows laid one by one, and the bound against every shift loaded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from tests.kernels.reference import windows as reference
from tests.tables import random_world
from weftline.kernels.windows import MOST, count_windows, spread_sources
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.routes import Routes
from weftline.prove.balance import flows_of_shift, gather_crowd, load_many, load_pairs
from weftline.prove.reach import measure_distances
from weftline.prove.tables import Tables, read_tables
from weftline.prove.windows import Shifted, bound_shifts
from weftline.route import compute_routes


@given(st.sets(st.integers(0, 90), min_size=1, max_size=40), st.integers(91, 120), st.integers(1, 91))
def test_the_fullest_window_is_found(places: set[int], around: int, width: int) -> None:
    """One switch of one port, over which all destinations go."""
    goals = len(places)
    word = np.zeros((1, 1), dtype=np.uint64)
    word[0, 0] = (1 << goals) - 1
    most = np.zeros(1, dtype=np.int32)
    one, ptr = np.zeros(1, dtype=np.int32), np.arange(2, dtype=np.int32)
    count_windows(
        0, 1, np.zeros((1, goals), dtype=np.uint8), ptr, ptr, one, one, ptr, np.arange(goals, dtype=np.int32), word,
        np.array(sorted(places), dtype=np.int32), np.full(goals, around, dtype=np.int32),
        np.full(1, width, dtype=np.int32), most,
    )  # fmt: skip
    assert most[0] == min(reference.most_in_window(places, around, width), MOST)


@given(st.data(), st.integers(1, 8))
def test_runs_of_sources_spread_along_what_waits(data: st.DataObject, ports: int) -> None:
    edges = {port: sorted(data.draw(st.sets(st.integers(port + 1, ports)))) for port in range(ports)}
    edges[ports] = []
    runs = {
        port: tuple(sorted(data.draw(st.tuples(st.integers(0, 50), st.integers(0, 50))))) for port in range(ports + 1)
    }
    runs = {port: run for port, run in runs.items() if data.draw(st.booleans())}
    ptr = np.cumsum([0, *(len(edges[port]) for port in range(ports + 1))]).astype(np.int64)
    after = np.array([other for port in range(ports + 1) for other in edges[port]], dtype=np.int32)
    low, high = (np.array([runs.get(port, (1, 0))[end] for port in range(ports + 1)], dtype=np.int32) for end in (0, 1))
    every = np.arange(ports + 1, dtype=np.int32)
    found_low, found_high = np.empty_like(every), np.empty_like(every)
    spread_sources(ptr, after, every, every, low, high, found_low, found_high)
    wanted = reference.spread(edges, runs, range(ports + 1))  # type: ignore[arg-type]
    found = [(int(a), int(b)) if b >= a else None for a, b in zip(found_low, found_high, strict=True)]
    assert found == [wanted[port] for port in range(ports + 1)]


def flows_at_most(fabric: Fabric, tables: Tables) -> tuple[np.ndarray, np.ndarray] | None:
    """Bound the flows per port, and count the most that a shift makes."""
    crowd = gather_crowd(fabric, tables)
    bound = bound_shifts(fabric, tables, Shifted(crowd.component_ptr, crowd.port, crowd.target))
    if bound is None:
        return None
    ones = replace(crowd, rate=np.ones_like(crowd.rate), port_rate=np.ones_like(crowd.port_rate))
    distance = measure_distances(tables, ProofRules())
    most = np.zeros(fabric.port_count)
    for shift in range(1, ones.largest):
        lost = load_many(fabric, tables, distance, ones, np.array([shift]))[2]
        if lost.any():
            return None
        most = np.maximum(most, load_pairs(fabric, tables, distance, flows_of_shift(ones, shift))[0])
    return bound, most


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_no_shift_of_any_tables_exceeds_the_bound(seed: int) -> None:
    fabric, routes = random_world(seed)
    judged = flows_at_most(fabric, read_tables(fabric, routes))
    assert judged is None or bool(np.all(judged[0] >= judged[1]))


def test_on_full_trees_the_bound_is_what_the_worst_shift_loads() -> None:
    for shape in (
        {"hosts": 16, "ports": 4, "tiers": 3},
        {"hosts": 32, "ports": 8, "tiers": 2},
        {"hosts": 54, "ports": 6},
    ):
        fabric = make_fabric("fat-tree", **shape)
        routes: Routes = compute_routes(fabric, "fat-tree", to_switches=True)
        judged = flows_at_most(fabric, read_tables(fabric, routes))
        assert judged is not None
        assert judged[0].max() == judged[1].max() == 1
