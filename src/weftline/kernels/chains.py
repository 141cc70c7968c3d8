"""Who waits for whom: queues and needs of flows, turned round and measured."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I8, I32, I64, NIL

WORK = 2
"""What ``via`` says of a flow that is work, without a message: it arrives when it ends."""


@kernel
def link_queues(queue: I32, queues: int) -> I32:
    """Find the flow after each one in its queue, NIL where there is none."""
    last = np.full(queues, NIL, dtype=np.int32)
    successor = np.full(len(queue), NIL, dtype=np.int32)
    for flow in range(len(queue)):
        index = queue[flow]
        if index == NIL:
            continue
        if last[index] != NIL:
            successor[last[index]] = flow
        last[index] = flow
    return successor


@kernel
def invert_needs(need_ptr: I64, need_flow: I32) -> tuple[I64, I32]:
    """Turn 'flow needs flows' into 'flow is needed by flows', as a CSR pair."""
    flows = len(need_ptr) - 1
    after_ptr = np.zeros(flows + 1, dtype=np.int64)
    for item in range(len(need_flow)):
        after_ptr[need_flow[item] + 1] += 1
    for flow in range(flows):
        after_ptr[flow + 1] += after_ptr[flow]
    fill = after_ptr[:-1].copy()
    after_flow = np.empty(len(need_flow), dtype=np.int32)
    for flow in range(flows):
        for item in range(need_ptr[flow], need_ptr[flow + 1]):
            need = need_flow[item]
            after_flow[fill[need]] = flow
            fill[need] += 1
    return after_ptr, after_flow


@kernel
def count_waits(need_ptr: I64, successor: I32) -> I32:
    """Count what each flow waits for: its needs, and one for the flow before it in its queue."""
    flows = len(successor)
    waiting = np.empty(flows, dtype=np.int32)
    for flow in range(flows):
        waiting[flow] = need_ptr[flow + 1] - need_ptr[flow]
    for flow in range(flows):
        if successor[flow] != NIL:
            waiting[successor[flow]] += 1
    return waiting


@kernel
def start_time(flow: int, ready: float, earliest: F64, delay: F64) -> float:
    """Say when a flow starts that nothing holds from ``ready`` on; empty columns hold no flow."""
    time = ready
    if len(earliest) > 0:
        time = max(time, float(earliest[flow]))
    if len(delay) > 0:
        time += float(delay[flow])
    return time


@kernel
def longest_chain(
    duration: F64, latency: float, via: I8, earliest: F64, delay: F64, waits: I32, successor: I32, after_ptr: I64,
    after_flow: I32,
) -> tuple[float, int, int]:  # fmt: skip
    """Measure the longest chain of flows that wait for each other, each sent in no less than its ``duration``.

    A flow starts ``delay`` after ``earliest`` and all that it waits for; both columns may be empty. Returns the time at
    which the chain's last message has arrived, the flow that ends it (NIL without flows), and how many flows could be
    ordered: fewer than all means that some wait for each other in a circle.
    """
    flows = len(duration)
    waiting = waits.copy()
    begin = np.zeros(flows, dtype=np.float64)
    ready = np.empty(flows, dtype=np.int32)
    count = np.int64(0)
    for flow in range(flows):
        if waiting[flow] == 0:
            ready[count] = flow
            count += 1
    done = np.int64(0)
    longest = 0.0
    last = np.int64(NIL)
    while done < count:
        flow = ready[done]
        done += 1
        sent = start_time(flow, float(begin[flow]), earliest, delay) + duration[flow]
        arrived = sent if via[flow] == WORK else sent + latency
        if last == NIL or arrived > longest:
            longest = arrived
            last = np.int64(flow)
        after = successor[flow]
        if after != NIL:
            begin[after] = max(begin[after], sent)
            waiting[after] -= 1
            if waiting[after] == 0:
                ready[count] = after
                count += 1
        for item in range(after_ptr[flow], after_ptr[flow + 1]):
            after = after_flow[item]
            begin[after] = max(begin[after], arrived)
            waiting[after] -= 1
            if waiting[after] == 0:
                ready[count] = after
                count += 1
    return float(longest), int(last), int(count)
