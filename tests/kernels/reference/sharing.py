"""New rates after a flow came or went, by the definition: forget all rates and share everything anew."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.kernels.reference.maxmin import maxmin_rates


def rates_of_active(
    active: Sequence[int], paths: Sequence[Sequence[int]], caps: Sequence[int], capacity: Sequence[int]
) -> dict[int, Fraction]:
    """Give each active flow its max-min fair rate, exactly."""
    rates = maxmin_rates(
        [paths[flow] for flow in active], [Fraction(caps[flow]) for flow in active], [Fraction(c) for c in capacity]
    )
    return dict(zip(active, rates, strict=True))
