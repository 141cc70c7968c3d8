"""Laws of the simulation that hold for any fabric, placement and collective."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.model.traffic import Algorithm, Collective, CollectiveKind, Flows
from weftline.route import compute_routes
from weftline.schedule import ALGORITHMS, expand, place_ranks
from weftline.simulate import SimOptions, simulate

PAIRS: list[tuple[CollectiveKind, Algorithm]] = [
    (kind, algorithm)  # type: ignore[misc]
    for kind, algorithms in ALGORITHMS.items()
    for algorithm in algorithms
    if algorithm != "hierarchical"
]


@cache
def routed(planes: int, oversubscription: float, engine: str, scale: float = 1.0) -> tuple[Fabric, Routes]:
    """Make a small fabric whose links run ``scale`` times as fast as they should."""
    fabric = make_fabric(hosts=8, rails=2, ports=8, planes=planes, oversubscription=oversubscription)
    fabric = dataclasses.replace(fabric, port_rate_gbps=fabric.port_rate_gbps * scale)
    return fabric, compute_routes(fabric, engine, to_switches=False)


@dataclass(frozen=True)
class Case:
    """A collective on a small fabric."""

    planes: int
    oversubscription: float
    engine: str
    kind: CollectiveKind
    algorithm: Algorithm
    size: int
    ranks: int
    seed: int
    latency: float

    def flows(self, fabric: Fabric) -> Flows:
        """Place at random and expand."""
        placement = place_ranks(fabric, self.ranks, "random", self.seed)
        return expand(Collective(self.kind, self.algorithm, self.size, self.ranks), placement)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a collective with contention."""
    kind, algorithm = draw(st.sampled_from(PAIRS))
    return Case(
        planes=draw(st.sampled_from([1, 2])),
        oversubscription=draw(st.sampled_from([1.0, 2.0])),
        engine=draw(st.sampled_from(["fat-tree", "ecmp"])),
        kind=kind,
        algorithm=algorithm,
        size=draw(st.sampled_from([1, 1000, 2**20, 2**26, 2**60])),
        ranks=draw(st.integers(1, 16)),
        seed=draw(st.integers(0, 2**32 - 1)),
        latency=draw(st.sampled_from([0.0, 0.5, 20.0])),
    )


@given(cases())
def test_no_result_beats_its_bound_and_every_flow_ends(case: Case) -> None:
    fabric, routes = routed(case.planes, case.oversubscription, case.engine)
    flows = case.flows(fabric)
    result = simulate(flows, fabric, routes, SimOptions(case.latency, seed=case.seed))
    assert result.total_us >= result.bound_low_us * (1 - 1e-9)
    assert np.isfinite(result.finish_us).all()
    assert (result.finish_us - result.start_us >= case.latency * (1 - 1e-9)).all()
    for flow in range(flows.count):
        needs = flows.need_flow[flows.need_ptr[flow] : flows.need_ptr[flow + 1]]
        assert result.start_us[flow] >= result.finish_us[needs].max(initial=0.0)


@given(cases())
def test_doubled_capacities_without_latency_halve_the_time(case: Case) -> None:
    times: list[float] = []
    for scale in (1.0, 2.0):
        fabric, routes = routed(case.planes, case.oversubscription, case.engine, scale)
        times.append(simulate(case.flows(fabric), fabric, routes, SimOptions(0.0, seed=case.seed)).total_us)
    assert times[1] * 2 == pytest.approx(times[0], rel=1e-9)


@given(cases(), st.data())
def test_more_capacity_never_raises_the_lower_bound(case: Case, data: st.DataObject) -> None:
    fabric, routes = routed(case.planes, case.oversubscription, case.engine)
    flows, options = case.flows(fabric), SimOptions(case.latency, seed=case.seed)
    port = data.draw(st.integers(0, fabric.port_count - 1))
    rate = fabric.port_rate_gbps.copy()
    rate[[port, max(int(fabric.port_peer[port]), 0)]] *= 3
    faster = dataclasses.replace(fabric, port_rate_gbps=rate)
    same_routes = dataclasses.replace(routes, fabric_digest=faster.digest)
    before = simulate(flows, fabric, routes, options).bound_low_us
    assert simulate(flows, faster, same_routes, options).bound_low_us <= before * (1 + 1e-12)


@given(cases())
def test_two_runs_give_the_same_bytes(case: Case) -> None:
    fabric, routes = routed(case.planes, case.oversubscription, case.engine)
    first, second = (
        simulate(case.flows(fabric), fabric, routes, SimOptions(case.latency, seed=case.seed)) for _ in range(2)
    )
    assert first.start_us.tobytes() == second.start_us.tobytes()
    assert first.finish_us.tobytes() == second.finish_us.tobytes()
    assert first.port_bytes.tobytes() == second.port_bytes.tobytes()


def reorder(flows: Flows, seed: int) -> tuple[Flows, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Shuffle flows but keep the order within each queue; also the new place of each flow."""
    place = np.random.Generator(np.random.PCG64(seed)).permutation(flows.count)
    for queue in np.unique(flows.queue[flows.queue != NIL]):
        members = np.flatnonzero(flows.queue == queue)
        place[members] = np.sort(place[members])
    old = np.argsort(place)
    needs = [place[flows.need_flow[flows.need_ptr[flow] : flows.need_ptr[flow + 1]]] for flow in old]
    moved = Flows(
        source=flows.source[old],
        target=flows.target[old],
        via=flows.via[old],
        size_bytes=flows.size_bytes[old],
        need_ptr=np.cumsum([0, *map(len, needs)]).astype(np.int64),
        need_flow=np.concatenate([*needs, np.empty(0)]).astype(np.int32),
        queue=flows.queue[old],
        tag=flows.tag[old],
    )
    return moved, place


@given(cases(), st.integers(0, 2**32 - 1))
def test_the_order_in_which_flows_are_listed_does_not_matter(case: Case, seed: int) -> None:
    fabric, routes = routed(case.planes, case.oversubscription, case.engine)
    flows = case.flows(fabric)
    moved, place = reorder(flows, seed)
    options = SimOptions(case.latency, seed=case.seed)
    first, second = simulate(flows, fabric, routes, options), simulate(moved, fabric, routes, options)
    np.testing.assert_allclose(second.finish_us[place], first.finish_us, rtol=1e-9)
    assert second.bound_low_us == pytest.approx(first.bound_low_us, rel=1e-9)
