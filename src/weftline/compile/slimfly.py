"""Slim Fly: the McKay-Miller-Siran graph over a finite field, two hops between any two switches."""

from __future__ import annotations

import itertools

import numpy as np

from weftline.compile.switches import SwitchGraph
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Tier

MAX_Q = 64


def slim_fly_graph(q: int, endpoints: int | None = None) -> SwitchGraph:
    """Wire the graph for a prime power q = 4w + d with d in -1, 0, 1; ``endpoints`` per switch default to ceil(k'/2).

    Besta and Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014, section II-B; the
    generator sets for d = -1 and 0 as in its technical appendix. Switch (0, x, y) is number ``x * q + y``, switch
    (1, m, c) number ``q * q + m * q + c``.
    """
    if not 3 <= q <= MAX_Q:
        msg = f"q is {q}; a Slim Fly is built here for prime powers from 3 to {MAX_Q}"
        raise ValueError(msg)
    add, multiply, primitive = _field(q)
    own, other = _generators(q, multiply, primitive)
    y, step = np.triu_indices(q, 1)
    negative = np.argmin(add, axis=1)
    difference = add[y, negative[step]]
    a: list[I64] = []
    b: list[I64] = []
    for side, chosen in enumerate((own, other)):
        is_joined = np.isin(difference, chosen)
        for row in range(q):
            base = side * q * q + row * q
            a.append(base + y[is_joined])
            b.append(base + step[is_joined])
    for x, m in itertools.product(range(q), range(q)):
        c = np.arange(q)
        a.append(x * q + add[multiply[m, x], c].astype(np.int64))
        b.append(q * q + m * q + c)
    degree = len(own) + q
    ends = -(-degree // 2) if endpoints is None else endpoints
    inside = sum(len(run) for run in a[: 2 * q])
    ends_a, ends_b = (np.concatenate(runs).astype(np.int32) for runs in (a, b))
    kind = (np.arange(len(ends_a)) >= inside).astype(np.int32)
    count = 2 * q * q
    return SwitchGraph(
        shape="slim-fly",
        tier=np.full(count, Tier.LEAF, dtype=np.int8),
        group=np.full(count, NIL, dtype=np.int32),
        place=None,
        endpoints=np.full(count, ends, dtype=np.int32),
        radix=np.full(count, ends + degree, dtype=np.int32),
        a=ends_a,
        b=ends_b,
        a_class=kind,
        b_class=kind,
    )


def _generators(q: int, multiply: I32, primitive: int) -> tuple[list[int], list[int]]:
    """Give the two sets of differences that join switches of one row, each closed under negation."""
    powers = [1]
    while len(powers) < q - 1:
        powers.append(int(multiply[powers[-1], primitive]))
    if q % 4 != 3:
        return powers[0::2], [powers[i % (q - 1)] for i in range(1, q, 2)]
    w = (q + 1) // 4
    own = [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]
    other = [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)]
    return [powers[i % (q - 1)] for i in own], [powers[i % (q - 1)] for i in other]


def _field(q: int) -> tuple[I32, I32, int]:
    """Make the tables of addition and multiplication of the field of q elements, and find a primitive element."""
    p = next(n for n in range(2, q + 1) if q % n == 0)
    n = 1
    while p**n < q:
        n += 1
    if p**n != q:
        msg = f"{q} is no power of a prime"
        raise ValueError(msg)
    digits = np.array([[value // p**i % p for i in range(n)] for value in range(q)], dtype=np.int64)
    weight = p ** np.arange(n)
    add = ((digits[:, None] + digits[None]) % p @ weight).astype(np.int32)
    for tail in itertools.product(range(p), repeat=n):
        multiply = _products(digits, np.array(tail, dtype=np.int64), p)
        found = _primitive(multiply, q)
        if found:
            return add, multiply, found
    msg = f"no field of {q} elements was found"
    raise AssertionError(msg)


def _products(digits: I64, tail: I64, p: int) -> I32:
    """Multiply polynomials modulo x^n = tail; a field only where that polynomial is irreducible."""
    q, n = digits.shape
    full = np.zeros((q, q, 2 * n - 1), dtype=np.int64)
    for i, j in itertools.product(range(n), range(n)):
        full[:, :, i + j] += digits[:, i, None] * digits[None, :, j]
    for high in range(2 * n - 2, n - 1, -1):
        full[:, :, high - n : high] += full[:, :, high, None] * tail
    weight: I64 = p ** np.arange(n, dtype=np.int64)
    return (full[:, :, :n] % p @ weight).astype(np.int32)


def _primitive(multiply: I32, q: int) -> int:
    """Find an element whose powers are all but zero; 0 where there is none, as in what is no field."""
    for element in range(1, q):
        power, order = element, 1
        while power not in {0, 1} and order < q:
            power, order = int(multiply[power, element]), order + 1
        if power == 1 and order == q - 1:
            return element
    return 0
