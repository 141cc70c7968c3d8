"""Rings of ranks when endpoints are lost: who leaves, whose successor changes, and the flows that go and come."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I32, NIL

BROKEN = -2
"""Two neighbours of a ring that both stay have no plane in common."""


@kernel
def count_planes(
    rank: int, other: int, token: int, rank_port: I32, port_goal: I32, port_row: I32, port_stamp: I32
) -> int:
    """Count the planes on which both ranks have a live port that is a destination."""
    common = 0
    for plane in range(rank_port.shape[1]):
        source = rank_port[rank, plane]
        target = rank_port[other, plane]
        if port_row[source] == NIL or port_row[target] == NIL or port_goal[target] == NIL:
            continue
        if port_stamp[source] != token and port_stamp[target] != token:
            common += 1
    return common


@kernel
def change_rings(
    ports: I32,
    token: int,
    rank_port: I32,
    rank_host: I32,
    rank_after: I32,
    rank_before: I32,
    rank_planes: I32,
    seat_ptr: I32,
    seat_rank: I32,
    port_goal: I32,
    port_row: I32,
    port_stamp: I32,
    capacity: F64,
    fan: F64,
    flow_goal: I32,
    rank_stamp: I32,
    rank_lost: I32,
    changed_stamp: I32,
    leaving: I32,
    changed: I32,
    removed: I32,
    added_rank: I32,
    added_goal: I32,
    added_port: I32,
    added_rate: F64,
) -> tuple[int, int, int, int]:
    """Take ranks out of their rings whose every port is lost, and list what flows that changes.

    The ranks at port ``p`` are ``seat_rank[seat_ptr[p]:seat_ptr[p + 1]]``; flow ``rank * planes + plane`` is what a
    rank sends to the next (``flow_goal`` NIL: nothing). A rank that leaves is skipped by its ring; a pair that shares
    fewer planes sends more on each. Fills ``leaving`` (ranks), ``changed`` (ranks whose flows are made anew),
    ``removed`` (flows) and ``added_*``; returns their counts but that of ``changed``, and BROKEN in the first place
    where two neighbours that stay have no plane in common. O(ranks that are hit + gaps).
    """
    planes = rank_port.shape[1]
    leave = 0
    hits = 0
    for port in ports:
        for seat in range(seat_ptr[port], seat_ptr[port + 1]):
            rank = seat_rank[seat]
            if rank_stamp[rank] != token:
                rank_stamp[rank] = token
                rank_lost[rank] = 0
                changed[hits] = rank
                hits += 1
            rank_lost[rank] += 1
    for at in range(hits):
        if rank_lost[changed[at]] >= rank_planes[changed[at]]:
            leaving[leave] = changed[at]
            leave += 1
    # of a rank that leaves the one before it is changed; of one that stays also itself
    total = hits
    for at in range(hits):
        rank = changed[at]
        changed_stamp[rank] = token
    for at in range(hits):
        rank = rank_before[changed[at]]
        while rank != changed[at] and rank_stamp[rank] == token and rank_lost[rank] >= rank_planes[rank]:
            rank = rank_before[rank]
        if changed_stamp[rank] != token:
            changed_stamp[rank] = token
            changed[total] = rank
            total += 1
    gone = 0
    more = 0
    for at in range(total):
        rank = int(changed[at])
        for plane in range(planes):
            if flow_goal[rank * planes + plane] != NIL:
                removed[gone] = rank * planes + plane
                gone += 1
        if rank_stamp[rank] == token and rank_lost[rank] >= rank_planes[rank]:
            continue
        after = int(rank_after[rank])
        while after != rank and rank_stamp[after] == token and rank_lost[after] >= rank_planes[after]:
            after = int(rank_after[after])
        if after == rank or rank_host[after] == rank_host[rank]:
            continue
        common = count_planes(rank, after, token, rank_port, port_goal, port_row, port_stamp)
        if common == 0:
            return BROKEN, 0, 0, leave
        for plane in range(planes):
            source = rank_port[rank, plane]
            target = rank_port[after, plane]
            if port_row[source] == NIL or port_row[target] == NIL or port_goal[target] == NIL:
                continue
            if port_stamp[source] == token or port_stamp[target] == token:
                continue
            added_rank[more] = rank
            added_goal[more] = port_goal[target]
            added_port[more] = source
            added_rate[more] = (
                min(capacity[source], capacity[target]) / max(fan[rank, plane], fan[after, plane]) * planes / common
            )
            more += 1
    return gone, more, total, leave
