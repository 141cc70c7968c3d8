"""The ways of the packets of each pair, forth and back, and the lane of each hop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.packet_state import END
from weftline.kernels.pairs import group_pairs
from weftline.model.fabric import Fabric
from weftline.model.packet import Medium
from weftline.model.result import SimOptions
from weftline.model.routes import Routes
from weftline.model.traffic import Flows, Via
from weftline.simulate.paths import find_goals, tell_reached, walk_ports


@dataclass(frozen=True, slots=True)
class Ways:
    """By pair of a sender and a receiver: the ports that transmit, forth and back."""

    flow_pair: I32
    forth: I32
    """``[pairs]``: first hop of the way in ``port``; NIL where the fabric carries nothing."""
    back: I32
    goal: I32
    """``[pairs]``: destination of the pair in the tables; END for a pair of peers."""
    port: I32
    lane: I32


def find_ways(flows: Flows, fabric: Fabric, routes: Routes, medium: Medium, options: SimOptions) -> Ways:
    """Walk the tables for every pair, both ways.

    Raises:
        SpecError: ``spec.unreachable-pair``.
    """
    pair, first = group_pairs(flows.source, flows.target, flows.via)
    source, target, via = flows.source[first], flows.target[first], flows.via[first]
    outside = np.flatnonzero((via == Via.FABRIC) & (source != target))
    ways = _lay_ways(pair, source, target, outside, (fabric, routes, medium, options))
    return _add_links(ways, source, target, np.flatnonzero(via == Via.LINK), medium)


def renew_ways(needed: I32, flows: Flows, fabric: Fabric, routes: Routes, medium: Medium, options: SimOptions) -> Ways:
    """Walk other tables for the ``needed`` pairs, numbered as ``find_ways`` did.

    A pair that is not needed, or that the tables do not connect both ways, has no way (NIL). All have a destination,
    where the tables know it.
    """
    pair, first = group_pairs(flows.source, flows.target, flows.via)
    source, target = flows.source[first], flows.target[first]
    is_walked = (flows.via[first] == Via.FABRIC) & (source != target)
    is_walked[np.setdiff1d(np.arange(len(first)), needed)] = False
    walked = np.flatnonzero(is_walked)
    a, b = source[walked], target[walked]
    is_reached = tell_reached(a, b, fabric, routes, options) & tell_reached(b, a, fabric, routes, options)
    ways = _lay_ways(pair, source, target, walked[is_reached], (fabric, routes, medium, options))
    return _add_links(ways, source, target, np.flatnonzero(flows.via[first] == Via.LINK), medium)


def _lay_ways(pair: I32, source: I32, target: I32, walked: I64, on: tuple[Fabric, Routes, Medium, SimOptions]) -> Ways:
    fabric, routes, medium, options = on
    a, b = source[walked], target[walked]
    there_ptr, there = walk_ports(a, b, fabric, routes, options)
    home_ptr, home = walk_ports(b, a, fabric, routes, options)
    forth = np.full(len(source), NIL, dtype=np.int32)
    back = forth.copy()
    forth[walked] = there_ptr[:-1]
    back[walked] = home_ptr[:-1] + len(there)
    index = find_goals(fabric, routes)
    data = np.full(len(there), medium.data_lane, dtype=np.int32)
    acks = np.full(len(home), medium.ack_lane, dtype=np.int32)
    if routes.lanes is not None:
        data = _lanes(a, index[b], there_ptr, there, fabric, routes)
        acks = _lanes(b, index[a], home_ptr, home, fabric, routes)
    port, lane = np.concatenate((there, home)).astype(np.int32), np.concatenate((data, acks))
    return Ways(pair, forth, back, index[target], port, lane)


def _add_links(ways: Ways, source: I32, target: I32, pair: I64, medium: Medium) -> Ways:
    """Give pairs of peers their ways: the one link, and the end; no table knows them."""
    if not len(pair):
        return ways
    begin = (len(ways.port) + 4 * np.arange(len(pair))).astype(np.int32)
    forth, back, goal = ways.forth.copy(), ways.back.copy(), ways.goal.copy()
    forth[pair], back[pair], goal[pair] = begin, begin + 2, END
    end = np.full(len(pair), END, dtype=np.int32)
    port = np.stack((source[pair], end, target[pair], end), axis=1).ravel()
    lane = np.tile(np.repeat([medium.data_lane, medium.ack_lane], 2), len(pair))
    return Ways(
        ways.flow_pair, forth, back, goal, np.concatenate((ways.port, port)).astype(np.int32),
        np.concatenate((ways.lane, lane)).astype(np.int32),
    )  # fmt: skip


def _lanes(source: I32, goal: I32, ptr: I64, port: I32, fabric: Fabric, routes: Routes) -> I32:
    """Find the lane of each hop of tables with several lanes; a sender uses that of the first switch's output."""
    lane = np.zeros(len(port), dtype=np.int32)
    for pair in range(len(source)):
        begin, end = int(ptr[pair]), int(ptr[pair + 1])
        row = int(fabric.switch_row[fabric.port_node[fabric.port_peer[source[pair]]]])
        before = int(fabric.port_peer[port[begin]])
        for hop in range(begin + 1, end):
            lane[hop] = routes.lane_of_hop(row, int(goal[pair]), before, int(port[hop]))
            before = int(fabric.port_peer[port[hop]])
        lane[begin] = lane[min(begin + 1, end - 1)]
    return lane
