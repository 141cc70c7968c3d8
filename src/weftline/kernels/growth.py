"""Growth: whether ranks grow along what changed entries let wait."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8, U16


@kernel
def count_new_waits(
    row: I32,
    goal: I32,
    rank: I32,
    port_ptr: I32,
    port_peer: I32,
    port_node: I32,
    switch_row: I32,
    switch_node: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
) -> int:
    """Count where ranks do not grow along what changed entries let wait; 0 keeps the ranks for all. O(entries * ports).

    Entry ``group[row[i], goal[i]]`` is new, or newly used. Whatever neighbour leads to its switch waits on it, and what
    it sends on may wait wherever the tables lead, whether it did before or not: both are followed.
    """
    wrong = np.int64(0)
    switches = len(switch_node)
    seen = np.full(switches, NIL, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    for index in range(len(row)):
        start = row[index]
        d = goal[index]
        queue[0] = start
        seen[start] = index
        tail = np.int64(1)
        done = np.int64(0)
        while done < tail:
            here = queue[done]
            done += 1
            entry = np.int64(group[here, d])
            if entry >= group_ptr[here + 1] - group_ptr[here]:
                continue
            lowest = np.iinfo(np.int32).max
            for member in range(member_ptr[group_ptr[here] + entry], member_ptr[group_ptr[here] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                if rank[member_port[member]] < 0:
                    wrong += 1
                lowest = min(lowest, rank[member_port[member]])
                if seen[step] != index:
                    seen[step] = index
                    queue[tail] = step
                    tail += 1
            if lowest == np.iinfo(np.int32).max:
                continue
            node = switch_node[here]
            for port in range(port_ptr[node], port_ptr[node + 1]):
                far = port_peer[port]
                if far == NIL:
                    continue
                before = switch_row[port_node[far]]
                if before == NIL or rank[far] < lowest:
                    continue
                other = np.int64(group[before, d])
                if other >= group_ptr[before + 1] - group_ptr[before]:
                    continue
                for member in range(member_ptr[group_ptr[before] + other], member_ptr[group_ptr[before] + other + 1]):
                    if member_port[member] == far and next_row[member] >= 0:
                        wrong += 1
    return int(wrong)
