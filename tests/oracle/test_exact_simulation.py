"""Whole simulations against one in fractions that walks the tables by hand and solves everything anew at each event."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.kernels.reference.fluid import simulate_flows
from tests.kernels.reference.tables import mix
from tests.oracle.walks import members_of
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.result import SimOptions, SimResult
from weftline.model.routes import Routes
from weftline.model.traffic import Flows, Via
from weftline.route import compute_routes
from weftline.simulate import simulate

BYTES_PER_US = 125
"""Of one Gb/s."""
INSIDE = 80


@cache
def world(name: str) -> tuple[Fabric, Routes]:
    """Make a small fabric."""
    kind, engine = name.split()
    if kind == "star":
        fabric = from_links(1, 9, [])
    elif kind == "chain":
        fabric = from_links(3, 3, [(0, 1), (1, 2), (0, 1)])
    else:
        fabric = make_fabric(hosts=6, rails=2, ports=8, unit_size=2, oversubscription=2.0)
    return fabric, compute_routes(fabric, engine, to_switches=False)


def walk(fabric: Fabric, routes: Routes, source: int, target: int, seed: int) -> list[int]:
    """Walk the tables from port to port, and hash where several serve."""
    d = routes.destination_port.tolist().index(target)
    path = [source]
    while (peer := int(fabric.port_peer[path[-1]])) != target:
        row = int(fabric.switch_row[fabric.port_node[peer]])
        ports = members_of(routes, row, d)
        choice = mix(mix(mix(source + seed * 0x9E3779B1) + d) + row) % len(ports)
        path.append(ports[choice if len(ports) > 1 else 0])
    return path


def draw_flows(fabric: Fabric, rng: random.Random, sizes: list[int]) -> Flows:
    """Draw flows that meet: few ends, needs on earlier flows, queues, messages to oneself and inside a host."""
    ends = [int(p) for p in fabric.endpoint_port]
    some = rng.sample(ends, rng.randint(2, min(6, len(ends))))
    count = rng.randint(1, 14)
    needs = [rng.sample(range(f), min(f, rng.choice((0, 0, 1, 2)))) for f in range(count)]
    queues = [rng.choice((NIL, NIL, 0, 1, 2)) for _ in range(count)]
    return Flows(
        source=np.array([rng.choice(some) for _ in range(count)], dtype=np.int32),
        target=np.array([rng.choice(some) for _ in range(count)], dtype=np.int32),
        via=np.array([rng.choice((Via.FABRIC, Via.FABRIC, Via.HOST)) for _ in range(count)], dtype=np.int8),
        size_bytes=np.array([rng.choice(sizes) for _ in range(count)], dtype=np.float64),
        need_ptr=np.cumsum([0, *map(len, needs)]).astype(np.int64),
        need_flow=np.array([n for row in needs for n in row], dtype=np.int32),
        queue=np.array(queues, dtype=np.int32),
        tag=np.zeros(count, dtype=np.int32),
    )


def with_rates(fabric: Fabric, routes: Routes, rng: random.Random, rates: list[float]) -> tuple[Fabric, Routes]:
    """Give every port a rate of its own; the two ends of a link may differ."""
    changed = replace(fabric, port_rate_gbps=np.array([rng.choice(rates) for _ in range(fabric.port_count)]))
    return changed, replace(routes, fabric_digest=changed.digest)


def solve_exactly(
    fabric: Fabric, routes: Routes, flows: Flows, options: SimOptions
) -> tuple[list[Fraction], list[Fraction]]:
    """Find when each flow starts and arrives."""
    ports, paths = fabric.port_count, list[list[int]]()
    rate: list[Fraction] = [Fraction(r) for r in fabric.port_rate_gbps.tolist()]
    peers: list[int] = fabric.port_peer.tolist()
    capacity = [min(r, rate[q]) if q != NIL else r for r, q in zip(rate, peers, strict=True)]
    capacity = [r * BYTES_PER_US for r in capacity] + [Fraction(INSIDE * 1000)] * (2 * ports)
    for source, target, via in zip(flows.source.tolist(), flows.target.tolist(), flows.via.tolist(), strict=True):
        if via == Via.HOST:
            paths.append([ports + source, 2 * ports + target])
        else:
            paths.append([] if source == target else walk(fabric, routes, source, target, options.seed))
    needs = [flows.need_flow[a:b].tolist() for a, b in zip(flows.need_ptr[:-1], flows.need_ptr[1:], strict=True)]
    latency = Fraction(options.latency_us)
    sizes = [Fraction(size) for size in flows.size_bytes.tolist()]
    start, sent = simulate_flows(sizes, paths, needs, flows.queue.tolist(), capacity, latency)
    return start, [time + latency for time in sent]


def is_sound(result: SimResult) -> bool:
    """Judge whether every time is a number and no flow beats the bound or its own start."""
    times = np.concatenate((result.start_us, result.finish_us, [result.total_us, result.bound_low_us]))
    is_late = result.total_us >= result.bound_low_us * (1 - 1e-9)
    return bool(np.isfinite(times).all() and (times >= 0).all() and is_late)


WORLDS = ("star updown", "chain ecmp", "chain updown", "tree fat-tree", "tree ecmp")


@pytest.mark.parametrize("name", WORLDS)
def test_times_are_those_of_the_exact_solution(name: str) -> None:
    for seed in range(60):
        rng = random.Random(f"{name} {seed}")
        fabric, routes = world(name)
        if seed % 3:
            fabric, routes = with_rates(fabric, routes, rng, [100.0, 200.0, 400.0, 30.0])
        flows = draw_flows(fabric, rng, rng.choice(([0, 12_000], [0, 1, 5_000, 12_000, 12_000, 7_777_777])))
        options = SimOptions(rng.choice((0.0, 0.0, 0.5, 3.0)), float(INSIDE), seed=rng.randrange(2**32))
        result = simulate(flows, fabric, routes, options)
        start, finish = solve_exactly(fabric, routes, flows, options)
        assert is_sound(result), seed
        np.testing.assert_allclose(
            result.finish_us, [float(t) for t in finish], rtol=1e-9, atol=1e-9, err_msg=str(seed)
        )
        np.testing.assert_allclose(result.start_us, [float(t) for t in start], rtol=1e-9, atol=1e-9, err_msg=str(seed))
        assert result.bound_low_us <= float(max(finish)) * (1 + 1e-9)


@pytest.mark.parametrize("name", WORLDS)
def test_extreme_sizes_and_rates_still_end_and_beat_no_bound(name: str) -> None:
    for seed in range(60):
        rng = random.Random(f"{name} {seed} extreme")
        fabric, routes = with_rates(*world(name), rng, [1e-3, 1.0, 400.0, 1.6e6])
        flows = draw_flows(fabric, rng, [0, 1, 3, 10**6, 2**40, 2**60])
        options = SimOptions(rng.choice((0.0, 1e-6, 1.0, 1e9)), float(INSIDE), seed=rng.randrange(2**32))
        result = simulate(flows, fabric, routes, options)
        assert is_sound(result), seed
        assert (result.finish_us >= result.start_us + options.latency_us * (1 - 1e-9)).all()
