"""Rates of the links between switches, as weights for choices among equal ways."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.weigh import FINEST
from weftline.model.fabric import Fabric
from weftline.route.graph import Destinations, SwitchGraph, Whole
from weftline.route.table import Tables

_CLOSE = 1e-6
_TOLL = 12
_FLOWS = 1 << 19
_FEWEST = 8
_MOST_HOPS = 64
_DEAREST = 20


def read_rates(fabric: Fabric, graph: SwitchGraph) -> F64:
    """Read the rate of every link of the graph: the lower of its two ends.

    A link whose rate is not known counts like the fastest that is; where none is known, each counts 1.
    """
    return _rate_ports(fabric)[graph.link_port]


def has_mixed_rates(fabric: Fabric, graph: SwitchGraph) -> bool:
    """Say whether, between some pair of tiers, links differ in rate or pairs of switches in the sum of their links."""
    if not len(graph.link_port):
        return False
    link = read_rates(fabric, graph)
    bundle = np.add.reduceat(link, graph.link_ptr[:-1])
    row = np.repeat(np.arange(graph.switch_count), np.diff(graph.edge_ptr))
    tiers = int(graph.tier.max()) + 1
    low, high = graph.tier[row].astype(np.int64), graph.tier[graph.edge_row].astype(np.int64)
    kind = np.minimum(low, high) * tiers + np.maximum(low, high)
    return _differ(kind, bundle) or _differ(np.repeat(kind, np.diff(graph.link_ptr)), link)


def count_turns(graph: SwitchGraph, rate: F64, slots: I32, rises: NDArray[np.bool_]) -> I32:
    """Count the digits of a turn of every switch: its slots, more where the links of its rising edges differ."""
    switches = graph.switch_count
    edge = np.repeat(np.arange(len(graph.edge_row)), np.diff(graph.link_ptr))
    row = np.repeat(np.arange(switches), np.diff(graph.edge_ptr))
    up = np.flatnonzero(rises[edge])
    at = row[edge[up]]
    best, share = np.zeros(switches), np.zeros(len(up), dtype=np.int64)
    np.maximum.at(best, at, rate[up])
    share[:] = np.floor(rate[up] / best[at] * FINEST + 0.5)
    common, total = np.zeros(switches, dtype=np.int64), np.zeros(switches, dtype=np.int64)
    np.gcd.at(common, at, share)
    np.add.at(total, at, share)
    mixed = np.zeros(switches, dtype=np.bool_)
    mixed[at[share != FINEST]] = True
    most = np.zeros(switches, dtype=np.int64)
    size = np.diff(graph.link_ptr)
    rising = np.flatnonzero(rises)
    np.maximum.at(most, row[rising], size[rising])
    mixed[row[rising[size[rising] != most[row[rising]]]]] = True
    return np.where(mixed, total // np.maximum(common, 1), slots).astype(np.int32)


def count_tolls(rate: F64) -> I64:
    """Count what a flow weighs on every link: the inverse of its rate, in whole numbers without a common divisor.

    Ratios of up to four and of six are exact; a link slower than a twentieth of the fastest counts as that.
    """
    if not len(rate):
        return np.zeros(0, dtype=np.int64)
    toll = np.floor(np.minimum(rate.max() / rate, _DEAREST) * _TOLL + 0.5).astype(np.int64)
    return toll // np.gcd.reduce(toll)


def pick_lighter(fabric: Fabric, goals: Destinations, shared: Tables, equal: Tables) -> Tables:
    """Pick ``equal`` where it loads links less for their rates than ``shared``: in the worst shift, then on average."""
    a, b = (measure_shifts(fabric, goals, tables) for tables in (shared, equal))
    return equal if (round(b.max(), 9), round(b.mean(), 9)) < (round(a.max(), 9), round(a.mean(), 9)) else shared


def measure_shifts(fabric: Fabric, goals: Destinations, tables: Tables) -> F64:
    """Measure the worst load over rate of a link in shifts of the lit endpoints; tables of one port per entry.

    All shifts of the largest component where they are few, else as many as take half a million flows, evenly spread.
    """
    rate = _rate_ports(fabric)
    lit = np.flatnonzero((goals.port != NIL) & (goals.path == 0) & (goals.home != NIL))
    lit = lit[np.argsort(fabric.port_component[goals.port[lit]], kind="stable")]
    _, place, count = np.unique(fabric.port_component[goals.port[lit]], return_inverse=True, return_counts=True)
    first = (np.cumsum(count) - count)[place]
    size, own = count[place], np.arange(len(lit)) - first
    most = int(count.max(initial=1)) - 1
    wanted = min(most, max(_FEWEST, _FLOWS // max(len(lit), 1)))
    found = np.zeros(max(wanted, 1))
    for index in range(wanted):
        target = lit[first + (own + 1 + index * most // wanted) % size]
        found[index] = _load_flows(fabric, goals, tables, (lit, target), rate)
    return found


def _load_flows(fabric: Fabric, goals: Destinations, tables: Tables, flows: tuple[Whole, Whole], rate: F64) -> float:
    """Load flows between destinations that run at once; the highest load over rate."""
    source, target = (end[flows[0] != flows[1]] for end in flows)
    flow = np.minimum(rate[goals.port[source]], rate[goals.port[target]])
    load = np.zeros(fabric.port_count)
    row = goals.home[source].astype(np.int64)
    for _ in range(_MOST_HOPS):
        entry = tables.group[row, target].astype(np.int64)
        known = entry < np.diff(tables.group_ptr)[row]
        row, target, flow, entry = row[known], target[known], flow[known], entry[known]
        port = tables.member_port[tables.member_ptr[tables.group_ptr[row] + entry]]
        load += np.bincount(port, weights=flow, minlength=fabric.port_count)
        peer = fabric.port_peer[port]
        row = fabric.switch_row[fabric.port_node[peer]].astype(np.int64)
        on = (row != NIL) & (peer != goals.port[target])
        row, target, flow = row[on], target[on], flow[on]
        if not len(row):
            break
    return float((load / rate).max(initial=0.0))


def _rate_ports(fabric: Fabric) -> F64:
    """Read the rate of the link of every port; what is not known counts like the fastest that is."""
    peer = np.maximum(fabric.port_peer, 0)
    rate = np.minimum(fabric.port_rate_gbps, fabric.port_rate_gbps[peer])
    known = np.isfinite(rate) & (rate > 0) & (fabric.port_peer != NIL)
    return np.where(known, rate, rate[known].max() if known.any() else 1.0)


def _differ(kind: I64, value: F64) -> bool:
    """Say whether some kind has different values."""
    least = np.full(int(kind.max()) + 1, np.inf)
    most = np.zeros_like(least)
    np.minimum.at(least, kind, value)
    np.maximum.at(most, kind, value)
    return bool(np.any(most > least * (1 + _CLOSE)))
