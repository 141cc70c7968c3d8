"""Max-min fair rates by the definition: raise all rates until a resource or a cap stops some, then go on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def maxmin_rates(
    paths: Sequence[Sequence[int]], caps: Sequence[Fraction], capacity: Sequence[Fraction]
) -> list[Fraction]:
    """Share exactly, in fractions."""
    rates = [Fraction(0)] * len(paths)
    growing = set(range(len(paths)))
    while growing:
        steps = [caps[flow] - rates[flow] for flow in growing]
        for resource, size in enumerate(capacity):
            users = [flow for flow in growing if resource in paths[flow]]
            if users:
                used = sum(rates[flow] for flow in range(len(paths)) if resource in paths[flow])
                steps.append((size - used) / len(users))
        step = min(steps)
        for flow in growing:
            rates[flow] += step
        full = {
            resource
            for resource, size in enumerate(capacity)
            if sum(rates[flow] for flow in range(len(paths)) if resource in paths[flow]) == size
        }
        growing = {flow for flow in growing if rates[flow] < caps[flow] and not full & set(paths[flow])}
    return rates
