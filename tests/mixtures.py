"""Slow twin of the stages where packets change lanes: every mixture of tables, classes and maps, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np

from tests.brute import is_channel, lit_endpoints, walk_all
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes

Cell = tuple[int, int, int]
"""Class of the path, port in, port out: a place of the map of one switch."""
Channel = tuple[int, int]
"""Lane and port."""


def list_pieces(before: Routes, after: Routes, size: int = 1) -> list[tuple[int, int]]:
    """List the pieces that change: blocks of ``size`` destinations of one switch."""
    rows, goals = np.nonzero(before.group != after.group)
    return sorted({(int(row), int(goal) // size) for row, goal in zip(rows, goals, strict=True)})


def interleave(before: Routes, after: Routes, size: int = 1) -> Iterator[Routes]:
    """Make every table that can stand while pieces change, in whatever order they do."""
    pieces = list_pieces(before, after, size)
    for chosen in itertools.product((False, True), repeat=len(pieces)):
        table = before.group.copy()
        for (row, block), is_new in zip(pieces, chosen, strict=True):
            if is_new:
                part = slice(block * size, (block + 1) * size)
                table[row, part] = after.group[row, part]
        yield replace(before, group=table)


@dataclass(frozen=True)
class Packet:
    """What one packet does: the switch it starts at, its class, how it ends, and its hops."""

    source: int
    goal: int
    path_class: int
    how: str
    hops: tuple[tuple[int, int], ...]
    """Port in and port out, between switches."""


def find_classes(routes: Routes, row: int, goal: int) -> set[int]:
    """List the classes by which is sent from a switch to a destination."""
    steps = routes.steps
    if steps is None:
        return {routes.lane_of(goal)}
    more = 0 if steps.more is None else int(steps.more[row, goal])
    return {steps.class_of(row, goal)} | {one for one in range(16) if more >> one & 1}


def find_lane(routes: Routes, cell: Cell) -> int | None:
    """Find the lane of a place of a map; None where the map does not name the class."""
    steps = routes.steps
    if steps is None:
        return cell[0] if cell[0] < routes.lane_count else None
    lane = steps.lane_of(*cell) if cell[0] < len(steps.lane) else NIL
    return None if lane == NIL else lane


def list_packets(fabric: Fabric, mixture: Routes, sides: tuple[Routes, Routes], off: set[int]) -> Iterator[Packet]:
    """List all packets under a mixture of tables, by each class of the sides, answers too."""
    answers = any(one.lanes is not None and one.lanes.with_answers for one in sides)
    at = {int(port): goal for goal, port in enumerate(mixture.destination_port) if port != NIL}
    for source in lit_endpoints(fabric):
        row, entry = int(fabric.switch_row[fabric.port_node[fabric.port_peer[source]]]), int(fabric.port_peer[source])
        for goal, target in enumerate(mixture.destination_port.tolist()):
            if target == source or goal in off or (target != NIL and fabric.port_peer[target] == NIL):
                continue
            classes = set[int]().union(*(find_classes(side, row, goal) for side in sides))
            if answers and target != NIL and at.get(source, -1) not in off:
                home = int(fabric.switch_row[fabric.port_node[fabric.port_peer[target]]])
                classes |= set[int]().union(*(find_classes(side, home, at[source]) for side in sides))
            for how, steps in walk_all(fabric, mixture, row, goal):
                out = [port for _, port in steps if port != NIL and is_channel(fabric, port)]
                hops = tuple(zip([entry, *(int(fabric.port_peer[port]) for port in out)], out, strict=False))
                yield from (Packet(source, goal, one, how, hops) for one in sorted(classes))


def is_safe(fabric: Fabric, first: Routes, last: Routes, stage: tuple[Routes, Routes, set[int]]) -> bool:
    """Judge a stage: nothing loops, nothing owed is lost, and all that can wait in any mixture closes no cycle."""
    before, after, off = stage
    served = [_find_served(fabric, one) for one in (first, last)]
    owed = served[0] & served[1]
    waits: set[tuple[Channel, Channel]] = set()
    for mixture in interleave(before, after):
        for packet in list_packets(fabric, mixture, (before, after), off):
            pair = (packet.source, packet.goal)
            if packet.how == "loop" or (packet.how != "delivered" and pair in owed):
                return False
            if None in {find_lane(side, (packet.path_class, 0, 0)) for side in (before, after)}:
                return False
            waits |= set(_list_waits(packet, (before, after)))
    return nx.is_directed_acyclic_graph(nx.DiGraph(waits))


def _list_waits(packet: Packet, sides: tuple[Routes, Routes]) -> Iterator[tuple[Channel, Channel]]:
    """List what a packet waits for, where each switch has the map of either side by itself."""
    held = [
        {(lane, out) for side in sides if (lane := find_lane(side, (packet.path_class, came, out))) is not None}
        for came, out in packet.hops
    ]
    for first, then in itertools.pairwise(held):
        yield from itertools.product(first, then)


def list_cells(sides: tuple[Routes, Routes], packets: Iterable[Packet]) -> list[Cell]:
    """List the places of maps that packets come by and that change."""
    met = {(one.path_class, *hop) for one in packets for hop in one.hops}
    return sorted(cell for cell in met if find_lane(sides[0], cell) != find_lane(sides[1], cell))


def mix_maps(cells: list[Cell]) -> Iterator[Mapping[Cell, int]]:
    """Make every mixture of maps: which places are new."""
    for chosen in itertools.product((0, 1), repeat=len(cells)):
        yield dict(zip(cells, chosen, strict=True))


def follow_maps(packet: Packet, sides: tuple[Routes, Routes], new: Mapping[Cell, int]) -> list[Channel]:
    """List the channels that a packet holds under one mixture of maps."""
    found: list[Channel] = []
    for came, out in packet.hops:
        cell = (packet.path_class, came, out)
        lane = find_lane(sides[new.get(cell, 0)], cell)
        assert lane is not None
        found.append((lane, out))
    return found


def _find_served(fabric: Fabric, routes: Routes) -> set[tuple[int, int]]:
    ends: dict[tuple[int, int], set[str]] = {}
    for packet in list_packets(fabric, routes, (routes, routes), set()):
        ends.setdefault((packet.source, packet.goal), set()).add(packet.how)
    return {pair for pair, how in ends.items() if how == {"delivered"}}
