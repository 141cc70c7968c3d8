"""Witnesses of failed walks: one walk from a source towards a destination, step by step, until it goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weftline.kernels.column import NIL
from weftline.kernels.reach import FARTHEST, IS_SWITCH
from weftline.model.fabric import Fabric
from weftline.model.proof import Witness
from weftline.model.routes import Routes
from weftline.prove.tables import Tables

_SHOWN = 8
"""Switches of a loop that its summary names."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The members taken one after another, and how it ended: ``ending`` is empty where it was delivered."""

    members: tuple[int, ...]
    ending: str
    kind: str
    loop: int = NIL
    """Place in ``members`` where the loop begins."""


def name_destination(fabric: Fabric, routes: Routes, destination: int) -> str:
    """Name a destination: ``host-0001/nic1``, ``host-0001/nic1+2`` by its second further address, or a switch."""
    port, path = int(routes.destination_port[destination]), int(routes.path[destination])
    if port == NIL:
        return fabric.node_name[int(routes.destination_node[destination])]
    return f"{fabric.port_name(port)}+{path}" if path else fabric.port_name(port)


def find_source(fabric: Fabric, tables: Tables, source: int, target_port: int) -> int:
    """Find the first endpoint port of a source switch and component that is not the destination itself."""
    there = tables.port_row[tables.endpoint] == tables.source_row[source]
    own = fabric.port_component[tables.endpoint] == tables.source_component[source]
    return int(tables.endpoint[there & own & (tables.endpoint != target_port)][0])


def members_of(tables: Tables, row: int, destination: int) -> range:
    """List the members by which a switch forwards to a destination; none where it does not forward."""
    entry = int(tables.group[row, destination])
    first = int(tables.group_ptr[row])
    if entry >= int(tables.group_ptr[row + 1]) - first:
        return range(0)
    return range(int(tables.member_ptr[first + entry]), int(tables.member_ptr[first + entry + 1]))


def is_delivery(tables: Tables, member: int, destination: int) -> bool:
    """Judge whether a member hands over to the destination, an endpoint."""
    port = int(tables.target_port[destination])
    return port != NIL and int(tables.next_port[member]) == port


def is_local_delivery(tables: Tables, row: int, destination: int) -> bool:
    """Judge whether a switch is the destination and knows it."""
    is_own = int(tables.target_kind[destination]) == IS_SWITCH and int(tables.target_row[destination]) == row
    return is_own and int(tables.group[row, destination]) == tables.local


def find_failure(fabric: Fabric, tables: Tables, row: int, destination: int) -> Walk | None:
    """Find a walk from a switch that is not delivered, depth first by member order; None where all are."""
    open_rows = {row: 0}
    done: set[int] = set()
    taken: list[int] = []
    stack = [(row, iter(members_of(tables, row, destination)))]
    dead = _dead_end(fabric, tables, row, destination)
    if dead is not None:
        return Walk((), *dead)
    while stack:
        here, choices = stack[-1]
        member = next(choices, None)
        if member is None:
            stack.pop()
            del open_rows[here]
            done.add(here)
            taken[len(stack) - 1 :] = []
            continue
        step = int(tables.next_row[member])
        if is_delivery(tables, member, destination) or step in done:
            continue
        taken.append(member)
        if step in open_rows:
            return Walk(tuple(taken), "the walk comes back to where it was", "loop", open_rows[step])
        dead = _bad_hand_over(fabric, tables, member) if step < 0 else _dead_end(fabric, tables, step, destination)
        if dead is not None:
            return Walk(tuple(taken), *dead)
        open_rows[step] = len(taken)
        stack.append((step, iter(members_of(tables, step, destination))))
    return None


def find_delivery(tables: Tables, row: int, destination: int) -> Walk:
    """Find the shortest walk from a switch that is delivered; there must be one."""
    came: dict[int, tuple[int, int]] = {row: (NIL, NIL)}
    queue = [row]
    for here in queue:
        for member in members_of(tables, here, destination):
            step = int(tables.next_row[member])
            if is_delivery(tables, member, destination):
                return Walk((*_trail(came, here), member), "", "delivered")
            if step >= 0 and step not in came:
                came[step] = (here, member)
                queue.append(step)
    return Walk((), "no walk is delivered", "delivered")


