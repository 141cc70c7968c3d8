"""Fluid simulation: flows at max-min fair rates, from event to event."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.chains import start_time
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.heap import pop_item, put_item
from weftline.kernels.sharing import (
    ARRIVED,
    BEFORE,
    BOUND,
    CLEAN,
    DIRTY,
    FLOW,
    FREE,
    HEAD,
    HEAPED,
    INSIDE,
    JOINED,
    LAST_STAMP,
    LEFT,
    MARK,
    NEXT,
    ORDERED,
    OWNER,
    READY,
    SEEN,
    SENT,
    STALE,
    STAMP,
    STARTED,
    TIMED,
    USERS,
    can_bind,
    solve_group,
)

RUNNING = 0
FINISHED = 1
STUCK = 2
"""No event is left although flows are: they wait for each other."""

WORKS = -2
"""Path of a flow that is work: it arrives when it starts, since its delay is all that it takes."""


@kernel
def soil(index: int, how: int, resource: I32, dirty: I32, number: I64) -> None:
    """Note that the users of a resource may need new rates."""
    if resource[index, STALE] == CLEAN:
        dirty[number[DIRTY]] = index
        number[DIRTY] += 1
    resource[index, STALE] = max(resource[index, STALE], how)


@kernel
def join_resources(
    at: int, path: int, cap: float, hops: int, path_ptr: I32, path_resource: I32, entry: I32, resource: I32,
    demand: F64, capacity: F64, dirty: I32, number: I64,
) -> bool:  # fmt: skip
    """Enter a slot in the lists of its resources; returns whether one of them can bind now."""
    bound = False
    for hop in range(path_ptr[path], path_ptr[path + 1]):
        index = path_resource[hop]
        item = at * hops + hop - path_ptr[path]
        head = resource[index, HEAD]
        entry[item, NEXT] = head
        entry[item, BEFORE] = NIL
        if head != NIL:
            entry[head, BEFORE] = item
        resource[index, HEAD] = item
        resource[index, USERS] += 1
        demand[index] += cap
        if can_bind(index, resource, demand, capacity):
            bound = True
            soil(index, JOINED, resource, dirty, number)
    return bound


@kernel
def leave_resources(
    at: int, path: int, cap: float, hops: int, path_ptr: I32, path_resource: I32, entry: I32, resource: I32,
    demand: F64, capacity: F64, dirty: I32, number: I64,
) -> None:  # fmt: skip
    """Take a slot out of the lists of its resources."""
    for hop in range(path_ptr[path], path_ptr[path + 1]):
        index = path_resource[hop]
        if can_bind(index, resource, demand, capacity):
            soil(index, LEFT, resource, dirty, number)
        item = at * hops + hop - path_ptr[path]
        before = entry[item, BEFORE]
        after = entry[item, NEXT]
        if before == NIL:
            resource[index, HEAD] = after
        else:
            entry[before, NEXT] = after
        if after != NIL:
            entry[after, BEFORE] = before
        resource[index, USERS] -= 1
        demand[index] = demand[index] - cap if resource[index, USERS] > 0 else 0.0


@kernel
def solve_dirty(
    now: float, slot: I32, slot_path: I32, rate: F64, fresh: F64, bind: I32, left: F64, since: F64, key: F64,
    heap: I32, place: I32, members: I32, filling: I32, tight: I32, filling_tight: I32, path_ptr: I32,
    path_resource: I32, path_cap: F64, entry: I32, resource: I32, demand: F64, capacity: F64, spare: F64,
    open_count: I32, dirty: I32, number: I64,
) -> None:  # fmt: skip
    """Give new rates where flows came or went, and put the new ends in the heap.

    The flows to solve are those without a rate, and those that a resource binds which a flow has left.
    """
    if number[STAMP] > LAST_STAMP:
        slot[:, MARK] = 0
        slot[:, INSIDE] = 0
        resource[:, SEEN] = 0
        number[STAMP] = 0
    batch = number[STAMP]
    for turn in range(number[DIRTY]):
        index = dirty[turn]
        number[STAMP] += 1
        group = number[STAMP]
        count = np.int64(0)
        item = resource[index, HEAD]
        while item != NIL:
            other = entry[item, OWNER]
            item = entry[item, NEXT]
            if slot[other, MARK] > batch:
                continue
            if rate[other] == 0.0 or (resource[index, STALE] == LEFT and slot[other, BOUND] == index):
                slot[other, MARK] = group
                members[count] = other
                count += 1
        resource[index, STALE] = CLEAN
        if count == 0:
            continue
        count = solve_group(
            int(count), group, members, filling, tight, filling_tight, slot, slot_path, rate, fresh, bind, path_ptr,
            path_resource, path_cap, entry, resource, demand, capacity, spare, open_count, number,
        )  # fmt: skip
        for place_in in range(count):
            member = members[place_in]
            slot[member, BOUND] = bind[member]
            if fresh[member] == rate[member]:
                continue
            left[member] = max(0.0, left[member] - rate[member] * (now - since[member]))
            since[member] = now
            rate[member] = fresh[member]
            key[member] = now + left[member] / fresh[member]
            number[HEAPED] = put_item(heap, place, key, member, number[HEAPED])
    number[DIRTY] = 0


@kernel
def free_flow(flow: int, waiting: I32, ready: I32, number: I64) -> None:
    """Take away one thing that a flow waits for."""
    waiting[flow] -= 1
    if waiting[flow] == 0:
        ready[number[READY]] = flow
        number[READY] += 1


@kernel
def mark_sent(flow: int, now: float, sent: F64, successor: I32, waiting: I32, ready: I32, number: I64) -> None:
    """Record that a flow's last byte left, and let the next of its queue go."""
    sent[flow] = now
    number[SENT] += 1
    if successor[flow] != NIL:
        free_flow(int(successor[flow]), waiting, ready, number)


