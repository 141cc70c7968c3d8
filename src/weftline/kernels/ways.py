"""Ways of one switch: sets of ports told once, and one port picked of each set."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8, U16


@kernel
def share_sets(ptr: I32, port: I32) -> tuple[I32, I32, I32]:
    """Sort the ports of each set, drop repeats, and keep equal sets once; O(ports * log ports).

    Returns the number of each set among those kept (NIL where it is empty) and the CSR of the sets kept, in the order
    of their first use.
    """
    sets = len(ptr) - 1
    number = np.full(sets, NIL, dtype=np.int32)
    kept_ptr = np.zeros(sets + 1, dtype=np.int32)
    kept_port = np.empty(len(port), dtype=np.int32)
    size = 16
    while size < 2 * sets:
        size *= 2
    bucket = np.full(size, NIL, dtype=np.int32)
    kept = 0
    for one in range(sets):
        members = np.sort(port[ptr[one] : ptr[one + 1]])
        if len(members) == 0:
            continue
        start = kept_ptr[kept]
        used = start
        key = np.uint64(14_695_981_039_346_656_037)
        for at in range(len(members)):
            if at > 0 and members[at] == members[at - 1]:
                continue
            kept_port[used] = members[at]
            used += 1
            key = (key ^ np.uint64(members[at])) * np.uint64(1_099_511_628_211)
        slot = np.int64(key % np.uint64(size))
        found = NIL
        while bucket[slot] != NIL and found == NIL:
            other = bucket[slot]
            first = kept_ptr[other]
            if kept_ptr[other + 1] - first == used - start:
                found = other
                for at in range(used - start):
                    if kept_port[first + at] != kept_port[start + at]:
                        found = NIL
                        break
            if found == NIL:
                slot = (slot + 1) % size
        if found == NIL:
            bucket[slot] = kept
            found = kept
            kept += 1
            kept_ptr[kept] = used
        number[one] = found
    return number, kept_ptr[: kept + 1].copy(), kept_port[: kept_ptr[kept]].copy()


@kernel
def pick_ways(
    row: int,
    ptr: I32,
    port: I32,
    home_of: I32,
    home: I32,
    home_group: I32,
    ordinal: I32,
    divisor: int,
    of_port: I32,
    entry: U8 | U16,
) -> None:
    """Fill the entries of one switch, each with the group of one port of the ways to its destination's home.

    ``home_of[d]`` is the place of the home of ``d`` in ``home`` and in the CSR of ways, NIL where it has none.
    """
    for d in range(len(home_of)):
        at = home_of[d]
        if at == NIL:
            continue
        if home[at] == row:
            entry[d] = home_group[d]
            continue
        size = ptr[at + 1] - ptr[at]
        if size > 0:
            entry[d] = of_port[port[ptr[at] + ordinal[d] // divisor % size]]
