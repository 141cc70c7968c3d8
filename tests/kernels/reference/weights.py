"""Slow twins of the kernels that weigh members: ways counted one after the other, and every vector tried."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product


def ways(links: Mapping[int, Sequence[tuple[int, int]]], home: int) -> dict[int, int]:
    """Count the ways to a home; ``links`` are, per switch, the next switches and the units of the links there."""
    found: dict[int, int] = {}

    def count(row: int) -> int:
        if row not in found:
            found[row] = sum(unit if step == home else count(step) for step, unit in links.get(row, ()))
        return found[row]

    return {row: count(row) for row in links if row != home}


def error(raw: Sequence[int], weight: Sequence[int]) -> Fraction:
    """Say how much more than its part a member gets at worst."""
    return max(
        Fraction(held, sum(weight)) / Fraction(wanted, sum(raw)) for held, wanted in zip(weight, raw, strict=True)
    )


def best(raw: Sequence[int], most: int) -> tuple[Fraction, int]:
    """Find the least error of all weights of a sum of ``most`` at most, and the smallest sum that has it."""
    every = (one for one in product(range(1, most + 1), repeat=len(raw)) if sum(one) <= most)
    return min((error(raw, one), sum(one)) for one in every)


def reduced(raw: Sequence[int]) -> list[int]:
    """Divide by what divides all."""
    return [one // math.gcd(*raw) for one in raw]
