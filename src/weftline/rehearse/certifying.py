"""The tables of the whole fabric held against the hops of every way: where these certify them, states go by parts."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import I32, NIL, U8
from weftline.kernels.columns import count_strays
from weftline.kernels.outage import count_odd_sets, list_ways
from weftline.rehearse.ground import Ways
from weftline.rehearse.whole import Plan
from weftline.route.canonical import arrange_edges
from weftline.route.graph import Destinations, SwitchGraph, count_to_ptr, read_destinations, read_graph
from weftline.route.names import find_roots
from weftline.route.order import Order, order_switches

WEIGHTED = "weighted-ecmp"
MOST_HOPS = 200
"""Hops are single bytes in the kernels; longer ways are judged from scratch."""


def find_ways(plan: Plan) -> Ways | None:
    """Find the hops of every way and hold the tables against them; None where they certify nothing.

    Then no state can be judged by its parts, and each is judged from scratch.
    """
    fabric, routes = plan.fabric, plan.routes
    if routes.lanes is not None or not len(fabric.switch_node):
        return None
    if routes.engine == WEIGHTED:  # a lost link changes weights far from it
        return None
    graph = read_graph(fabric)
    if plan.standing is not None:
        graph = arrange_edges(read_graph(plan.standing.fabric), plan.standing.place)
    placed, goals = _place(plan, graph)
    home, home_of = _list_homes(goals)
    there = np.flatnonzero(home_of != NIL)
    rows = graph.switch_count
    hop = np.empty((len(home), rows), dtype=np.uint8)
    falls = np.empty((len(home), rows), dtype=np.uint8)
    quiet = np.zeros(max(1, len(graph.edge_row)), dtype=np.int32)
    most = list_ways(
        home, graph.component, placed.component_ptr, placed.sequence, placed.order, graph.edge_ptr, graph.edge_row,
        quiet, hop, falls, np.empty(rows, dtype=np.int32),
    )  # fmt: skip
    if most > MOST_HOPS:
        return None
    ways = _gather(plan, graph, placed, goals, (home, home_of, there.astype(np.int32), hop, falls))
    return ways if _certifies(plan, graph, ways) else None


def _place(plan: Plan, graph: SwitchGraph) -> tuple[Order, Destinations]:
    if plan.standing is not None:
        return plan.standing.placed, plan.standing.goals
    routes = plan.routes
    to_switches = bool(np.any(routes.destination_port == NIL))
    goals = read_destinations(plan.fabric, to_switches=to_switches, paths=routes.paths)
    return order_switches(graph, goals, find_roots(plan.fabric, plan.roots)), goals


def _list_homes(goals: Destinations) -> tuple[I32, I32]:
    home_of = np.full(len(goals.home), NIL, dtype=np.int32)
    there = goals.home != NIL
    home, inverse = np.unique(goals.home[there], return_inverse=True)
    home_of[there] = inverse.reshape(-1)
    return home.astype(np.int32), home_of


def _gather(
    plan: Plan, graph: SwitchGraph, placed: Order, goals: Destinations, found: tuple[I32, I32, I32, U8, U8]
) -> Ways:
    fabric, routes = plan.fabric, plan.routes
    home, home_of, there, hop, falls = found
    is_set = plan.standing is None
    port_edge = np.full(fabric.port_count, NIL, dtype=np.int32)
    port_edge[graph.link_port] = np.repeat(np.arange(len(graph.edge_row), dtype=np.int32), np.diff(graph.link_ptr))
    first = np.minimum(routes.member_ptr[:-1], max(0, len(routes.member_port) - 1))
    group_port = routes.member_port[first] if len(routes.member_port) else np.zeros(0, dtype=np.int32)
    group_of_port = np.full(fabric.port_count, NIL, dtype=np.int32)
    goal_group = np.full(len(goals.home), NIL, dtype=np.int32)
    if plan.standing is not None:
        group_of_port = plan.standing.groups.of_port
        local = int(np.iinfo(routes.group.dtype).max) - 1
        goal_group = np.where(goals.home_port == NIL, local, group_of_port[np.maximum(goals.home_port, 0)])
    ends = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    row = fabric.switch_row[fabric.port_node[fabric.port_peer[ends]]]
    return Ways(
        edge_ptr=graph.edge_ptr,
        edge_row=graph.edge_row,
        edge_from=np.repeat(np.arange(graph.switch_count, dtype=np.int32), np.diff(graph.edge_ptr)),
        link_ptr=graph.link_ptr,
        link_port=graph.link_port,
        component=graph.component,
        component_ptr=placed.component_ptr,
        sequence=placed.sequence,
        order=placed.order,
        divisor=placed.divisor,
        slots=placed.slots,
        ordinal=placed.ordinal,
        goal_home=goals.home,
        goal_port=goals.port,
        goal_home_port=goals.home_port,
        home=home,
        goal_ptr=count_to_ptr(home_of[there], len(home)),
        goal_list=there[np.argsort(home_of[there], kind="stable")].astype(np.int32),
        home_of=home_of,
        hop=hop,
        falls=falls,
        port_edge=port_edge,
        group_of_port=group_of_port,
        group_port=group_port,
        group_row=_find_next(plan, group_port),
        goal_group=goal_group.astype(np.int32),
        rests=np.bincount(row[row != NIL], minlength=graph.switch_count).astype(np.int32),
        is_set=is_set,
    )


def _find_next(plan: Plan, port: I32) -> I32:
    """Find the switch at the other end of each port; NIL where there is none."""
    peer = plan.fabric.port_peer[port]
    node = plan.fabric.port_node[np.maximum(peer, 0)]
    return np.where(peer == NIL, NIL, plan.fabric.switch_row[node]).astype(np.int32)


def _certifies(plan: Plan, graph: SwitchGraph, ways: Ways) -> bool:
    """Say whether every entry leads one hop nearer on a way that goes up and then down."""
    routes = plan.routes
    if not ways.is_set:
        return not count_strays(
            ways.home, ways.goal_ptr, ways.goal_list, ways.goal_group, graph.component, ways.order, ways.hop,
            ways.falls, routes.group_ptr, ways.group_row, routes.group,
        )  # fmt: skip
    # devices order what is left anew: by tiers, which no failure changes, or else not by parts
    rises = ways.order[graph.edge_row] < ways.order[ways.edge_from]
    if plan.roots or not np.array_equal(rises, graph.tier[graph.edge_row] > graph.tier[ways.edge_from]):
        return False
    if np.any(graph.tier[graph.edge_row] == graph.tier[ways.edge_from]):
        return False
    return not count_odd_sets(
        ways.home, ways.goal_ptr, ways.goal_list, ways.goal_home_port, graph.component, ways.order, graph.edge_ptr,
        graph.edge_row, graph.link_ptr, ways.hop, ways.falls, routes.group_ptr, routes.member_ptr, routes.member_port,
        _find_next(plan, routes.member_port), routes.group,
    )  # fmt: skip
