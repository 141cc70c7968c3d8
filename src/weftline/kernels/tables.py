"""Walks through forwarding tables: the ports that a packet leaves by."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL, U8, U16

DELIVERED = 0
NO_ROUTE = 1
"""A switch on the way has no entry for the destination, or an entry without ports."""
TOO_LONG = 2
"""The walk passed ``max_hops`` switches: a loop, or longer than allowed."""
MISDELIVERED = 3
"""The walk left the fabric at another endpoint, at a dark port, or by a port that the switch does not have."""


@kernel
def mix(value: int) -> int:
    """Scramble 32 bits (a bijection), so that close pairs choose unlike members.

    The finaliser of MurmurHash3 for 32 bits (A. Appleby, public domain).
    """
    word = np.uint64(value & 0xFFFFFFFF)
    word = ((word ^ (word >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & np.uint64(0xFFFFFFFF)
    word = ((word ^ (word >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & np.uint64(0xFFFFFFFF)
    return int(word ^ (word >> np.uint64(16)))


@kernel
def walk_pairs(
    source_port: I32,
    target: I32,
    target_node: I32,
    target_port: I32,
    port_node: I32,
    port_peer: I32,
    switch_row: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    no_route: int,
    local: int,
    seed: int,
    max_hops: int,
) -> tuple[I64, I32, I32]:
    """Walk each pair from an endpoint port to a destination; O(pairs * hops).

    ``target[i]`` is a destination index (a column of ``group``); ``target_node`` and ``target_port`` are per
    destination. A group of several members is resolved by a hash of source, destination, switch and seed, as ECMP
    hardware resolves it for one flow. Returns ``path_ptr`` (pairs + 1), ``path_port`` (the transmitting ports, the
    source's own first) and a status per pair.
    """
    pairs = len(source_port)
    path_ptr = np.zeros(pairs + 1, dtype=np.int64)
    path_port = np.empty(max(16, pairs * 4), dtype=np.int32)
    status = np.zeros(pairs, dtype=np.int32)
    used = np.int64(0)
    for pair in range(pairs):
        port = source_port[pair]
        goal = target[pair]
        status[pair] = TOO_LONG
        for hop in range(max_hops + 1):
            if used == len(path_port):
                larger = np.empty(used * 2, dtype=np.int32)
                larger[:used] = path_port
                path_port = larger
            path_port[used] = port
            used += 1
            peer = port_peer[port]
            if peer == NIL:
                status[pair] = MISDELIVERED
                break
            node = port_node[peer]
            row = switch_row[node]
            if row == NIL:
                status[pair] = DELIVERED if peer == target_port[goal] else MISDELIVERED
                break
            entry = np.int64(group[row, goal])
            if entry == local:
                status[pair] = DELIVERED if node == target_node[goal] else MISDELIVERED
                break
            if entry == no_route:
                status[pair] = NO_ROUTE
                break
            if hop == max_hops:
                break
            at = group_ptr[row] + entry
            if at >= group_ptr[row + 1] or member_ptr[at] == member_ptr[at + 1]:
                status[pair] = NO_ROUTE
                break
            first = member_ptr[at]
            members = member_ptr[at + 1] - first
            choice = 0
            if members > 1:
                choice = mix(mix(mix(int(source_port[pair]) + seed * 0x9E3779B1) + int(goal)) + int(row)) % int(members)
            port = member_port[first + choice]
            if port == NIL or port_node[port] != node:
                status[pair] = MISDELIVERED
                break
        path_ptr[pair + 1] = used
    return path_ptr, path_port[:used].copy(), status
