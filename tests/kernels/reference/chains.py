"""Longest chains and inverted needs by recursion and search."""

from __future__ import annotations

from collections.abc import Sequence


def longest_chain(
    duration: Sequence[int],
    latency: int,
    needs: Sequence[Sequence[int]],
    queue: Sequence[int],
    works: Sequence[bool],
    earliest: Sequence[int],
    delay: Sequence[int],
) -> int:
    """Follow every chain backwards from every flow; needs point to earlier flows."""

    def sent(flow: int) -> int:
        begin = max((arrived(need) for need in needs[flow]), default=0)
        before = [other for other in range(flow) if queue[flow] >= 0 and queue[other] == queue[flow]]
        return max(begin, sent(before[-1]) if before else 0, earliest[flow]) + delay[flow] + duration[flow]

    def arrived(flow: int) -> int:
        return sent(flow) + (0 if works[flow] else latency)

    return max(arrived(flow) for flow in range(len(duration)))


def successors(queue: Sequence[int]) -> list[int]:
    """Search the next flow of the same queue."""
    return [
        next((later for later in range(flow + 1, len(queue)) if queue[flow] >= 0 and queue[later] == queue[flow]), -1)
        for flow in range(len(queue))
    ]


def dependents(needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """List who needs each flow, as often as it does."""
    return [[other for other, row in enumerate(needs) for need in row if need == flow] for flow in range(len(needs))]
