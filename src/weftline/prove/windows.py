"""Every shift at once: what a link can carry at most, by the run of its sources and the places of its destinations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weftline.kernels.channels import list_dependencies
from weftline.kernels.column import F64, I32, NIL
from weftline.kernels.cycles import rank_channels
from weftline.kernels.threads import run_parts, split_range
from weftline.kernels.windows import MOST, count_windows, spread_sources
from weftline.model.fabric import Fabric
from weftline.prove.deadlock import MAX_TURN_BYTES, WORD_BYTES, gather_turns, place_turns
from weftline.prove.tables import Tables

LEAST_ROWS = 256
"""Rows that are worth a thread."""
ARGUMENT = (
    "a link carries no more flows than the most of its destinations that a run as long as that of its sources can "
    "hold, for every shift sends a run of endpoints to a run"
)


@dataclass(frozen=True, eq=False)
class Shifted:
    """The endpoints that shift: their ports, destinations and places, by component."""

    component_ptr: I32
    port: I32
    target: I32


def bound_shifts(fabric: Fabric, tables: Tables, crowd: Shifted) -> F64 | None:
    """Bound the load of every port over all shifts, relative to ``1`` flow of the highest rate; None where unknown.

    In a shift the endpoints of a run (places from a to b) send to a run of the same length. So of the flows over a
    link, at most as many run at once as its destinations have places within one window as long as the run that holds
    all its sources; the run follows from which channel waits on which. Needs one port per entry, delivered flows and
    channels without a cycle. Infinite where the bound is not told apart from many.
    """
    turn_ptr = place_turns(tables)
    if not tables.is_single or turn_ptr[-1] * WORD_BYTES > MAX_TURN_BYTES:
        return None
    tables = replace(tables, same_as=np.arange(len(tables.same_as), dtype=np.int32))
    column = tables.columns
    reached = np.zeros((len(tables.group), -(-len(column) // 64)), dtype=np.uint64)
    turn = gather_turns(tables, turn_ptr, reached)
    ptr, after = list_dependencies(
        turn, turn_ptr, fabric.port_ptr, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row,
        fabric.switch_node, fabric.port_count,
    )  # fmt: skip
    rank, behind = rank_channels(ptr, after)
    place, around, runs = _find_runs(tables, crowd)
    if behind or runs is None:
        return None
    low = np.empty(fabric.port_count, dtype=np.int32)
    high = np.empty(fabric.port_count, dtype=np.int32)
    spread_sources(ptr, after, rank, fabric.switch_row[fabric.port_node], *runs, low, high)
    width = np.maximum(high - low + 1, 0).astype(np.int32)
    most = np.zeros(fabric.port_count, dtype=np.int32)
    most[crowd.port] = 1

    def count(first: int, last: int) -> None:
        count_windows(
            first, last, tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, fabric.switch_node,
            fabric.port_ptr, column, reached, place, around, width, most,
        )  # fmt: skip

    run_parts(split_range(len(tables.group), LEAST_ROWS), count)
    return np.where(most >= MOST, np.inf, most.astype(np.float64))


def _find_runs(tables: Tables, crowd: Shifted) -> tuple[I32, I32, tuple[I32, I32] | None]:
    """Find the place of each destination, how many places there are, and the run of places at each switch.

    No runs where one switch holds endpoints of several components, whose places mean different things.
    """
    sizes = np.diff(crowd.component_ptr)
    place = np.full(len(tables.target_port), NIL, dtype=np.int32)
    around = np.zeros(len(tables.target_port), dtype=np.int32)
    inside = (np.arange(len(crowd.port)) - np.repeat(crowd.component_ptr[:-1], sizes)).astype(np.int32)
    place[crowd.target] = inside
    around[crowd.target] = np.repeat(sizes, sizes)
    row = tables.port_row[crowd.port]
    held = row != NIL
    low = np.full(len(tables.group), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(len(tables.group), NIL, dtype=np.int32)
    np.minimum.at(low, row[held], inside[held])
    np.maximum.at(high, row[held], inside[held])
    component = np.repeat(np.arange(len(sizes)), sizes)
    pairs = np.unique(row[held].astype(np.int64) * max(len(sizes), 1) + component[held])
    one_each = len(np.unique(pairs // max(len(sizes), 1))) == len(pairs)
    return place, around, (low, high) if one_each else None
