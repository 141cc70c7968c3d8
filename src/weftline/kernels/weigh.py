"""Shares of links by their rates: how wide the ways on are, and how often each link takes its turn."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.climb import leads_on
from weftline.kernels.column import F64, I32, I64, NIL, U8

FINEST = 48
"""Parts into which the share of the best link is cut: halves, thirds, quarters and eighths of it are exact."""


@kernel
def sum_rates(link_ptr: I32, link_rate: F64) -> F64:
    """Sum the rates of the links of each edge."""
    rate = np.zeros(len(link_ptr) - 1, dtype=np.float64)
    for edge in range(len(rate)):
        for link in range(link_ptr[edge], link_ptr[edge + 1]):
            rate[edge] += link_rate[link]
    return rate


@kernel
def widen(
    row: int, order: I32, edge_ptr: I32, edge_row: I32, rate: F64, hop: I32, falls: U8, width: F64, last: F64
) -> None:
    """Find the width of one switch, and its last edge, from those of its next hops."""
    total = 0.0
    end = 0.0
    for edge in range(edge_ptr[row], edge_ptr[row + 1]):
        other = edge_row[edge]
        if not leads_on(row, other, order, hop, falls):
            continue
        total += min(rate[edge], width[other])
        end = max(end, min(rate[edge], last[other]) if hop[other] == 0 else last[other])
    width[row] = min(total, end)
    last[row] = end


@kernel
def measure_width(
    first: int,
    final: int,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    rate: F64,
    hop: I32,
    falls: U8,
    queue: I32,
    width: F64,
    last: F64,
) -> None:
    """Measure the rate that fits from every switch of a component to one home, after ``climb``; O(edges).

    ``queue`` are the switches that fall, the home first. A switch passes on what its edges and the next hops behind
    them let through together, and no more than the widest last edge into the home behind it: cores that send to one
    leaf share the way from its spine. Exact on trees of up to three tiers; elsewhere an upper bound that serves as a
    weight.
    """
    width[queue[0]] = np.inf
    last[queue[0]] = np.inf
    for at in range(1, len(queue)):
        widen(queue[at], order, edge_ptr, edge_row, rate, hop, falls, width, last)
    # who does not fall looks at rows before it in the sequence alone
    for at in range(first, final):
        row = sequence[at]
        if falls[row] == 0 and hop[row] != NIL:
            widen(row, order, edge_ptr, edge_row, rate, hop, falls, width, last)


@kernel
def weigh_links(
    lead: I32,
    by_edge: int,
    edge_row: I32,
    link_ptr: I32,
    link_rate: F64,
    rate: F64,
    width: F64,
    spot: I32,
    wheel: I32,
) -> int:
    """Put the links of the edges ``lead`` on a wheel, each as often as its share; returns its length, 0 if all alike.

    An edge is worth its rate or what fits behind it, whichever is less, and its links divide that by their rates.
    All are alike where every link has the same share and, ``by_edge`` (1), every edge as many links. ``wheel`` names a
    link by its ``spot``.
    """
    count = 0
    best = 0.0
    alike = True
    even = True
    for edge in lead:
        links = link_ptr[edge + 1] - link_ptr[edge]
        through = min(rate[edge], width[edge_row[edge]]) / rate[edge]
        for link in range(link_ptr[edge], link_ptr[edge + 1]):
            own = link_rate[link] * through
            alike = alike and (count == 0 or own == best)
            best = max(best, own)
            count += 1
        if by_edge == 1 and links != link_ptr[lead[0] + 1] - link_ptr[lead[0]]:
            even = False
    if alike and even:
        return 0
    share = np.zeros(count, dtype=np.int64)
    common = np.int64(0)
    for edge in lead:
        through = min(rate[edge], width[edge_row[edge]]) / rate[edge]
        for link in range(link_ptr[edge], link_ptr[edge + 1]):
            part = np.int64(np.floor(link_rate[link] * through / best * FINEST + 0.5))
            share[spot[link]] = part
            while part != 0:
                common, part = part, common % part
    # sums of fractions may differ in the last bit alone
    if even and share.min() == FINEST:
        return 0
    return turn_wheel(share // common, wheel)


@kernel
def turn_wheel(share: I64, wheel: I32) -> int:
    """Put each place of ``share`` on the wheel as often as its share, round by round; returns the length.

    One of the highest share is in every round. Others miss rounds, and their turns to do so are staggered, so
    that every stretch of the wheel holds each about as often as its share.
    """
    highest = share.max()
    debt = np.empty(len(share), dtype=np.int64)
    before = np.int64(0)
    for index in range(len(share)):
        debt[index] = before
        before = (before + share[index]) % highest
    length = 0
    for _ in range(highest):
        for index in range(len(share)):
            debt[index] += share[index]
            if debt[index] >= highest:
                debt[index] -= highest
                wheel[length] = index
                length += 1
    return length
