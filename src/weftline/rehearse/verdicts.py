"""What outcomes mean: the loss of each job, what is not allowed, and which states do most damage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import F64, I64, NIL
from weftline.model.fault import Faults
from weftline.model.proof import Verdict
from weftline.model.rehearsal import VERDICTS, JobBase, KindSum, Limits, Outcomes, Rehearsal, State, Way
from weftline.rehearse.names import name_link
from weftline.rehearse.scene import Scene

DIGITS = 9
"""Of a loss; sums of equal shares are not exact beyond."""
ROOM = 1e-9
LOAD_SINGLE = "a flow takes the one port of each table entry, and a link carries the flows whose way it is"
LOAD_SHARED = (
    "every port of a set carries an equal share of what comes, the expected load; hashing single flows can exceed it"
)


def say_load(scene: Scene) -> str:
    """Say what a load is on these tables."""
    is_single = bool(np.all(np.diff(scene.routes.member_ptr) <= 1))
    return LOAD_SINGLE if is_single else LOAD_SHARED


def list_bases(scene: Scene, worst: tuple[float, ...], port: tuple[int, ...]) -> tuple[JobBase, ...]:
    """Describe the jobs on the whole fabric."""
    first = scene.crews.first.tolist()
    return tuple(
        JobBase(name, first[at + 1] - first[at], first[at], worst[at], port[at])
        for at, name in enumerate(scene.crews.names)
    )


def measure_losses(scene: Scene, jobs: tuple[JobBase, ...], outcomes: Outcomes) -> F64:
    """Measure, per state and job, the share of its all-reduce that is lost: 1 - load before / load after.

    A step takes as long as its worst link, so that twice the load is half the rate. A job of which nobody is left, or
    whose step nothing carries, loses all. Negative where the ranks that are left are better off.
    """
    base = np.array([job.worst for job in jobs]).reshape(1, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(outcomes.worst > 0, 1.0 - base / outcomes.worst, 0.0)
    loss = np.round(np.maximum(loss, 0.0), DIGITS)
    leaving = count_leaving(scene, jobs, outcomes)
    absent = np.array([np.count_nonzero(scene.crews.job[scene.crews.absent] == at) for at in range(len(jobs))])
    ranks = np.array([job.ranks for job in jobs]) - absent
    loss[leaving >= ranks] = 1.0
    loss[outcomes.undelivered != 0] = np.nan
    return loss.astype(np.float64)


def spread_losses(scene: Scene, faults: Faults, outcomes: Outcomes, jobs: tuple[JobBase, ...]) -> F64:
    """Put the largest loss of a job to both ports of each single link.

    Infinite where it is not known, and 0 at ports that no such state names.
    """
    worst = np.nan_to_num(measure_losses(scene, jobs, outcomes), nan=np.inf).max(axis=1, initial=0.0)
    loss = np.zeros(scene.fabric.port_count)
    for at in np.flatnonzero(np.diff(faults.ptr) == 2).tolist():
        loss[faults.ports_of(at)] = worst[at]
    return loss


def count_leaving(scene: Scene, jobs: tuple[JobBase, ...], outcomes: Outcomes) -> I64:
    """Count, per state and job, the ranks that must leave."""
    state = np.repeat(np.arange(len(outcomes.way)), np.diff(outcomes.leave_ptr))
    job = scene.crews.job[outcomes.leave_rank] if len(outcomes.leave_rank) else outcomes.leave_rank
    counts = np.zeros((len(outcomes.way), len(jobs)), dtype=np.int64)
    np.add.at(counts, (state, job), 1)
    return counts


def find_broken(losses: F64, leaving: I64, outcomes: Outcomes, limits: Limits) -> NDArray[np.bool_]:
    """Mark the states that are not allowed; what is not known is not allowed."""
    broken = (outcomes.deadlock != VERDICTS.index(Verdict.PROVED)) | (outcomes.undelivered != 0)
    if limits.max_job_loss is not None:
        broken |= ~(losses <= limits.max_job_loss + ROOM).all(axis=1)
    if limits.max_lost_endpoints is not None:
        broken |= outcomes.lost_endpoints > limits.max_lost_endpoints
    if limits.max_leaving_ranks is not None:
        broken |= leaving.sum(axis=1) > limits.max_leaving_ranks
    return broken


def rank_states(losses: F64, leaving: I64, outcomes: Outcomes, broken: NDArray[np.bool_]) -> I64:
    """Order states by damage: not allowed first, then by what is not proved, lost, cut off and gone."""
    worst = np.nan_to_num(losses, nan=1.0).max(axis=1, initial=0.0)
    return np.lexsort((
        np.arange(len(broken)),
        -outcomes.lost_endpoints,
        -outcomes.lost_pairs,
        -leaving.sum(axis=1),
        -worst,
        outcomes.undelivered == 0,
        outcomes.deadlock == VERDICTS.index(Verdict.PROVED),
        ~broken,
    ))  # fmt: skip


def conclude(
    scene: Scene, states: tuple[str, Faults, Outcomes], jobs: tuple[JobBase, ...], limits: Limits, shown: int
) -> Rehearsal:
    """Sum up a rehearsal; of the states the ``shown`` worst are told in words, all where it is 0."""
    what, faults, outcomes = states
    losses, leaving = measure_losses(scene, jobs, outcomes), count_leaving(scene, jobs, outcomes)
    broken = find_broken(losses, leaving, outcomes, limits)
    ranked = rank_states(losses, leaving, outcomes, broken)
    told = ranked[: shown or len(ranked)].tolist()
    unknown = (outcomes.deadlock == VERDICTS.index(Verdict.UNKNOWN)) | (outcomes.undelivered == NIL)
    verdict = Verdict.REFUTED if (broken & ~unknown).any() else Verdict.UNKNOWN if unknown.any() else Verdict.PROVED
    return Rehearsal(
        what=what,
        states=faults.count,
        jobs=jobs,
        limits=limits,
        worst=tuple(tell(scene, faults, outcomes, jobs, limits, at) for at in told),
        kinds=_sum_kinds(faults, outcomes, losses, leaving, broken),
        broken=int(np.count_nonzero(broken)),
        whole=int(np.count_nonzero(outcomes.way >= Way.WHOLE)),
        of=scene.routes.digest,
        load=say_load(scene),
        verdict=verdict,
    )


def _sum_kinds(
    faults: Faults, outcomes: Outcomes, losses: F64, leaving: I64, broken: NDArray[np.bool_]
) -> tuple[KindSum, ...]:
    """Sum up the states of each kind, in the order in which kinds come first."""
    number = {kind: at for at, kind in enumerate(dict.fromkeys(faults.kind))}
    kinds = np.array([number[kind] for kind in faults.kind], dtype=np.int64)
    sums: list[KindSum] = []
    for kind, at in number.items():
        own = kinds == at
        most = losses[own].max(initial=0.0)
        sums.append(
            KindSum(
                kind=kind,
                states=int(own.sum()),
                broken=int(broken[own].sum()),
                most_lost=float(most),
                most_leaving=int(leaving[own].sum(axis=1).max(initial=0)),
                most_endpoints=int(outcomes.lost_endpoints[own].max(initial=0)),
                apart=int(np.count_nonzero((outcomes.lost_pairs[own] != 0) | (outcomes.undelivered[own] != 0))),
            )
        )
    return tuple(sums)


def tell(scene: Scene, faults: Faults, outcomes: Outcomes, jobs: tuple[JobBase, ...], limits: Limits, at: int) -> State:
    """Tell one state in words."""
    one = take(outcomes, at)
    losses = measure_losses(scene, jobs, one)[0]
    ranks = one.leave_rank
    leave = tuple(
        (job.name, tuple((ranks[(ranks >= job.first) & (ranks < job.first + job.ranks)] - job.first).tolist()))
        for job in jobs
    )
    loss = tuple(
        (job.name, None if np.isnan(value) else float(value)) for job, value in zip(jobs, losses.tolist(), strict=True)
    )
    ports = one.port[0].tolist()
    links = tuple(
        (job.name, name_link(scene.fabric, port)) for job, port in zip(jobs, ports, strict=True) if port != NIL
    )
    bare = State(
        fault=faults.name[at],
        kind=faults.kind[at],
        connected=int(one.lost_pairs[0]) == 0 and int(one.undelivered[0]) == 0,
        deadlock=VERDICTS[int(one.deadlock[0])],
        job_loss=loss,
        leave=leave,
        lost_endpoints=int(one.lost_endpoints[0]),
        lost_pairs=int(one.lost_pairs[0]),
        undelivered=int(one.undelivered[0]),
        worst_link=links,
        is_anew=int(one.way[0]) == Way.ANEW,
        breaks=(),
    )
    return replace(bare, breaks=list_breaks(bare, limits))


def list_breaks(state: State, limits: Limits) -> tuple[str, ...]:
    """Say what is not allowed of a state."""
    breaks: list[str] = []
    if state.deadlock is not Verdict.PROVED:
        breaks.append(f"freedom from deadlock is {state.deadlock}")
    if state.undelivered:
        many = "pairs" if state.undelivered < 0 else f"{state.undelivered:,} pairs"
        words = "it is not known whether pairs" if state.undelivered < 0 else many
        breaks.append(f"{words} that cables still join are {'' if state.undelivered < 0 else 'not '}delivered")
    if limits.max_job_loss is not None:
        for name, loss in state.job_loss:
            if loss is None or loss > limits.max_job_loss + ROOM:
                lost = "an unknown share" if loss is None else f"{loss:.1%}"
                breaks.append(f"job {name} loses {lost} of its all-reduce, allowed is {limits.max_job_loss:.1%}")
    if limits.max_lost_endpoints is not None and state.lost_endpoints > limits.max_lost_endpoints:
        breaks.append(f"{state.lost_endpoints:,} endpoints are cut off, allowed are {limits.max_lost_endpoints:,}")
    if limits.max_leaving_ranks is not None and state.leaving > limits.max_leaving_ranks:
        allowed = f"allowed are {limits.max_leaving_ranks:,}" if limits.max_leaving_ranks else "allowed is none"
        breaks.append(f"{count_ranks(state)} must leave, {allowed}")
    return tuple(breaks)


def count_ranks(state: State) -> str:
    """Say how many ranks of which jobs leave."""
    parts = [
        f"{len(ranks):,} rank{'s' if len(ranks) > 1 else ''} of job {name}" for name, ranks in state.leave if ranks
    ]
    return " and ".join(parts)


def take(outcomes: Outcomes, at: int) -> Outcomes:
    """Take the outcome of one state."""
    begin, end = int(outcomes.leave_ptr[at]), int(outcomes.leave_ptr[at + 1])
    return Outcomes(
        outcomes.way[at : at + 1], outcomes.deadlock[at : at + 1], outcomes.lost_endpoints[at : at + 1],
        outcomes.lost_pairs[at : at + 1], outcomes.undelivered[at : at + 1], outcomes.worst[at : at + 1],
        outcomes.port[at : at + 1], np.array([0, end - begin], dtype=np.int64), outcomes.leave_rank[begin:end],
    )  # fmt: skip
