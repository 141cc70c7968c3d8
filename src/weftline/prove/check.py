"""The small program: certificates checked against the tables, without the search that found them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from weftline.kernels.channels import check_ranks
from weftline.kernels.column import I32, U8, Array, digest_parts
from weftline.kernels.loads import find_worst
from weftline.kernels.reach import FARTHEST, check_distances
from weftline.model.fabric import Fabric
from weftline.model.proof import Certificate, Proof, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import balance, converge, deadlock, failures, isolate, lossless, reach, separate
from weftline.prove.steps import check_steps
from weftline.prove.tables import Tables, read_tables, view_lane

SPOT_CHECKS = 16
"""Shifts of a balance proof that are loaded again at least, beside the worst."""
ALL_CHECKED_STEPS = 20_000_000
"""Table steps that loading every shift again may take; up to about 2,000 endpoints all are."""
CLOSE = 1e-6


def check_certificate(fabric: Fabric, routes: Routes, proof: Proof) -> bool:
    """Check a proved claim by its certificate; False where it does not hold, or the proof has none.

    Reach and deadlock are then certain. Of balance the worst case and the shifts are loaded again, on large fabrics
    some of the shifts; that no other one is worse rests there on the proof's own work. The statement must say what was
    checked, word by word: a certificate for a weaker claim does not carry a stronger one.
    """
    certificate = proof.certificate
    if proof.claim == isolate.CLAIM:
        return isolate.check_isolation(proof) or separate.check_separation(proof)
    if proof.claim in {lossless.CLAIM, failures.CLAIM}:
        return lossless.check_lossless(proof) or failures.check_failures(proof)
    if proof.claim == converge.CLAIM:
        return converge.check_converge(fabric, routes, proof)
    if proof.verdict is not Verdict.PROVED or certificate is None or proof.of != routes.digest:
        return False
    checkers = {reach.CLAIM: _check_reach, deadlock.CLAIM: _check_deadlock, balance.CLAIM: _check_balance}
    checker = checkers.get(proof.claim)
    return checker is not None and checker(fabric, routes, proof, certificate)


def _check_reach(fabric: Fabric, routes: Routes, proof: Proof, certificate: Certificate) -> bool:
    """Check that the distances fall along every member, and that the sources' distances are what the claim says."""
    tables = read_tables(fabric, routes)
    distance = certificate.columns.get("distance")
    if distance is None or distance.shape != routes.group.shape or distance.dtype != np.uint8:
        return False
    held: U8 = distance.astype(np.uint8, copy=False)
    if certificate.digest != reach.digest_distances(held):
        return False
    wrong = check_distances(
        held, tables.group, tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port, tables.local,
        tables.target_kind, tables.target_port, tables.target_row,
    )  # fmt: skip
    return wrong == 0 and _is_reach_shown(fabric, tables, held, proof)


def _is_reach_shown(fabric: Fabric, tables: Tables, distance: U8, proof: Proof) -> bool:
    """Judge whether the distances of the sources, once known to be true, show what the proof says."""
    bound, max_hops = proof.bound, proof.detail.get("max_hops")
    if type(bound) is not int or type(max_hops) is not int or not 0 <= bound <= min(max_hops, FARTHEST):
        return False
    loose = reach.judge_loose(fabric, tables)
    if loose.failed or loose.delivered or len(reach.missing_targets(tables)):
        return False
    counts, first = reach.judge(tables, distance, bound)
    counts[: len(loose.counts)] += loose.counts
    detail = reach.tell_counts(tables, counts, 0, max_hops)
    is_told = proof.statement == reach.state(detail) and dict(proof.detail) == detail
    return is_told and bool(np.all(first < 0)) and int(counts[reach.HOPS]) == bound


def _check_deadlock(fabric: Fabric, routes: Routes, proof: Proof, certificate: Certificate) -> bool:
    """Check lane by lane that the rank grows along every dependency, destination by destination."""
    tables = read_tables(fabric, routes)
    rank = certificate.columns.get("rank")
    shape = (routes.lane_count, fabric.port_count)
    if rank is None or rank.shape != shape or rank.dtype != np.int32 or proof.bound != 0:
        return False
    if proof.statement != deadlock.state(routes):
        return False
    if certificate.digest != digest_parts((deadlock.CLAIM, rank)):
        return False
    held: I32 = rank.astype(np.int32, copy=False)
    if routes.steps is not None:
        return check_steps(fabric, routes, tables, routes.steps, held)
    views = ((lane, view) for lane in range(routes.lane_count) for view in view_lane(tables, routes, lane))
    return not any(_count_wrong(view, held[lane]) for lane, view in views)


def _count_wrong(tables: Tables, rank: I32) -> int:
    """Count the places where the ranks of one lane do not grow."""
    return check_ranks(
        rank, tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row,
        tables.target_kind, tables.target_row, tables.home_row, tables.home_count, tables.own_count,
    )  # fmt: skip


