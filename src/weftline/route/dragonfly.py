"""Engines dragonfly and dragonfly-plus: from group to group by one global link, or round by a third group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I8, I32, NIL, U8
from weftline.kernels.dragonfly import goes_up_first, list_group_ways, list_spine_ways, measure_spines
from weftline.model.fabric import Fabric, Tier
from weftline.model.lanes import Lanes, LaneSteps
from weftline.route.graph import Destinations, SwitchGraph, count_to_ptr, rank_within
from weftline.route.recognise import name_groups
from weftline.route.sets import Ways, count_off, fill_picks, fill_sets, list_homes
from weftline.route.table import Tables
from weftline.route.updown import fill_ways

HOST, LOCAL, UP, DOWN = 0, 1, 2, 3
"""Classes of the ports of a dragonfly: to an endpoint, into the group, to a later group, to an earlier one."""
LEAF_UP, SPINE_DOWN, GLOBAL = 1, 2, 3
"""Classes of the ports of a dragonfly+, beside those to endpoints."""
MOST_CELLS = 1 << 28
"""Pairs of a switch and a switch of its group, or of a spine and a home: 256 MiB of one-byte marks."""
HINT = "use engine layered, which routes any graph"


@dataclass(frozen=True, eq=False)
class Groups:
    """Switches by group; groups are numbered by their first switch in the canonical order."""

    of_row: I32
    place: I32
    """Place of each row among those of its group."""
    member_ptr: I32
    member: I32
    inside: I32
    """``[row, place]``: the edge to the switch at that place of the own group; NIL where there is none."""
    direct: I32
    """``[group, group]``: links from one to the other."""


def route_dragonfly(fabric: Fabric, graph: SwitchGraph, goals: Destinations, *, detours: bool) -> Tables:
    """Route groups of switches that are joined all to all, by at most one local link before and after a global one.

    Without ``detours`` an entry is one port, and packets step from lane 0 to lane 1 by the global link. With them it is
    a set: the shortest way and the global links of the switch itself to a third group, from which the way is the
    shortest. W. Dally, J. Kim, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008,
    has the detours and counts lanes by hops; a switch does not see how many hops a packet has made, so that here ways
    go up and then down in the numbers of groups (lanes 0, 1) or down and then up (1, 2), by the class of the path.

    Raises:
        CapabilityError: ``capability.engine-needs-groups`` where groups are not known or not joined as needed.
    """
    groups = read_groups(fabric, graph, "dragonfly")
    _check_whole(fabric, groups)
    parts = split_groups(groups, graph)
    home, _ = list_homes(goals)
    ptr = np.zeros(len(home) + 1, dtype=np.int32)

    def ways(row: int) -> tuple[I32, I32]:
        part = parts[int(graph.component[row])]
        port = list_group_ways(
            row, home, graph.component, part.of_row, groups.place, part.member_ptr, part.member, groups.inside,
            graph.edge_ptr, graph.edge_row, graph.link_ptr, graph.link_port, part.direct, int(detours), ptr,
        )  # fmt: skip
        return ptr, port

    everyone = _watch(fabric, graph, goals, home, ways, "dragonfly")
    if detours:
        lanes = _ordered_lanes(fabric, graph, goals, groups, parts)
        return replace(fill_sets(fabric, goals, everyone), lanes=lanes)
    tables = fill_picks(
        fabric, goals, everyone, count_off(goals, groups.of_row), np.ones(graph.switch_count, dtype=np.int32)
    )
    kind = np.minimum(_group_kinds(fabric, graph, groups), UP)
    lane = np.zeros((1, 3, 3), dtype=np.int8)
    lane[0, UP, LOCAL] = 1
    return replace(tables, lanes=_one_class(goals, kind, lane))


def route_dragonfly_plus(fabric: Fabric, graph: SwitchGraph, goals: Destinations, *, detours: bool) -> Tables:
    """Route groups of leaves and spines: up, by one global link, and down; one lane does for that.

    With ``detours`` a spine may also send to one of a third group that has a link to the last group itself: up, global,
    global, down, with a step to lane 1 behind the first global link (A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov,
    B. Gafni, E. Zahavi, "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017, steps there too). A way
    to a spine itself may then go down and up again in its group, in lane 1. Without detours what goes to a spine has
    lane 1 for itself and the ways of engine updown, so that all between endpoints on leaves is on lane 0.

    Raises:
        CapabilityError: ``capability.engine-needs-groups`` where groups are not known or not joined as needed.
    """
    groups = read_groups(fabric, graph, "dragonfly-plus")
    is_spine = (graph.tier != Tier.LEAF).astype(np.uint8)
    home, _ = list_homes(goals)
    if graph.switch_count * len(home) > MOST_CELLS:
        raise refuse("dragonfly-plus", f"{graph.switch_count:,} switches are too many")
    near = np.zeros((graph.switch_count, len(home)), dtype=np.uint8)
    measure_spines(
        home, is_spine, graph.component, groups.of_row, groups.place, groups.inside, graph.edge_ptr, graph.edge_row,
        near,
    )  # fmt: skip
    parts = split_groups(groups, graph)
    ptr = np.zeros(len(home) + 1, dtype=np.int32)

    def ways(row: int) -> tuple[I32, I32]:
        part = parts[int(graph.component[row])]
        port = list_spine_ways(
            row, home, is_spine, graph.component, part.of_row, groups.place, groups.inside, graph.edge_ptr,
            graph.edge_row, graph.link_ptr, graph.link_port, near, part.direct, int(detours), ptr,
        )  # fmt: skip
        return ptr, port

    everyone = _watch(fabric, graph, goals, home, ways, "dragonfly-plus")
    if detours:
        tables = fill_sets(fabric, goals, everyone)
    else:
        uplinks = int(np.diff(graph.link_ptr[graph.edge_ptr])[is_spine == 0].max(initial=1))
        divisor = np.where(is_spine == 1, uplinks, 1).astype(np.int32)
        tables = fill_picks(fabric, goals, everyone, count_off(goals, groups.of_row), divisor)
        return _reach_spines(fabric, graph, goals, tables, is_spine)
    lane = np.zeros((1, 4, 4), dtype=np.int8)
    lane[0, GLOBAL, GLOBAL] = lane[0, GLOBAL, SPINE_DOWN] = 1
    lane[0, SPINE_DOWN, SPINE_DOWN] = lane[0, LEAF_UP, LEAF_UP] = 1
    return replace(tables, lanes=_one_class(goals, _spine_kinds(fabric, graph, groups, is_spine), lane))


def _reach_spines(fabric: Fabric, graph: SwitchGraph, goals: Destinations, tables: Tables, is_spine: U8) -> Tables:
    """Route what goes to spines up and then down, on a lane of its own; it would have to turn up again elsewhere."""
    to_spine = (goals.home != NIL) & (is_spine[np.maximum(goals.home, 0)] == 1)
    if not to_spine.any():
        return tables
    other = fill_ways(fabric, graph, goals, np.zeros(0, dtype=np.int32), None)
    tables.group[:, to_spine] = other.group[:, to_spine]
    return replace(tables, lanes=Lanes(2, to_spine.astype(np.int8), with_answers=False))


def read_groups(fabric: Fabric, graph: SwitchGraph, engine: str) -> Groups:
    """Read the groups of a fabric, or find them in its links; refuse where neither says it."""
    named = name_groups(graph, fabric.node_group[fabric.switch_node], has_spines=engine == "dragonfly-plus")
    if isinstance(named, str):
        raise refuse(engine, named)
    pairs = np.stack((graph.component, named), axis=1)
    _, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    of_row = number[which.reshape(-1)]
    rows = np.arange(len(of_row), dtype=np.int32)
    place = rank_within(of_row, rows)
    if len(rows) * (int(place.max()) + 1) + len(first) ** 2 > MOST_CELLS:
        raise refuse(engine, f"groups of {int(place.max()) + 1:,} switches are too large")
    row = np.repeat(rows, np.diff(graph.edge_ptr))
    own, other = of_row[row], of_row[graph.edge_row]
    inside = np.full((len(rows), int(place.max()) + 1), NIL, dtype=np.int32)
    local = np.flatnonzero(own == other)
    inside[row[local], place[graph.edge_row[local]]] = local
    direct = np.zeros((len(first), len(first)), dtype=np.int32)
    np.add.at(direct, (own, other), np.diff(graph.link_ptr).astype(np.int32))
    np.fill_diagonal(direct, 0)
    return Groups(
        of_row=of_row,
        place=place,
        member_ptr=count_to_ptr(of_row, len(first)),
        member=np.argsort(of_row, kind="stable").astype(np.int32),
        inside=inside,
        direct=direct,
    )


def split_groups(groups: Groups, graph: SwitchGraph) -> list[Groups]:
    """Number the groups of each connected part from 0, so that planes are routed alike; rows of others have group 0."""
    count = int(graph.component.max(initial=0)) + 1
    if count == 1:
        return [groups]
    parts: list[Groups] = []
    for component in range(count):
        rows = np.flatnonzero(graph.component == component).astype(np.int32)
        numbers, inverse = np.unique(groups.of_row[rows], return_inverse=True)
        own = inverse.reshape(-1).astype(np.int32)
        of_row = np.zeros(len(groups.of_row), dtype=np.int32)
        of_row[rows] = own
        direct = np.ascontiguousarray(groups.direct[np.ix_(numbers, numbers)])
        member = rows[np.argsort(own, kind="stable")]
        ptr = count_to_ptr(own, len(numbers))
        parts.append(replace(groups, of_row=of_row, member_ptr=ptr, member=member, direct=direct))
    return parts


def refuse(engine: str, why: str) -> CapabilityError:
    """Say why groups cannot be routed so."""
    return CapabilityError(
        "capability.engine-needs-groups", f"engine {engine} needs groups joined by global links, but {why}", HINT
    )


def _check_whole(fabric: Fabric, groups: Groups) -> None:
    """Refuse a group two of whose switches are not joined: a packet would need two local links in one lane."""
    size = np.diff(groups.member_ptr)
    joined = (groups.inside != NIL).sum(axis=1)
    poor = np.flatnonzero(joined < size[groups.of_row] - 1)
    if not len(poor):
        return
    row = int(poor[0])
    members = groups.member[groups.member_ptr[groups.of_row[row]] : groups.member_ptr[groups.of_row[row] + 1]]
    missing = next(int(one) for one in members if one != row and groups.inside[row, groups.place[one]] == NIL)
    raise refuse("dragonfly", f"{_name(fabric, row)} has no link to {_name(fabric, missing)} of its group")


def _watch(fabric: Fabric, graph: SwitchGraph, goals: Destinations, home: I32, ways: Ways, engine: str) -> Ways:
    """Refuse, on the way, a switch with endpoints that has no way to a switch with endpoints."""
    has_ends = np.zeros(graph.switch_count, dtype=np.bool_)
    has_ends[goals.home[(goals.home != NIL) & (goals.port != NIL)]] = True
    is_needed = has_ends[home] & ((graph.tier[home] == Tier.LEAF) | (engine != "dragonfly-plus"))

    def watched(row: int) -> tuple[I32, I32]:
        ptr, port = ways(row)
        if has_ends[row]:
            lacks = is_needed & (np.diff(ptr) == 0) & (home != row) & (graph.component[home] == graph.component[row])
            if lacks.any():
                goal = _name(fabric, int(home[np.argmax(lacks)]))
                raise refuse(engine, f"no such way leads from {_name(fabric, row)} to {goal}")
        return ptr, port

    return watched


def _group_kinds(fabric: Fabric, graph: SwitchGraph, groups: Groups) -> I8:
    """Class every port of a dragonfly."""
    kind = np.full(fabric.port_count, HOST, dtype=np.int8)
    ports = graph.link_port
    own = groups.of_row[fabric.switch_row[fabric.port_node[ports]]]
    other = groups.of_row[fabric.switch_row[fabric.port_node[fabric.port_peer[ports]]]]
    kind[ports] = np.where(own == other, LOCAL, np.where(own < other, UP, DOWN))
    return kind


def _spine_kinds(fabric: Fabric, graph: SwitchGraph, groups: Groups, is_spine: U8) -> I8:
    """Class every port of a dragonfly+."""
    kind = np.full(fabric.port_count, HOST, dtype=np.int8)
    ports = graph.link_port
    row = fabric.switch_row[fabric.port_node[ports]]
    other = fabric.switch_row[fabric.port_node[fabric.port_peer[ports]]]
    inside = np.where(is_spine[row] == 1, SPINE_DOWN, LEAF_UP)
    kind[ports] = np.where(groups.of_row[row] == groups.of_row[other], inside, GLOBAL)
    return kind


def _one_class(goals: Destinations, kind: I8, lane: I8) -> Lanes:
    """Make two lanes of one class of paths: what a packet did so far, its port in says."""
    count = len(goals.home)
    steps = LaneSteps(np.zeros((1, count), dtype=np.int8), kind.astype(np.int8), lane)
    return Lanes(2, np.zeros(count, dtype=np.int8), with_answers=True, steps=steps)


def _ordered_lanes(
    fabric: Fabric, graph: SwitchGraph, goals: Destinations, groups: Groups, parts: list[Groups]
) -> Lanes:
    """Make the three lanes of ways: class 0 goes up (lane 0) and then down (1), class 1 down (1) and up (2)."""
    home = np.maximum(goals.home, 0)
    path_class = np.zeros((len(groups.of_row), len(home)), dtype=np.int8)
    for component, part in enumerate(parts):
        count = len(part.direct)
        of_pair = np.array(
            [[0 if goes_up_first(one, two, count) else 1 for two in range(count)] for one in range(count)],
            dtype=np.int8,
        ).reshape(count, count)
        rows = np.flatnonzero(graph.component == component)
        here = np.flatnonzero(graph.component[home] == component)
        path_class[np.ix_(rows, here)] = of_pair[part.of_row[rows]][:, part.of_row[home[here]]]
    lane = np.zeros((2, 4, 4), dtype=np.int8)
    for one, (up, down) in enumerate(((0, 1), (2, 1))):
        lane[one, :, UP] = up
        lane[one, :, DOWN] = down
        lane[one, :, LOCAL] = min(up, down)
        # a port towards an earlier group is what a packet that goes up comes in by
        lane[one, DOWN, LOCAL] = up
        lane[one, UP, LOCAL] = down
    steps = LaneSteps(np.ascontiguousarray(path_class), _group_kinds(fabric, graph, groups), lane)
    return Lanes(3, np.zeros(len(goals.home), dtype=np.int8), with_answers=True, steps=steps)


def _name(fabric: Fabric, row: int) -> str:
    return fabric.node_name[int(fabric.switch_node[row])]
