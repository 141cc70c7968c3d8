"""Settle: where routers that tell their neighbours of an origin come to rest, held against the tables of routes."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16

AGREES = 0
OTHER_WAYS = 1
"""The routers settle on other ports than the tables have."""
TOO_NARROW = 2
"""There are more equal ways than the router uses."""
NOT_MIXED = 3
"""Equal ways come by different numbers, and the router does not use such ways together."""
UNSETTLED = 4
"""Whether a router refuses a route hangs on which of several equal paths a neighbour tells."""
FARTHEST = 250


@kernel
def settle(
    first: int,
    last: int,
    origin: I32,
    session_ptr: I32,
    session_row: I32,
    session_far: I32,
    number: I32,
    shared: I32,
    words: int,
    width: I32,
    mixes: I8,
    column_ptr: I64,
    column: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    no_route: int,
    mark: I32,
    found: I64,
) -> int:
    """Spread each origin over the sessions, level by level, and compare the ports of every router with its entry.

    A router takes the shortest paths (RFC 4271, 9.1.2.2 a) that do not hold its own number (9.1.2), and tells one of
    them on with its number before it. ``session_row`` and ``session_far`` are the row and the port at the other end of
    each session. ``shared`` is the bit of a number that several routers have, NIL where it is a router's own: then no
    shorter path can hold it. ``mark`` takes per port the last origin that it leads to, ``found`` kind, row, column,
    ways and origin of the first difference; returns how many entries differ. O(origins * (sessions + members)).
    """
    rows = len(number)
    level = np.zeros(rows, dtype=np.uint8)
    count = np.zeros(rows, dtype=np.int32)
    holds_any = np.zeros((rows, words), dtype=np.uint64)
    holds_all = np.zeros((rows, words), dtype=np.uint64)
    print_of = np.zeros(rows, dtype=np.uint64)
    is_mixed = np.zeros(rows, dtype=np.int8)
    queue = np.zeros(rows, dtype=np.int32)
    wrong = 0
    for place in range(first, last):
        start = origin[place]
        level[:] = 0
        count[:] = 0
        is_mixed[:] = 0
        unsettled = NIL
        holds_any[start, :] = 0
        holds_all[start, :] = 0
        print_of[start] = 0
        level[start] = 1
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            print_of[v] = print_of[v] * np.uint64(6364136223846793005) + np.uint64(number[v] + 1)
            if shared[v] != NIL:
                bit = np.uint64(1) << np.uint64(shared[v] & 63)
                holds_any[v, shared[v] >> 6] |= bit
                holds_all[v, shared[v] >> 6] |= bit
            if level[v] >= FARTHEST:
                continue
            for at in range(session_ptr[v], session_ptr[v + 1]):
                u = session_row[at]
                if level[u] != 0 and level[u] != level[v] + 1:
                    continue
                if shared[u] != NIL:
                    bit = np.uint64(1) << np.uint64(shared[u] & 63)
                    word = shared[u] >> 6
                    if holds_all[v, word] & bit:
                        continue
                    if holds_any[v, word] & bit:
                        unsettled = u
                        continue
                if level[u] == 0:
                    level[u] = level[v] + 1
                    queue[tail] = u
                    tail += 1
                    holds_any[u] = holds_any[v]
                    holds_all[u] = holds_all[v]
                    print_of[u] = print_of[v]
                    is_mixed[u] = is_mixed[v]
                else:
                    holds_any[u] |= holds_any[v]
                    holds_all[u] &= holds_all[v]
                    if print_of[u] != print_of[v] or is_mixed[v] == 1:
                        is_mixed[u] = 1
                count[u] += 1
                mark[session_far[at]] = place
        for which in range(column_ptr[place], column_ptr[place + 1]):
            d = column[which]
            for u in range(rows):
                if u == start:
                    continue
                entry = group[u, d]
                kind = AGREES
                if entry >= no_route - 1:
                    if count[u] > 0 or entry != no_route:
                        kind = OTHER_WAYS
                else:
                    g = group_ptr[u] + entry
                    if member_ptr[g + 1] - member_ptr[g] != count[u]:
                        kind = OTHER_WAYS
                    for member in range(member_ptr[g], member_ptr[g + 1]):
                        if mark[member_port[member]] != place:
                            kind = OTHER_WAYS
                            break
                if kind == AGREES and count[u] > width[u]:
                    kind = TOO_NARROW
                elif kind == AGREES and count[u] > 1 and is_mixed[u] == 1 and mixes[u] == 0:
                    kind = NOT_MIXED
                elif kind == AGREES and u == unsettled:
                    kind = UNSETTLED
                if kind != AGREES:
                    if wrong == 0:
                        found[0], found[1], found[2], found[3], found[4] = kind, u, d, count[u], place
                    wrong += 1
    return wrong
