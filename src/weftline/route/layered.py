"""Engine layered: shortest paths on any graph, free of deadlock because destinations are shared out to lanes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I8, I32, I64, NIL, U8, U16
from weftline.kernels.csr import spread_distance
from weftline.kernels.layers import fill_lanes, spread_layers
from weftline.kernels.legal import fill_first, grow_legal
from weftline.kernels.shortest import grow_trees
from weftline.kernels.turns import NO_WAY
from weftline.model.fabric import Fabric
from weftline.model.lanes import USUAL_LANES, Lanes
from weftline.route.graph import Destinations, PortGroups, SwitchGraph, count_to_ptr, list_port_groups
from weftline.route.legal import choose_order, state_rest
from weftline.route.rates import count_tolls, read_rates
from weftline.route.table import Tables, deliver, empty_table

MOST_TURNS = 1 << 25
"""Pairs of a link in and a link out, over all switches: 128 MiB of counters per lane that is used."""
WAYS = ((1, 0), (1, 1), (0, 0), (0, 1))
"""Whether trees balance loads, and whether they adapt to each other, which costs some of the balance: tried in turn."""


@dataclass(frozen=True, eq=False)
class _Links:
    """Directed links in an order that names and port numbers give, whatever the order of nodes.

    Switch ``s`` is row ``row[s]`` of the tables; its links are ``ptr[s]:ptr[s + 1]`` in the order of port numbers.
    """

    row: I32
    place: I32
    """Place of each row among the switches here."""
    ptr: I32
    other: I32
    """The switch at the other end."""
    back: I32
    """The link that shares the cable and goes the other way."""
    group: I32
    toll: I64
    """What an endpoint weighs on the link: 1 where all have the same rate, more on slower ones."""
    turn_ptr: I64


@dataclass(frozen=True, eq=False)
class _Goals:
    """Destinations that need a tree of their own, in the order of their switches and ports."""

    home: I32
    answers: U8
    """Whether it is an endpoint, and so sends too."""
    of_destination: I32
    """NIL where there is no way at all. A switch with endpoints shares the tree of the first."""
    sender: I32
    """Lit endpoints per switch."""


@dataclass(frozen=True, eq=False)
class _Filled:
    """Trees and lanes of the goals."""

    lanes: int
    choice: U16
    lane: I8
    with_answers: bool = True
    guarantee: str = ""
    """What they promise where not all paths are shortest ones."""


def route_layered(fabric: Fabric, graph: SwitchGraph, goals: Destinations, lanes: int | None) -> Tables:
    """Route any graph by fewest hops in at most ``lanes`` lanes (None: the usual eight).

    Each destination has a tree of shortest paths, chosen by the least load of the trees before it for the rates of the
    links, and goes into the
    first lane that stays without a cycle of channels, counting also the answers that it sends; then lanes that hold
    too much give to others. Where that needs too many lanes, trees prefer turns that others take already; where even
    that does, ties go to the lowest port, which on tori and meshes cabled alike is dimension order. Where no way does,
    all are tried again without the answers. O(destinations * (links + answers of a switch)) and what keeps the lanes'
    orders; eight times at worst.

    Raises:
        CapabilityError: ``capability.too-few-lanes`` where ``lanes`` do not suffice, ``capability.too-many-turns``
            where the count of turns would not fit into memory.
    """
    groups = list_port_groups(fabric)
    links = _order_links(fabric, graph, groups)
    wanted = _order_goals(fabric, goals, links)
    filled = _fill(links, wanted, USUAL_LANES if lanes is None else lanes)
    table = empty_table(fabric, goals, int(np.diff(groups.group_ptr).max(initial=0)))
    home = np.where(goals.home == NIL, NIL, links.place[goals.home]).astype(np.int32)
    spread_layers(
        links.row, links.ptr, links.group, filled.choice, wanted.of_destination, home, deliver(groups, goals, table),
        table,
    )  # fmt: skip
    lane = np.zeros(len(goals.home), dtype=np.int8)
    known = wanted.of_destination != NIL
    lane[known] = filled.lane[wanted.of_destination[known]]
    several = Lanes(filled.lanes, lane, filled.with_answers) if filled.lanes > 1 else None
    return Tables(table, groups.group_ptr, groups.member_ptr, groups.member_port, several, filled.guarantee)


def _order_links(fabric: Fabric, graph: SwitchGraph, groups: PortGroups) -> _Links:
    """Order switches by name and links by port number, so that ties do not depend on the order of nodes."""
    switches = graph.switch_count
    names = [fabric.node_name[int(node)] for node in fabric.switch_node]
    row = np.array(sorted(range(switches), key=lambda index: (names[index], index)), dtype=np.int32)
    place = np.empty(switches, dtype=np.int32)
    place[row] = np.arange(switches, dtype=np.int32)
    ports = graph.link_port
    tail = place[fabric.switch_row[fabric.port_node[ports]]]
    order = np.lexsort((fabric.port_number[ports], tail))
    ports, tail = ports[order], tail[order]
    index = np.full(fabric.port_count, NIL, dtype=np.int32)
    index[ports] = np.arange(len(ports), dtype=np.int32)
    peer = fabric.port_peer[ports]
    degree = np.bincount(tail, minlength=switches).astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(degree * degree)))
    if turn_ptr[-1] > MOST_TURNS:
        raise CapabilityError(
            "capability.too-many-turns",
            f"the switches have {int(turn_ptr[-1]):,} pairs of a link in and a link out, at most {MOST_TURNS:,}",
            "use engine updown, which needs one lane, or split the fabric into planes",
        )
    return _Links(
        row=row,
        place=place,
        ptr=count_to_ptr(tail, switches),
        other=place[fabric.switch_row[fabric.port_node[peer]]],
        back=index[peer],
        group=groups.of_port[ports],
        toll=count_tolls(read_rates(fabric, graph)[order]),
        turn_ptr=turn_ptr,
    )


def _order_goals(fabric: Fabric, goals: Destinations, links: _Links) -> _Goals:
    """Number endpoints by switch and port, then the switches that have none."""
    reached = goals.home != NIL
    home = np.where(reached, links.place[goals.home], NIL).astype(np.int32)
    is_endpoint = reached & (goals.port != NIL)
    sender = np.bincount(home[is_endpoint], minlength=len(links.row)).astype(np.int32)
    own = np.flatnonzero(is_endpoint)
    number = fabric.port_number[goals.home_port[own]]
    own = own[np.lexsort((number, home[own]))]
    alone = np.flatnonzero(reached & (goals.port == NIL) & (sender[home] == 0))
    own = np.concatenate((own, alone[np.argsort(home[alone], kind="stable")]))
    of_destination = np.full(len(home), NIL, dtype=np.int32)
    of_destination[own] = np.arange(len(own), dtype=np.int32)
    first = np.full(len(links.row), NIL, dtype=np.int32)
    first[home[own][::-1]] = np.arange(len(own), dtype=np.int32)[::-1]
    shared = np.flatnonzero(reached & (goals.port == NIL) & (of_destination == NIL))
    of_destination[shared] = first[home[shared]]
    answers = (goals.port[own] != NIL).astype(np.uint8)
    return _Goals(home=home[own], answers=answers, of_destination=of_destination, sender=sender)


def _fill(links: _Links, goals: _Goals, allowed: int) -> _Filled:
    """Fill trees and lanes in the first way that needs no more lanes than are allowed, or with longer ways."""
    for with_answers, (balances, adapts) in itertools.product((True, False), WAYS):
        counted = goals if with_answers else replace(goals, answers=np.zeros_like(goals.answers))
        filled = replace(_fill_one(links, counted, allowed, balances, adapts), with_answers=with_answers)
        if filled.lanes >= 0:
            return filled
    return _fill_rest(links, goals, allowed)


def _fill_one(links: _Links, goals: _Goals, allowed: int, balances: int, adapts: int) -> _Filled:
    """Fill trees and lanes in one way; negative lanes where those allowed do not suffice."""
    choice, order = _grow(links, goals, balances, adapts)
    used = np.zeros((allowed, int(links.turn_ptr[-1])), dtype=np.int32)
    lane = np.zeros(len(goals.home), dtype=np.int8)
    graph = (links.turn_ptr, links.ptr, links.other, links.back, goals.sender)
    lanes = fill_lanes(goals.home, goals.answers, *graph, used, np.tile(order, (allowed, 1)), choice, lane)
    return _Filled(lanes, choice, lane)


def _grow(links: _Links, goals: _Goals, balances: int, adapts: int) -> tuple[U16, I32]:
    """Grow a tree of shortest paths per goal; returns also an order of channels to begin a lane with."""
    choice = np.full((len(links.row), len(goals.home)), NO_WAY, dtype=np.uint16)
    order = _guess_order(links, goals)
    used = np.zeros(int(links.turn_ptr[-1]), dtype=np.int32)
    graph = (links.turn_ptr, links.ptr, links.other, links.back, goals.sender)
    grow_trees(goals.home, *graph, links.toll, balances, adapts, used, order.copy(), choice)
    return choice, order


def _fill_rest(links: _Links, goals: _Goals, allowed: int) -> _Filled:
    """Keep the last lane for ways up and then down, which fit for any graph, and fill the others as far as they go.

    A goal to which those are no longer than the shortest ones is there from the first. Of the ways to grow trees that
    one is taken which leaves the fewest hops more.
    """
    placed = choose_order(links.ptr, links.other, goals.home, goals.sender)
    wanted = np.flatnonzero(placed.extra).astype(np.int32)
    graph = (links.turn_ptr, links.ptr, links.other, links.back, goals.sender)
    best: tuple[int, U16, I8] | None = None
    for balances, adapts in WAYS if allowed > 1 else WAYS[:1]:
        choice, order = _grow(links, goals, balances, adapts)
        used = np.zeros((allowed - 1, int(links.turn_ptr[-1])), dtype=np.int32)
        lane = np.full(len(goals.home), NIL, dtype=np.int8)
        fill_first(wanted, goals.home, *graph, used, np.tile(order, (allowed - 1, 1)), choice, lane)
        left = int(placed.extra[lane == NIL].sum())
        if best is None or left < best[0]:
            best = (left, choice, lane)
        if left == 0:
            break
    assert best is not None  # noqa: S101  (there is always a way to try)
    _, choice, lane = best
    grow_legal(goals.home, lane, *placed.columns, links.ptr, links.other, goals.sender, links.toll, choice)
    rest = lane == NIL
    last = int(lane.max(initial=NIL)) + 1
    words = state_rest(rest, goals.answers == 1, placed, last)
    return _Filled(last + 1, choice, np.where(rest, last, lane).astype(np.int8), with_answers=False, guarantee=words)


def _guess_order(links: _Links, goals: _Goals) -> I32:
    """Guess an order of the channels in which few turns go back: away from endpoints first, then towards them."""
    height = spread_distance(links.ptr, links.other, np.flatnonzero(goals.sender).astype(np.int32))
    low, high = np.repeat(height, np.diff(links.ptr)), height[links.other]
    key = np.where(low < high, low, np.where(low == high, len(height), 2 * len(height) - low))
    order = np.empty(len(key), dtype=np.int32)
    order[np.argsort(key, kind="stable")] = np.arange(len(key), dtype=np.int32)
    return order
