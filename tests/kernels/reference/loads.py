"""Loads, told slowly: each flow is led on its own, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tests.kernels.reference.reach import members

Array = np.ndarray[Any, Any]
NIL = -1


def shift_flows(shift: int, component_ptr: Array) -> list[tuple[int, int]]:
    flows: list[tuple[int, int]] = []
    for begin, end in zip(component_ptr[:-1].tolist(), component_ptr[1:].tolist(), strict=True):
        mine = list(range(begin, end))
        turned = [mine[(i + shift) % len(mine)] for i in range(len(mine))]
        if turned != mine:
            flows += zip(mine, turned, strict=True)
    return flows


def lead(
    row: int, d: int, amount: Fraction, load: dict[int, Fraction], tables: tuple[Any, ...], seen: tuple[int, ...] = ()
) -> bool:
    """Lead a flow on from a switch, split equally at each; False where some of it is not delivered."""
    group, group_ptr, member_ptr, member_port, next_row, next_port, target_port = tables
    if row in seen:
        return False
    mine = members(row, d, group, group_ptr, member_ptr)
    arrived = bool(mine)
    for member in mine:
        if next_port[member] == NIL:
            arrived = False
            continue
        port = int(member_port[member])
        load[port] = load.get(port, Fraction(0)) + amount / len(mine)
        if next_port[member] == target_port[d]:
            continue
        step = int(next_row[member])
        if step < 0 or not lead(step, d, amount / len(mine), load, tables, (*seen, row)):
            arrived = False
    return arrived


def add_flows(
    flows: list[tuple[int, int, Fraction]], source_row: Array, port_peer: Array, tables: tuple[Any, ...]
) -> tuple[dict[int, Fraction], int]:
    """Lead flows (source port, destination, rate); a flow that is lost loads its own link alone."""
    load: dict[int, Fraction] = {}
    lost = 0
    for port, d, rate in flows:
        load[port] = load.get(port, Fraction(0)) + rate
        own: dict[int, Fraction] = {}
        if source_row[port] == NIL:
            arrived = port_peer[port] == tables[-1][d]
        else:
            arrived = lead(int(source_row[port]), d, rate, own, tables)
        if not arrived:
            lost += 1
            continue
        for used, amount in own.items():
            load[used] = load.get(used, Fraction(0)) + amount
    return load, lost


def find_worst(load: Array, port_rate: Array) -> tuple[float, int]:
    relative = [float(a / b) for a, b in zip(load, port_rate, strict=True)]
    worst = max(relative, default=0.0)
    return (worst, relative.index(worst)) if worst > 0 else (0.0, NIL)
