"""Deadlock where packets change lanes on their way: channels are pairs of a lane and a port, judged all together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weftline.kernels.column import I8, I32, I64, NIL, U16
from weftline.kernels.cycles import find_cycle, rank_channels
from weftline.kernels.lane_steps import (
    check_step_ranks,
    find_step_causes,
    list_step_dependencies,
    mark_step_turns,
    spread_step_turns,
)
from weftline.kernels.reach import IS_ENDPOINT
from weftline.model.fabric import Fabric
from weftline.model.lanes import MAX_CLASSES, Lanes, LaneSteps
from weftline.model.proof import Witness
from weftline.model.routes import Routes
from weftline.prove.tables import Tables
from weftline.prove.witness import name_destination

MAX_BYTES = 1 << 30
MAX_CYCLE_STEPS = 50_000_000
"""Edge visits that the search for the shortest cycle may take."""


@dataclass(frozen=True, eq=False)
class Walkers:
    """Who sends to which destination by which class; columns for the kernels."""

    mask: U16
    """``[1 or S, D]``: a bit for each class by which packets from a switch go to a destination."""
    same_as: I32
    """The first destination with the same walks of every class."""
    own_kind: I8
    """Class of the switch port before each destination."""
    home_row: I32
    home_kind: I8
    home_count: I32


@dataclass(frozen=True, eq=False)
class Maps:
    """Which lanes packets may hold, by class of the path and of the ports in and out; of mixed maps every one."""

    port_class: I8
    held: U16
    """``[path class, class of the port in, class of the port out]``: a bit for each lane."""


def read_maps(steps: LaneSteps) -> Maps:
    """Read the one map of tables that nobody changes."""
    return Maps(steps.port_class, np.left_shift(1, steps.lane.astype(np.int32)).astype(np.uint16))


def judge_steps(
    fabric: Fabric, routes: Routes, tables: Tables, steps: LaneSteps
) -> tuple[I32, int, int, Witness | None] | None:
    """Rank every lane of every channel; the dependencies, how many channels are on or behind cycles, and a witness.

    The ranks are ``[lane, port]``, NIL for what is no channel. None where the marks would take over a GiB.
    """
    lanes = routes.lane_count
    walkers = gather_walkers(fabric, routes, tables, steps)
    found = list_dependencies(fabric, tables, steps, walkers, lanes)
    if found is None:
        return None
    rank, behind = rank_channels(*found)
    witness = tell_cycle(fabric, routes, tables, (read_maps(steps), walkers), found, rank) if behind else None
    is_channel = (fabric.switch_row[fabric.port_node] != NIL) & (tables.port_row != NIL)
    ranks = np.where(is_channel, rank.reshape(lanes, -1), NIL).astype(np.int32)
    return ranks, len(found[1]), behind, witness


def check_steps(fabric: Fabric, routes: Routes, tables: Tables, steps: LaneSteps, rank: I32) -> bool:
    """Check without a search that ``rank[lane, port]`` grows along every dependency of every class."""
    walkers = gather_walkers(fabric, routes, tables, steps)
    return not any(
        check_step_ranks(
            rank, one, walkers.mask, steps.lane[one], steps.port_class, tables.group, tables.group_ptr,
            tables.member_ptr, tables.member_port, tables.next_row, tables.next_port, tables.target_kind,
            tables.target_row, walkers.own_kind, tables.own_count, walkers.home_row, walkers.home_kind,
            walkers.home_count,
        )
        for one in _classes(walkers)
    )  # fmt: skip


def state_steps(lanes: Lanes) -> str:
    """Say how packets come to their lanes."""
    many = "1 lane each" if lanes.count == 1 else f"{lanes.count} lanes each"
    words = f"{many}; the class of the path and of the ports in and out gives the lane of each hop"
    return f"{words}, answers also by the class of what they answer" if lanes.with_answers else words


def gather_walkers(fabric: Fabric, routes: Routes, tables: Tables, steps: LaneSteps) -> Walkers:
    """Gather who sends to which destination by which class, and which destinations are walked alike."""
    mask = mark_classes(steps)
    if routes.lanes is not None and routes.lanes.with_answers:
        mask = mask | list_answers(tables, mask)
    return place_walkers(fabric, tables, mask, steps.port_class)


def mark_classes(steps: LaneSteps) -> U16:
    """Mark the classes by which is sent to each destination, ``[1 or S, D]``."""
    mask = np.left_shift(1, steps.path_class.astype(np.int32)).astype(np.uint16)
    return mask if steps.more is None else mask | steps.more


def place_walkers(fabric: Fabric, tables: Tables, mask: U16, port_class: I8) -> Walkers:
    """Place who sends by which class where, and behind ports of which class."""
    held = tables.endpoint[tables.port_row[tables.endpoint] != NIL]
    pairs = np.stack((tables.port_row[held], port_class[fabric.port_peer[held]]), axis=1)
    homes, counts = np.unique(pairs, axis=0, return_counts=True)
    own_kind = np.zeros(len(tables.target_kind), dtype=np.int8)
    hangs = (tables.target_kind == IS_ENDPOINT) & (tables.target_row != NIL)
    own_kind[hangs] = port_class[fabric.port_peer[tables.target_port[hangs]]]
    return Walkers(
        mask=mask,
        same_as=_share_alike(tables, mask),
        own_kind=own_kind,
        home_row=np.ascontiguousarray(homes[:, 0]).astype(np.int32),
        home_kind=np.ascontiguousarray(homes[:, 1]).astype(np.int8),
        home_count=counts.astype(np.int32),
    )


def _classes(walkers: Walkers) -> Iterator[int]:
    """List the classes that somebody sends by."""
    used = int(np.bitwise_or.reduce(walkers.mask, axis=None)) if walkers.mask.size else 0
    return (one for one in range(MAX_CLASSES) if used >> one & 1)


def list_answers(tables: Tables, mask: U16) -> U16:
    """Mark for each pair the classes by which the destination asks the endpoints of the source's switch."""
    rows, goals = tables.group.shape
    asked = np.flatnonzero((tables.target_kind == IS_ENDPOINT) & (tables.target_row != NIL))
    asked = asked[np.argsort(tables.target_row[asked], kind="stable")]
    row, first = np.unique(tables.target_row[asked], return_index=True)
    by_home = np.zeros((rows, rows), dtype=np.uint16)
    if len(asked):
        bits = mask[:, asked]
        by_home[:, row] = np.bitwise_or.reduceat(bits, first, axis=1)
    wide = np.zeros((rows, goals), dtype=np.uint16)
    wide[:, asked] = by_home[tables.target_row[asked]].T
    return wide


