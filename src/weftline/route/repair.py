"""Tables for what is left of a fabric: columns that a lost link spoils are filled again, the others stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, NIL, U8, count_values, rank_values
from weftline.kernels.repair import list_changes, mark_touched, repair_columns
from weftline.kernels.sheet import Sheet, share
from weftline.kernels.threads import run_parts, split_range
from weftline.model.fabric import Fabric
from weftline.model.routes import GroupTable, Routes, no_route, vary_rows
from weftline.route.canonical import arrange_edges, fill_in_order, find_rows, match_goals, put_in_order
from weftline.route.graph import (
    Destinations,
    PortGroups,
    SwitchGraph,
    Whole,
    count_to_ptr,
    list_port_groups,
    read_destinations,
    read_graph,
)
from weftline.route.names import find_roots
from weftline.route.order import Order, order_switches
from weftline.route.updown import route_updown
from weftline.route.ways import Ways, measure, refill

GUARANTEE = (
    "What is repaired goes up and then down in the order of the whole fabric, and what a lost link did not touch stays."
)
ROOM = 1 << 16
"""Changed entries that there is room for at first."""
LEAST_HOMES = 4
"""Homes that are worth a thread."""
ANEW = "The order of the whole fabric leaves pairs apart, so all tables are computed anew in an order of what is left."


@dataclass(frozen=True, eq=False)
class Standing:
    """A declared fabric and its routes, prepared for repairs."""

    fabric: Fabric
    routes: Routes
    goals: Destinations
    groups: PortGroups
    placed: Order
    roots: I32
    place: I32 | None
    """Place of each switch row in the canonical order, by which ties are broken; None where rows stand in it."""
    is_quick: bool = False
    """Whether many repairs are to come, so that ways are measured once (`ways`), at the cost of a few of them."""

    @cached_property
    def sheet(self) -> Sheet[Any]:
        """Where the tables of a repair are copied from."""
        return share(self.routes.group)

    @cached_property
    def ways(self) -> Ways | None:
        """How far every switch is from each home; None where that is not to be known."""
        return measure(self) if self.is_quick else None


@dataclass(frozen=True, eq=False)
class Repair:
    """The tables for what is left of a fabric."""

    fabric: Fabric
    """What is left; its components are those that cables still make."""
    routes: Routes
    touched: I32
    """Destinations whose column was filled again."""
    is_anew: bool
    """Whether all columns were computed anew, in another order."""
    changed_row: I32
    """Rows of the entries that may differ from the declared ones, with their destinations, ordered by these."""
    changed_goal: I32


def prepare_repair(fabric: Fabric, routes: Routes, roots: tuple[str, ...] = (), *, is_quick: bool = False) -> Standing:
    """Prepare the routes of a whole fabric for repairs; ``is_quick`` where many are to come.

    Raises:
        CapabilityError: ``capability.repair-groups`` where an entry names several ports.
    """
    groups = list_port_groups(fabric)
    same = all(
        np.array_equal(a, b)
        for a, b in (
            (groups.group_ptr, routes.group_ptr),
            (groups.member_ptr, routes.member_ptr),
            (groups.member_port, routes.member_port),
        )
    )
    if not same:
        raise CapabilityError(
            "capability.repair-groups",
            f"the tables of engine {routes.engine} name sets of ports, and only tables of single ports are repaired",
            "choose engine fat-tree or updown",
        )
    goals = read_destinations(fabric, to_switches=bool(np.any(routes.destination_port == NIL)), paths=routes.paths)
    rows = find_roots(fabric, roots)
    return Standing(fabric, routes, goals, groups, *_place_switches(fabric, goals, rows), is_quick)


def _place_switches(fabric: Fabric, goals: Destinations, roots: I32) -> tuple[Order, I32, I32 | None]:
    """Place switches as the engines did, who see them in the canonical order of nodes; returns also the roots."""
    graph, canon = read_graph(fabric), put_in_order(fabric)
    if canon is None:
        return order_switches(graph, goals, roots), roots, None
    moved = canon.fabric
    here = read_destinations(moved, to_switches=bool(np.any(goals.port == NIL)), paths=goals.paths)
    placed = order_switches(read_graph(moved), here, find_rows(fabric, canon, roots))
    place = find_rows(fabric, canon, np.arange(len(fabric.switch_node), dtype=np.int32))
    order = placed.order[place]
    placed = replace(
        placed,
        order=order,
        # components are numbered by their first row, so they come in another order here
        sequence=np.lexsort((order, graph.component)).astype(np.int32),
        component_ptr=count_to_ptr(graph.component, len(placed.component_ptr) - 1),
        divisor=placed.divisor[place],
        slots=placed.slots[place],
        edge_slot=np.zeros(0, dtype=np.int32),
        ordinal=placed.ordinal[match_goals(canon, (goals, here))],
    )
    return placed, roots, place


def cut_fabric(fabric: Fabric, lost: I32) -> Fabric:
    """Take the links of the ports ``lost`` out; components become those that cables still make of the declared ones."""
    return _cut(fabric, lost)[0]


def _cut(fabric: Fabric, lost: I32) -> tuple[Fabric, SwitchGraph]:
    """Take links out; the graph of what is left, too."""
    peer = fabric.port_peer.copy()
    ends = lost[peer[lost] != NIL]
    peer[peer[ends]] = NIL
    peer[ends] = NIL
    cut = replace(fabric, port_peer=peer)
    graph = read_graph(cut)
    at = np.where(fabric.switch_row[fabric.port_node] != NIL, fabric.port_node, NIL)
    lit = peer != NIL
    at[lit & (at == NIL)] = fabric.port_node[peer[lit & (at == NIL)]]
    row = np.where(at == NIL, NIL, fabric.switch_row[at])
    part = np.where(row == NIL, NIL, graph.component[np.maximum(row, 0)] if len(graph.component) else NIL)
    pairs = fabric.port_component.astype(np.int64) * (len(graph.component) + 1) + part + 1
    port_component = rank_values(pairs)
    # a switch stands in the component of its ports; a declared switch without ports keeps its own
    node_component = fabric.node_component.copy()
    first = fabric.port_ptr[fabric.switch_node]
    has_ports = np.diff(fabric.port_ptr)[fabric.switch_node] > 0
    node_component[fabric.switch_node[has_ports]] = port_component[first[has_ports]]
    return replace(cut, node_component=node_component, port_component=port_component), graph


def repair_routes(standing: Standing, lost: I32, wrong: I32 | None = None) -> Repair:
    """Repair the declared routes for the loss of the links at the ports ``lost``; the same whatever went before.

    A column stays as declared unless it leads over a lost link between switches of the component of its home. What is
    filled again keeps each entry that still leads on. A destination that is dark keeps its way to its switch, so that
    nothing changes when it returns. Where the declared order leaves a pair apart that cables join, everything is
    computed anew for what is left. No entry leads over a port of ``wrong``, behind which stands something else than
    declared; its link counts as lost.
    """
    fabric = standing.fabric
    wrong = np.zeros(0, dtype=np.int32) if wrong is None else wrong
    ends = np.unique(np.concatenate((lost, wrong))).astype(np.int32)
    ends = ends[fabric.port_peer[ends] != NIL]
    ends = np.unique(np.concatenate((ends, fabric.port_peer[ends]))).astype(np.int32)
    cut, graph = _cut(fabric, ends)
    graph = arrange_edges(graph, standing.place)
    table = standing.sheet.fork()
    ports = _list_lost(standing, ends)
    touched = _find_touched(standing, graph, ports)
    slow, row, goal = touched, ends[:0], ends[:0]
    if standing.ways is not None:
        slow, row, goal = refill(standing, standing.ways, graph, ports, touched, table)
    failed = _fill(standing, cut, graph, slow, table)
    if failed:
        table = _route_anew(standing, cut, graph)
        touched = slow = np.arange(table.shape[1], dtype=np.int32)
    both = np.unique(np.concatenate((wrong, fabric.port_peer[wrong]))) if len(wrong) else wrong
    closed = _close(standing, both, table)
    changed = _list_changed(standing.routes.group, table, slow, (row, goal), closed)
    routes = vary_rows(
        standing.routes,
        table,
        count_values(changed[0])[0].astype(np.int32),
        fabric_digest=cut.digest,
        guarantee=ANEW if failed else GUARANTEE if len(ends) else standing.routes.guarantee,
    )
    return Repair(cut, routes, touched, bool(failed), *changed)


def _list_lost(standing: Standing, ends: I32) -> tuple[I32, I32]:
    """List the rows and groups of the lost ports of switches towards switches."""
    fabric = standing.fabric
    of_switch = (standing.groups.of_port[ends] != NIL) & (
        fabric.switch_row[fabric.port_node[fabric.port_peer[ends]]] != NIL
    )
    ports = ends[of_switch]
    return fabric.switch_row[fabric.port_node[ports]], standing.groups.of_port[ports]


def _find_touched(standing: Standing, graph: SwitchGraph, lost: tuple[I32, I32]) -> I32:
    """List the destinations whose declared column leads over a lost port towards a switch."""
    marks = mark_touched(standing.routes.group, *lost, standing.goals.home, graph.component)
    return np.flatnonzero(marks).astype(np.int32)


def _list_changed(
    before: GroupTable, after: GroupTable, columns: I32, known: tuple[I32, I32], closed: I32
) -> tuple[I32, I32]:
    """List the entries that may differ: those known, those of some columns that do, and those of rows that closed."""
    room = ROOM
    row, goal = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    found = list_changes(before, after, columns, row, goal)
    if found > room:
        row, goal = np.empty(found, dtype=np.int32), np.empty(found, dtype=np.int32)
        list_changes(before, after, columns, row, goal)
    rows, goals = [known[0], row[:found]], [known[1], goal[:found]]
    for row in closed.tolist():
        goal = np.flatnonzero(before[row] != after[row]).astype(np.int32)
        rows.append(np.full(len(goal), row, dtype=np.int32))
        goals.append(goal)
    row, goal = np.concatenate(rows), np.concatenate(goals)
    cells = np.unique(goal.astype(np.int64) * len(before) + row)
    return (cells % max(len(before), 1)).astype(np.int32), (cells // max(len(before), 1)).astype(np.int32)


def _fill(standing: Standing, cut: Fabric, graph: SwitchGraph, touched: I32, table: GroupTable) -> int:
    """Fill the touched columns; returns how many pairs that cables join found no legal way."""
    if not len(touched):
        return 0
    goals, placed, groups = standing.goals, standing.placed, standing.groups
    rows = graph.switch_count
    home, inverse = np.unique(goals.home[touched], return_inverse=True)
    inverse = inverse.reshape(-1)
    sequence = np.lexsort((placed.order, graph.component)).astype(np.int32)
    row = cut.switch_row[cut.port_node]
    peer = cut.port_peer[groups.member_port]
    group_row = np.where(peer == NIL, NIL, row[np.maximum(peer, 0)]).astype(np.int32)
    live, sender = find_live(standing, cut)
    goal_ptr = count_to_ptr(inverse, len(home))
    goal = touched[np.argsort(inverse, kind="stable")].astype(np.int32)
    part_ptr = count_to_ptr(graph.component, int(graph.component.max(initial=-1)) + 1 if rows else 0)
    of_link, home = groups.of_port[graph.link_port], home.astype(np.int32)

    def fill(begin: int, end: int) -> int:
        return repair_columns(
            home[begin:end], goal_ptr[begin : end + 1], goal, live, sender, placed.ordinal, placed.divisor,
            placed.slots, graph.component, part_ptr, sequence, placed.order, graph.edge_ptr, graph.edge_row,
            graph.link_ptr, of_link, groups.group_ptr, group_row, no_route(table), table,
        )  # fmt: skip

    return sum(run_parts(split_range(len(home), LEAST_HOMES), fill))


def find_live(standing: Standing, cut: Fabric) -> tuple[U8, U8]:
    """Mark the destinations that are lit endpoints of what is left, and the switches that hold one."""
    port = standing.goals.port
    is_live = (port != NIL) & (cut.port_peer[np.maximum(port, 0)] != NIL) & (standing.goals.home != NIL)
    sender = np.zeros(len(cut.switch_node), dtype=np.uint8)
    sender[standing.goals.home[is_live]] = 1
    return is_live.astype(np.uint8), sender


def _route_anew(standing: Standing, cut: Fabric, graph: SwitchGraph) -> GroupTable:
    """Compute all tables for what is left, and name their ports by the groups of the whole fabric."""
    goals = read_destinations(cut, to_switches=bool(np.any(standing.goals.port == NIL)), paths=standing.goals.paths)
    roots: Whole = standing.roots
    made = fill_in_order(cut, goals, roots.astype(np.int32), route_updown)
    table = np.full_like(standing.routes.group, no_route(standing.routes.group))
    for row in range(graph.switch_count):
        entry = made.group[row].astype(np.int64)
        first, last = int(made.group_ptr[row]), int(made.group_ptr[row + 1])
        is_port = entry < last - first
        ports = made.member_port[made.member_ptr[first:last]]
        table[row, is_port] = standing.groups.of_port[ports[entry[is_port]]]
        is_own = entry == no_route(made.group) - 1
        table[row, is_own] = no_route(table) - 1
    return table


def _close(standing: Standing, wrong: Whole, table: GroupTable) -> I32:
    """Let no entry lead to a port behind which something else stands than declared; returns the rows of such ports."""
    rows: set[int] = set()
    for port in wrong.tolist():
        group = int(standing.groups.of_port[port])
        if group != NIL:
            row = int(standing.fabric.switch_row[standing.fabric.port_node[port]])
            table[row, table[row] == group] = no_route(table)
            rows.add(row)
    return np.array(sorted(rows), dtype=np.int32)