def _check_balance(fabric: Fabric, routes: Routes, proof: Proof, certificate: Certificate) -> bool:
    """Load the worst case again, and some other shifts."""
    columns = certificate.columns
    shift, threshold = proof.detail.get("worst_shift") or 0, proof.detail.get("threshold")
    names = {"shift", "worst", "load_gbps"}
    if not names <= set(columns) or columns["shift"].shape != columns["worst"].shape or columns["shift"].ndim != 1:
        return False
    if type(shift) is not int or not (_is_finite(proof.bound) and _is_finite(threshold)):
        return False
    if certificate.digest != digest_parts((balance.CLAIM, str(shift), *columns, *columns.values())):
        return False
    if float(proof.bound or 0.0) > float(threshold or 0.0) * (1 + balance.TOLERANCE):
        return False
    tables = read_tables(fabric, routes)
    return _is_balance_told(fabric, tables, proof, columns) and _are_loads_true(fabric, tables, proof, columns, shift)


def _is_balance_told(fabric: Fabric, tables: Tables, proof: Proof, columns: Mapping[str, Array]) -> bool:
    """Judge whether the statement says which shifts were judged, and against which threshold."""
    crowd, shifts = balance.gather_crowd(fabric, tables), columns["shift"]
    is_argued = "worst_of_all_shifts_at_most" in proof.detail
    is_all = is_argued or np.array_equal(shifts, np.arange(1, max(crowd.largest, 1)))
    why = proof.detail.get("sample_reason")
    if is_argued and not _is_argument_true(fabric, tables, crowd, proof):
        return False
    if bool(why) == is_all or bool(proof.detail.get("is_sample")) == is_all or crowd.absent:
        return False
    rules, has_job = ProofRules(balance_threshold=float(proof.detail["threshold"])), _job_of(columns) is not None
    told = balance.state(
        tables, crowd, rules, len(shifts), balance.BY_WINDOWS if is_argued else why or "", has_job=has_job
    )
    return proof.statement == told


def _is_argument_true(fabric: Fabric, tables: Tables, crowd: balance.Crowd, proof: Proof) -> bool:
    """Judge whether the windows of all links bound every shift as the proof says."""
    distance = reach.measure_distances(tables, ProofRules())
    if distance is reach.NO_DISTANCE or not _is_finite(proof.bound):
        return False
    bound = balance.argue_shifts(fabric, tables, distance, crowd)
    return bound is not None and bound <= float(proof.bound or 0.0) * (1 + balance.TOLERANCE)


def _are_loads_true(fabric: Fabric, tables: Tables, proof: Proof, columns: Mapping[str, Array], shift: int) -> bool:
    """Judge whether the loads in a balance certificate come out again."""
    crowd = balance.gather_crowd(fabric, tables)
    distance = reach.measure_distances(tables, ProofRules())
    if distance is reach.NO_DISTANCE:
        return False
    shifts, worst = columns["shift"].astype(np.int64), columns["worst"].astype(np.float64)
    bound, load = float(proof.bound or 0.0), columns["load_gbps"].astype(np.float64)
    job = _job_of(columns)
    if proof.detail.get("job_digest") != (None if job is None else balance.digest_pairs(job)):
        return False
    if not np.all(worst <= bound + CLOSE):
        return False
    picks = np.unique(np.linspace(0, len(shifts) - 1, SPOT_CHECKS).astype(np.int64)) if len(shifts) else shifts
    again, _, lost, steps = balance.load_many(fabric, tables, distance, crowd, shifts[picks])
    if len(picks) < len(shifts) and steps // len(picks) * len(shifts) <= ALL_CHECKED_STEPS:
        picks = np.arange(len(shifts))
        again, _, lost, _ = balance.load_many(fabric, tables, distance, crowd, shifts)
    if lost.any() or not np.allclose(again, worst[picks], rtol=CLOSE):
        return False
    cases = [balance.flows_of_shift(crowd, shift)] if shift else []
    if job is not None:
        cases.append(balance.flows_of_job(tables, crowd, job)[0])
    loads = [balance.load_pairs(fabric, tables, distance, flows) for flows in cases]
    highest = max((find_worst(again, crowd.port_rate)[0] for again, _ in loads), default=0.0)
    if "worst_of_all_shifts_at_most" in proof.detail:
        highest = max(highest, float(proof.detail["worst_of_all_shifts_at_most"]))
    if any(missing for _, missing in loads) or not np.isclose(highest, bound, rtol=CLOSE, atol=CLOSE):
        return False
    expected = loads[0][0] if loads else np.zeros(fabric.port_count)
    return load.shape == expected.shape and bool(np.allclose(expected, load, rtol=CLOSE))


def _job_of(columns: Mapping[str, Array]) -> tuple[I32, I32] | None:
    """Read the job's pairs from a certificate, where it has them."""
    if "job_source" not in columns or "job_target" not in columns:
        return None
    return columns["job_source"].astype(np.int32), columns["job_target"].astype(np.int32)


def _is_finite(value: object) -> bool:
    """Judge whether a figure is there, and is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
