"""The total order of switches that says which end of a link is up, and the digits by which ties are spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import F64, I32, NIL, U8
from weftline.kernels.csr import label_components, spread_distance
from weftline.kernels.kin import find_unreached
from weftline.route.graph import Destinations, SwitchGraph, Whole, count_to_ptr, rank_within
from weftline.route.kin import find_kin
from weftline.route.rates import count_turns

_ENDPOINTS = 1
_LEAF_ENDPOINTS = 2


@dataclass(frozen=True, eq=False)
class Order:
    """A total order of switches: a link goes up to the end that comes first."""

    order: I32
    """Place of each row."""
    sequence: I32
    """The rows in that order, component by component."""
    component_ptr: I32
    """Where each component starts in ``sequence``."""
    divisor: I32
    """Per row, what a destination's ordinal is divided by before it chooses among equal ports."""
    slots: I32
    """Per row, how many upper neighbours it and its like have together; 1 where it has none."""
    edge_slot: I32
    """Per edge that rises, the place of its upper end among those; else NIL."""
    ordinal: I32
    """Number of each destination in the order of switches and ports."""


def order_switches(graph: SwitchGraph, goals: Destinations, roots: I32, rate: F64 | None = None) -> Order:
    """Order switches by distance from the roots, or by tier where there are none; ties by row.

    A component without roots is ordered by its tiers, or from its centre where it has only one. An order with several
    tops may leave a switch without a legal way to an endpoint: a leaf that lost links, an endpoint on one spine that
    talks to an endpoint on another. Such a component is ordered again from a single switch, by which every pair is
    legal: the first of its roots, or else its best joined leaf. From a leaf, every shortest path of a fat tree is
    still legal. ``rate`` is that of every link, where links differ: the digits then count turns of unequal shares.
    """
    components = int(graph.component.max(initial=-1)) + 1
    rank = _rank_by_tier(graph, components)
    rooted = np.zeros(components, dtype=bool)
    rooted[graph.component[roots]] = True
    distance = spread_distance(graph.edge_ptr, graph.edge_row, roots)
    rank = np.where(rooted[graph.component], distance, rank).astype(np.int32)
    sequence, order, component_ptr = _sort(graph, rank, components)
    fails = _check_reach(graph, goals, (sequence, order, component_ptr))
    if fails.any():
        tops = _choose_tops(graph, rank, rooted, fails)
        distance = spread_distance(graph.edge_ptr, graph.edge_row, tops)
        rank = np.where(fails[graph.component] == 1, distance, rank).astype(np.int32)
        sequence, order, component_ptr = _sort(graph, rank, components)
    ordinal = _count_destinations(graph, goals)
    height = _measure_height(graph, rank, components)
    slots, edge_slot = _find_slots(graph, height)
    turn = slots if rate is None else count_turns(graph, rate, slots, edge_slot != NIL)
    return Order(
        order=order,
        sequence=sequence,
        component_ptr=component_ptr,
        divisor=_find_divisors(height, (slots, turn), int(np.count_nonzero(goals.path == 0))),
        slots=slots,
        edge_slot=edge_slot,
        ordinal=ordinal,
    )


def _rank_by_tier(graph: SwitchGraph, components: int) -> I32:
    """Rank by tiers below the top of the component; from the centre where a component has one tier."""
    component, tier = graph.component, graph.tier
    lowest, top = _extremes(component, tier, components)
    flat = (lowest == top)[component]
    if not flat.any():
        return top[component] - tier
    first = np.unique(component, return_index=True)[1].astype(np.int32)
    end = _pick_last(component, spread_distance(graph.edge_ptr, graph.edge_row, first))
    from_end = spread_distance(graph.edge_ptr, graph.edge_row, end)
    other_end = _pick_last(component, from_end)
    from_other = spread_distance(graph.edge_ptr, graph.edge_row, other_end)
    # The middle between two far ends: the exact centre of a tree, near it elsewhere.
    spread = np.maximum(from_end, from_other)
    neighbours = np.diff(graph.edge_ptr)
    by_centre = np.lexsort((np.arange(len(component)), -neighbours, spread, component))
    centre = by_centre[np.unique(component[by_centre], return_index=True)[1]].astype(np.int32)
    from_centre = spread_distance(graph.edge_ptr, graph.edge_row, centre)
    return np.where(flat, from_centre, top[component] - tier).astype(np.int32)


def _extremes(component: I32, value: I32, components: int) -> tuple[I32, I32]:
    """Find the least and the greatest value of each component."""
    least = np.full(components, np.iinfo(np.int32).max, dtype=np.int32)
    greatest = np.full(components, NIL, dtype=np.int32)
    np.minimum.at(least, component, value)
    np.maximum.at(greatest, component, value)
    return least, greatest


def _pick_last(component: I32, value: I32) -> I32:
    """Pick the first row of greatest value in each component."""
    by_value = np.lexsort((np.arange(len(component)), -value, component))
    return by_value[np.unique(component[by_value], return_index=True)[1]].astype(np.int32)


def _sort(graph: SwitchGraph, rank: I32, components: int) -> tuple[I32, I32, I32]:
    """Sort rows by component, rank and row: the sequence, the place of each row, and where components start."""
    sequence = np.lexsort((np.arange(len(rank)), rank, graph.component)).astype(np.int32)
    order = np.empty_like(sequence)
    order[sequence] = np.arange(len(rank), dtype=np.int32)
    return sequence, order, count_to_ptr(graph.component, components)