@kernel
def await_arrival(flow: int, order: I32, number: I64) -> None:
    """Note that the message of a flow is on its way."""
    order[number[ORDERED]] = flow
    number[ORDERED] += 1


@kernel
def release_arrivals(
    now: float, latency: float, waiting: I32, after_ptr: I64, after_flow: I32, sent: F64, order: I32, ready: I32,
    number: I64,
) -> bool:  # fmt: skip
    """Let the flows go whose last need has arrived by now; returns whether anything arrived."""
    moved = False
    while number[ARRIVED] < number[ORDERED] and sent[order[number[ARRIVED]]] + latency <= now:
        flow = order[number[ARRIVED]]
        number[ARRIVED] += 1
        for turn in range(after_ptr[flow], after_ptr[flow + 1]):
            free_flow(int(after_flow[turn]), waiting, ready, number)
        moved = True
    return moved


@kernel
def take_due(
    now: float, earliest: F64, delay: F64, ready: I32, due: F64, timed: I32, timed_place: I32, number: I64
) -> int:  # fmt: skip
    """Find a flow that starts now, NIL where there is none; flows whose time has not come are put in a heap."""
    if number[TIMED] > 0 and due[timed[0]] <= now:
        flow = pop_item(timed, timed_place, due, number[TIMED])
        number[TIMED] -= 1
        return flow
    while number[STARTED] < number[READY]:
        flow = int(ready[number[STARTED]])
        number[STARTED] += 1
        time = start_time(flow, now, earliest, delay)
        if time <= now:
            return flow
        due[flow] = time
        number[TIMED] = put_item(timed, timed_place, due, flow, number[TIMED])
    return NIL


@kernel
def start_flow(
    flow: int, path: int, now: float, size: float, hops: int, slot: I32, slot_path: I32, rate: F64, left: F64,
    since: F64, key: F64, heap: I32, place: I32, free: I32, path_ptr: I32, path_resource: I32, path_cap: F64,
    entry: I32, resource: I32, demand: F64, capacity: F64, dirty: I32, number: I64,
) -> None:  # fmt: skip
    """Give a flow a slot, and its cap as its rate where nothing on its path can bind."""
    number[FREE] -= 1
    at = int(free[number[FREE]])
    slot[at, FLOW] = flow
    slot[at, MARK] = 0
    slot[at, BOUND] = NIL
    slot_path[at] = path
    left[at] = size
    since[at] = now
    rate[at] = 0.0
    cap = float(path_cap[path])
    bound = join_resources(
        at, path, cap, hops, path_ptr, path_resource, entry, resource, demand, capacity, dirty, number
    )
    if not bound:
        rate[at] = cap
        key[at] = now + size / cap
        number[HEAPED] = put_item(heap, place, key, at, number[HEAPED])


