"""Tiles of columns: 64 destinations at a time, and the switches that treat all of them alike told once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, NIL, U8, U16, U64
from weftline.kernels.reach import FARTHEST, IS_ENDPOINT, IS_SWITCH, MIXED, NEVER

Tile: TypeAlias = NDArray[np.uint8 | np.uint16]

WIDTH = 64
"""Columns of a tile: as many as a word has bits and a cache line has bytes."""
WORDS = 5
"""Words of bits that say which entries a row uses: 256 entries, and one bit for any beyond."""


@kernel
def count_agreed(
    row: int, other: int, group_ptr: I32, member_ptr: I32, next_row: I32, local: int, agrees: U64, limit: int
) -> int:
    """Mark in ``agrees`` the entries that mean the same to two rows; returns how many groups do.

    A group does where its members lead to the same switches in the same order. An entry that is no group of either,
    nor says 'delivered here', leads nowhere from both.
    """
    agrees[:] = 0
    mine = group_ptr[row + 1] - group_ptr[row]
    theirs = group_ptr[other + 1] - group_ptr[other]
    found = 0
    for entry in range(256):
        if entry >= limit:
            break
        if entry >= mine and entry >= theirs and entry != local:
            agrees[entry >> 6] |= np.uint64(1) << np.uint64(entry & 63)
            continue
        if entry >= mine or entry >= theirs:
            continue
        begin = member_ptr[group_ptr[row] + entry]
        start = member_ptr[group_ptr[other] + entry]
        count = member_ptr[group_ptr[row] + entry + 1] - begin
        if count != member_ptr[group_ptr[other] + entry + 1] - start:
            continue
        same = True
        for at in range(count):
            if next_row[begin + at] != next_row[start + at] or next_row[begin + at] < 0:
                same = False
                break
        if same:
            found += 1
            agrees[entry >> 6] |= np.uint64(1) << np.uint64(entry & 63)
    return found


@kernel
def find_twins(group_ptr: I32, member_ptr: I32, next_row: I32, local: int, limit: int) -> tuple[I32, U64]:
    """Find for each row two earlier ones some of whose groups lead to the same switches; O(groups).

    They are the latest rows whose last, or first, group towards a switch has the same number and leads to the same
    switch: so leaves find leaves of their pod, and spines those of their pod and of their position in another pod.
    Returns the twins (NIL where there is none) and which entries mean the same to both, as words of bits.
    """
    rows = len(group_ptr) - 1
    twin = np.full((rows, 2), NIL, dtype=np.int32)
    agrees = np.zeros((rows, 2, WORDS), dtype=np.uint64)
    slots = 4 * rows + 16
    recent = np.full(slots, NIL, dtype=np.int32)
    for row in range(rows):
        first = np.int64(NIL)
        last = np.int64(NIL)
        for entry in range(group_ptr[row + 1] - group_ptr[row]):
            begin = member_ptr[group_ptr[row] + entry]
            if begin < member_ptr[group_ptr[row] + entry + 1] and next_row[begin] >= 0:
                if first == NIL:
                    first = np.int64(entry)
                last = np.int64(entry)
        if first == NIL:
            continue
        for end in range(2):
            entry = last if end == 0 else first
            step = np.int64(next_row[member_ptr[group_ptr[row] + entry]])
            slot = (((step * 257 + entry) * 2 + end) * 2654435761) % slots
            other = recent[slot]
            recent[slot] = row
            if other == NIL or other == twin[row, 0]:
                continue
            if count_agreed(row, int(other), group_ptr, member_ptr, next_row, local, agrees[row, end], limit) > 0:
                twin[row, end] = other
    return twin, agrees


@kernel
def is_alike(row: int, other: int, count: int, tile: Tile, agrees: U64, used: U64) -> bool:
    """Say whether a row has the entries of another in a tile and they mean the same; ``used`` are the other's."""
    for word in range(WORDS):
        if used[word] & ~agrees[word] != np.uint64(0):
            return False
    differing = 0
    for w in range(count):
        differing |= np.int64(tile[row, w]) ^ np.int64(tile[other, w])
    return differing == 0


