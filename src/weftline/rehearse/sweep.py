"""Many states, one after the other, on several threads; what is done can be kept and gone on from."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import F64, I8, I32, I64, NIL, digest_parts
from weftline.model.fault import Faults
from weftline.model.rehearsal import VERDICTS, Outcomes, Way
from weftline.rehearse.ground import Ways
from weftline.rehearse.quick import Bench
from weftline.rehearse.whole import Found, Plan

CHUNK = 64
"""States that a thread takes at a time."""
VERSION = "rehearsal/1"


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known so far; columns that are filled as states are judged."""

    way: I8
    deadlock: I8
    lost_endpoints: I32
    lost_pairs: I64
    undelivered: I64
    worst: F64
    port: I32
    leave: dict[int, I32]
    """Ranks that leave, only of states in which some do."""

    @property
    def done(self) -> int:
        """Count the states that are judged."""
        return int(np.count_nonzero(self.way != Way.OPEN))

    def put(self, state: int, found: Found) -> None:
        """Write down what one state leaves; the mark that it is judged comes last."""
        self.deadlock[state] = VERDICTS.index(found.deadlock)
        self.lost_endpoints[state] = found.lost_endpoints
        self.lost_pairs[state] = found.lost_pairs
        self.undelivered[state] = found.undelivered
        self.worst[state], self.port[state] = found.worst, found.port
        if found.leave:
            self.leave[state] = np.array(found.leave, dtype=np.int32)
        self.way[state] = Way.WHOLE if found.is_whole else Way.PART


def open_tally(states: int, jobs: int) -> Tally:
    """Make an empty tally."""
    return Tally(
        way=np.zeros(states, dtype=np.int8),
        deadlock=np.zeros(states, dtype=np.int8),
        lost_endpoints=np.zeros(states, dtype=np.int32),
        lost_pairs=np.zeros(states, dtype=np.int64),
        undelivered=np.zeros(states, dtype=np.int64),
        worst=np.zeros((states, jobs)),
        port=np.full((states, jobs), NIL, dtype=np.int32),
        leave={},
    )


def close_tally(tally: Tally) -> Outcomes:
    """Freeze a tally."""
    states = len(tally.way)
    sizes = np.zeros(states, dtype=np.int64)
    for state, ranks in tally.leave.items():
        sizes[state] = len(ranks)
    ranks = [tally.leave[state] for state in sorted(tally.leave)]
    return Outcomes(
        tally.way.copy(), tally.deadlock.copy(), tally.lost_endpoints.copy(), tally.lost_pairs.copy(),
        tally.undelivered.copy(), tally.worst.copy(), tally.port.copy(),
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.concatenate(ranks).astype(np.int32) if ranks else np.zeros(0, dtype=np.int32),
    )  # fmt: skip


def reopen_tally(outcomes: Outcomes) -> Tally:
    """Make a tally of outcomes, so that what is open can be judged."""
    begin, end = outcomes.leave_ptr[:-1], outcomes.leave_ptr[1:]
    leave = {
        state: outcomes.leave_rank[begin[state] : end[state]].copy() for state in np.flatnonzero(end > begin).tolist()
    }
    return Tally(
        outcomes.way.copy(), outcomes.deadlock.copy(), outcomes.lost_endpoints.copy(), outcomes.lost_pairs.copy(),
        outcomes.undelivered.copy(), outcomes.worst.copy(), outcomes.port.copy(), leave,
    )  # fmt: skip


def digest_rehearsal(plan: Plan, faults: Faults) -> str:
    """Digest all that the outcomes follow from: tables, faults, and where the ranks of the jobs stand."""
    crews = plan.crews
    rules = f"{VERSION} {plan.rules.max_hops} {plan.standing is None} {' '.join(plan.roots)}"
    return digest_parts((rules, plan.routes.digest, faults.digest, crews.names, crews.first, crews.port, crews.after))


def sweep(plan: Plan, ways: Ways | None, faults: Faults, tally: Tally, threads: int) -> Iterator[int]:
    """Judge every open state, and yield how many are judged after each chunk.

    Each state is judged from the whole fabric, so that neither order nor threads nor an interruption change a byte.
    """
    states = np.flatnonzero(tally.way == Way.OPEN).tolist()
    chunks = [states[at : at + CHUNK] for at in range(0, len(states), CHUNK)]
    if not chunks:
        return
    first = Bench(plan, ways)
    shared = None if ways is None else first.base
    benches = [first, *(Bench(plan, ways, shared) for _ in range(min(threads, len(chunks)) - 1))]
    free = list(benches)
    with ThreadPoolExecutor(max_workers=len(benches)) as pool:
        running: dict[Future[list[tuple[int, Found]]], Bench] = {}
        try:
            while chunks or running:
                while chunks and free:
                    bench = free.pop()
                    running[pool.submit(_judge_chunk, bench, faults, chunks.pop(0))] = bench
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    free.append(running.pop(future))
                    for state, found in future.result():
                        tally.put(state, found)
                yield tally.done
        finally:
            for bench in benches:
                bench.is_stopped = True


def _judge_chunk(bench: Bench, faults: Faults, states: list[int]) -> list[tuple[int, Found]]:
    found: list[tuple[int, Found]] = []
    for state in states:
        if bench.is_stopped:
            break
        found.append((state, bench.judge(faults.ports_of(state))))
    return found
