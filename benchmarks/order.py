"""A change of tables in stages: one link of 16,384 endpoints goes out of use, and comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.measure import OUT, Figure, peak_gib, time_call
from benchmarks.scale import DECLARATION
from weftline.app import pipeline
from weftline.app.check import check
from weftline.enact import order_change
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import Verdict
from weftline.route.repair import prepare_repair, repair_routes


def run() -> list[Figure]:
    """Measure the search and the proofs of all stages, with warm kernels."""
    path = OUT / "order.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DECLARATION, encoding="utf-8")
    routed = pipeline.compute(pipeline.build(check(path)))
    fabric, old = routed.built.fabric, routed.routes
    repair = repair_routes(prepare_repair(fabric, old), np.array([find_link(fabric)], dtype=np.int32))
    new = replace(repair.routes, fabric_digest=fabric.digest)
    order_change(fabric, old, new)  # compiles the kernels, or loads them
    out_s, away = time_call(lambda: order_change(fabric, old, new))
    back_s, back = time_call(lambda: order_change(fabric, new, old))
    if (away.verdict, back.verdict) != (Verdict.PROVED, Verdict.PROVED):
        message = f"no stages were found: {away.why}; {back.why}"
        raise SystemExit(message)
    return [
        Figure("stages for one link less, 16,384 endpoints, each proved", out_s, "s"),
        Figure("stages for the way back", back_s, "s"),
        Figure("memory for that", peak_gib(), "GiB"),
    ]


def find_link(fabric: Fabric) -> int:
    """Find the first port of a switch towards a switch."""
    row = fabric.switch_row[fabric.port_node]
    peer = fabric.port_peer
    return int(np.flatnonzero((row != NIL) & (peer != NIL) & (row[np.maximum(peer, 0)] != NIL))[0])