@kernel
def load_tile(
    columns: I32, group: U8 | U16, twin: I32, agrees: U64, tile: Tile, root: I32, roots: I32, used: U64
) -> int:
    """Copy the columns (at most ``WIDTH``) into ``tile`` row by row, and find the rows that treat them as another does.

    ``root[row]`` is an earlier row with the same entries, which lead to the same switches, or the row itself; these are
    listed in ``roots``. Returns their number. ``used`` is scratch, ``WORDS`` per row.
    """
    rows = len(group)
    count = len(columns)
    is_run = True
    for w in range(1, count):
        if columns[w] != columns[0] + w:
            is_run = False
    found = 0
    for row in range(rows):
        if is_run:
            start = columns[0]
            for w in range(count):
                tile[row, w] = group[row, start + w]
        else:
            for w in range(count):
                tile[row, w] = group[row, columns[w]]
        root[row] = NIL
        for which in range(2):
            other = twin[row, which]
            if other != NIL and is_alike(row, int(other), count, tile, agrees[row, which], used[root[other]]):
                root[row] = root[other]
                break
        if root[row] != NIL:
            continue
        root[row] = row
        roots[found] = row
        found += 1
        used[row, :] = 0
        for w in range(count):
            entry = np.int64(tile[row, w])
            if entry > 255:
                used[row, WORDS - 1] = 1
                continue
            used[row, entry >> 6] |= np.uint64(1) << np.uint64(entry & 63)
    return found


@kernel
def measure_tile(
    columns: I32,
    tile: Tile,
    root: I32,
    roots: I32,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    local: int,
    target_kind: I8,
    target_port: I32,
    target_row: I32,
    head: I32,
    edge_next: I32,
    edge_row: I32,
    pending: I32,
    longest: I32,
    queue: I32,
    near: U8,
) -> None:
    """Measure the longest way of every root row to each column of a tile into ``near``; O(members of roots in use).

    The links are followed backwards from the delivery: a row is ready when all its members are. What never becomes
    ready loops, or leads into a loop. A row stands for all that treat the tile alike, so their links end at it.
    """
    for w in range(len(columns)):
        d = columns[w]
        edges = np.int64(0)
        tail = np.int64(0)
        for at in range(len(roots)):
            head[roots[at]] = NIL
        for at in range(len(roots)):
            row = roots[at]
            near[row, w] = NEVER
            pending[row] = 0
            longest[row] = 0
            delivers = False
            entry = np.int64(tile[row, w])
            begin = np.int64(0)
            end = np.int64(0)
            if entry < group_ptr[row + 1] - group_ptr[row]:
                begin = np.int64(member_ptr[group_ptr[row] + entry])
                end = np.int64(member_ptr[group_ptr[row] + entry + 1])
            elif entry == local and target_kind[d] == IS_SWITCH and row == target_row[d]:
                longest[row] = 1
                delivers = True
            if begin == end and not delivers:
                longest[row] = FARTHEST + 1
            for member in range(begin, end):
                step = next_row[member]
                if step >= 0:
                    step = root[step]
                    edge_row[edges] = row
                    edge_next[edges] = head[step]
                    head[step] = edges
                    edges += 1
                    pending[row] += 1
                elif step == NIL and target_kind[d] == IS_ENDPOINT and next_port[member] == target_port[d]:
                    delivers = True
                    longest[row] = max(longest[row], 1)
                else:
                    longest[row] = FARTHEST + 1
            if delivers:
                near[row, w] = MIXED
            if pending[row] == 0:
                queue[tail] = row
                tail += 1
        done = np.int64(0)
        spoiled = False
        while done < tail:
            row = queue[done]
            done += 1
            if longest[row] <= FARTHEST:
                near[row, w] = longest[row]
            else:
                spoiled = True
            edge = head[row]
            while edge != NIL:
                before = edge_row[edge]
                longest[before] = max(longest[before], min(longest[row] + 1, FARTHEST + 1))
                pending[before] -= 1
                if pending[before] == 0:
                    queue[tail] = before
                    tail += 1
                edge = edge_next[edge]
        if not spoiled and done == len(roots):
            continue
        # whatever a delivering switch can be reached from may be delivered: not NEVER
        tail = np.int64(0)
        for at in range(len(roots)):
            if near[roots[at], w] != NEVER:
                queue[tail] = roots[at]
                tail += 1
        done = np.int64(0)
        while done < tail:
            edge = head[queue[done]]
            done += 1
            while edge != NIL:
                before = edge_row[edge]
                if near[before, w] == NEVER:
                    near[before, w] = MIXED
                    queue[tail] = before
                    tail += 1
                edge = edge_next[edge]


