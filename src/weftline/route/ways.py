"""Legal ways to every home, measured once, so that a lost link costs only the entries that led over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import I32, NIL, U8
from weftline.kernels.repair import FAR, find_shaken, find_steady, measure_ways, refill_entries
from weftline.kernels.threads import run_parts, split_range
from weftline.model.routes import GroupTable, no_route
from weftline.route.graph import SwitchGraph, read_graph, sort_by_key

if TYPE_CHECKING:
    from weftline.model.fabric import Fabric
    from weftline.route.repair import Standing

LEAST_HOMES = 64
"""Homes that are worth a thread."""


@dataclass(frozen=True, eq=False)
class Ways:
    """How far every switch is from each of H homes by the declared order, and which columns are just that."""

    component: I32
    home: I32
    home_of: I32
    """Index into ``home`` per destination, NIL where it has none."""
    hops: U8
    fallen: U8
    is_plain: NDArray[np.bool_]
    """Per destination: every entry leads on, and every switch with endpoints has one."""


def measure(standing: Standing) -> Ways | None:
    """Measure the ways of the whole fabric, on all cores; None where some are longer than a byte can say."""
    graph = read_graph(standing.fabric)
    goals, placed, groups = standing.goals, standing.placed, standing.groups
    reached = np.flatnonzero(goals.home != NIL).astype(np.int32)
    home, inverse = np.unique(goals.home[reached], return_inverse=True)
    home, home_of = home.astype(np.int32), np.full(len(goals.home), NIL, dtype=np.int32)
    home_of[reached] = inverse
    goal_ptr, goal = sort_by_key(home_of[reached], reached, len(home))
    hops = np.empty((len(home), graph.switch_count), dtype=np.uint8)
    fallen = np.empty_like(hops)
    steady = np.zeros(len(goals.home), dtype=np.uint8)
    fabric, table = standing.fabric, standing.routes.group
    group_row = fabric.switch_row[fabric.port_node[fabric.port_peer[groups.member_port]]].astype(np.int32)

    def work(begin: int, end: int) -> int:
        beyond = measure_ways(
            begin, end, home, graph.component, placed.component_ptr, placed.sequence, placed.order, graph.edge_ptr,
            graph.edge_row, hops, fallen,
        )  # fmt: skip
        find_steady(
            begin, end, home, goal_ptr, goal, hops, fallen, placed.order, table, groups.group_ptr, group_row,
            no_route(table), steady,
        )  # fmt: skip
        return beyond

    if sum(run_parts(split_range(len(home), LEAST_HOMES), work)):
        return None
    sends = np.zeros(graph.switch_count, dtype=bool)
    sends[goals.home[(goals.home != NIL) & (goals.port != NIL)]] = True
    own = graph.component[home][:, None] == graph.component[None, sends]
    has_gap = np.any((hops[:, sends] == FAR) & own, axis=1)
    is_plain = steady.astype(bool)
    is_plain[reached] &= ~has_gap[home_of[reached]]
    return Ways(graph.component, home, home_of, hops, fallen, is_plain)


def refill(
    standing: Standing, ways: Ways, graph: SwitchGraph, lost: tuple[I32, I32], touched: I32, table: GroupTable
) -> tuple[I32, I32, I32]:
    """Fill entries of the touched columns that led over the ports ``lost`` (rows and groups of them).

    Returns the touched columns that need more, as some switch is further away than before, or all where the fabric
    fell apart; and the rows and destinations of the entries that were filled.
    """
    nothing = np.zeros(0, dtype=np.int32)
    if not np.array_equal(graph.component, ways.component):
        return touched, nothing, nothing
    placed = standing.placed
    dead = _list_dead(standing.fabric, graph, lost)
    shaken = find_shaken(*dead, ways.hops, ways.fallen, placed.order, graph.edge_ptr, graph.edge_row)
    is_quick = ways.is_plain[touched] & (shaken[ways.home_of[touched]] == 0)
    wanted = np.zeros(table.shape[1], dtype=bool)
    wanted[touched[is_quick]] = True
    rows: list[I32] = []
    goals: list[I32] = []
    for row, group in zip(*(column.tolist() for column in lost), strict=True):
        found = np.flatnonzero((standing.routes.group[row] == group) & wanted).astype(np.int32)
        found = found[graph.component[ways.home[ways.home_of[found]]] == graph.component[row]]
        rows.append(np.full(len(found), row, dtype=np.int32))
        goals.append(found)
    row = np.concatenate(rows) if rows else nothing
    goal = np.concatenate(goals) if goals else nothing
    refill_entries(
        row, goal, ways.home_of, placed.ordinal, placed.divisor, placed.slots, ways.hops, ways.fallen, placed.order,
        graph.edge_ptr, graph.edge_row, graph.link_ptr, standing.groups.of_port[graph.link_port], no_route(table),
        table,
    )  # fmt: skip
    return touched[~is_quick], row, goal


def _list_dead(fabric: Fabric, graph: SwitchGraph, lost: tuple[I32, I32]) -> tuple[I32, I32]:
    """List the pairs of switches that lost links joined and that no link joins any more."""
    rows, groups = lost
    declared = fabric.port_peer
    lit = np.flatnonzero((fabric.switch_row[fabric.port_node] != NIL) & (declared != NIL))
    start = np.searchsorted(fabric.switch_row[fabric.port_node[lit]], rows)
    other = fabric.switch_row[fabric.port_node[declared[lit[start + groups]]]]
    dead = [
        (row, to)
        for row, to in sorted(set(zip(rows.tolist(), other.tolist(), strict=True)))
        if row != to and to not in graph.edge_row[graph.edge_ptr[row] : graph.edge_ptr[row + 1]]
    ]
    return np.array([row for row, _ in dead], dtype=np.int32), np.array([to for _, to in dead], dtype=np.int32)
