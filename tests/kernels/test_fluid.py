"""The event-driven fluid kernel against a simulator that solves everything anew in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import fluid as reference
from weftline.errors import InternalError
from weftline.kernels.chains import invert_needs, link_queues
from weftline.kernels.column import F64, NIL, freeze
from weftline.kernels.fluid import WORKS
from weftline.kernels.pairs import keep_resources, least_capacity, peak_demand
from weftline.simulate.fluid import Load, run_fluid


@dataclass(frozen=True)
class Case:
    """A small simulation."""

    sizes: list[int]
    paths: list[list[int]]
    needs: list[list[int]]
    queues: list[int]
    capacity: list[int]
    latency: int
    earliest: list[int] = field(default_factory=list[int])
    delay: list[int] = field(default_factory=list[int])
    works: frozenset[int] = frozenset()


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw flows that need earlier flows, in queues, on few resources, so that they collide."""
    resources = draw(st.integers(1, 6))
    flows = draw(st.integers(1, 14))
    path = st.lists(st.integers(0, resources - 1), min_size=1, max_size=4, unique=True)
    times = st.one_of(st.just([]), st.lists(st.integers(0, 12), min_size=flows, max_size=flows))
    works = draw(st.sampled_from([frozenset[int](), frozenset(range(0, flows, 3))]))
    return Case(
        sizes=[draw(st.one_of(st.just(0), st.integers(1, 60))) for _ in range(flows)],
        paths=[[] if flow in works else draw(path) for flow in range(flows)],
        needs=[draw(st.lists(st.integers(0, flow - 1), max_size=2)) if flow else [] for flow in range(flows)],
        queues=[draw(st.integers(NIL, 4)) for _ in range(flows)],
        capacity=[draw(st.integers(1, 20)) for _ in range(resources)],
        latency=draw(st.integers(0, 3)),
        earliest=draw(times),
        delay=draw(times),
        works=works,
    )


def run(case: Case, *, prune: bool) -> tuple[F64, F64]:
    """Run the kernel on a case, each flow a pair of its own."""
    ptr = np.cumsum([0, *map(len, case.paths)]).astype(np.int32)
    resource = np.array([r for path in case.paths for r in path], dtype=np.int32)
    capacity = np.array(case.capacity, dtype=np.float64)
    cap = least_capacity(ptr, resource, capacity)
    names = sorted({queue for queue in case.queues if queue != NIL})
    queue = np.array([names.index(q) if q != NIL else NIL for q in case.queues], dtype=np.int32)
    freeze(queue)
    successor = link_queues(queue, len(names))
    pair = np.arange(len(case.sizes), dtype=np.int32)
    path = pair.copy()
    path[list(case.works)] = WORKS
    if prune:
        demand = peak_demand(pair, successor, ptr, resource, cap, len(capacity))
        kept = np.flatnonzero(demand > capacity)
        number = np.full(len(capacity), NIL, dtype=np.int32)
        number[kept] = np.arange(len(kept))
        ptr, resource = keep_resources(ptr, resource, number)
        capacity = capacity[kept]
    need_ptr = np.cumsum([0, *map(len, case.needs)]).astype(np.int64)
    need_flow = np.array([need for needs in case.needs for need in needs], dtype=np.int32)
    slots = len(names) + sum(q == NIL for q in case.queues)
    size = np.array(case.sizes, dtype=np.float64)
    earliest, delay = np.array(case.earliest, dtype=np.float64), np.array(case.delay, dtype=np.float64)
    freeze(size, need_ptr, need_flow, earliest, delay)  # as in Flows: one compiled version serves tests and runs
    after_ptr, after_flow = invert_needs(need_ptr, need_flow)
    load = Load(
        path, size, earliest, delay, slots, successor, need_ptr, after_ptr, after_flow, ptr, resource, cap, capacity,
    )  # fmt: skip
    return run_fluid(load, float(case.latency), None)


@given(cases(), st.booleans())
def test_times_are_those_of_a_full_solve_in_fractions(case: Case, prune: bool) -> None:
    start, sent = run(case, prune=prune)
    wanted = reference.simulate_flows(
        [Fraction(size) for size in case.sizes],
        case.paths,
        case.needs,
        case.queues,
        [Fraction(capacity) for capacity in case.capacity],
        Fraction(case.latency),
        [Fraction(time) for time in case.earliest],
        [Fraction(time) for time in case.delay],
        [flow in case.works for flow in range(len(case.sizes))],
    )
    np.testing.assert_allclose(start, [float(time) for time in wanted[0]], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sent, [float(time) for time in wanted[1]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("links", [3, 7, 12, 30])
@pytest.mark.parametrize("ends", ["one", "both", "waves"])
def test_a_change_that_reaches_far_is_followed_to_its_end(links: int, ends: str) -> None:
    """Neighbours share a resource each, and rates grow along the chain: one end makes the next rise, the next fall."""
    sizes, paths = [400 * (i + 1) for i in range(links)], [[i, i + 1] for i in range(links)]
    capacity = [2, *(2 * i + 1 for i in range(1, links)), 100]
    extra = {"one": [5], "both": [5, 9], "waves": [3, 7, 11]}[ends]
    for turn, size in enumerate(extra):
        sizes.append(size)
        paths.append([0] if turn % 2 == 0 else [links])
    case = Case(sizes, paths, [[]] * len(sizes), [NIL] * len(sizes), capacity, 0)
    start, sent = reference.simulate_flows(
        [Fraction(size) for size in sizes], paths, case.needs, case.queues, [Fraction(c) for c in capacity], Fraction(0)
    )
    for prune in (False, True):
        found = run(case, prune=prune)
        np.testing.assert_allclose(found[0], [float(time) for time in start], rtol=1e-9)
        np.testing.assert_allclose(found[1], [float(time) for time in sent], rtol=1e-9)


def test_flows_that_wait_for_each_other_are_an_error_not_a_hang() -> None:
    case = Case([1, 1], [[0], [0]], [[1], [0]], [NIL, NIL], [1], 0)
    with pytest.raises(InternalError) as caught:
        run(case, prune=False)
    assert caught.value.code == "internal.flow-circle"


def test_many_flows_into_one_resource_share_it_equally() -> None:
    case = Case([4] * 15, [[0, i + 1] for i in range(15)], [[]] * 15, [NIL] * 15, [2] * 16, 0)
    _, sent = run(case, prune=True)
    np.testing.assert_allclose(sent, 30.0, rtol=1e-12)
