"""The largest fabric of the house: 131,072 endpoints, 5,120 switches of 128 ports, 671 million entries."""

from __future__ import annotations

from benchmarks.measure import Figure, peak_gib, time_call
from benchmarks.scale import declare, expect, measure_engine, warm
from weftline.app.build import build
from weftline.app.check import check


def run() -> list[Figure]:
    """Measure routes and proofs with warm kernels, and the memory."""
    warm()
    build_s, built = time_call(lambda: build(check(declare(131_072, "SN5600", 8))))
    expect(built.fabric, 5120)
    route_s, judge_s, _ = measure_engine(built.fabric, "fat-tree", None)
    sets_s, sets_judge_s, _ = measure_engine(built.fabric, "ecmp", None)
    return [
        Figure("build, 131,072 endpoints", build_s, "s"),
        Figure("routes, 131,072 endpoints, 671 M entries", route_s, "s"),
        Figure("reach + deadlock with certificates, 131,072 endpoints", judge_s, "s"),
        Figure("routes + proof, 131,072 endpoints", route_s + judge_s, "s", must=60.0, aim=20.0),
        Figure("routes of engine ecmp + proof, 131,072 endpoints", sets_s + sets_judge_s, "s", must=60.0, aim=20.0),
        Figure("memory for all that", peak_gib(), "GiB", must=24.0),
    ]
