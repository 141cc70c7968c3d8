"""Sets of ports per switch and home, numbered once per switch, and the tables that they make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.kernels.kin import spread_choice
from weftline.kernels.threads import run_parts, split_range
from weftline.kernels.ways import pick_ways, share_sets
from weftline.model.fabric import Fabric
from weftline.model.routes import no_route
from weftline.route.graph import Destinations, PortGroups, count_to_ptr, list_port_groups, rank_within, sort_by_key
from weftline.route.table import Tables, blank_table, deliver, empty_table

LEAST_ROWS = 64
"""Rows that are worth a thread."""

Ways = Callable[[int], tuple[I32, I32]]
"""The ports by which a switch row leads to each home: a CSR over the homes."""


def list_homes(goals: Destinations) -> tuple[I32, I32]:
    """List the switches that have destinations, and the place of each destination's home in that list."""
    reached = goals.home != NIL
    home, inverse = np.unique(goals.home[reached], return_inverse=True)
    home_of = np.full(len(goals.home), NIL, dtype=np.int32)
    home_of[reached] = inverse
    return home.astype(np.int32), home_of


def fill_sets(fabric: Fabric, goals: Destinations, ways: Ways) -> Tables:
    """Fill tables whose entries name all ports of the ways, each set of ports once per switch."""
    home, home_of = list_homes(goals)
    switches = len(fabric.switch_node)
    choice = np.empty((switches, len(home)), dtype=np.int32)
    counts, sizes, ports = np.zeros(switches, dtype=np.int64), list[I32](), list[I32]()
    for row in range(switches):
        ptr, port = ways(row)
        number, set_ptr, set_port = share_sets(ptr, port)
        choice[row] = number
        counts[row] = len(set_ptr) - 1
        sizes.append(np.diff(set_ptr).astype(np.int32))
        ports.append(set_port)
    row_of = np.repeat(np.arange(switches), counts).astype(np.int32)
    number_of = (np.arange(len(row_of)) - np.repeat(np.cumsum(counts) - counts, counts)).astype(np.int32)
    set_ptr = np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int32)
    groups = append_deliveries(fabric, goals, (row_of, number_of, set_ptr, np.concatenate(ports).astype(np.int32)))
    return fill_choice(fabric, goals, choice, (home, home_of), groups)


def fill_choice(fabric: Fabric, goals: Destinations, choice: I32, homes: tuple[I32, I32], groups: PortGroups) -> Tables:
    """Fill tables with the set that each switch chose towards each home, on all cores; ``homes`` as listed."""
    home, home_of = homes
    table = blank_table(fabric, goals, int(np.diff(groups.group_ptr).max(initial=0)))
    run = np.append(np.flatnonzero(np.diff(home_of, prepend=-2)), len(home_of)).astype(np.int32)
    reached = np.flatnonzero(home_of != NIL)
    goal_ptr, goal_list = sort_by_key(home_of[reached], reached, len(home))
    own = deliver(groups, goals, table)

    def work(begin: int, end: int) -> None:
        spread_choice(begin, end, choice, run, home_of, home, goal_ptr, goal_list, own, no_route(table), table)

    run_parts(split_range(len(choice), LEAST_ROWS), work)
    return Tables(table, groups.group_ptr, groups.member_ptr, groups.member_port)


def fill_picks(fabric: Fabric, goals: Destinations, ways: Ways, ordinal: I32, divisor: I32) -> Tables:
    """Fill tables of one port per entry: of the ways, ``ordinal[destination] // divisor[row]`` counts off one."""
    groups = list_port_groups(fabric)
    table = empty_table(fabric, goals, int(np.diff(groups.group_ptr).max(initial=0)))
    home, home_of = list_homes(goals)
    own = deliver(groups, goals, table)
    for row in range(len(fabric.switch_node)):
        ptr, port = ways(row)
        pick_ways(row, ptr, port, home_of, home, own, ordinal, int(divisor[row]), groups.of_port, table[row])
    return Tables(table, groups.group_ptr, groups.member_ptr, groups.member_port)


def count_off(goals: Destinations, part: I32) -> I32:
    """Number the destinations within the part of their home (a column over rows), by home and port; paths apart."""
    known = np.flatnonzero(goals.home != NIL)
    ordinal = np.zeros(len(goals.home), dtype=np.int32)
    is_base = known[goals.path[known] == 0]
    ordinal[is_base] = rank_within(
        part[goals.home[is_base]], (goals.port[is_base] == NIL).astype(np.int32), goals.home[is_base],
        goals.home_port[is_base],
    )  # fmt: skip
    return (ordinal[goals.base] + goals.path).astype(np.int32)


def append_deliveries(fabric: Fabric, goals: Destinations, sets: tuple[I32, I32, I32, I32]) -> PortGroups:
    """Number, behind the sets of each switch, a group of one for each port that delivers."""
    set_row, set_number, set_ptr, set_port = sets
    switches = len(fabric.switch_node)
    ports = np.unique(goals.home_port[goals.home_port != NIL]).astype(np.int32)
    row = fabric.switch_row[fabric.port_node[ports]]
    own = np.bincount(set_row, minlength=switches)
    number = own[row] + rank_within(row, ports)
    of_port = np.full(fabric.port_count, NIL, dtype=np.int32)
    of_port[ports] = number
    all_rows = np.concatenate((set_row, row))
    by_group = np.lexsort((np.concatenate((set_number, number)), all_rows))
    start = np.concatenate((set_ptr[:-1], len(set_port) + np.arange(len(ports))))[by_group]
    size = np.concatenate((np.diff(set_ptr), np.ones(len(ports), dtype=np.int32)))[by_group]
    member_ptr = np.concatenate(([0], np.cumsum(size))).astype(np.int32)
    inside = np.arange(int(member_ptr[-1])) - np.repeat(member_ptr[:-1], size)
    return PortGroups(
        group_ptr=count_to_ptr(all_rows, switches),
        member_ptr=member_ptr,
        member_port=np.concatenate((set_port, ports))[np.repeat(start, size) + inside],
        of_port=of_port,
    )
