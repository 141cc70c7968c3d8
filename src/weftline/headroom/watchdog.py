"""Watchdog and scheduler: the longest pause that is no fault, and what share of a port each weight is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weftline.model.headroom import HopLoad, PauseBound, Term, WatchdogVerdict


def longest_pause(hops: Sequence[HopLoad]) -> PauseBound | None:
    """Bound the longest pause that a fabric without a fault can cause; None where a hop drains nothing.

    Assumption: the receiver takes what comes at its full rate, and every hop towards it holds as much as it may. A
    group lets its sender go on when what it holds has left through a queue that it shares with ``senders`` groups in
    turn: n * held * 8 / (rate * share). A hop that is paused itself waits for the next one too, so hops add up.
    """
    terms: list[Term] = []
    for index, hop in enumerate(hops, 1):
        rate = hop.rate_gbps * hop.share
        if rate <= 0 or hop.held_bytes < 0 or hop.senders < 1:
            return None
        us = hop.senders * hop.held_bytes * 8 / (rate * 1000)
        how = f"{hop.senders} * {hop.held_bytes:,} B / ({hop.rate_gbps:g} Gb/s * {hop.share:g})"
        terms.append(Term(f"hop {index}", us, how))
    return PauseBound(us=sum(term.amount for term in terms), terms=tuple(terms))


def judge_watchdog(bound: PauseBound, detect_ms: int) -> WatchdogVerdict:
    """Hold the time after which a watchdog acts against the longest pause that is no fault."""
    return WatchdogVerdict(holds=detect_ms * 1000 > bound.us, detect_ms=detect_ms, longest_us=bound.us)


def share_weights(weights: Mapping[int, int]) -> dict[int, float]:
    """Give the share of each queue of what strict queues leave; a weight of zero or less has none."""
    total = sum(max(weight, 0) for weight in weights.values())
    return {queue: max(weight, 0) / total if total else 0.0 for queue, weight in sorted(weights.items())}
