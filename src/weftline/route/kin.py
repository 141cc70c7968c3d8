"""Kin: the switches of one order that have the same upper neighbours, so that each kin is climbed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.kernels.ways import share_sets
from weftline.route.graph import SwitchGraph, count_to_ptr


@dataclass(frozen=True, eq=False)
class Kin:
    """The edges that rise, per row, and the rows that share their upper ends."""

    up_ptr: I32
    up_row: I32
    up_edge: I32
    """The rising edges of each row, ascending, and their upper ends."""
    up_back: I32
    """The edge from the upper end back."""
    part: I32
    """Where the kin of each component begin, upper ones first."""
    of: I32
    """Kin per row; NIL where a row has no upper neighbour."""
    ptr: I32
    row: I32
    """The upper neighbours of each kin, ascending."""


def find_kin(graph: SwitchGraph, sequence: I32, order: I32, components: int) -> Kin:
    """Find the kin of an order of switches; O(edges log edges)."""
    rows = graph.switch_count
    edges = np.arange(len(graph.edge_row), dtype=np.int32)
    low = np.repeat(np.arange(rows, dtype=np.int32), np.diff(graph.edge_ptr))
    back = np.empty_like(edges)
    # edges stand by their two ends; turned round, each takes the place of the one back
    back[np.lexsort((low, graph.edge_row))] = edges
    rising = edges[order[graph.edge_row] < order[low]]
    up_ptr, up_row = count_to_ptr(low[rising], rows), graph.edge_row[rising]
    sizes = np.diff(up_ptr)[sequence]
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    inside = np.arange(int(ptr[-1])) - np.repeat(ptr[:-1], sizes)
    number, kin_ptr, kin_row = share_sets(ptr, up_row[np.repeat(up_ptr[sequence], sizes) + inside])
    of = np.empty(rows, dtype=np.int32)
    of[sequence] = number
    part = count_to_ptr(graph.component[kin_row[kin_ptr[:-1]]], components)
    return Kin(up_ptr, up_row, rising, back[rising], part, of, kin_ptr, kin_row)


def list_runs(kin: Kin, home: I32) -> I32:
    """Find where homes begin that are of another kin than the one before, or that have switches below; and the end."""
    of = kin.of[home].astype(np.int64)
    is_upper = np.zeros(len(kin.of), dtype=bool)
    is_upper[kin.row] = True
    alone = is_upper[home] | (of == NIL)
    of[alone] = len(kin.ptr) + np.flatnonzero(alone)
    return np.append(np.flatnonzero(np.diff(of, prepend=NIL)), len(home)).astype(np.int32)
