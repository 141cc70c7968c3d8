"""Fluid all-reduce of 1,024 ranks, 64 MiB, flat ring: 2.1 million flows, with and without contention."""

from __future__ import annotations

from benchmarks.measure import Figure, peak_gib, time_call
from tests.fabrics import make_fabric
from weftline.model.fabric import Fabric
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.model.traffic import Collective
from weftline.route import compute_routes
from weftline.schedule import expand, place_ranks
from weftline.simulate import simulate

RANKS = 1024
RING = Collective("all-reduce", "ring", 64 * 2**20, RANKS)
OPTIONS = SimOptions(latency_us=1.0)
CASES = (
    ("placed at random, 2 tiers, 64 ports, fat-tree", 64, "fat-tree", "random"),
    ("placed at random, 3 tiers, 16 ports, fat-tree", 16, "fat-tree", "random"),
    ("placed at random, 3 tiers, 16 ports, ecmp", 16, "ecmp", "random"),
    ("placed in order, 2 tiers, 64 ports, fat-tree", 64, "fat-tree", "order"),
)


def run() -> list[Figure]:
    """Measure placing, expanding and simulating together, after one small run that compiles or loads the kernels."""
    figures: list[Figure] = []
    for name, ports, engine, order in CASES:
        fabric = make_fabric("fat-tree", hosts=RANKS // 8, rails=8, ports=ports)
        routes = compute_routes(fabric, engine, to_switches=False)
        simulate_ring(fabric, routes, 16, order)
        seconds, _ = time_call(lambda f=fabric, r=routes, o=order: simulate_ring(f, r, RANKS, o))
        figures.append(Figure(f"fluid ring of 1,024, {name}", seconds, "s", must=5.0, aim=2.1))
    figures.append(Figure("memory for 2.1 million flows", peak_gib(), "GiB", must=2.0, aim=0.6))
    return figures


def simulate_ring(fabric: Fabric, routes: Routes, ranks: int, order: str) -> float:
    """Simulate one ring all-reduce; its time in microseconds."""
    placement = place_ranks(fabric, ranks, "random" if order == "random" else "order", seed=1)
    flows = expand(Collective(RING.kind, RING.algorithm, RING.size_bytes, ranks), placement)
    return simulate(flows, fabric, routes, OPTIONS).total_us
