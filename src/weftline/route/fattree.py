"""Engine fat-tree: each destination owns one cable per tier, by its position under its leaf and its spine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.threads import run_parts, split_range
from weftline.kernels.trees import fill_tree
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.routes import GroupTable, no_route
from weftline.route.graph import (
    Destinations,
    PortGroups,
    SwitchGraph,
    list_port_groups,
    rank_within,
    sort_by_key,
)
from weftline.route.rates import has_mixed_rates, pick_lighter, read_rates
from weftline.route.table import Tables, blank_table, deliver
from weftline.route.tree import Trees, recover_trees
from weftline.route.updown import fill_ways

LEAST_ROWS = 512
"""Rows that are worth a thread."""
MIXED = (
    "Cables of a tier differ in rate, so destinations share them in proportion, and every path goes up and then down, "
    "so it is free of deadlock on one lane."
)


def route_fat_tree(fabric: Fabric, graph: SwitchGraph, goals: Destinations) -> Tables:
    """Route complete trees by destination-spread D-mod-K; raise ``capability.engine-needs-tree`` elsewhere.

    The destination at place ``p`` of the ``s`` places of a leaf is sent up by cable ``p * u // s`` of the ``u``
    uplinks of every leaf; under its spine its place is that of the cable it comes down by, and spines send up by the
    same rule. So a destination owns one cable per tier, and every shift loads a full 1:1 tree by one. The further
    addresses of a port come by other uplinks of the leaf, evenly apart. Endpoints on two different spines have no route
    to each other: it would go down and then up. E. Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift
    Permutations on Real Life Fat Trees", 2010. Where links of a tier differ in rate, cables are shared by rate
    as engine updown does, unless the position rule loads them less.
    """
    trees = recover_trees(fabric, graph)
    groups = list_port_groups(fabric)
    leaf_up, spine_down, spine_up, core_down = _choose_cables(fabric, trees, goals)
    table = blank_table(fabric, goals, int(np.diff(groups.group_ptr).max(initial=0)))
    _fill(trees, groups, goals, (leaf_up, spine_down, spine_up, core_down), table)
    owned = Tables(table, groups.group_ptr, groups.member_ptr, groups.member_port)
    if not has_mixed_rates(fabric, graph):
        return owned
    nowhere = np.zeros(0, dtype=np.int32)
    shared = fill_ways(fabric, graph, goals, nowhere, read_rates(fabric, graph))
    return pick_lighter(fabric, goals, replace(shared, guarantee=MIXED), owned)


def _fill(
    trees: Trees, groups: PortGroups, goals: Destinations, cables: tuple[I32, I32, I32, I32], table: GroupTable
) -> None:
    """Fill every row of the table, on all cores."""
    rows = len(trees.tree)
    pods = int(trees.pod.max(initial=0)) + 1
    pod = np.where(trees.pod == NIL, NIL, trees.tree * pods + trees.pod).astype(np.int32)
    reached = np.flatnonzero(goals.home != NIL)
    home = goals.home[reached]
    on_leaf = trees.level[home] == 0
    home_ptr, home_goal = sort_by_key(home, reached, rows)
    pod_ptr, pod_goal = sort_by_key(pod[home[on_leaf]], reached[on_leaf], int(pod.max(initial=0)) + 1)
    up, down = groups.of_port[trees.up_port], groups.of_port[trees.down_port]
    delivers = deliver(groups, goals, table)

    def fill(first: int, last: int) -> int:
        return fill_tree(
            first, last, trees.tree, trees.level, pod, trees.position, trees.up_ptr, up, trees.down_ptr, down,
            goals.home, delivers, *cables, home_ptr, home_goal, pod_ptr, pod_goal, no_route(table), table,
        )  # fmt: skip

    run_parts(split_range(rows, LEAST_ROWS), fill)


def _choose_cables(fabric: Fabric, trees: Trees, goals: Destinations) -> tuple[I32, I32, I32, I32]:
    """Choose the cables of every destination: leaf up, spine down, spine up, core down."""
    reached = np.flatnonzero(goals.home != NIL).astype(np.int32)
    home = goals.home[reached]
    tree, level = trees.tree[home], trees.level[home]
    place, places, path = *_find_places(fabric, trees, goals, reached), goals.path[reached]
    parallel, trunk = np.maximum(trees.leaf_parallel[tree], 1), np.maximum(trees.core_parallel[tree], 1)
    uplinks = _most_uplinks(trees, 0)[tree]
    spine_uplinks = _most_uplinks(trees, 1)[tree]
    on_leaf, on_core = level == 0, level == 2
    # Each path index alone is a rotation of the position rule, so it carries every shift as the base does.
    stride = np.maximum(uplinks // goals.paths, 1)
    leaf_up = np.where(
        on_leaf,
        (place * uplinks // places + path * stride) % np.maximum(uplinks, 1),
        trees.position[home] * parallel + (place + path) % parallel,
    )
    # Where a leaf has fewer uplinks than a port has addresses, the spines tell the rest apart.
    turns = np.where(on_leaf, path // np.maximum(uplinks, 1), path)
    spine_down = np.where(on_leaf, trees.index[home] * parallel + leaf_up % parallel, 0)
    spine_places = np.maximum(trees.pod_leaves[tree] * parallel, 1)
    spine_place = np.where(on_leaf, spine_down, spine_places + place)
    spine_up = np.where(
        on_core,
        trees.index[home] * trunk + (place + path) % trunk,
        (spine_place * spine_uplinks // spine_places + turns) % np.maximum(spine_uplinks, 1),
    )
    core_down = np.where(on_core, 0, trees.pod[home] * trunk + spine_up % trunk)
    columns: list[I32] = []
    for chosen in (leaf_up, spine_down, spine_up, core_down):
        column = np.zeros(len(goals.home), dtype=np.int32)
        column[reached] = chosen
        columns.append(column)
    return columns[0], columns[1], columns[2], columns[3]


def _find_places(fabric: Fabric, trees: Trees, goals: Destinations, reached: I32) -> tuple[I64, I64]:
    """Find each destination's place on its switch (hosts by port, then extras, then the switch), and the places.

    The places of a tree are the hosts of its fullest leaf. Switches count further by their row, so that they spread.
    """
    everything, reached = reached, reached[goals.path[reached] == 0]
    home, kind = goals.home[reached], fabric.node_kind[goals.node[reached]].astype(np.int32)
    place = rank_within(home, kind, goals.home_port[reached], reached).astype(np.int64)
    is_switch = kind == NodeKind.SWITCH
    place[is_switch] += home[is_switch]
    hosts = _most_per_leaf(trees, home[kind == NodeKind.HOST])
    some = _most_per_leaf(trees, home[~is_switch])
    places = np.maximum(np.where(hosts > 0, hosts, some), 1)[trees.tree[home]]
    at = np.searchsorted(reached, goals.base[everything])
    return place[at], places[at]


def _most_per_leaf(trees: Trees, homes: I32) -> I64:
    """Count the destinations of the fullest leaf of each tree."""
    rows = len(trees.tree)
    most = np.zeros(rows, dtype=np.int64)
    leaves = np.flatnonzero(trees.level == 0)
    np.maximum.at(most, trees.tree[leaves], np.bincount(homes, minlength=rows)[leaves])
    return most


def _most_uplinks(trees: Trees, level: int) -> I64:
    """Count the uplinks of the switches of a level, per tree; all of them have the same."""
    most = np.zeros(len(trees.tree), dtype=np.int64)
    rows = np.flatnonzero(trees.level == level)
    np.maximum.at(most, trees.tree[rows], np.diff(trees.up_ptr)[rows])
    return most