def find_longest(tables: Tables, distance: np.ndarray[Any, np.dtype[np.uint8]], row: int, destination: int) -> Walk:
    """Follow the farthest member at each switch, down to the delivery."""
    taken: list[int] = []
    while True:
        members = members_of(tables, row, destination)
        steps = [(int(distance[tables.next_row[m], destination]), -m) for m in members if tables.next_row[m] >= 0]
        if not steps:
            return Walk((*taken, *members[:1]), f"it passes more switches than {FARTHEST} or the bound", "too-long")
        taken.append(-max(steps)[1])
        row = int(tables.next_row[taken[-1]])


def tell_walk(fabric: Fabric, routes: Routes, source_port: int, destination: int, walk: Walk) -> Witness:
    """Put a walk into words and names that can be replayed."""
    source, target = fabric.port_name(source_port), name_destination(fabric, routes, destination)
    ports = [source_port, *(int(routes.member_port[m]) for m in walk.members)]
    hops: list[dict[str, str | None]] = []
    came: str | None = None
    node = int(fabric.port_node[source_port])
    for port in ports:
        out = fabric.port_name(port) if 0 <= port < fabric.port_count else f"port {port}"
        hops.append({"node": fabric.node_name[node], "in_port": came, "out_port": out})
        peer = int(fabric.port_peer[port]) if 0 <= port < fabric.port_count else NIL
        if peer == NIL or int(fabric.port_node[port]) != node:
            break
        came, node = fabric.port_name(peer), int(fabric.port_node[peer])
    else:
        hops.append({"node": fabric.node_name[node], "in_port": came, "out_port": None})
    detail: dict[str, Any] = {"source": source, "destination": target, "reason": walk.ending, "hops": hops}
    if walk.kind == "loop":
        looping = walk.members[walk.loop :]
        detail["cycle"] = [fabric.link_name(int(routes.member_port[m])) for m in looping]
        detail["reason"] = _name_loop(fabric, [int(routes.member_port[m]) for m in looping])
    ending = detail["reason"] or f"it is delivered over {len(walk.members)} switches, though their components differ"
    return Witness(walk.kind, f"{source} to {target}: {ending}", detail)


def _name_loop(fabric: Fabric, ports: list[int]) -> str:
    """Name the switches that a packet goes round, the first again at the end."""
    names = [fabric.node_name[int(fabric.port_node[port])] for port in ports]
    shown = [*names[:_SHOWN], "...", names[-1]] if len(names) > _SHOWN + 1 else names
    return f"it loops {' -> '.join([*shown, names[0]])}"


def _trail(came: dict[int, tuple[int, int]], row: int) -> list[int]:
    """List the members that lead to a switch."""
    trail: list[int] = []
    while came[row][1] != NIL:
        row, member = came[row]
        trail.append(member)
    return trail[::-1]


def _dead_end(fabric: Fabric, tables: Tables, row: int, destination: int) -> tuple[str, str] | None:
    """Say why a switch forwards to a destination by no port; None where it does, or is it."""
    if len(members_of(tables, row, destination)) or is_local_delivery(tables, row, destination):
        return None
    name = fabric.node_name[int(fabric.switch_node[row])]
    entry, count = int(tables.group[row, destination]), int(tables.group_ptr[row + 1] - tables.group_ptr[row])
    if entry == tables.local:
        return f"{name} takes it for its own", "misdelivered"
    if entry == tables.no_route:
        return f"{name} has no route", "no-route"
    if entry >= count:
        return f"{name} names group {entry}, but has only {count}", "bad-entry"
    return f"{name} names group {entry}, which has no port", "no-route"


def _bad_hand_over(fabric: Fabric, tables: Tables, member: int) -> tuple[str, str]:
    """Say what is wrong with a member that leads to no switch and not to the destination."""
    port, peer = int(tables.member_port[member]), int(tables.next_port[member])
    if not 0 <= port < fabric.port_count:
        return f"it is sent by a port that does not exist ({port})", "bad-entry"
    if peer != NIL:
        return f"{fabric.port_name(port)} hands it to {fabric.port_name(peer)}, another endpoint", "misdelivered"
    if int(fabric.port_peer[port]) == NIL:
        return f"{fabric.port_name(port)} is dark", "dark-port"
    return f"it is sent by {fabric.port_name(port)}, a port of another switch", "bad-entry"
