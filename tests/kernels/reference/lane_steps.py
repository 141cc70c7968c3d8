"""Channels of several lanes, told slowly: every packet is followed, with the port that it came in by."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.reference.reach import members
from weftline.model.fabric import Fabric
from weftline.model.lanes import LaneSteps
from weftline.model.routes import Routes
from weftline.prove.tables import Tables

Channel = tuple[int, int]
"""Lane and port."""
Found = dict[tuple[Channel, Channel], set[tuple[int, int, int]]]
"""Which channel waits on which, and for which destinations, classes and source rows."""


def senders(fabric: Fabric, routes: Routes, tables: Tables, d: int) -> set[tuple[int, int, int]]:
    """List the switch rows that send to a destination, with the port that packets come in by and their class."""
    steps, lanes = routes.steps, routes.lanes
    assert steps is not None
    assert lanes is not None
    found: set[tuple[int, int, int]] = set()
    for endpoint in tables.endpoint.tolist():
        row, port = int(tables.port_row[endpoint]), int(fabric.port_peer[endpoint])
        if row < 0 or (routes.destination_port[d] == endpoint and tables.target_row[d] == row):
            continue
        found.add((row, port, steps.class_of(row, d)))
        if not lanes.with_answers or tables.target_kind[d] != 0 or tables.target_row[d] < 0:
            continue
        home = int(tables.target_row[d])
        for asker in range(len(routes.destination_port)):
            if tables.target_kind[asker] == 0 and tables.target_row[asker] == row:
                found.add((row, port, steps.class_of(home, asker)))
    return found


def dependencies(fabric: Fabric, routes: Routes, tables: Tables) -> Found:
    """Map each pair of channels that packets hold in turn to the destinations, classes and sources that do so."""
    steps = routes.steps
    assert steps is not None
    found: Found = {}
    for d in range(routes.group.shape[1]):
        if tables.target_kind[d] == 2:
            continue
        for start, port, klass in senders(fabric, routes, tables, d):
            for first, then in _follow(fabric, routes, tables, steps, (d, klass, start, port)):
                if then is not None:
                    found.setdefault((first, then), set()).add((d, klass, start))
    return found


def channels_in_use(fabric: Fabric, routes: Routes, tables: Tables) -> set[Channel]:
    """List the channels that some packet holds."""
    assert routes.steps is not None
    return {
        first
        for d in range(routes.group.shape[1])
        if tables.target_kind[d] != 2
        for start, port, klass in senders(fabric, routes, tables, d)
        for first, _ in _follow(fabric, routes, tables, routes.steps, (d, klass, start, port))
    }


def check_ranks(fabric: Fabric, routes: Routes, tables: Tables, rank: np.ndarray[Any, Any]) -> bool:
    """Judge whether the ranks grow along every dependency and every channel in use has one."""
    if any(rank[channel] < 0 for channel in channels_in_use(fabric, routes, tables)):
        return False
    return all(rank[first] < rank[then] for first, then in dependencies(fabric, routes, tables))


def _follow(
    fabric: Fabric, routes: Routes, tables: Tables, steps: LaneSteps, packet: tuple[int, int, int, int]
) -> set[tuple[Channel, Channel | None]]:
    """Follow a packet by every choice; each channel that it holds, with each that it then waits for."""
    d, klass, start, entry = packet
    found: set[tuple[Channel, Channel | None]] = set()
    todo, seen = [(start, entry)], set[tuple[int, int]]()

    def ways(row: int, came: int) -> list[tuple[int, Channel]]:
        own = members(row, d, routes.group, routes.group_ptr, routes.member_ptr)
        ports = [(m, int(routes.member_port[m])) for m in own if tables.next_row[m] >= 0]
        return [(m, (steps.lane_of(klass, came, port), port)) for m, port in ports]

    while todo:
        row, came = todo.pop()
        if (row, came) in seen:
            continue
        seen.add((row, came))
        for member, held in ways(row, came):
            step, at = int(tables.next_row[member]), int(fabric.port_peer[held[1]])
            found.add((held, None))
            found |= {(held, then) for _, then in ways(step, at)}
            todo.append((step, at))
    return found
