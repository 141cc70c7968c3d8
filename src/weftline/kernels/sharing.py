"""New max-min rates around a change, with the rest of the flows left as they are."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.maxmin import fill_rates

MARGIN = 1e-9
"""A resource within this of being full is treated as one that can bind; that costs time, never exactness."""
CLOSE = 1e-11
"""Rates and loads that differ relatively by less than this are equal when a group is checked."""
TRIES = 4
"""How often a group is widened before its whole component is solved."""
LAST_STAMP = 2_000_000_000
"""Stamps start again after this one, before they outgrow 32 bits."""

# Columns of ``number``, the counters that survive from slice to slice.
SENT = 0
ARRIVED = 1
READY = 2
STARTED = 3
HEAPED = 4
FREE = 5
DIRTY = 6
STAMP = 7
SOLVES = 8
SOLVED = 9
ORDERED = 10
TIMED = 11
NUMBERS = 12

# Columns of ``slot``, the integers of one flow that is being sent.
FLOW = 0
MARK = 1
INSIDE = 2
BOUND = 3
SLOT_COLUMNS = 4

# Columns of ``resource``, the integers of one shared resource.
HEAD = 0
USERS = 1
SEEN = 2
STALE = 3
RESOURCE_COLUMNS = 4

CLEAN = 0
JOINED = 1
LEFT = 2

# Columns of ``entry``, one (slot, hop): doubly linked lists of the users of a resource.
NEXT = 0
BEFORE = 1
OWNER = 2
ENTRY_COLUMNS = 3


@kernel
def can_bind(index: int, resource: I32, demand: F64, capacity: F64) -> bool:
    """Tell whether the caps of a resource's users exceed its capacity; a lone user's cap never does."""
    return resource[index, USERS] > 1 and demand[index] > capacity[index] * (1.0 - MARGIN)


@kernel
def close_component(
    count: int, group: int, members: I32, slot: I32, slot_path: I32, path_ptr: I32, path_resource: I32, entry: I32,
    resource: I32, demand: F64, capacity: F64, token: int,
) -> int:  # fmt: skip
    """Add every flow that shares a resource that can bind with a member, directly or through others."""
    total = np.int64(count)
    done = np.int64(0)
    while done < total:
        path = slot_path[members[done]]
        done += 1
        for hop in range(path_ptr[path], path_ptr[path + 1]):
            index = path_resource[hop]
            if resource[index, SEEN] == token or not can_bind(index, resource, demand, capacity):
                continue
            resource[index, SEEN] = token
            item = resource[index, HEAD]
            while item != NIL:
                other = entry[item, OWNER]
                if slot[other, MARK] != group:
                    slot[other, MARK] = group
                    members[total] = other
                    total += 1
                item = entry[item, NEXT]
    return int(total)


@kernel
def gather_resources(
    count: int, group: int, token: int, members: I32, tight: I32, slot: I32, slot_path: I32, path_ptr: I32,
    path_resource: I32, path_cap: F64, rate: F64, entry: I32, resource: I32, demand: F64, capacity: F64, spare: F64,
    open_count: I32,
) -> int:  # fmt: skip
    """List the resources of the members that can bind, and what their other users leave of each."""
    tight_count = np.int64(0)
    for turn in range(count):
        path = slot_path[members[turn]]
        for hop in range(path_ptr[path], path_ptr[path + 1]):
            index = path_resource[hop]
            if resource[index, SEEN] == token or not can_bind(index, resource, demand, capacity):
                continue
            resource[index, SEEN] = token
            tight[tight_count] = index
            tight_count += 1
            remaining = capacity[index]
            inside = 0
            total = 0.0
            item = resource[index, HEAD]
            while item != NIL:
                other = entry[item, OWNER]
                total += path_cap[slot_path[other]]
                if slot[other, MARK] == group:
                    inside += 1
                else:
                    remaining -= rate[other]
                item = entry[item, NEXT]
            demand[index] = total
            spare[index] = max(0.0, remaining)
            open_count[index] = inside
    return int(tight_count)


@kernel
def widen_group(
    count: int, group: int, members: I32, tight: I32, tight_count: int, slot: I32, rate: F64, fresh: F64, bind: I32,
    entry: I32, resource: I32, capacity: F64,
) -> int:  # fmt: skip
    """Add the flows outside a group whose rate can no longer stand beside the group's new rates.

    Rates are max-min fair exactly when each flow is at its cap or has a full resource on which no rate is larger
    than its own (Bertsekas and Gallager, Data Networks, 6.5.2). So a flow outside must join if it is larger on a
    resource that now binds a member, or if the resource that bound it is no longer full or carries a larger rate.
    """
    total = np.int64(count)
    for turn in range(tight_count):
        index = tight[turn]
        used = 0.0
        top = 0.0
        level = np.inf
        item = resource[index, HEAD]
        while item != NIL:
            other = entry[item, OWNER]
            value = rate[other]
            if slot[other, MARK] == group and slot[other, INSIDE] == group:
                value = fresh[other]
                if bind[other] == index:
                    level = min(level, value)
            used += value
            top = max(top, value)
            item = entry[item, NEXT]
        full = used >= capacity[index] * (1.0 - CLOSE)
        item = resource[index, HEAD]
        while item != NIL:
            other = entry[item, OWNER]
            item = entry[item, NEXT]
            if slot[other, MARK] == group:
                continue
            if rate[other] > level * (1.0 + CLOSE) or (
                slot[other, BOUND] == index and not (full and rate[other] >= top * (1.0 - CLOSE))
            ):
                slot[other, MARK] = group
                members[total] = other
                total += 1
    return int(total)


@kernel
def solve_group(
    count: int, group: int, members: I32, filling: I32, tight: I32, filling_tight: I32, slot: I32, slot_path: I32,
    rate: F64, fresh: F64, bind: I32, path_ptr: I32, path_resource: I32, path_cap: F64, entry: I32, resource: I32,
    demand: F64, capacity: F64, spare: F64, open_count: I32, number: I64,
) -> int:  # fmt: skip
    """Find new rates for a group of flows, widened until all other rates may stay; returns its final size.

    Widening is tried ``TRIES`` times; then the whole component of resources that can bind is solved, which needs no
    check. Either way the rates are those of a complete solve.
    """
    tries = 0
    while True:
        number[STAMP] += 1
        tight_count = gather_resources(
            count, group, number[STAMP], members, tight, slot, slot_path, path_ptr, path_resource, path_cap, rate,
            entry, resource, demand, capacity, spare, open_count,
        )  # fmt: skip
        filling[:count] = members[:count]
        filling_tight[:tight_count] = tight[:tight_count]
        fill_rates(
            filling, count, slot_path, path_ptr, path_resource, path_cap, filling_tight, tight_count, spare,
            open_count, fresh, bind,
        )  # fmt: skip
        number[SOLVES] += 1
        number[SOLVED] += count
        if tries == TRIES:
            return count
        for turn in range(count):
            slot[members[turn], INSIDE] = group
        wider = widen_group(
            count, group, members, tight, tight_count, slot, rate, fresh, bind, entry, resource, capacity
        )
        if wider == count:
            return count
        count = wider
        tries += 1
        if tries == TRIES:
            number[STAMP] += 1
            count = close_component(
                count, group, members, slot, slot_path, path_ptr, path_resource, entry, resource, demand, capacity,
                number[STAMP],
            )  # fmt: skip
