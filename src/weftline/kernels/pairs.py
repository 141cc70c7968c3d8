"""Flows grouped by where they go, and what their queues can ask of a resource at once."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I8, I32, NIL
from weftline.kernels.tables import mix


@kernel
def group_pairs(source: I32, target: I32, via: I8) -> tuple[I32, I32]:
    """Number the distinct (source, target, via) in order of first use.

    Returns the pair of each flow, and a flow of each pair. O(flows) with a hash table.
    """
    flows = len(source)
    pair = np.empty(flows, dtype=np.int32)
    first = np.empty(64, dtype=np.int32)
    table = np.full(256, NIL, dtype=np.int32)
    count = np.int64(0)
    for flow in range(flows):
        mask = len(table) - 1
        at = mix(mix(int(source[flow])) + int(target[flow]) * 2 + int(via[flow])) & mask
        while table[at] != NIL:
            other = first[table[at]]
            if source[other] == source[flow] and target[other] == target[flow] and via[other] == via[flow]:
                break
            at = (at + 1) & mask
        if table[at] == NIL:
            if count == len(first):
                longer = np.empty(count * 2, dtype=np.int32)
                longer[:count] = first
                first = longer
            table[at] = count
            first[count] = flow
            pair[flow] = count
            count += 1
            if count * 2 > len(table):
                table = np.full(len(table) * 2, NIL, dtype=np.int32)
                mask = len(table) - 1
                for known in range(count):
                    other = first[known]
                    at = mix(mix(int(source[other])) + int(target[other]) * 2 + int(via[other])) & mask
                    while table[at] != NIL:
                        at = (at + 1) & mask
                    table[at] = known
        else:
            pair[flow] = table[at]
    return pair, first[:count].copy()


@kernel
def peak_demand(pair: I32, successor: I32, pair_ptr: I32, pair_resource: I32, pair_cap: F64, resources: int) -> F64:
    """Add up, per resource, the most that all queues can ask of it at once.

    A queue asks for one flow at a time, so it counts with its largest; a flow in no queue counts by itself. Where
    the sum is no more than the capacity, the resource never binds and can be left out of every solve.
    """
    demand = np.zeros(resources, dtype=np.float64)
    mark = np.full(resources, NIL, dtype=np.int32)
    asked = np.zeros(resources, dtype=np.float64)
    follows = np.zeros(len(pair), dtype=np.bool_)
    for flow in range(len(pair)):
        if successor[flow] != NIL:
            follows[successor[flow]] = True
    for head in range(len(pair)):
        if follows[head]:
            continue
        flow = np.int64(head)
        before = np.int64(NIL)
        while flow != NIL:
            path = np.int64(pair[flow])
            if path != before:
                for hop in range(pair_ptr[path], pair_ptr[path + 1]):
                    index = pair_resource[hop]
                    if mark[index] != head:
                        mark[index] = head
                        asked[index] = 0.0
                    if pair_cap[path] > asked[index]:
                        demand[index] += pair_cap[path] - asked[index]
                        asked[index] = pair_cap[path]
            before = path
            flow = np.int64(successor[flow])
    return demand


@kernel
def keep_resources(pair_ptr: I32, pair_resource: I32, renumber: I32) -> tuple[I32, I32]:
    """Shorten paths to the resources that ``renumber`` keeps (NIL: left out), under their new numbers."""
    pairs = len(pair_ptr) - 1
    short_ptr = np.zeros(pairs + 1, dtype=np.int32)
    short = np.empty(len(pair_resource), dtype=np.int32)
    count = np.int64(0)
    for pair in range(pairs):
        for hop in range(pair_ptr[pair], pair_ptr[pair + 1]):
            number = renumber[pair_resource[hop]]
            if number != NIL:
                short[count] = number
                count += 1
        short_ptr[pair + 1] = count
    return short_ptr, short[:count].copy()


@kernel
def sum_pair_bytes(pair: I32, size: F64, pairs: int) -> F64:
    """Add up the bytes of each pair."""
    total = np.zeros(pairs, dtype=np.float64)
    for flow in range(len(pair)):
        total[pair[flow]] += size[flow]
    return total


@kernel
def send_times(pair: I32, size: F64, pair_cap: F64) -> F64:
    """Time that each flow takes at the cap of its path; 0 where it has no path (cap infinite)."""
    duration = np.empty(len(pair), dtype=np.float64)
    for flow in range(len(pair)):
        duration[flow] = size[flow] / pair_cap[pair[flow]]
    return duration


@kernel
def sum_resource_bytes(pair_bytes: F64, pair_ptr: I32, pair_resource: I32, resources: int) -> F64:
    """Add up the bytes that cross each resource."""
    total = np.zeros(resources, dtype=np.float64)
    for pair in range(len(pair_bytes)):
        for hop in range(pair_ptr[pair], pair_ptr[pair + 1]):
            total[pair_resource[hop]] += pair_bytes[pair]
    return total


@kernel
def least_capacity(pair_ptr: I32, pair_resource: I32, capacity: F64) -> F64:
    """Find the least capacity on each path; infinite on an empty one."""
    pairs = len(pair_ptr) - 1
    cap = np.full(pairs, np.inf, dtype=np.float64)
    for pair in range(pairs):
        for hop in range(pair_ptr[pair], pair_ptr[pair + 1]):
            cap[pair] = min(cap[pair], capacity[pair_resource[hop]])
    return cap
