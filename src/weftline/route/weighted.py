"""Engine weighted-ecmp: the sets of ecmp, each member weighed by the ways that are left behind it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.weights import count_ways, weigh_sets
from weftline.model.fabric import Fabric
from weftline.model.rates import count_units
from weftline.model.routes import no_route
from weftline.route.graph import Destinations, SwitchGraph
from weftline.route.order import order_switches
from weftline.route.sets import append_deliveries, fill_choice, list_homes
from weftline.route.table import Tables
from weftline.route.updown import route_ecmp

GUARANTEE = (
    "Every port of a set leads up and then down in one total order of the switches by the same number of hops, and "
    "carries a part in proportion to the ways that are left behind it; whichever is taken the fabric is free of "
    "deadlock on one lane."
)
MOST_SHARES = 128
"""Places that the weights of one set may take: switches hold a member as often as its weight says."""


def route_weighted(fabric: Fabric, graph: SwitchGraph, goals: Destinations, roots: I32) -> Tables:
    """Route as ecmp does, and weigh the members of each set by the ways behind them; as ecmp where all are alike.

    A way counts with the rate of its last link, in units that all rates are multiples of. So each switch tells what
    BGP can tell: the sum of what it was told (draft-ietf-idr-link-bandwidth, section 2), without a limit by the link
    over which it tells it.
    """
    equal = route_ecmp(fabric, graph, goals, roots)
    home, home_of = list_homes(goals)
    if not len(home):
        return equal
    first_goal = np.unique(home_of, return_index=True)[1][-len(home) :]
    entry = equal.group[:, first_goal]
    choice = np.where(entry == no_route(equal.group), NIL, entry.astype(np.int32)).astype(np.int32)
    next_row = _find_next(fabric, equal.member_port)
    units = count_units(fabric)[equal.member_port]
    sequence = order_switches(graph, goals, roots).sequence
    ways = count_ways(home, sequence, choice, equal.group_ptr, equal.member_ptr, next_row, units)
    sets, weight, number = _weigh_all(equal, (home, choice, ways), next_row, units)
    if not np.any(weight > 1):
        return equal
    groups = append_deliveries(fabric, goals, sets)
    # the sets keep their order; a port that delivers stands alone
    delivers = np.zeros(fabric.port_count, dtype=np.bool_)
    delivers[goals.home_port[goals.home_port != NIL]] = True
    member_weight = np.ones(len(groups.member_port), dtype=np.int32)
    member_weight[~delivers[groups.member_port]] = weight
    return replace(fill_choice(fabric, goals, number, (home, home_of), groups), member_weight=member_weight)


def _find_next(fabric: Fabric, port: I32) -> I32:
    """Find the switch behind each port; NIL where there is none."""
    peer = fabric.port_peer[port]
    return np.where(peer == NIL, NIL, fabric.switch_row[fabric.port_node[np.maximum(peer, 0)]]).astype(np.int32)


def _weigh_all(
    equal: Tables, towards: tuple[I32, I32, I64], next_row: I32, units: I64
) -> tuple[tuple[I32, I32, I32, I32], I32, I32]:
    """Weigh the sets of every switch: the sets as ``append_deliveries`` takes them, the weights, and the choice."""
    home, choice, ways = towards
    number = np.full_like(choice, NIL)
    widest = int(np.diff(equal.member_ptr).max(initial=1))
    sizes, ports, weights, counts = list[I32](), list[I32](), list[I32](), list[int]()
    for row in range(len(choice)):
        ptr, port, weight = weigh_sets(
            row, choice[row], ways, int(equal.group_ptr[row]), equal.member_ptr, equal.member_port, next_row,
            units, home, widest, MOST_SHARES, number[row],
        )  # fmt: skip
        counts.append(len(ptr) - 1)
        sizes.append(np.diff(ptr).astype(np.int32))
        ports.append(port)
        weights.append(weight)
    count = np.array(counts, dtype=np.int64)
    row_of = np.repeat(np.arange(len(count)), count).astype(np.int32)
    number_of = (np.arange(len(row_of)) - np.repeat(np.cumsum(count) - count, count)).astype(np.int32)
    set_ptr = np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int32)
    return (row_of, number_of, set_ptr, np.concatenate(ports)), np.concatenate(weights), number
