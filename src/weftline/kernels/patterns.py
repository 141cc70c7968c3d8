"""Patterns: who sends to whom at once, each flow led by one way, and what every flow is left with."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I32, NIL, U8, U16
from weftline.kernels.tables import mix


@kernel
def shuffle(count: int, seed: int) -> I32:
    """Put 0 to ``count - 1`` into a random order that the seed alone decides (Fisher and Yates over SplitMix64)."""
    order = np.arange(count).astype(np.int32)
    state = np.uint64(seed)
    for at in range(count - 1, 0, -1):
        state += np.uint64(0x9E3779B97F4A7C15)
        word = state
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
        # the upper half times the range: even, but for one part in 2^32
        other = np.int64(((word >> np.uint64(32)) * np.uint64(at + 1)) >> np.uint64(32))
        kept = order[at]
        order[at] = order[other]
        order[other] = kept
    return order


@kernel
def lead_flows(
    source_port: I32,
    target: I32,
    port_row: I32,
    target_port: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    next_port: I32,
    port_peer: I32,
    seed: int,
    path: I32,
    count: I32,
) -> int:
    """Lead every flow to its destination, all by one hop after the other; O(flows * hops).

    Of several members of a group a hash of the flow, the switch and the seed takes one, as for ``walk_pairs``.
    ``path[flow, :count[flow]]`` are the transmitting ports, the source's own first; a flow that does not arrive within
    the columns of ``path`` keeps that one alone. Returns how many do not.
    """
    flows = len(source_port)
    most = path.shape[1]
    at = np.empty(flows, dtype=np.int32)
    still = np.empty(flows, dtype=np.int32)
    waiting = np.int64(0)
    lost = np.int64(0)
    for flow in range(flows):
        path[flow, 0] = source_port[flow]
        count[flow] = 1
        at[flow] = port_row[source_port[flow]]
        if at[flow] >= 0:
            still[waiting] = flow
            waiting += 1
        elif port_peer[source_port[flow]] != target_port[target[flow]]:
            lost += 1
    while waiting > 0:
        left = np.int64(0)
        for index in range(waiting):
            flow = still[index]
            row = at[flow]
            goal = target[flow]
            entry = np.int64(group[row, goal])
            arrived = False
            going = False
            if entry < group_ptr[row + 1] - group_ptr[row] and count[flow] < most:
                begin = member_ptr[group_ptr[row] + entry]
                members = member_ptr[group_ptr[row] + entry + 1] - begin
                choice = 0
                if members > 1:
                    key = mix(int(source_port[flow]) + seed * 0x9E3779B1)
                    choice = mix(mix(key + int(goal)) + int(row)) % int(members)
                if members > 0:
                    member = begin + choice
                    path[flow, count[flow]] = member_port[member]
                    count[flow] += 1
                    at[flow] = next_row[member]
                    arrived = next_row[member] == NIL and next_port[member] == target_port[goal]
                    going = next_row[member] >= 0
            if going:
                still[left] = flow
                left += 1
            elif not arrived:
                count[flow] = 1
                lost += 1
        waiting = left
    return int(lost)


@kernel
def share_links(path: I32, count: I32, rate: F64, port_rate: F64, load: F64, share: F64) -> None:
    """Add up the load of every port, relative to its rate, and find what its most loaded link leaves each flow.

    ``share[flow]`` is 1 where no link on its way is asked for more than its rate, else 1 over what is asked.
    """
    load[:] = 0.0
    for flow in range(len(count)):
        for hop in range(count[flow]):
            load[path[flow, hop]] += rate[flow] / port_rate[path[flow, hop]]
    for flow in range(len(count)):
        worst = 1.0
        for hop in range(count[flow]):
            worst = max(worst, load[path[flow, hop]])
        share[flow] = 1.0 / worst
