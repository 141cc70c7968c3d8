"""Weights of the members of port sets: the ways behind each, in small whole numbers."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.tables import mix

MOST_WAYS = 1 << 40
"""More ways than this count as this many: what is left of precision exceeds that of any switch."""


@kernel
def count_ways(
    home: I32, sequence: I32, choice: I32, set_first: I32, set_ptr: I32, next_row: I32, port_units: I64
) -> I64:
    """Count the ways from each switch to each home, ``[homes, switches]``; O(homes * members in use).

    A way counts as often as its last link has units of rate, ``port_units[member]``. ``choice[switch, i]`` is the set
    towards ``home[i]``, NIL for none, and ``set_ptr[set_first[switch] + choice]`` its first member. ``sequence`` puts
    upper switches first. A set that leads down has members that come later there, any other has members before.
    """
    rows = len(sequence)
    place = np.empty(rows, dtype=np.int32)
    for at in range(rows):
        place[sequence[at]] = at
    ways = np.zeros((len(home), rows), dtype=np.int64)
    for goal in range(len(home)):
        for turn in range(2):
            for step in range(rows):
                row = sequence[rows - 1 - step] if turn == 0 else sequence[step]
                if row == home[goal] or choice[row, goal] == NIL:
                    continue
                one = set_first[row] + np.int64(choice[row, goal])
                begin = set_ptr[one]
                if (place[next_row[begin]] > place[row]) != (turn == 0):
                    continue
                total = np.int64(0)
                for member in range(begin, set_ptr[one + 1]):
                    step_row = next_row[member]
                    total += port_units[member] if step_row == home[goal] else ways[goal, step_row]
                    total = min(total, MOST_WAYS)
                ways[goal, row] = total
    return ways


@kernel
def reduce_weights(raw: I64, most: int, weight: I32) -> None:
    """Find the whole numbers of the least error whose sum is ``most`` at most; O(most * members).

    The error is how much more than its part a member gets at worst (J. Zhou and others, *WCMP: Weighted Cost
    Multipathing for Improved Fairness in Data Centers*, EuroSys 2014, section 5). All start at 1, and the member whose
    excess would stay least gets one more; of sums of equal error the smallest is taken. Where the numbers themselves,
    divided by what divides all, fit, they are the answer.
    """
    size = len(raw)
    common = raw[0]
    total = np.int64(0)
    for at in range(size):
        a, b = common, raw[at]
        while b != 0:
            a, b = b, a % b
        common = a
        total += raw[at]
    if total // common <= most:
        for at in range(size):
            weight[at] = raw[at] // common
        return
    held = np.ones(size, dtype=np.int64)
    worst = 0
    for at in range(size):
        if raw[at] < raw[worst]:
            worst = at
    best_up, best_down, best_sum = np.int64(1), raw[worst], np.int64(size)
    up, down = best_up, best_down
    weight[:] = 1
    for more in range(size + 1, most + 1):
        least = 0
        for at in range(1, size):
            if (held[at] + 1) * raw[least] < (held[least] + 1) * raw[at]:
                least = at
        held[least] += 1
        if held[least] * down > up * raw[least]:
            up, down = held[least], raw[least]
        # the error of a sum is its largest held / raw, over that sum
        if np.float64(up) / np.float64(down) * best_sum < np.float64(best_up) / np.float64(best_down) * more * (
            1.0 - 1e-12
        ):
            best_up, best_down, best_sum = up, down, np.int64(more)
            for at in range(size):
                weight[at] = held[at]


@kernel
def weigh_sets(
    row: int,
    choice: I32,
    ways: I64,
    first: int,
    set_ptr: I32,
    set_port: I32,
    next_row: I32,
    port_units: I64,
    home: I32,
    widest: int,
    most: int,
    number: I32,
) -> tuple[I32, I32, I32]:
    """Weigh the members of one switch's sets by the ways behind them, each set of ports and weights once.

    ``choice`` is the set towards each home (NIL: none), of at most ``widest`` members, and ``number`` becomes that of
    the weighed set, in order of first use. A set may have weights of a sum of ``most``, or of twice its members where
    these are more. Returns the CSR of the members and their weights.
    """
    kept_ptr = np.zeros(65, dtype=np.int32)
    kept_port = np.empty(256, dtype=np.int32)
    kept_weight = np.empty(256, dtype=np.int32)
    bucket = np.full(256, NIL, dtype=np.int32)
    raw = np.zeros(widest, dtype=np.int64)
    before = np.zeros(widest, dtype=np.int64)
    weight = np.ones(widest, dtype=np.int32)
    last_set = NIL
    last_number = NIL
    kept = 0
    for goal in range(len(choice)):
        number[goal] = NIL
        if choice[goal] == NIL or home[goal] == row:
            continue
        one = first + int(choice[goal])
        begin = set_ptr[one]
        members = int(set_ptr[one + 1] - begin)
        same = last_set == one
        for at in range(members):
            step = next_row[begin + at]
            raw[at] = port_units[begin + at] if step == home[goal] else ways[goal, step]
            same = same and raw[at] == before[at]
        if same:
            number[goal] = last_number
            continue
        reduce_weights(raw[:members], max(most, 2 * members), weight[:members])
        used = int(kept_ptr[kept])
        while used + members > len(kept_port):
            kept_port = np.append(kept_port, np.empty(len(kept_port), dtype=np.int32))
            kept_weight = np.append(kept_weight, np.empty(len(kept_weight), dtype=np.int32))
        for at in range(members):
            before[at] = raw[at]
            kept_port[used + at] = set_port[begin + at]
            kept_weight[used + at] = weight[at]
        slot = scramble(kept_port, kept_weight, used, used + members) % len(bucket)
        found = NIL
        while bucket[slot] != NIL and found == NIL:
            other = bucket[slot]
            start = kept_ptr[other]
            if kept_ptr[other + 1] - start == members:
                found = other
                for at in range(members):
                    if kept_port[start + at] != kept_port[used + at] or kept_weight[start + at] != weight[at]:
                        found = NIL
                        break
            if found == NIL:
                slot = (slot + 1) % len(bucket)
        if found == NIL:
            if kept + 2 > len(kept_ptr):
                kept_ptr = np.append(kept_ptr, np.empty(kept, dtype=np.int32))
            kept_ptr[kept + 1] = used + members
            bucket[slot] = kept
            found = kept
            kept += 1
            if 2 * kept > len(bucket):
                bucket = hash_weighed(kept, kept_ptr, kept_port, kept_weight, 2 * len(bucket))
        number[goal] = found
        last_set = one
        last_number = found
    return kept_ptr[: kept + 1].copy(), kept_port[: kept_ptr[kept]].copy(), kept_weight[: kept_ptr[kept]].copy()


@kernel
def hash_weighed(sets: int, set_ptr: I32, set_port: I32, set_weight: I32, size: int) -> I32:
    """Put sets of ports and weights into an open hash table of ``size`` buckets."""
    bucket = np.full(size, NIL, dtype=np.int32)
    for one in range(sets):
        slot = scramble(set_port, set_weight, set_ptr[one], set_ptr[one + 1]) % size
        while bucket[slot] != NIL:
            slot = (slot + 1) % size
        bucket[slot] = one
    return bucket


@kernel
def scramble(port: I32, weight: I32, begin: int, end: int) -> int:
    """Scramble a set of ports and weights into one number."""
    key = mix(int(end - begin))
    for at in range(begin, end):
        key = mix(mix(key * 31 + int(port[at])) + int(weight[at]))
    return key
