"""Engines updown and ecmp: every path goes up and then down in one total order of switches."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import F64, I32, NIL
from weftline.kernels.updown import collect_sets, fill_updown, spread_choice
from weftline.model.fabric import Fabric
from weftline.route.graph import Destinations, SwitchGraph, count_to_ptr, list_port_groups
from weftline.route.order import order_switches
from weftline.route.rates import has_mixed_rates, pick_lighter, read_rates
from weftline.route.sets import NO_SET, append_deliveries, list_homes
from weftline.route.table import MOST_GROUPS, Tables, deliver, empty_table


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
    choice = np.full((graph.switch_count, len(home)), NO_SET, dtype=np.uint16)
    set_row, set_number, set_ptr, set_port = collect_sets(
        home,
        graph.component,
        placed.component_ptr,
        placed.sequence,
        placed.order,
        graph.edge_ptr,
        graph.edge_row,
        graph.link_ptr,
        graph.link_port,
        MOST_GROUPS,
        choice,
    )
    groups = append_deliveries(fabric, goals, (set_row, set_number, set_ptr, set_port))
    table = empty_table(fabric, goals, int(np.diff(groups.group_ptr).max(initial=0)))
    spread_choice(choice, home_of, home, deliver(groups, goals, table), NO_SET, table)
    return Tables(table, groups.group_ptr, groups.member_ptr, groups.member_port)
