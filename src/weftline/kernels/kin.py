"""Ways up and down by kin: switches with the same upper neighbours are as far from a home, and go there alike."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8, U16
from weftline.kernels.tables import mix


@kernel
def climb_kin(
    home: int,
    stamp: int,
    begin: int,
    end: int,
    up_ptr: I32,
    up_row: I32,
    up_back: I32,
    edge_ptr: I32,
    kin_of: I32,
    kin_ptr: I32,
    kin_row: I32,
    falls: I32,
    hop: I32,
    queue: I32,
    lead: I32,
    leads: I32,
    kin_hop: I32,
    kin_best: I32,
) -> None:
    """Find the hops towards ``home`` as ``climb`` does; O(links of the switches that fall + upper neighbours of kin).

    ``up_row[up_ptr[row]:up_ptr[row + 1]]`` are the upper neighbours of a switch, and ``up_back`` the edges back. Rows
    of one ``kin_of`` have the same ones, ``kin_row`` by ``kin_ptr``; kin ``begin`` to ``end`` are those of the
    component, upper ones first. A switch can go down all the way where ``falls[row] == stamp``: then ``hop`` is its
    distance and ``lead[edge_ptr[row]:][:leads[row]]`` are the edges that lead on. Any other is ``kin_hop`` away, NIL
    where it has no way, by the ``kin_best`` of its upper neighbours that are nearest.
    """
    falls[home] = stamp
    hop[home] = 0
    leads[home] = 0
    queue[0] = home
    head = 0
    tail = 1
    while head < tail:
        row = queue[head]
        head += 1
        for at in range(up_ptr[row], up_ptr[row + 1]):
            other = up_row[at]
            if falls[other] != stamp:
                falls[other] = stamp
                hop[other] = hop[row] + 1
                leads[other] = 0
                queue[tail] = other
                tail += 1
            if hop[other] == hop[row] + 1:
                lead[edge_ptr[other] + leads[other]] = up_back[at]
                leads[other] += 1
    for kin in range(begin, end):
        best = NIL
        count = 0
        for at in range(kin_ptr[kin], kin_ptr[kin + 1]):
            far = measure_kin(kin_row[at], stamp, kin_of, falls, hop, kin_hop)
            if far == NIL:
                continue
            if best == NIL or far < best:
                best = far
                count = 0
            if far == best:
                count += 1
        kin_hop[kin] = NIL if best == NIL else best + 1
        kin_best[kin] = count


@kernel
def measure_kin(row: int, stamp: int, kin_of: I32, falls: I32, hop: I32, kin_hop: I32) -> int:
    """Measure how far a row is from the home of ``stamp``, NIL where it has no way."""
    if falls[row] == stamp:
        return int(hop[row])
    return NIL if kin_of[row] == NIL else int(kin_hop[kin_of[row]])


@kernel
def find_unreached(
    target: I32,
    need: U8,
    sender: U8,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    edge_ptr: I32,
    up_ptr: I32,
    up_row: I32,
    up_back: I32,
    kin_part: I32,
    kin_of: I32,
    kin_ptr: I32,
    kin_row: I32,
) -> U8:
    """Mark the components where a sender has no legal way to a target; O(targets * (switches + what they climb)).

    A switch must reach ``target[i]`` where ``sender[switch] & need[i]``.
    """
    rows = len(sequence)
    falls = np.full(rows, NIL, dtype=np.int32)
    hop = np.empty(rows, dtype=np.int32)
    queue = np.empty(rows, dtype=np.int32)
    leads = np.empty(rows, dtype=np.int32)
    lead = np.empty(max(1, int(edge_ptr[rows])), dtype=np.int32)
    kin_hop = np.empty(len(kin_ptr), dtype=np.int32)
    kin_best = np.empty(len(kin_ptr), dtype=np.int32)
    fails = np.zeros(len(component_ptr) - 1, dtype=np.uint8)
    for at in range(len(target)):
        part = component[target[at]]
        if fails[part] == 1:
            continue
        climb_kin(
            target[at], at, int(kin_part[part]), int(kin_part[part + 1]), up_ptr, up_row, up_back, edge_ptr, kin_of,
            kin_ptr, kin_row, falls, hop, queue, lead, leads, kin_hop, kin_best,
        )  # fmt: skip
        for place in range(component_ptr[part], component_ptr[part + 1]):
            row = sequence[place]
            if sender[row] & need[at] == 0:
                continue
            if measure_kin(row, at, kin_of, falls, hop, kin_hop) == NIL:
                fails[part] = 1
                break
    return fails


@kernel
def find_list(items: I32, list_ptr: I32, list_item: I32, bucket: I32) -> int:
    """Find the bucket of a list of numbers in an open hash table: the one that holds it, or an empty one."""
    key = mix(len(items))
    for at in range(len(items)):
        key = mix(key * 31 + int(items[at]))
    slot = key % len(bucket)
    while bucket[slot] != NIL:
        start = list_ptr[bucket[slot]]
        if list_ptr[bucket[slot] + 1] - start == len(items):
            same = True
            for at in range(len(items)):
                if list_item[start + at] != items[at]:
                    same = False
                    break
            if same:
                break
        slot = (slot + 1) % len(bucket)
    return int(slot)


@kernel
def hash_lists(lists: int, list_ptr: I32, list_item: I32, size: int) -> I32:
    """Put lists into an open hash table of ``size`` buckets."""
    bucket = np.full(size, NIL, dtype=np.int32)
    for index in range(lists):
        bucket[find_list(list_item[list_ptr[index] : list_ptr[index + 1]], list_ptr, list_item, bucket)] = index
    return bucket


@kernel
def name_sets(
    home: I32,
    run: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    edge_ptr: I32,
    up_ptr: I32,
    up_row: I32,
    up_back: I32,
    kin_part: I32,
    kin_of: I32,
    kin_ptr: I32,
    kin_row: I32,
    choice: I32,
) -> tuple[I32, I32]:
    """Name the set of edges by which each switch leads on towards each home; O(runs * switches + entries).

    Fills ``choice[switch, i]`` with a symbol for the set towards ``home[i]``, NIL where there is none: an edge by which
    the switch goes down; past the edges all upper neighbours of a kin; past those a list, of places in ``kin_row`` or,
    past these, of edges. So what a kin shares is named once. The homes from ``run[i]`` to ``run[i + 1]`` are of one kin
    and, where there are several, have no switches below: towards each of them all is alike but at the homes themselves
    and at their upper neighbours, which go straight down. Returns the CSR of lists.
    """
    rows, edges, kins, places = len(sequence), int(edge_ptr[len(sequence)]), len(kin_ptr) - 1, len(kin_row)
    falls = np.full(rows, NIL, dtype=np.int32)
    hop, queue = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32)
    leads, lead = np.empty(rows, dtype=np.int32), np.empty(max(1, edges), dtype=np.int32)
    kin_hop, kin_best = np.empty(kins + 1, dtype=np.int32), np.empty(kins + 1, dtype=np.int32)
    kin_symbol = np.full(kins + 1, NIL, dtype=np.int32)
    items = np.empty(max(1, edges), dtype=np.int32)
    list_ptr, list_item = np.zeros(65, dtype=np.int32), np.empty(256, dtype=np.int32)
    bucket = np.full(256, NIL, dtype=np.int32)
    lists = 0
    for index in range(len(run) - 1):
        at, beyond = int(run[index]), int(run[index + 1])
        part = component[home[at]]
        begin, end = int(kin_part[part]), int(kin_part[part + 1])
        first, final = int(component_ptr[part]), int(component_ptr[part + 1])
        climb_kin(
            home[at], at, begin, end, up_ptr, up_row, up_back, edge_ptr, kin_of, kin_ptr, kin_row, falls, hop, queue,
            lead, leads, kin_hop, kin_best,
        )  # fmt: skip
        # kin first, then the switches of the component
        for turn in range(begin - end, final - first):
            size = 0
            kin = end + turn
            row = NIL if turn < 0 else sequence[first + turn]
            symbol = NIL
            if turn < 0:
                symbol = NIL if kin_hop[kin] == NIL else edges + kin
                if symbol != NIL and kin_best[kin] < kin_ptr[kin + 1] - kin_ptr[kin]:
                    for place in range(kin_ptr[kin], kin_ptr[kin + 1]):
                        if measure_kin(kin_row[place], at, kin_of, falls, hop, kin_hop) == kin_hop[kin] - 1:
                            items[size] = place
                            size += 1
            elif falls[row] != at or row == home[at]:
                # towards the other homes of a run the first is like any switch of its kin
                symbol = NIL if kin_of[row] == NIL else int(kin_symbol[kin_of[row]])
            else:
                symbol = int(lead[edge_ptr[row]])
                if leads[row] > 1:
                    size = int(leads[row])
                    items[:size] = np.sort(lead[edge_ptr[row] : edge_ptr[row] + size]) + places
            if size > 0:
                slot = find_list(items[:size], list_ptr, list_item, bucket)
                if bucket[slot] == NIL:
                    used = list_ptr[lists]
                    while used + size > len(list_item):
                        list_item = np.append(list_item, np.empty(len(list_item), dtype=np.int32))
                    if lists + 2 > len(list_ptr):
                        list_ptr = np.append(list_ptr, np.empty(lists, dtype=np.int32))
                    list_item[used : used + size] = items[:size]
                    list_ptr[lists + 1] = used + size
                    bucket[slot] = lists
                    symbol = edges + kins + lists
                    lists += 1
                    if 2 * lists > len(bucket):
                        bucket = hash_lists(lists, list_ptr, list_item, 2 * len(bucket))
                else:
                    symbol = edges + kins + int(bucket[slot])
            if turn < 0:
                kin_symbol[kin] = symbol
            else:
                for column in range(at, beyond):
                    choice[row, column] = symbol
        for column in range(at, beyond):
            own = home[column]
            choice[own, column] = NIL
            for up in range(up_ptr[own], up_ptr[own + 1]):
                if beyond > at + 1:
                    choice[up_row[up], column] = up_back[up]
    return list_ptr[: lists + 1].copy(), list_item[: list_ptr[lists]].copy()


@kernel
def number_sets(symbols: int, choice: I32) -> tuple[I32, I32]:
    """Number the sets of each switch in the order of first use, in place of their symbols; O(switches * homes).

    ``symbols`` is how many there can be. Returns where the sets of each switch begin, and their symbols.
    """
    rows = len(choice)
    seen = np.full(symbols, NIL, dtype=np.int32)
    number = np.empty(symbols, dtype=np.int32)
    row_ptr = np.zeros(rows + 1, dtype=np.int32)
    set_symbol = np.empty(64, dtype=np.int32)
    sets = 0
    for row in range(rows):
        for at in range(choice.shape[1]):
            symbol = choice[row, at]
            if symbol == NIL:
                continue
            if seen[symbol] != row:
                if sets == len(set_symbol):
                    set_symbol = np.append(set_symbol, np.empty(sets, dtype=np.int32))
                seen[symbol] = row
                number[symbol] = sets - row_ptr[row]
                set_symbol[sets] = symbol
                sets += 1
            choice[row, at] = number[symbol]
        row_ptr[row + 1] = sets
    return row_ptr, set_symbol[:sets].copy()


@kernel
def spell_sets(
    set_row: I32,
    set_symbol: I32,
    list_ptr: I32,
    list_item: I32,
    up_ptr: I32,
    up_edge: I32,
    kin_of: I32,
    kin_ptr: I32,
    places: int,
    link_ptr: I32,
    link_port: I32,
) -> tuple[I32, I32]:
    """Spell the sets of ``name_sets`` out: a CSR of ports, ascending in each set; O(ports of the sets)."""
    edges, kins = len(link_ptr) - 1, len(kin_ptr) - 1
    set_ptr = np.zeros(len(set_row) + 1, dtype=np.int32)
    set_port = np.empty(64, dtype=np.int32)
    used = 0
    for index in range(len(set_row)):
        row, symbol = set_row[index], int(set_symbol[index])
        start = used
        if symbol < edges:
            size = 1
        elif symbol < edges + kins:
            size = int(up_ptr[row + 1] - up_ptr[row])
        else:
            size = int(list_ptr[symbol - edges - kins + 1] - list_ptr[symbol - edges - kins])
        for at in range(size):
            if symbol < edges:
                edge = symbol
            elif symbol < edges + kins:
                edge = int(up_edge[up_ptr[row] + at])
            else:
                item = int(list_item[list_ptr[symbol - edges - kins] + at])
                # a place among the upper neighbours of the kin is one among those of the row, as both are in order
                edge = item - places if item >= places else int(up_edge[up_ptr[row] + item - kin_ptr[kin_of[row]]])
            for link in range(link_ptr[edge], link_ptr[edge + 1]):
                if used == len(set_port):
                    set_port = np.append(set_port, np.empty(used, dtype=np.int32))
                set_port[used] = link_port[link]
                used += 1
        set_port[start:used].sort()
        set_ptr[index + 1] = used
    return set_ptr, set_port[:used].copy()


@kernel
def spread_choice(
    begin: int,
    end: int,
    choice: I32,
    run: I32,
    home_of: I32,
    home: I32,
    goal_ptr: I32,
    goal_list: I32,
    home_group: I32,
    blank: int,
    group: U8 | U16,
) -> None:
    """Write the rows from ``begin`` to ``end``: the choice towards each home for all its destinations; O(entries).

    ``home_of[d]`` indexes ``home`` and the columns of ``choice``; NIL: no home. It does not change from ``run[i]`` to
    ``run[i + 1]``. ``goal_list[goal_ptr[i]:goal_ptr[i + 1]]`` are the destinations of ``home[i]``, which delivers by
    ``home_group``. The choice of NIL is the entry ``blank``.
    """
    entry = np.empty(len(home) + 1, dtype=group.dtype)
    entry[len(home)] = blank
    in_runs = 4 * len(run) <= len(home_of)
    for row in range(begin, end):
        own = NIL
        for at in range(len(home)):
            entry[at] = blank if choice[row, at] == NIL else choice[row, at]
            if home[at] == row:
                own = at
        if in_runs:
            for index in range(len(run) - 1):
                value = entry[home_of[run[index]]]
                for goal in range(run[index], run[index + 1]):
                    group[row, goal] = value
        else:
            for goal in range(len(home_of)):
                # NIL is the last place
                group[row, goal] = entry[home_of[goal]]
        if own != NIL:
            for index in range(goal_ptr[own], goal_ptr[own + 1]):
                group[row, goal_list[index]] = home_group[goal_list[index]]