def _share_alike(tables: Tables, mask: U16) -> I32:
    """Let destinations that share a column share their walks where their senders' classes are alike too."""
    goals = np.arange(len(tables.same_as), dtype=np.int32)
    alike = np.ones(len(goals), dtype=np.bool_)
    for row in mask:
        alike &= row == row[tables.same_as]
    return np.where(alike, tables.same_as, goals).astype(np.int32)


def list_dependencies(
    fabric: Fabric, tables: Tables, steps: LaneSteps, walkers: Walkers, lanes: int
) -> tuple[I64, I32] | None:
    """List which lane of which channel waits on which, as CSR over ``lane * ports + port``."""
    return list_mixed(fabric, tables, read_maps(steps), walkers, lanes)


def list_mixed(fabric: Fabric, tables: Tables, maps: Maps, walkers: Walkers, lanes: int) -> tuple[I64, I32] | None:
    """List the same where packets may hold several lanes behind a port; None where it would take over a GiB."""
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    turn_ptr = _to_ptr(widths * np.diff(tables.group_ptr).astype(np.int64))
    wait_ptr = _to_ptr(widths * widths)
    if 2 * (int(turn_ptr[-1]) + int(wait_ptr[-1]) * lanes) > MAX_BYTES:
        return None
    turn = np.zeros(int(turn_ptr[-1]), dtype=np.uint16)
    wait = np.zeros((int(wait_ptr[-1]), lanes), dtype=np.uint16)
    for one in _classes(walkers):
        turn[:] = 0
        mark_step_turns(
            one, walkers.mask, maps.held[one], maps.port_class, turn_ptr, fabric.port_ptr, tables.group,
            tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row, tables.next_port,
            fabric.switch_node, tables.target_kind, tables.target_row, walkers.same_as, walkers.own_kind,
            tables.own_count, walkers.home_row, walkers.home_kind, walkers.home_count, turn,
        )  # fmt: skip
        spread_step_turns(
            turn, turn_ptr, maps.held[one], maps.port_class, fabric.port_ptr, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row, fabric.switch_node, wait_ptr, wait,
        )  # fmt: skip
    return list_step_dependencies(wait, wait_ptr, fabric.port_ptr, fabric.port_peer, fabric.switch_node)


def tell_cycle(
    fabric: Fabric,
    routes: Routes,
    tables: Tables,
    lanes: tuple[Maps, Walkers],
    dependencies: tuple[I64, I32],
    rank: I32,
) -> Witness:
    """Show a shortest cycle, and for each step a destination, a source and a class whose packets hold and wait so."""
    maps, walkers = lanes
    cycle, is_shortest = find_cycle(*dependencies, rank, MAX_CYCLE_STEPS)
    cause, origin = (np.full(len(cycle), NIL, dtype=np.int32) for _ in range(2))
    by_class = np.full(len(cycle), NIL, dtype=np.int32)
    for one in _classes(walkers):
        find_step_causes(
            cycle, one, walkers.mask, maps.held[one], maps.port_class, fabric.port_peer, tables.group,
            tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row, tables.next_port,
            tables.target_kind, tables.target_row, walkers.own_kind, tables.own_count, walkers.home_row,
            walkers.home_kind, walkers.home_count, cause, origin,
        )  # fmt: skip
        by_class[(by_class == NIL) & (cause != NIL)] = one
    names = [f"{fabric.link_name(int(at) % fabric.port_count)} lane {int(at) // fabric.port_count}" for at in cycle]
    told: list[dict[str, Any]] = [
        {
            "holds": name,
            "waits_for": names[(at + 1) % len(names)],
            "destination": name_destination(fabric, routes, int(cause[at])),
            "source_switch": fabric.node_name[int(fabric.switch_node[origin[at]])],
            "path_class": int(by_class[at]),
        }
        for at, name in enumerate(names)
    ]
    many = f"{len(names)} channels wait for each other in a cycle"
    summary = f"{many}: {' -> '.join((*names[:8], names[0]))}"
    if len(names) > 8:
        summary = f"{many} that begins {' -> '.join(names[:8])}"
    return Witness("cycle", summary, {"cycle": names, "steps": told, "is_shortest": is_shortest})


def _to_ptr(sizes: I64) -> I64:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
