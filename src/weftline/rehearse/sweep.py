"""Many states, one after the other, on several threads; what is done can be kept and gone on from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

import numpy as np

from weftline.kernels.column import digest_parts
from weftline.model.fault import Faults
from weftline.model.rehearsal import Way
from weftline.rehearse.measuring import copy_bench, judge
from weftline.rehearse.quick import Bench
from weftline.rehearse.scene import Found
from weftline.rehearse.tally import Tally
from weftline.rehearse.whole import Plan

CHUNK = 16
"""States that a thread takes at a time; one where each is judged from scratch."""
VERSION = "rehearsal/2"


def digest_rehearsal(plan: Plan, faults: Faults) -> str:
    """Digest all that the outcomes follow from: tables, faults, and where the ranks of the jobs stand."""
    crews = plan.crews
    rules = f"{VERSION} {plan.rules.max_hops} {plan.standing is None} {plan.lanes} {' '.join(plan.roots)}"
    return digest_parts((rules, plan.routes.digest, faults.digest, crews.names, crews.first, crews.port, crews.after))


def sweep(plan: Plan, bench: Bench | None, faults: Faults, tally: Tally, threads: int) -> Iterator[int]:
    """Judge every open state, and yield how many are judged after each chunk.

    Each state is judged from the whole fabric, so that neither order nor threads nor an interruption change a byte.
    """
    states = np.flatnonzero(tally.way == Way.OPEN).tolist()
    size = CHUNK if bench is not None else 1
    chunks = deque(states[at : at + size] for at in range(0, len(states), size))
    if not chunks:
        return
    many = min(threads, len(chunks))
    free = [bench, *(None if bench is None else copy_bench(bench) for _ in range(many - 1))]
    stop = Event()
    with ThreadPoolExecutor(max_workers=many) as pool:
        running: dict[Future[list[tuple[int, Found]]], Bench | None] = {}
        try:
            while chunks or running:
                while chunks and free:
                    own = free.pop()
                    running[pool.submit(_judge_chunk, plan, own, faults, chunks.popleft(), stop)] = own
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    free.append(running.pop(future))
                    for state, found in future.result():
                        tally.put(state, found)
                yield tally.done
        finally:
            stop.set()


def _judge_chunk(
    plan: Plan, bench: Bench | None, faults: Faults, states: list[int], stop: Event
) -> list[tuple[int, Found]]:
    found: list[tuple[int, Found]] = []
    for state in states:
        if stop.is_set():
            break
        found.append((state, judge(plan, bench, faults.ports_of(state))))
    return found
