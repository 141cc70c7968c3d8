"""Windows: how many destinations behind one link can be sent to at once by a run of endpoints, in any shift."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL, U8, U16, U64

MOST = 32
"""Flows over one link that are told apart, a power of two; more count as this many."""


@kernel
def spread_sources(
    ptr: I64, after: I32, rank: I32, port_row: I32, own_low: I32, own_high: I32, low: I32, high: I32
) -> None:
    """Spread the runs of sources over channels; O(dependencies).

    ``ptr, after`` say which port waits on which, ``rank`` grows along it. ``own_low`` and ``own_high`` are per switch
    row the first and the last place of the endpoints that send from it (high below low where none does); ``port_row``
    is the switch of each port. Fills ``low`` and ``high`` per port with the run of places from which packets over it
    can come: those of its own switch, and of all ports that wait on it.
    """
    ports = len(rank)
    levels = np.int64(0)
    for port in range(ports):
        row = port_row[port]
        low[port] = np.iinfo(np.int32).max
        high[port] = NIL
        if row != NIL and own_high[row] >= own_low[row]:
            low[port] = own_low[row]
            high[port] = own_high[row]
        levels = max(levels, np.int64(rank[port]) + 1)
    for level in range(levels):
        for port in range(ports):
            if rank[port] != level:
                continue
            for edge in range(ptr[port], ptr[port + 1]):
                other = after[edge]
                low[other] = min(low[other], low[port])
                high[other] = max(high[other], high[port])


@kernel
def push_place(place: int, width: int, ring: I32, held: int) -> int:
    """Put a place into a ring of ``MOST``, and count those in it that are nearer than ``width``."""
    ring[held & (MOST - 1)] = place
    count = 0
    for back in range(min(held + 1, MOST)):
        if place - ring[(held - back) & (MOST - 1)] >= width:
            break
        count += 1
    return count


@kernel
def count_windows(
    first: int,
    last: int,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    switch_node: I32,
    port_ptr: I32,
    column: I32,
    reached: U64,
    place: I32,
    around: I32,
    width: I32,
    most: I32,
) -> None:
    """Count, for each port of rows ``first`` to ``last``, the most of its destinations within one window; O(reached).

    Bit ``w`` of ``reached[row, t]`` says that packets to ``column[64 * t + w]`` come by the row. ``place`` is the place
    of a destination among its like (NIL: nobody shifts to it), ``around`` the number of places there; windows of
    ``width`` places per port go around. Writes ``most`` per port, at most ``MOST``; where destinations of a port do not
    come in the order of their places ``MOST`` is written.
    """
    widest = np.int64(1)
    for row in range(first, last):
        node = switch_node[row]
        widest = max(widest, np.int64(port_ptr[node + 1] - port_ptr[node]))
    ring = np.empty((widest, MOST), dtype=np.int32)
    start = np.empty((widest, MOST), dtype=np.int32)
    held = np.empty(widest, dtype=np.int64)
    total = np.empty(widest, dtype=np.int32)
    one = np.uint64(1)
    for row in range(first, last):
        node = switch_node[row]
        base = port_ptr[node]
        held[:] = 0
        total[:] = 0
        for tile in range(reached.shape[1]):
            word = reached[row, tile]
            at = 64 * tile - 1
            while word != 0:
                at += 1
                is_there = word & one != 0
                word >>= one
                if not is_there:
                    continue
                d = column[at]
                entry = np.int64(group[row, d])
                if place[d] == NIL or entry >= group_ptr[row + 1] - group_ptr[row]:
                    continue
                for member in range(member_ptr[group_ptr[row] + entry], member_ptr[group_ptr[row] + entry + 1]):
                    port = member_port[member]
                    slot = port - base
                    if slot < 0 or slot >= port_ptr[node + 1] - base:
                        continue
                    if held[slot] > 0 and (
                        around[d] != total[slot] or place[d] <= ring[slot, (held[slot] - 1) & (MOST - 1)]
                    ):
                        most[port] = MOST
                    total[slot] = around[d]
                    if held[slot] < MOST:
                        start[slot, held[slot]] = place[d]
                    most[port] = max(
                        most[port], push_place(int(place[d]), int(width[port]), ring[slot], int(held[slot]))
                    )
                    held[slot] += 1
        for slot in range(min(widest, np.int64(port_ptr[node + 1] - base))):
            port = base + slot
            again = min(held[slot], MOST)
            for at in range(again):
                more = push_place(int(start[slot, at] + total[slot]), int(width[port]), ring[slot], int(held[slot]))
                most[port] = max(most[port], more)
                held[slot] += 1
