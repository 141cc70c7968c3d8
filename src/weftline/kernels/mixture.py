"""One destination under two tables at once: who is still delivered, and the turns that its packets can take."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16
from weftline.kernels.lane_steps import start_walks
from weftline.kernels.reach import IS_ENDPOINT, IS_SWITCH

UNSEEN = 0
"""No walk from a sender comes here."""
GOOD = 1
"""Every walk from here is delivered, whichever entry it meets at each switch."""
LOST = 2
"""Some walk from here ends where it should not."""
LOOPS = 3
"""Some walk from here never ends."""


@kernel
def walk_column(
    before: I32,
    after: I32,
    is_sender: U8,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    local: int,
    kind: int,
    target_port: int,
    target_row: int,
) -> tuple[U8, I32, int]:
    """Judge every switch's walks to one destination where each switch has the entry of either table; O(members).

    ``before`` and ``after`` are the two entries of each switch. Walks begin at the switches marked in ``is_sender``.
    Returns per switch ``UNSEEN``, ``GOOD``, ``LOST`` or ``LOOPS``, the longest way in switches of those that are good
    (0 for others), and how many members were looked at.
    """
    rows = len(before)
    state = np.zeros(rows, dtype=np.uint8)
    longest = np.zeros(rows, dtype=np.int32)
    queue = np.empty(rows, dtype=np.int32)
    pending = np.zeros(rows, dtype=np.int32)
    head = np.full(rows, NIL, dtype=np.int32)
    tail = np.int64(0)
    for row in range(rows):
        if is_sender[row] == 1:
            state[row] = GOOD
            queue[tail] = row
            tail += 1
    edges = np.int64(0)
    edge_row = np.empty(64, dtype=np.int32)
    edge_next = np.empty(64, dtype=np.int32)
    done = np.int64(0)
    steps = np.int64(0)
    while done < tail:
        row = queue[done]
        done += 1
        for turn in range(2):
            entry = np.int64(before[row] if turn == 0 else after[row])
            if turn == 1 and after[row] == before[row]:
                continue
            if entry == local and kind == IS_SWITCH and row == target_row:
                longest[row] = max(longest[row], 1)
                continue
            begin = np.int64(0)
            end = np.int64(0)
            if entry < group_ptr[row + 1] - group_ptr[row]:
                begin = np.int64(member_ptr[group_ptr[row] + entry])
                end = np.int64(member_ptr[group_ptr[row] + entry + 1])
            if begin == end:
                state[row] = LOST
            for member in range(begin, end):
                steps += 1
                step = next_row[member]
                if step >= 0:
                    if edges == len(edge_row):
                        edge_row = np.concatenate((edge_row, np.empty(edges, dtype=np.int32)))
                        edge_next = np.concatenate((edge_next, np.empty(edges, dtype=np.int32)))
                    edge_row[edges] = row
                    edge_next[edges] = head[step]
                    head[step] = np.int32(edges)
                    edges += 1
                    pending[row] += 1
                    if state[step] == UNSEEN:
                        state[step] = GOOD
                        queue[tail] = step
                        tail += 1
                elif step == NIL and kind == IS_ENDPOINT and next_port[member] == target_port:
                    longest[row] = max(longest[row], 1)
                else:
                    state[row] = LOST
    # backwards from where walks end: a switch is settled when all that it leads to are
    seen = tail
    tail = np.int64(0)
    settled = np.empty(rows, dtype=np.int32)
    for index in range(seen):
        if pending[queue[index]] == 0:
            settled[tail] = queue[index]
            tail += 1
    done = np.int64(0)
    while done < tail:
        row = settled[done]
        done += 1
        edge = head[row]
        while edge != NIL:
            other = edge_row[edge]
            if state[row] == LOST:
                state[other] = LOST
            longest[other] = max(longest[other], longest[row] + 1)
            pending[other] -= 1
            if pending[other] == 0:
                settled[tail] = other
                tail += 1
            edge = edge_next[edge]
    for index in range(seen):
        row = queue[index]
        if pending[row] > 0:
            state[row] = LOOPS
        if state[row] != GOOD:
            longest[row] = 0
    return state, longest, int(steps)


@kernel
def list_turns(
    before: I32,
    after: I32,
    is_sender: U8,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    next_port: I32,
    turn_ptr: I64,
    port_ptr: I32,
    switch_node: I32,
) -> I64:
    """List the turns from channel to channel of one destination's packets, where each switch has either entry.

    The turn in by port ``p`` and out by port ``q`` of row ``r`` is
    ``turn_ptr[r] + (p - first port of r) * ports of r + (q - first port of r)``; a turn may come twice. Only turns
    between channels count: both links join two switches.
    """
    rows = len(before)
    seen = np.zeros(rows, dtype=np.uint8)
    queue = np.empty(rows, dtype=np.int32)
    tail = np.int64(0)
    for row in range(rows):
        if is_sender[row] == 1:
            seen[row] = 1
            queue[tail] = row
            tail += 1
    turns = np.empty(64, dtype=np.int64)
    count = np.int64(0)
    done = np.int64(0)
    while done < tail:
        row = queue[done]
        done += 1
        for turn in range(2):
            entry = np.int64(before[row] if turn == 0 else after[row])
            if (turn == 1 and after[row] == before[row]) or entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            for member in range(member_ptr[group_ptr[row] + entry], member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                if seen[step] == 0:
                    seen[step] = 1
                    queue[tail] = step
                    tail += 1
                base = port_ptr[switch_node[step]]
                width = np.int64(port_ptr[switch_node[step] + 1] - base)
                begin = turn_ptr[step] + (next_port[member] - base) * width
                for other in range(2):
                    onward = np.int64(before[step] if other == 0 else after[step])
                    if (other == 1 and after[step] == before[step]) or onward >= group_ptr[step + 1] - group_ptr[step]:
                        continue
                    first = member_ptr[group_ptr[step] + onward]
                    for out in range(first, member_ptr[group_ptr[step] + onward + 1]):
                        if next_row[out] < 0:
                            continue
                        if count == len(turns):
                            turns = np.concatenate((turns, np.empty(count, dtype=np.int64)))
                        turns[count] = begin + member_port[out] - base
                        count += 1
    return turns[:count].copy()


@kernel
def list_column_turns(
    before: I32,
    after: I32,
    d: int,
    mask: U16,
    held: U16,
    port_class: I8,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    next_port: I32,
    turn_ptr: I64,
    port_ptr: I32,
    switch_node: I32,
    lanes: int,
    target_row: I32,
    own_kind: I8,
    own_count: I32,
    home_row: I32,
    home_kind: I8,
    home_count: I32,
) -> I64:
    """List the turns from lane to lane of one destination's packets, where each switch has either entry.

    ``held[class, kind in, kind out]`` has a bit for each lane. A turn is the number of ``list_turns`` times the
    square of ``lanes``, and ``lane in * lanes + lane out``; it may come twice. All classes of ``mask`` are followed.
    """
    rows = len(before)
    kinds = held.shape[1]
    seen = np.full(rows * kinds, NIL, dtype=np.int32)
    queue = np.empty(rows * kinds, dtype=np.int32)
    turns = np.empty(64, dtype=np.int64)
    count = np.int64(0)
    for path_class in range(len(held)):
        seen[:] = NIL
        tail = start_walks(
            d, 1 << path_class, mask, kinds, target_row, own_kind, own_count, home_row, home_kind, home_count, seen,
            queue,
        )  # fmt: skip
        done = 0
        while done < tail:
            row = queue[done] // kinds
            kind = queue[done] % kinds
            done += 1
            for turn in range(2):
                entry = np.int64(before[row] if turn == 0 else after[row])
                if (turn == 1 and after[row] == before[row]) or entry >= group_ptr[row + 1] - group_ptr[row]:
                    continue
                begin = member_ptr[group_ptr[row] + entry]
                for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                    step = next_row[member]
                    if step < 0:
                        continue
                    came = held[path_class, kind, port_class[member_port[member]]]
                    on = port_class[next_port[member]]
                    if seen[step * kinds + on] != d:
                        seen[step * kinds + on] = d
                        queue[tail] = step * kinds + on
                        tail += 1
                    base = port_ptr[switch_node[step]]
                    width = np.int64(port_ptr[switch_node[step] + 1] - base)
                    line = turn_ptr[step] + (next_port[member] - base) * width
                    for other in range(2):
                        onward = np.int64(before[step] if other == 0 else after[step])
                        if other == 1 and after[step] == before[step]:
                            continue
                        if onward >= group_ptr[step + 1] - group_ptr[step]:
                            continue
                        first = member_ptr[group_ptr[step] + onward]
                        for out in range(first, member_ptr[group_ptr[step] + onward + 1]):
                            if next_row[out] < 0:
                                continue
                            then = held[path_class, on, port_class[member_port[out]]]
                            for lane in range(lanes):
                                if came >> lane & 1 == 0:
                                    continue
                                for level in range(lanes):
                                    if then >> level & 1 == 0:
                                        continue
                                    if count == len(turns):
                                        turns = np.concatenate((turns, np.empty(count, dtype=np.int64)))
                                    number = (line + member_port[out] - base) * lanes * lanes
                                    turns[count] = number + lane * lanes + level
                                    count += 1
    return turns[:count].copy()
