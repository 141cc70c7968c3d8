"""The routes as the proofs see them: members followed over their links, who stands where, which columns are alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weftline.errors import ArtifactError
from weftline.kernels.column import I8, I32, NIL, U8, U64, count_values
from weftline.kernels.reach import IS_ENDPOINT, IS_SKIPPED, IS_SWITCH, link_members, share_columns
from weftline.kernels.tiles import find_twins
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.lanes import MAX_CLASSES, MAX_LANES, Lanes, LaneSteps
from weftline.model.routes import GroupTable, Routes, local_delivery, no_route

MOST_PARTS = 1_024
"""Of what a group carries, as the weight of one member; switches hold a member that often."""
MOST_KINDS = 64
"""Classes of ports; more would only make walks longer."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Columns for the kernels; S switches, D destinations, M members, K sources."""

    group: GroupTable
    group_ptr: I32
    member_ptr: I32
    member_port: I32
    next_row: I32
    """Per member the switch at the other end, NIL for an endpoint, BROKEN where it leads nowhere."""
    next_port: I32
    no_route: int
    local: int
    is_single: bool
    """Whether no group has several members."""
    target_kind: I8
    target_port: I32
    target_row: I32
    """The switch that a destination hangs on or is; NIL where it hangs on none."""
    target_component: I32
    same_as: I32
    is_direct: I8
    endpoint: I32
    """Ports of the lit endpoints."""
    source_row: I32
    source_component: I32
    source_count: I32
    home_row: I32
    home_count: I32
    own_count: I32
    port_row: I32
    """Per port the switch at the other end of its link, NIL where there is none."""
    twin: I32
    """Per row earlier ones some of whose entries mean the same, and which; see ``find_twins``."""
    agrees: U64
    share_ptr: I32
    """The groups with each member as often as its weight says, for whoever splits what they carry."""
    share_port: I32
    share_row: I32
    share_next: I32
    """As ``member_port``, ``next_row`` and ``next_port``, per share."""

    @property
    def columns(self) -> I32:
        """List the destinations whose column is judged for itself and for all that are like it."""
        own = self.same_as == np.arange(len(self.same_as), dtype=np.int32)
        return np.flatnonzero(own & (self.target_kind != IS_SKIPPED)).astype(np.int32)


