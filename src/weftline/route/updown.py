"""Engines updown and ecmp: every path goes up and then down in one total order of switches."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import F64, I32, NIL
from weftline.kernels.kin import name_sets, number_sets, spell_sets
from weftline.kernels.updown import fill_updown
from weftline.model.fabric import Fabric
from weftline.route.graph import Destinations, SwitchGraph, count_to_ptr, list_port_groups
from weftline.route.kin import find_kin, list_runs
from weftline.route.order import order_switches
from weftline.route.rates import has_mixed_rates, pick_lighter, read_rates
from weftline.route.sets import append_deliveries, fill_choice, list_homes
from weftline.route.table import Tables, deliver, empty_table


def route_updown(fabric: Fabric, graph: SwitchGraph, goals: Destinations, roots: I32) -> Tables:
    """Route any graph with one port per entry: the shortest legal way, ties spread by destination.

    Where links of one pair of tiers differ, each gets destinations in proportion to its rate, unless that loads some
    link higher for its rate than equal shares do.
    """
    equal = fill_ways(fabric, graph, goals, roots, None)
    if not has_mixed_rates(fabric, graph):
        return equal
    shared = fill_ways(fabric, graph, goals, roots, read_rates(fabric, graph))
    return pick_lighter(fabric, goals, shared, equal)


def fill_ways(fabric: Fabric, graph: SwitchGraph, goals: Destinations, roots: I32, rate: F64 | None) -> Tables:
    """Fill tables of one port per entry; ``rate`` is that of every link of the graph, None where all count alike."""
    groups = list_port_groups(fabric)
    placed = order_switches(graph, goals, roots, rate)
    table = empty_table(fabric, goals, int(np.diff(groups.group_ptr).max(initial=0)))
    home, home_of = list_homes(goals)
    reached = np.flatnonzero(home_of != NIL)
    fill_updown(
        home,
        count_to_ptr(home_of[reached], len(home)),
        reached[np.argsort(home_of[reached], kind="stable")].astype(np.int32),
        placed.ordinal,
        deliver(groups, goals, table),
        placed.divisor,
        placed.slots,
        placed.edge_slot,
        graph.component,
        placed.component_ptr,
        placed.sequence,
        placed.order,
        graph.edge_ptr,
        graph.edge_row,
        graph.link_ptr,
        groups.of_port[graph.link_port],
        np.zeros(0) if rate is None else rate,
        table,
    )
    return Tables(table, groups.group_ptr, groups.member_ptr, groups.member_port)


def route_ecmp(fabric: Fabric, graph: SwitchGraph, goals: Destinations, roots: I32) -> Tables:
    """Route any graph with all shortest legal ports per entry, each set of ports once per switch."""
    placed = order_switches(graph, goals, roots)
    home, home_of = list_homes(goals)
    kin = find_kin(graph, placed.sequence, placed.order, len(placed.component_ptr) - 1)
    choice = np.full((graph.switch_count, len(home)), NIL, dtype=np.int32)
    list_ptr, list_item = name_sets(
        home,
        list_runs(kin, home),
        graph.component,
        placed.component_ptr,
        placed.sequence,
        graph.edge_ptr,
        kin.up_ptr,
        kin.up_row,
        kin.up_back,
        kin.part,
        kin.of,
        kin.ptr,
        kin.row,
        choice,
    )
    symbols = len(graph.edge_row) + len(kin.ptr) - 1 + len(list_ptr) - 1
    row_ptr, symbol = number_sets(symbols, choice)
    row = np.repeat(np.arange(graph.switch_count, dtype=np.int32), np.diff(row_ptr))
    number = np.arange(len(row), dtype=np.int32) - row_ptr[row]
    spelt = spell_sets(
        row, symbol, list_ptr, list_item, kin.up_ptr, kin.up_edge, kin.of, kin.ptr, len(kin.row), graph.link_ptr,
        graph.link_port,
    )  # fmt: skip
    groups = append_deliveries(fabric, goals, (row, number, *spelt))
    return fill_choice(fabric, goals, choice, (home, home_of), groups)