@kernel
def advance(
    limit: int, latency: float, flow_path: I32, flow_size: F64, earliest: F64, delay: F64, successor: I32,
    waiting: I32, after_ptr: I64, after_flow: I32, start: F64, sent: F64, order: I32, ready: I32, due: F64, timed: I32,
    timed_place: I32, path_ptr: I32, path_resource: I32, path_cap: F64,
    capacity: F64, demand: F64, spare: F64, open_count: I32, tight: I32, filling_tight: I32, dirty: I32,
    resource: I32, hops: int, entry: I32, slot: I32, slot_path: I32, rate: F64, fresh: F64, left: F64, since: F64,
    key: F64, bind: I32, heap: I32, place: I32, free: I32, members: I32, filling: I32, number: I64,
) -> int:  # fmt: skip
    """Run events until ``limit`` flows have been sent or nothing is left to do; all state is in the arrays.

    A flow is ready when ``waiting`` (its needs, and one for the flow before it in its queue) is 0; the needs of
    others fall when it arrives, ``latency`` after its last byte left. Because every message has the same latency,
    arrivals happen in the order of sending, so that a pointer into ``order`` replaces a heap of starts. Only flows
    with a time of their own, ``earliest`` or ``delay``, wait in a heap. All events of one moment are done before rates
    are solved anew.
    """
    flows = len(flow_size)
    while number[SENT] < flows and number[SENT] < limit:
        now = np.inf
        if number[STARTED] < number[READY]:
            now = 0.0
        if number[HEAPED] > 0:
            now = min(now, float(key[heap[0]]))
        if number[TIMED] > 0:
            now = min(now, float(due[timed[0]]))
        if number[ARRIVED] < number[ORDERED]:
            now = min(now, float(sent[order[number[ARRIVED]]]) + latency)
        if now == np.inf:
            return STUCK
        moved = True
        while moved:
            moved = False
            while number[HEAPED] > 0 and key[heap[0]] <= now:
                at = pop_item(heap, place, key, number[HEAPED])
                number[HEAPED] -= 1
                path = int(slot_path[at])
                leave_resources(
                    at, path, float(path_cap[path]), hops, path_ptr, path_resource, entry, resource, demand, capacity,
                    dirty, number,
                )  # fmt: skip
                free[number[FREE]] = at
                number[FREE] += 1
                mark_sent(int(slot[at, FLOW]), now, sent, successor, waiting, ready, number)
                await_arrival(int(slot[at, FLOW]), order, number)
                moved = True
            if release_arrivals(now, latency, waiting, after_ptr, after_flow, sent, order, ready, number):
                moved = True
            while True:
                flow = take_due(now, earliest, delay, ready, due, timed, timed_place, number)
                if flow == NIL:
                    break
                start[flow] = now
                moved = True
                if flow_path[flow] < 0 or flow_size[flow] == 0.0:
                    mark_sent(flow, now, sent, successor, waiting, ready, number)
                    if flow_path[flow] != WORKS:
                        await_arrival(flow, order, number)
                        continue
                    for turn in range(after_ptr[flow], after_ptr[flow + 1]):
                        free_flow(int(after_flow[turn]), waiting, ready, number)
                    continue
                start_flow(
                    flow, int(flow_path[flow]), now, float(flow_size[flow]), hops, slot, slot_path, rate, left,
                    since, key, heap, place, free, path_ptr, path_resource, path_cap, entry, resource, demand,
                    capacity, dirty, number,
                )  # fmt: skip
        if number[DIRTY] > 0:
            solve_dirty(
                now, slot, slot_path, rate, fresh, bind, left, since, key, heap, place, members, filling, tight,
                filling_tight, path_ptr, path_resource, path_cap, entry, resource, demand, capacity, spare,
                open_count, dirty, number,
            )  # fmt: skip
    return FINISHED if number[SENT] == flows else RUNNING
