"""Channels: which one waits on which, on whose behalf, and whether ranks grow along every such dependency."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16, U64
from weftline.kernels.reach import IS_SKIPPED
from weftline.kernels.tiles import WIDTH, WORDS, load_tile


@kernel
def mark_turns(
    first: int,
    last: int,
    column: I32,
    twin: I32,
    agrees: U64,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    next_row: I32,
    target_row: I32,
    home_row: I32,
    home_count: I32,
    own_count: I32,
    turn_ptr: I64,
    turn: U64,
    reached: U64,
) -> None:
    """Mark the turns that traffic to ``column[first:last]`` can take; O(entries), O(members in use of unlike rows).

    For every column all walks are followed from every switch that holds a lit endpoint other than the destination
    (``home_row`` with ``home_count`` endpoints; ``own_count`` is 1 where the destination is one of them). The turn over
    member ``m`` and then out by group ``e`` of the next switch is bit ``e`` of the words ``turn[turn_ptr[m]:]``. Loops
    are followed once around. Rows that treat 64 columns alike lead their packets to the same switches, so that the
    turns of one are those of the others. Bit ``w`` of ``reached[row, t]`` says afterwards that packets to
    ``column[64 * t + w]`` come by the row, where ``reached`` has rows.
    """
    rows = len(group)
    tile = np.empty((rows, WIDTH), dtype=group.dtype)
    used = np.empty((rows, WORDS), dtype=np.uint64)
    root = np.empty(rows, dtype=np.int32)
    roots = np.empty(rows, dtype=np.int32)
    count_at = np.zeros(rows, dtype=np.int32)
    for h in range(len(home_row)):
        count_at[home_row[h]] = home_count[h]
    most_groups = np.int64(1)
    most_words = np.int64(1)
    for row in range(rows):
        most_groups = max(most_groups, np.int64(group_ptr[row + 1] - group_ptr[row]))
        begin = member_ptr[group_ptr[row]]
        most_words = max(most_words, turn_ptr[member_ptr[group_ptr[row + 1]]] - turn_ptr[begin])
    bits_of = np.zeros(most_groups, dtype=np.uint64)
    entries = np.empty(WIDTH, dtype=np.int64)
    words = np.empty(most_words, dtype=np.uint64)
    visited = np.empty(rows, dtype=np.uint64)
    handled = np.empty(rows, dtype=np.uint64)
    waits = np.zeros(rows, dtype=np.uint8)
    queue = np.empty(rows + 1, dtype=np.int32)
    one = np.uint64(1)
    for start in range(first, last, WIDTH):
        end = min(start + WIDTH, last)
        columns = column[start:end]
        count = end - start
        load_tile(columns, group, twin, agrees, tile, root, roots, used)
        visited[:] = 0
        handled[:] = 0
        everything = ~np.uint64(0) >> np.uint64(WIDTH - count)
        tail = np.int64(0)
        for h in range(len(home_row)):
            visited[home_row[h]] = everything
            waits[home_row[h]] = 1
            queue[tail] = home_row[h]
            tail += 1
        for w in range(count):
            home = target_row[columns[w]]
            if home != NIL and count_at[home] <= own_count[columns[w]]:
                visited[home] &= ~(one << np.uint64(w))
        done = np.int64(0)
        memo_root = np.int64(NIL)
        memo_bits = np.uint64(0)
        kinds = np.int64(0)
        while done != tail:
            row = queue[done]
            done = done + 1 if done < rows else np.int64(0)
            waits[row] = 0
            fresh = visited[row] & ~handled[row]
            handled[row] |= fresh
            if fresh == 0:
                continue
            if root[row] != memo_root or fresh != memo_bits:
                memo_root = np.int64(root[row])
                memo_bits = fresh
                kinds = np.int64(0)
                for w in range(count):
                    if fresh >> np.uint64(w) & one == 0:
                        continue
                    entry = np.int64(tile[row, w])
                    if entry < group_ptr[row + 1] - group_ptr[row]:
                        if bits_of[entry] == 0:
                            entries[kinds] = entry
                            kinds += 1
                        bits_of[entry] |= one << np.uint64(w)
                filled = np.int64(0)
                for kind in range(kinds):
                    entry = entries[kind]
                    mine = bits_of[entry]
                    bits_of[entry] = 0
                    begin = member_ptr[group_ptr[row] + entry]
                    for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                        step = next_row[member]
                        if step < 0:
                            continue
                        visited[step] |= mine
                        if waits[step] == 0 and visited[step] & ~handled[step] != 0:
                            waits[step] = 1
                            queue[tail] = step
                            tail = tail + 1 if tail < rows else np.int64(0)
                        size = turn_ptr[member + 1] - turn_ptr[member]
                        words[filled : filled + size] = 0
                        for w in range(count):
                            if mine >> np.uint64(w) & one == 0:
                                continue
                            out = np.int64(tile[step, w])
                            if out < group_ptr[step + 1] - group_ptr[step]:
                                words[filled + (out >> 6)] |= one << np.uint64(out & 63)
                        filled += size
            filled = np.int64(0)
            for kind in range(kinds):
                entry = entries[kind]
                begin = member_ptr[group_ptr[row] + entry]
                for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                    if next_row[member] >= 0:
                        for at in range(turn_ptr[member], turn_ptr[member + 1]):
                            turn[at] |= words[filled]
                            filled += 1
        for row in range(len(reached)):
            reached[row, start // WIDTH] = visited[row]


@kernel
def list_dependencies(
    turn: U64,
    turn_ptr: I64,
    port_ptr: I32,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    switch_node: I32,
    ports: int,
) -> tuple[I64, I32]:
    """List for each channel the channels that it waits on, as CSR over all ports; O(turns * members).

    A channel is a switch's port towards another switch, named by the transmitting port. ``after[ptr[p]:ptr[p + 1]]``
    are ascending; ports that are no channel have none.
    """
    ptr = np.zeros(ports + 1, dtype=np.int64)
    after = np.empty(1 << 16, dtype=np.int32)
    widest = np.int64(1)
    fullest = np.int64(1)
    for row in range(len(switch_node)):
        node = switch_node[row]
        widest = max(widest, np.int64(port_ptr[node + 1] - port_ptr[node]))
        fullest = max(fullest, np.int64(member_ptr[group_ptr[row + 1]] - member_ptr[group_ptr[row]]))
    leads_on = np.zeros(widest, dtype=np.uint8)
    head = np.empty(widest, dtype=np.int64)
    following = np.empty(fullest, dtype=np.int64)
    found = np.int64(0)
    for row in range(len(switch_node)):
        node = switch_node[row]
        base = port_ptr[node]
        width = np.int64(port_ptr[node + 1] - base)
        begin = np.int64(member_ptr[group_ptr[row]])
        head[:width] = NIL
        for member in range(begin, member_ptr[group_ptr[row + 1]]):
            if next_row[member] >= 0:
                port = member_port[member] - base
                following[member - begin] = head[port]
                head[port] = member
        for port in range(width):
            member = head[port]
            if member == NIL:
                continue
            step = next_row[member]
            far = np.int64(port_ptr[switch_node[step]])
            reach = np.int64(port_ptr[switch_node[step] + 1]) - far
            any_turn = False
            while member != NIL:
                for at in range(turn_ptr[member], turn_ptr[member + 1]):
                    word = turn[at]
                    entry = (at - turn_ptr[member]) << 6
                    while word != 0:
                        if word & np.uint64(1) != 0:
                            start = member_ptr[group_ptr[step] + entry]
                            for other in range(start, member_ptr[group_ptr[step] + entry + 1]):
                                if next_row[other] >= 0:
                                    leads_on[member_port[other] - far] = 1
                                    any_turn = True
                        word >>= np.uint64(1)
                        entry += 1
                member = following[member - begin]
            if not any_turn:
                continue
            if found + reach > len(after):
                larger = np.empty(2 * len(after) + reach, dtype=np.int32)
                larger[:found] = after[:found]
                after = larger
            for out in range(reach):
                if leads_on[out] == 1:
                    leads_on[out] = 0
                    after[found] = far + out
                    found += 1
            ptr[base + port + 1] = found
    for port in range(ports):
        ptr[port + 1] = max(ptr[port], ptr[port + 1])
    return ptr, after[:found].copy()


@kernel
def find_causes(
    cycle: I32,
    port_node: I32,
    switch_row: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    target_kind: I8,
    target_row: I32,
    home_row: I32,
    home_count: I32,
    own_count: I32,
) -> tuple[I32, I32]:
    """Find for each channel of a cycle and the next one a destination whose traffic uses both in turn.

    Returns the destinations and the switch rows where such traffic starts, NIL where none was found (there is one
    where the dependencies are those of ``mark_turns``). The lowest destination is taken. O(members in use).
    """
    pairs = len(cycle)
    cause = np.full(pairs, NIL, dtype=np.int32)
    origin = np.full(pairs, NIL, dtype=np.int32)
    switches, destinations = group.shape
    seen = np.full(switches, NIL, dtype=np.int32)
    came_from = np.full(switches, NIL, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    missing = np.int64(pairs)
    for d in range(destinations):
        if missing == 0:
            break
        if target_kind[d] == IS_SKIPPED:
            continue
        tail = np.int64(0)
        for h in range(len(home_row)):
            row = home_row[h]
            if home_count[h] > own_count[d] or row != target_row[d]:
                seen[row] = d
                came_from[row] = row
                queue[tail] = row
                tail += 1
        done = np.int64(0)
        while done < tail:
            row = queue[done]
            done += 1
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step >= 0 and seen[step] != d:
                    seen[step] = d
                    came_from[step] = came_from[row]
                    queue[tail] = step
                    tail += 1
        for pair in range(pairs):
            if cause[pair] != NIL:
                continue
            found = 0
            for end in range(2):
                channel = cycle[(pair + end) % pairs]
                row = switch_row[port_node[channel]]
                if seen[row] != d:
                    break
                entry = np.int64(group[row, d])
                if entry >= group_ptr[row + 1] - group_ptr[row]:
                    break
                begin = member_ptr[group_ptr[row] + entry]
                for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                    if member_port[member] == channel and next_row[member] >= 0:
                        found += 1
                        break
            if found == 2:
                cause[pair] = d
                origin[pair] = came_from[switch_row[port_node[cycle[pair]]]]
                missing -= 1
    return cause, origin


@kernel
def check_ranks(
    rank: I32,
    group: U8 | U16,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    next_row: I32,
    target_kind: I8,
    target_row: I32,
    home_row: I32,
    home_count: I32,
    own_count: I32,
) -> int:
    """Count the places where ranks do not grow along a dependency; 0 makes ``rank`` a certificate.

    Destination by destination, the tables are followed from the sources: at each switch the largest rank that comes in
    must be below the smallest that goes out, and a channel in use must have a rank. No search; O(members in use).
    """
    switches, destinations = group.shape
    wrong = np.int64(0)
    highest_in = np.empty(switches, dtype=np.int32)
    lowest_out = np.empty(switches, dtype=np.int32)
    seen = np.full(switches, NIL, dtype=np.int32)
    queue = np.empty(switches, dtype=np.int32)
    for d in range(destinations):
        if target_kind[d] == IS_SKIPPED:
            continue
        tail = np.int64(0)
        for h in range(len(home_row)):
            row = home_row[h]
            if home_count[h] > own_count[d] or row != target_row[d]:
                seen[row] = d
                highest_in[row] = NIL
                queue[tail] = row
                tail += 1
        done = np.int64(0)
        while done < tail:
            row = queue[done]
            done += 1
            lowest_out[row] = np.iinfo(np.int32).max
            entry = np.int64(group[row, d])
            if entry >= group_ptr[row + 1] - group_ptr[row]:
                continue
            begin = member_ptr[group_ptr[row] + entry]
            for member in range(begin, member_ptr[group_ptr[row] + entry + 1]):
                step = next_row[member]
                if step < 0:
                    continue
                here = rank[member_port[member]]
                if here < 0:
                    wrong += 1
                lowest_out[row] = min(lowest_out[row], here)
                if seen[step] != d:
                    seen[step] = d
                    highest_in[step] = NIL
                    queue[tail] = step
                    tail += 1
                highest_in[step] = max(highest_in[step], here)
        for place in range(tail):
            row = queue[place]
            if highest_in[row] >= lowest_out[row]:
                wrong += 1
    return int(wrong)
