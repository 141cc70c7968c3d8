"""Flows led one by one, and their shares, by the definition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tests.kernels.reference import tables as hashing
from tests.kernels.reference.reach import members

Array = np.ndarray[Any, Any]
WORD = 2**64


def shuffle(count: int, seed: int) -> list[int]:
    order, state = list(range(count)), seed
    for at in range(count - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) % WORD
        word = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % WORD
        word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
        word ^= word >> 31
        other = (word >> 32) * (at + 1) >> 32
        order[at], order[other] = order[other], order[at]
    return order


def lead(
    port: int, d: int, port_row: Array, target_port: Array, port_peer: Array, seed: int, most: int,
    tables: tuple[Array, ...],
) -> tuple[list[int], bool]:  # fmt: skip
    """Lead one flow; its ports, and whether it arrives."""
    group, group_ptr, member_ptr, member_port, next_row, next_port = tables
    row, path = int(port_row[port]), [port]
    if row < 0:
        return path, bool(port_peer[port] == target_port[d])
    while len(path) < most:
        mine = members(row, d, group, group_ptr, member_ptr)
        if not mine:
            break
        key = hashing.mix(hashing.mix(hashing.mix(port + seed * 0x9E3779B1) + d) + row)
        member = mine[key % len(mine) if len(mine) > 1 else 0]
        path.append(int(member_port[member]))
        if next_row[member] < 0:
            return (path, True) if next_row[member] == -1 and next_port[member] == target_port[d] else ([port], False)
        row = int(next_row[member])
    return [port], False


def shares(paths: list[list[int]], rate: list[int], port_rate: list[int]) -> tuple[dict[int, Fraction], list[Fraction]]:
    load: dict[int, Fraction] = {}
    for path, amount in zip(paths, rate, strict=True):
        for port in path:
            load[port] = load.get(port, Fraction(0)) + Fraction(amount, port_rate[port])
    return load, [1 / max(Fraction(1), *(load[port] for port in path)) for path in paths]
