"""Routes and proofs at the largest scale: 16,384, 65,536 and 131,072 endpoints in three tiers, and one lost link."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measure import OUT, Figure, peak_gib, time_call
from weftline.app import pipeline
from weftline.app.build import build
from weftline.app.check import check
from weftline.model.proof import ProofRules, Verdict
from weftline.prove import balance, reach
from weftline.prove.incremental import Changed, judge_routes, prove_change
from weftline.prove.spread import SpreadChoice, measure_spread
from weftline.prove.tables import read_tables
from weftline.route import compute_routes
from weftline.route.repair import cut_fabric, prepare_repair, repair_routes

if TYPE_CHECKING:
    from weftline.model.fabric import Fabric
    from weftline.model.routes import Routes
    from weftline.prove.incremental import Judged
    from weftline.route.repair import Standing

DECLARATION = """\
fabric: {{name: bench-{endpoints}}}
technology: {technology}
hosts: {{count: {hosts}, part: auto, gpus: 8, rails: 8, rate_gbps: 400, unit_size: {unit}}}
topology: {{kind: fat-tree, tiers: 3, oversubscription: 1.0, leaf: {part}, spine: {part}, core: {part}}}
claims: {{required: [reach, deadlock, balance]}}
"""
RULES = ProofRules()


def run() -> list[Figure]:
    """Measure with warm kernels, and the memory after each step; `python -m benchmarks largest` goes further."""
    warm_s, _ = time_call(warm)
    return [
        Figure("kernels compiled or loaded, once", warm_s, "s"),
        *measure_stage(),
        *measure_parts(65_536, "SN5400", 4, (2.0, 0.5), (10.0, 4.0)),
        *measure_sets(65_536, "SN5400", 4),
    ]


def declare(endpoints: int, part: str, unit: int, technology: str = "roce") -> Path:
    """Write the declaration of a full tree."""
    path = OUT / f"scale-{endpoints}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = DECLARATION.format(endpoints=endpoints, hosts=endpoints // 8, unit=unit, part=part, technology=technology)
    path.write_text(text, encoding="utf-8")
    return path


def warm() -> None:
    """Run everything once on a small tree of the same kinds, which compiles the kernels or loads them."""
    fabric = build(check(declare(4096, "SN5400", 4))).fabric
    measure_engine(fabric, "ecmp", replace(RULES, all_shifts_up_to=16, sample_shifts=16))
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    lose_link(fabric, routes)
    tables = read_tables(fabric, routes)
    rules = ProofRules(all_shifts_up_to=16)
    balance.prove_balance(fabric, routes, tables, reach.measure_distances(tables, rules), rules, None)
    measure_spread(fabric, routes, rules, SpreadChoice(2, 2))


def measure_stage() -> list[Figure]:
    """Measure the stages of a declared InfiniBand fabric of 16,384 endpoints."""
    checked = check(declare(16_384, "QM9700", 4, "infiniband"))
    pipeline.judge(pipeline.compute(pipeline.build(checked)))
    build_s, built = time_call(lambda: pipeline.build(checked))
    expect(built.fabric, 1280)
    route_s, routed = time_call(lambda: pipeline.compute(built))
    prove_s, proved = time_call(lambda: pipeline.judge(routed))
    hold(all(proof.verdict is Verdict.PROVED for proof in proved.report.proofs), proved.report)
    return [
        Figure("build, 16,384 endpoints", build_s, "s"),
        Figure("route, 16,384 endpoints", route_s, "s"),
        Figure("prove, 16,384 endpoints", prove_s, "s"),
        Figure("build + route + prove, 16,384 endpoints", build_s + route_s + prove_s, "s", must=10.0, aim=5.0),
        Figure("memory for that, two runs", peak_gib(), "GiB", must=4.0, aim=2.0),
    ]


def measure_parts(
    endpoints: int, part: str, unit: int, routes_s: tuple[float, float], proof_s: tuple[float, float]
) -> list[Figure]:
    """Measure routes, proofs, balance and one lost link of a full tree."""
    name = f"{endpoints:,} endpoints"
    build_s, built = time_call(lambda: build(check(declare(endpoints, part, unit))))
    fabric = built.fabric
    expect(fabric, 5120)
    route_s, routes = time_call(lambda: compute_routes(fabric, "fat-tree", to_switches=False))
    figures = [
        Figure(f"build, {name}", build_s, "s"),
        Figure(f"routes, {name}, {routes.group.size / 1e6:,.0f} M entries", route_s, "s", *routes_s),
        Figure("memory for that", peak_gib(), "GiB", must=1.5),
    ]
    judge_s, judged = time_call(lambda: judge_routes(fabric, routes, RULES))
    hold(all(proof.verdict is Verdict.PROVED for proof in judged.proofs), judged.proofs)
    figures.append(Figure(f"reach + deadlock with certificates, {name}", judge_s, "s", *proof_s))
    balance_s, proof = time_call(
        lambda: balance.prove_balance(fabric, routes, judged.tables, judged.distance, RULES, None)
    )
    hold(proof.verdict is Verdict.PROVED and not proof.detail["is_sample"], proof)
    figures.append(Figure(f"balance over all shifts, {name}", balance_s, "s", 10.0, 3.0))
    spread_s, _ = time_call(lambda: measure_spread(fabric, routes, RULES, SpreadChoice(0, 20)))
    figures.append(Figure(f"effective bisection bandwidth, 20 permutations, {name}", spread_s, "s"))
    figures.append(Figure("memory for that", peak_gib(), "GiB"))
    share_s, first_s, ways_s, link_s = lose_link(fabric, routes, judged)
    return [
        *figures,
        Figure(f"ready for lost links (tables shared), {name}", share_s, "s"),
        Figure(f"one link down, new tables and proof, {name}", first_s, "s", 1.0, 0.1),
        Figure(f"ways of every switch measured, once for many lost links, {name}", ways_s, "s"),
        Figure(f"one link down, new tables and proof, ways measured, {name}", link_s, "s", 1.0, 0.1),
        Figure("memory for that", peak_gib(), "GiB"),
    ]


def measure_sets(endpoints: int, part: str, unit: int) -> list[Figure]:
    """Measure engine ecmp on a full tree, and on the same tree without one link, both from scratch."""
    fabric = build(check(declare(endpoints, part, unit))).fabric
    expect(fabric, 5120)
    name = f"{endpoints:,} endpoints"
    route_s, judge_s, balance_s = measure_engine(fabric, "ecmp", RULES)
    lost = np.array([fabric.port_ptr[fabric.switch_node[40]] + 40], dtype=np.int32)
    again_s, proof_s, _ = measure_engine(cut_fabric(fabric, lost), "ecmp", None)
    return [
        Figure(f"routes of engine ecmp, {name}", route_s, "s", 2.0, 0.5),
        Figure(f"reach + deadlock of ecmp with certificates, {name}", judge_s, "s", 10.0, 4.0),
        Figure(f"balance of ecmp over {RULES.sample_shifts} shifts, {name}", balance_s, "s", 10.0, 3.0),
        Figure(f"one link down under ecmp, all from scratch, {name}", again_s + proof_s, "s"),
    ]


def measure_engine(fabric: Fabric, engine: str, rules: ProofRules | None) -> tuple[float, float, float]:
    """Measure routes, their proof, and balance by the rules where there are any; seconds."""
    route_s, routes = time_call(lambda: compute_routes(fabric, engine, to_switches=False))
    judge_s, judged = time_call(lambda: judge_routes(fabric, routes, RULES))
    hold(all(proof.verdict is Verdict.PROVED for proof in judged.proofs), judged.proofs)
    if rules is None:
        return route_s, judge_s, 0.0
    balance_s, proof = time_call(
        lambda: balance.prove_balance(fabric, routes, judged.tables, judged.distance, rules, None)
    )
    hold(proof.verdict is Verdict.PROVED, proof)
    return route_s, judge_s, balance_s


def lose_link(fabric: Fabric, routes: Routes, judged: Any = None) -> tuple[float, float, float, float]:
    """Lose one link of a leaf after another, with tables shared and nothing else prepared, then with ways measured.

    Seconds to share and to measure, and for tables and proof the middle of three.
    """
    judged = judge_routes(fabric, routes, RULES) if judged is None else judged
    standing = prepare_repair(fabric, routes)
    share_s, _ = time_call(lambda: (standing.sheet, judged.sheet))
    quick = replace(standing, is_quick=True)
    first_s = _lose_three(fabric, standing, judged)
    ways_s, _ = time_call(lambda: (quick.ways, quick.sheet))
    return share_s, first_s, ways_s, _lose_three(fabric, quick, judged)


def _lose_three(fabric: Fabric, standing: Standing, judged: Judged) -> float:
    """Seconds for new tables and their proof, the middle of three links."""
    times: list[float] = []
    for port in (40, 50, 60):
        lost = np.array([fabric.port_ptr[fabric.switch_node[port]] + port], dtype=np.int32)

        def renew(lost: Any = lost) -> Judged:
            repair = repair_routes(standing, lost)
            return prove_change(judged, repair.fabric, repair.routes, Changed(repair.changed_row, repair.changed_goal))

        took_s, renewed = time_call(renew)
        hold(all(proof.verdict is Verdict.PROVED for proof in renewed.proofs), renewed.proofs)
        times.append(took_s)
    return sorted(times)[1]


def expect(fabric: Fabric, switches: int) -> None:
    """Stop where the fabric is not the one to measure."""
    hold(len(fabric.switch_node) == switches, f"{len(fabric.switch_node)} switches, not {switches}")


def hold(is_so: object, what: object) -> None:
    """Stop where a figure would be of something else."""
    if not is_so:
        message = f"not what is to be measured: {what}"
        raise SystemExit(message)
