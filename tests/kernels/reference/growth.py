"""Ranks along changed entries, told slowly."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.reference.reach import members

Array = np.ndarray[Any, Any]


def grows(
    row: int, d: int, rank: Array, group: Array, group_ptr: Array, member_ptr: Array, member_port: Array,
    next_row: Array,
) -> bool:  # fmt: skip
    """Say whether ranks grow over every switch that an entry leads to, itself first, whoever leads there."""

    def outs(here: int) -> list[tuple[int, int]]:
        mine = members(here, d, group, group_ptr, member_ptr)
        return [(int(member_port[m]), int(next_row[m])) for m in mine if next_row[m] >= 0]

    found, todo = {row}, [row]
    while todo:
        for _, step in outs(todo.pop()):
            if step not in found:
                found.add(step)
                todo.append(step)
    came = [(port, step) for here in range(len(group)) for port, step in outs(here)]
    pairs = [(port, after) for port, step in came if step in found for after, _ in outs(step)]
    used = [port for here in found for port, _ in outs(here)]
    return all(rank[port] >= 0 for port in used) and all(rank[port] < rank[after] for port, after in pairs)
