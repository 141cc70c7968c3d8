"""The largest fabric of this stage of the product: 16,384 endpoints, three tiers, 1,280 switches of 64 ports."""

from __future__ import annotations

from benchmarks.measure import OUT, Figure, peak_gib, time_call
from weftline.app import pipeline
from weftline.app.check import check

DECLARATION = """\
fabric: {name: bench-16384}
technology: infiniband
hosts: {count: 2048, part: auto, gpus: 8, rails: 8, rate_gbps: 400, unit_size: 4}
topology: {kind: fat-tree, tiers: 3, oversubscription: 1.0}
claims: {required: [reach, deadlock, balance]}
"""
SWITCHES = 1280
ENDPOINTS = 16384


def run() -> list[Figure]:
    """Measure build, route and prove with warm kernels, and the memory that they take."""
    path = OUT / "scale.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DECLARATION, encoding="utf-8")
    checked = check(path)
    pipeline.judge(pipeline.compute(pipeline.build(checked)))  # compiles the kernels, or loads them
    build_s, built = time_call(lambda: pipeline.build(checked))
    if (built.counts.endpoints, sum(built.counts.switches.values())) != (ENDPOINTS, SWITCHES):
        message = f"the fabric is not the one to measure: {built.counts}"
        raise SystemExit(message)
    route_s, routed = time_call(lambda: pipeline.compute(built))
    prove_s, proved = time_call(lambda: pipeline.judge(routed))
    if not all(proof.verdict == "proved" for proof in proved.report.proofs):
        message = f"not everything is proved: {proved.report}"
        raise SystemExit(message)
    return [
        Figure("build, 16,384 endpoints", build_s, "s"),
        Figure("route, 16,384 endpoints", route_s, "s"),
        Figure("prove, 16,384 endpoints", prove_s, "s"),
        Figure("build + route + prove, 16,384 endpoints", build_s + route_s + prove_s, "s", must=10.0, aim=5.0),
        Figure("memory for that, two runs", peak_gib(), "GiB", must=4.0, aim=2.0),
    ]
