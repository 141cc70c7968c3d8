"""Legal ways up and then down to one switch: how far each switch is, and which neighbours lead on."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8


@kernel
def climb(
    home: int,
    first: int,
    last: int,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    hop: I32,
    falls: U8,
    queue: I32,
) -> int:
    """Find the hops of the legal way from every switch of a component to ``home``; O(switches + edges).

    ``sequence[first:last]`` are the switches of the component in ascending ``order``; an edge goes up where the order
    falls. A switch that can go down all the way ``falls`` and does so, even where a way up would be shorter: a packet
    that came down to it must not be sent up. Any other goes up to its best neighbour. ``hop`` is NIL where no legal
    way exists. Returns how many fall: they stand first in ``queue``, nearest first.
    """
    for at in range(first, last):
        hop[sequence[at]] = NIL
        falls[sequence[at]] = 0
    hop[home] = 0
    falls[home] = 1
    queue[0] = home
    head = 0
    tail = 1
    while head < tail:
        row = queue[head]
        head += 1
        for edge in range(edge_ptr[row], edge_ptr[row + 1]):
            other = edge_row[edge]
            if order[other] < order[row] and falls[other] == 0:
                falls[other] = 1
                hop[other] = hop[row] + 1
                queue[tail] = other
                tail += 1
    for at in range(first, last):
        row = sequence[at]
        if falls[row] == 1:
            continue
        best = NIL
        for edge in range(edge_ptr[row], edge_ptr[row + 1]):
            other = edge_row[edge]
            if order[other] < order[row] and hop[other] != NIL and (best == NIL or hop[other] < best):
                best = hop[other]
        if best != NIL:
            hop[row] = best + 1
    return tail


@kernel
def leads_on(row: int, other: int, order: I32, hop: I32, falls: U8) -> bool:
    """Say whether ``other``, a neighbour of ``row``, is a next hop after ``climb``."""
    if falls[row] == 1:
        return bool(order[other] > order[row] and falls[other] == 1 and hop[other] == hop[row] - 1)
    return bool(order[other] < order[row] and hop[other] != NIL and hop[other] == hop[row] - 1)
