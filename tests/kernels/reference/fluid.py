"""Fluid simulation that solves everything anew at every event, in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.kernels.reference.maxmin import maxmin_rates


def simulate_flows(
    sizes: Sequence[Fraction],
    paths: Sequence[Sequence[int]],
    needs: Sequence[Sequence[int]],
    queues: Sequence[int],
    capacity: Sequence[Fraction],
    latency: Fraction,
    earliest: Sequence[Fraction] | None = None,
    delay: Sequence[Fraction] | None = None,
    works: Sequence[bool] | None = None,
) -> tuple[list[Fraction], list[Fraction]]:
    """Return when each flow starts and when its last byte leaves; a flow with an empty path takes no time.

    A flow starts ``delay`` after it is ready and its ``earliest`` time has come; work arrives without latency.
    """
    late = [Fraction(0) if works and works[flow] else latency for flow in range(len(sizes))]
    caps = [min((capacity[resource] for resource in path), default=Fraction(0)) for path in paths]
    start: dict[int, Fraction] = {}
    due: dict[int, Fraction] = {}
    sent: dict[int, Fraction] = {}
    left = [Fraction(size) for size in sizes]
    now = Fraction(0)
    while len(sent) < len(sizes):
        moved = True
        while moved:
            moved = False
            for flow in range(len(sizes)):
                before = [other for other in range(flow) if queues[other] == queues[flow] and queues[flow] >= 0]
                if flow not in due and all(
                    other in sent and sent[other] + late[other] <= now for other in needs[flow]
                ) and all(other in sent for other in before):  # fmt: skip
                    begin = max(now, earliest[flow]) if earliest else now
                    due[flow] = begin + delay[flow] if delay else begin
                    moved = True
                if flow in due and flow not in start and due[flow] <= now:
                    start[flow] = now
                    moved = True
                if flow in start and flow not in sent and (left[flow] == 0 or not paths[flow]):
                    sent[flow] = now
                    moved = True
        active = [flow for flow in start if flow not in sent]
        rates = maxmin_rates([paths[f] for f in active], [caps[f] for f in active], capacity)
        events = [now + left[flow] / rate for flow, rate in zip(active, rates, strict=True)]
        events += [time + late[flow] for flow, time in sent.items() if time + late[flow] > now]
        events += [time for time in due.values() if time > now]
        if not events:
            break
        later = min(events)
        for flow, rate in zip(active, rates, strict=True):
            left[flow] -= rate * (later - now)
        now = later
    return [start[flow] for flow in range(len(sizes))], [sent[flow] for flow in range(len(sizes))]