@kernel
def measure_reach(
    first: int,
    last: int,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    next_port: I32,
    local: int,
    target_kind: I8,
    target_port: I32,
    target_row: I32,
    column: I32,
    share_ptr: I32,
    share: I32,
    twin: I32,
    agrees: U64,
    distance: U8,
) -> int:
    """Measure the columns ``column[first:last]`` into ``distance[S, D]``: the most switches on a walk, MIXED or NEVER.

    What is measured for ``column[i]`` holds for all of ``share[share_ptr[i]:share_ptr[i + 1]]`` too, itself among
    them. Other columns are left as they are. O(entries), and O(members in use) of the rows that are unlike all others.
    Returns how many rows stood for themselves, over all tiles.
    """
    rows = len(group)
    widest = np.int64(0)
    for row in range(rows):
        most = np.int64(0)
        for entry in range(group_ptr[row], group_ptr[row + 1]):
            most = max(most, np.int64(member_ptr[entry + 1] - member_ptr[entry]))
        widest += most
    tile = np.empty((rows, WIDTH), dtype=group.dtype)
    near = np.empty((rows, WIDTH), dtype=np.uint8)
    used = np.empty((rows, WORDS), dtype=np.uint64)
    root = np.empty(rows, dtype=np.int32)
    roots = np.empty(rows, dtype=np.int32)
    head = np.empty(rows, dtype=np.int32)
    edge_next = np.empty(widest, dtype=np.int32)
    edge_row = np.empty(widest, dtype=np.int32)
    pending = np.empty(rows, dtype=np.int32)
    longest = np.empty(rows, dtype=np.int32)
    queue = np.empty(rows, dtype=np.int32)
    own = np.int64(0)
    for start in range(first, last, WIDTH):
        end = min(start + WIDTH, last)
        columns = column[start:end]
        found = load_tile(columns, group, twin, agrees, tile, root, roots, used)
        own += found
        measure_tile(
            columns, tile, root, roots[:found], group_ptr, member_ptr, next_row, next_port, local, target_kind,
            target_port, target_row, head, edge_next, edge_row, pending, longest, queue, near,
        )  # fmt: skip
        lowest = share[share_ptr[start]]
        count = share_ptr[end] - share_ptr[start]
        is_run = True
        for at in range(count):
            if share[share_ptr[start] + at] != lowest + at:
                is_run = False
                break
        for row in range(rows):
            top = root[row]
            if is_run and count == end - start:
                for w in range(end - start):
                    distance[row, lowest + w] = near[top, w]
                continue
            for w in range(end - start):
                value = near[top, w]
                begin = share_ptr[start + w]
                final = share_ptr[start + w + 1]
                if is_run:
                    shift = lowest - share_ptr[start]
                    for place in range(begin + shift, final + shift):
                        distance[row, place] = value
                else:
                    for at in range(begin, final):
                        distance[row, share[at]] = value
    return int(own)