def _check_reach(graph: SwitchGraph, goals: Destinations, placed: tuple[I32, I32, I32]) -> U8:
    """Mark components where endpoints cannot reach each other, or endpoints on leaves a destination switch."""
    sequence, order, component_ptr = placed
    rows = graph.switch_count
    lowest, _ = _extremes(graph.component, graph.tier, len(component_ptr) - 1)
    sender = np.zeros(rows, dtype=np.uint8)
    sender[goals.home[(goals.home != NIL) & (goals.port != NIL)]] = _ENDPOINTS
    sender[(sender == _ENDPOINTS) & (graph.tier == lowest[graph.component])] |= _LEAF_ENDPOINTS
    target = np.unique(goals.home[goals.home != NIL]).astype(np.int32)
    need = np.where(sender[target] != 0, _ENDPOINTS, _LEAF_ENDPOINTS).astype(np.uint8)
    kin = find_kin(graph, sequence, order, len(component_ptr) - 1)
    # what reaches one switch of a kin reaches its upper neighbours, and so all of that kin
    of = np.where(kin.of[target] == NIL, len(kin.ptr) + target, kin.of[target])
    one = np.unique(of * 4 + need, return_index=True)[1]
    target, need = target[one], need[one]
    return find_unreached(
        target, need, sender, graph.component, component_ptr, sequence, graph.edge_ptr, kin.up_ptr, kin.up_row,
        kin.up_back, kin.part, kin.of, kin.ptr, kin.row,
    )  # fmt: skip


def _choose_tops(graph: SwitchGraph, rank: I32, rooted: Whole | np.ndarray, fails: U8) -> I32:
    """Choose the single top of each failing component: its first root, or its lowest switch of most neighbours."""
    component = graph.component
    first = np.where(rooted[component], rank, graph.tier)
    second = np.where(rooted[component], 0, -np.diff(graph.edge_ptr))
    best = np.lexsort((np.arange(len(rank)), second, first, component))
    tops = best[np.unique(component[best], return_index=True)[1]].astype(np.int32)
    return tops[fails[component[tops]] == 1]


def _count_destinations(graph: SwitchGraph, goals: Destinations) -> I32:
    """Number destinations by home, then by port, endpoints before switches; those without a home come last.

    Homes that share their first neighbour, as the leaves of a pod do, follow each other. A further address of a port
    has the number of a neighbour, so that it comes another way.
    """
    last = np.iinfo(np.int32).max
    joined = np.flatnonzero(np.diff(graph.edge_ptr))
    first_neighbour = np.full(graph.switch_count, NIL, dtype=np.int32)
    first_neighbour[joined] = graph.edge_row[graph.edge_ptr[joined]]
    home = np.where(goals.home == NIL, last, goals.home)
    neighbour = np.where(goals.home == NIL, last, first_neighbour[goals.home])
    by_home = np.lexsort((goals.home_port, home, neighbour, goals.port == NIL))
    by_home = by_home[goals.path[by_home] == 0]
    ordinal = np.empty(len(goals.home), dtype=np.int32)
    ordinal[by_home] = np.arange(len(by_home), dtype=np.int32)
    return ordinal[goals.base] + goals.path


def _measure_height(graph: SwitchGraph, rank: I32, components: int) -> I32:
    """Measure how far each switch stands above the bottom of its component, in tiers where it has several."""
    lowest, top = _extremes(graph.component, graph.tier, components)
    _, deepest = _extremes(graph.component, rank, components)
    flat = (lowest == top)[graph.component]
    below = deepest[graph.component] - rank
    return np.where(flat, below, graph.tier - lowest[graph.component]).astype(np.int32)


def _find_slots(graph: SwitchGraph, height: I32) -> tuple[I32, I32]:
    """Number the upper neighbours that a block of switches has together: the spines of a pod, the cores of a position.

    A switch that lost a link keeps the numbers of the others, so that its destinations stay where they were.
    """
    rows = graph.switch_count
    low = np.repeat(np.arange(rows), np.diff(graph.edge_ptr))
    rising = np.flatnonzero(height[graph.edge_row] > height[low])
    # A switch is one node as the lower and another as the upper end of an edge.
    ends = np.concatenate((low[rising], graph.edge_row[rising] + rows))
    others = np.concatenate((graph.edge_row[rising] + rows, low[rising])).astype(np.int32)
    block = label_components(count_to_ptr(ends, 2 * rows), others[np.argsort(ends, kind="stable")])
    upper = np.unique(graph.edge_row[rising])
    slot = np.full(rows, NIL, dtype=np.int32)
    slot[upper] = rank_within(block[upper + rows], upper)
    edge_slot = np.full(len(graph.edge_row), NIL, dtype=np.int32)
    edge_slot[rising] = slot[graph.edge_row[rising]]
    sizes = np.bincount(block[upper + rows], minlength=2 * rows)
    return np.maximum(sizes[block[:rows]], 1).astype(np.int32), edge_slot


def _find_divisors(height: I32, digits: tuple[I32, I32], destinations: int) -> I32:
    """Give each height above the bottom its own digit of the ordinal, so that tiers do not choose alike.

    The ordinal is written in mixed radix: the lowest digit counts the upper neighbours of a leaf, the next those of a
    spine. On a full tree this is the position rule. Where a digit would be beyond the last destination the count
    starts again. Where most switches of a height take turns that are longer than their slots, those are its digit.
    """
    slots, turn = digits
    radix = np.ones(int(height.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(radix, height, slots)
    for at in np.unique(height[turn != slots]):
        radix[at] = max(int(radix[at]), int(np.bincount(turn[height == at]).argmax()))
    divisor = np.ones(len(radix), dtype=np.int32)
    for at in range(1, len(radix)):
        product = int(divisor[at - 1]) * int(radix[at - 1])
        divisor[at] = product if product <= destinations else 1
    return divisor[height]