def read_tables(fabric: Fabric, routes: Routes) -> Tables:
    """Read the routes for the kernels; wrong entries stay for the proofs to find.

    Raises ``ArtifactError`` ``artifact.tables-mismatch`` where the columns cannot be tables of this fabric at all.
    """
    _check_shapes(fabric, routes)
    linked = link_members(
        routes.group_ptr, routes.member_ptr, routes.member_port,
        fabric.switch_node, fabric.switch_row, fabric.port_node, fabric.port_peer,
    )  # fmt: skip
    port_row = _other_switch(fabric)
    kind, row, component = _targets(fabric, routes, port_row)
    same_as, is_direct = share_columns(
        routes.group, routes.group_ptr, routes.member_ptr, linked[0], linked[1], kind, routes.destination_port, row
    )
    share_ptr, share = routes.shares
    twin, agrees = find_twins(
        routes.group_ptr, routes.member_ptr, linked[0], local_delivery(routes.group), no_route(routes.group) + 1
    )
    endpoint = fabric.endpoint_port[fabric.port_peer[fabric.endpoint_port] != NIL]
    held = endpoint[port_row[endpoint] != NIL]
    parts = int(fabric.port_component.max(initial=0)) + 1
    sources, counts = count_values(port_row[held].astype(np.int64) * parts + fabric.port_component[held])
    homes, home_counts = count_values(port_row[held])
    return Tables(
        group=routes.group,
        group_ptr=routes.group_ptr,
        member_ptr=routes.member_ptr,
        member_port=routes.member_port,
        next_row=linked[0],
        next_port=linked[1],
        no_route=no_route(routes.group),
        local=local_delivery(routes.group),
        is_single=bool(np.all(np.diff(routes.member_ptr) <= 1)),
        target_kind=kind,
        target_port=routes.destination_port,
        target_row=row,
        target_component=component,
        same_as=same_as,
        is_direct=is_direct,
        endpoint=endpoint,
        source_row=(sources // parts).astype(np.int32),
        source_component=(sources % parts).astype(np.int32),
        source_count=counts.astype(np.int32),
        home_row=homes.astype(np.int32),
        home_count=home_counts.astype(np.int32),
        own_count=((kind == IS_ENDPOINT) & (row != NIL)).astype(np.int32),
        port_row=port_row,
        twin=twin,
        agrees=agrees,
        share_ptr=share_ptr,
        share_port=routes.member_port[share],
        share_row=linked[0][share],
        share_next=linked[1][share],
    )


def view_lane(tables: Tables, routes: Routes, lane: int) -> tuple[Tables, ...]:
    """View the tables as the packets of one lane do: those to its destinations, and the answers that these send."""
    if routes.lanes is None:
        return (tables,)
    own = routes.lanes.of_destination == lane
    if not routes.lanes.with_answers:
        return (_keep_targets(tables, own),)
    speaks = own & (tables.target_kind == IS_ENDPOINT) & (tables.target_row != NIL)
    row, count = np.unique(tables.target_row[speaks], return_counts=True)
    answers = replace(
        _keep_targets(tables, ~own),
        home_row=row.astype(np.int32),
        home_count=count.astype(np.int32),
        own_count=np.zeros_like(tables.own_count),
    )
    return (_keep_targets(tables, own), answers)


def _keep_targets(tables: Tables, kept: NDArray[np.bool_]) -> Tables:
    """Skip all destinations but some; those that share a column look at the first that is left."""
    there = np.flatnonzero(kept)
    _, first, which = np.unique(tables.same_as[there], return_index=True, return_inverse=True)
    same_as = np.arange(len(kept), dtype=np.int32)
    same_as[there] = there[first][which]
    return replace(tables, target_kind=np.where(kept, tables.target_kind, np.int8(IS_SKIPPED)), same_as=same_as)


def _other_switch(fabric: Fabric) -> I32:
    """Find for each port the row of the switch at the other end of its link."""
    peer = fabric.port_peer
    other = fabric.switch_row[fabric.port_node[np.maximum(peer, 0)]] if fabric.port_count else peer
    return np.where(peer == NIL, NIL, other).astype(np.int32)


def _targets(fabric: Fabric, routes: Routes, port_row: I32) -> tuple[I8, I32, I32]:
    """Say of each destination what it is, on which switch, and in which component."""
    port, node = routes.destination_port, routes.destination_node
    is_switch = port == NIL
    safe = np.maximum(port, 0)
    if not fabric.port_count:
        return np.full(len(port), IS_SWITCH, np.int8), fabric.switch_row[node], fabric.node_component[node]
    is_dark = ~is_switch & (fabric.port_peer[safe] == NIL)
    kind = np.where(is_switch, IS_SWITCH, np.where(is_dark, IS_SKIPPED, IS_ENDPOINT)).astype(np.int8)
    row = np.where(is_switch, fabric.switch_row[node], port_row[safe]).astype(np.int32)
    component = np.where(is_switch, fabric.node_component[node], fabric.port_component[safe]).astype(np.int32)
    return kind, row, component


def _is_ptr(ptr: I32, count: int, end: int) -> bool:
    """Judge whether a CSR pointer has ``count`` ascending slices that end by ``end``."""
    if len(ptr) != count + 1:
        return False
    return int(ptr[0]) >= 0 and bool(np.all(np.diff(ptr) >= 0)) and int(ptr[-1]) <= end


def _misfit(fabric: Fabric, routes: Routes) -> str:
    """Say why the tables cannot belong to the fabric; empty where they can."""
    if routes.fabric_digest != fabric.digest:
        return "they were made for another fabric"
    if routes.group.shape != (len(fabric.switch_node), len(routes.destination_node)):
        return "rows or columns differ in number from the switches and destinations"
    if not _is_ptr(routes.group_ptr, len(fabric.switch_node), len(routes.member_ptr) - 1):
        return "the groups do not fit the switches"
    if not _is_ptr(routes.member_ptr, len(routes.member_ptr) - 1, len(routes.member_port)):
        return "the members do not fit the groups"
    if np.any(np.diff(routes.group_ptr) > local_delivery(routes.group)):
        return "a switch has more groups than an entry can name"
    return _misfit_weights(routes) or _misfit_lanes(fabric, routes.lanes, len(routes.destination_node))


def _misfit_weights(routes: Routes) -> str:
    """Say why the weights of members cannot be told as shares; empty where they can."""
    weight = routes.member_weight
    if weight is None or (weight.shape == routes.member_port.shape and np.all((weight >= 1) & (weight <= MOST_PARTS))):
        return ""
    return f"the weights of members are no numbers from 1 to {MOST_PARTS:,}, one per member"


def _misfit_lanes(fabric: Fabric, lanes: Lanes | None, destinations: int) -> str:
    """Say why the lanes cannot be judged; a destination in a lane that is not there would be judged in none."""
    if lanes is None:
        return ""
    if not 1 <= lanes.count <= MAX_LANES:
        return f"there are 1 to {MAX_LANES} lanes, not {lanes.count}"
    if lanes.of_destination.shape != (destinations,):
        return "lanes and destinations differ in number"
    if np.any((lanes.of_destination < 0) | (lanes.of_destination >= lanes.count)):
        return "a destination has a lane that is not there"
    return _misfit_steps(fabric, lanes, len(fabric.switch_node), destinations)


def _misfit_steps(fabric: Fabric, lanes: Lanes, switches: int, destinations: int) -> str:
    """Say why the steps cannot be judged; empty where they can."""
    steps = lanes.steps
    if steps is None:
        return ""
    shape = _misshaped_steps(fabric, steps, switches, destinations)
    if shape:
        return shape
    for column, most, what in (
        (steps.lane, lanes.count, "a step leads to a lane"),
        (steps.port_class, steps.lane.shape[-1], "a port has a class"),
        (steps.path_class, len(steps.lane), "a path has a class"),
    ):
        if np.any((column < 0) | (column >= most)):
            return f"{what} that is not there"
    return ""


def _misshaped_steps(fabric: Fabric, steps: LaneSteps, switches: int, destinations: int) -> str:
    """Say why the columns of the steps are none."""
    classes, kinds = steps.lane.shape[0], steps.lane.shape[-1]
    if steps.lane.ndim != 3 or steps.lane.shape[1] != kinds or not 1 <= kinds <= MOST_KINDS:
        return "the lanes of steps are no table by class, port in and port out"
    if not 1 <= classes <= MAX_CLASSES:
        return f"there are 1 to {MAX_CLASSES} classes of paths, not {classes}"
    if steps.port_class.shape != (fabric.port_count,):
        return "classes of ports and ports differ in number"
    if steps.path_class.shape not in {(1, destinations), (switches, destinations)}:
        return "classes of paths are neither per destination nor per switch and destination"
    if steps.more is not None and (
        steps.more.shape != (switches, destinations) or np.any(steps.more >> np.uint16(classes - 1) > 1)
    ):
        return "further classes are not there, or not per switch and destination"
    return ""


def _misplaced(fabric: Fabric, routes: Routes) -> str:
    """Say which destination or link does not exist; empty where all do."""
    port, node, peer = routes.destination_port, routes.destination_node, fabric.port_peer
    if len(port) != len(node) or np.any((port < NIL) | (port >= fabric.port_count)):
        return "a destination is no port of the fabric"
    if not np.all(np.isin(port[port != NIL], fabric.endpoint_port)):
        return "a destination is no endpoint"
    if np.any((node < 0) | (node >= fabric.node_count)):
        return "a destination is no node of the fabric"
    if np.any(fabric.node_kind[node[port == NIL]] != NodeKind.SWITCH):
        return "a destination without a port is no switch"
    if np.any((peer < NIL) | (peer >= fabric.port_count)):
        return "a link of the fabric ends nowhere"
    lit = np.flatnonzero(peer != NIL)
    return "a link of the fabric has one end only" if np.any(peer[peer[lit]] != lit) else ""


def _check_shapes(fabric: Fabric, routes: Routes) -> None:
    """Refuse columns that would lead a kernel out of bounds."""
    why = _misfit(fabric, routes) or _misplaced(fabric, routes)
    if why:
        raise ArtifactError(
            "artifact.tables-mismatch",
            f"the routing tables are no tables of fabric '{fabric.name}': {why}",
            "compute or read the tables again for this very fabric",
        )


def narrow_columns(tables: Tables, distance: U8) -> tuple[Tables, U8]:
    """Keep the columns that others share, each once, for steps that lead what shares a column together.

    ``same_as`` is then the place among those, and the target's port stays per destination. Tables of single ports, or
    whose columns all differ, stay as they are.
    """
    column = np.unique(tables.same_as)
    if tables.is_single or len(column) == len(tables.same_as):
        return tables, distance
    narrow = replace(
        tables,
        group=tables.group[:, column],
        target_row=tables.target_row[column],
        is_direct=tables.is_direct[column],
        same_as=np.searchsorted(column, tables.same_as).astype(np.int32),
    )
    return narrow, distance[:, column]
