"""What the proofs claim, found by walking every walk of every pair."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes, local_delivery

Step = tuple[int, int]
"""A switch row and the port it transmits by."""


def ports_to(routes: Routes, row: int, destination: int) -> list[int]:
    """List the ports of an entry; none where it is no valid group."""
    first, last = int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])
    place = first + int(routes.group[row, destination])
    if place >= last:
        return []
    return routes.member_port[routes.member_ptr[place] : routes.member_ptr[place + 1]].tolist()


def walk_all(
    fabric: Fabric, routes: Routes, row: int, destination: int, steps: tuple[Step, ...] = ()
) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Walk every walk from a switch: how it ends (``delivered``, ``lost``, ``loop``), and its steps."""
    node, target = int(fabric.switch_node[row]), int(routes.destination_port[destination])
    if row in [r for r, _ in steps]:
        yield "loop", steps
        return
    if target == NIL and routes.destination_node[destination] == node:
        is_local = int(routes.group[row, destination]) == local_delivery(routes.group)
        if is_local and not ports_to(routes, row, destination):
            yield "delivered", (*steps, (row, NIL))
            return
    ports = ports_to(routes, row, destination)
    if not ports:
        yield "lost", steps
    for port in ports:
        is_own = 0 <= port < fabric.port_count and fabric.port_node[port] == node
        peer = int(fabric.port_peer[port]) if is_own else NIL
        taken = (*steps, (row, port))
        if peer == NIL:
            yield "lost", taken
        elif fabric.switch_row[fabric.port_node[peer]] == NIL:
            yield ("delivered" if peer == target else "lost"), taken
        else:
            yield from walk_all(fabric, routes, int(fabric.switch_row[fabric.port_node[peer]]), destination, taken)


def lit_endpoints(fabric: Fabric) -> list[int]:
    """List the endpoint ports that are not dark."""
    return [int(p) for p in fabric.endpoint_port if fabric.port_peer[p] != NIL]


def is_reached(fabric: Fabric, routes: Routes, max_hops: int) -> bool:
    """Judge the claim reach by its words, pair by pair."""
    for source in lit_endpoints(fabric):
        row = int(fabric.switch_row[fabric.port_node[fabric.port_peer[source]]])
        for d, target in enumerate(routes.destination_port.tolist()):
            if target == source or (target != NIL and fabric.port_peer[target] == NIL):
                continue
            ends = list(walk_all(fabric, routes, row, d))
            good = all(how == "delivered" and len(steps) <= max_hops for how, steps in ends)
            if target == NIL:
                is_absent = int(routes.group[row, d]) == 255
                if not (good or is_absent):
                    return False
            elif fabric.port_component[target] == fabric.port_component[source]:
                if not good:
                    return False
            elif any(how == "delivered" for how, _ in ends):
                return False
    return True


def channel_pairs(fabric: Fabric, routes: Routes) -> set[tuple[int, int]]:
    """List the channels between switches that some packet uses in turn, loops around and around."""
    found: set[tuple[int, int]] = set()
    for source in lit_endpoints(fabric):
        start = int(fabric.switch_row[fabric.port_node[fabric.port_peer[source]]])
        for d, target in enumerate(routes.destination_port.tolist()):
            if target == source or (target != NIL and fabric.port_peer[target] == NIL):
                continue
            for how, steps in walk_all(fabric, routes, start, d):
                # No switch sends by a port of another, so that such a step holds no channel.
                taken = [port for at, port in steps if is_channel(fabric, port) and owns(fabric, at, port)]
                found |= set(pairwise(taken))
                if how == "loop":
                    again = fabric.switch_row[fabric.port_node[fabric.port_peer[taken[-1]]]]
                    found |= {(taken[-1], p) for r, p in steps if r == again and is_channel(fabric, p)}
    return found


def owns(fabric: Fabric, row: int, port: int) -> bool:
    """Judge whether a port is one of a switch."""
    return int(fabric.switch_row[fabric.port_node[port]]) == row


def is_channel(fabric: Fabric, port: int) -> bool:
    """Judge whether a port leads from a switch to a switch."""
    if not 0 <= port < fabric.port_count or fabric.port_peer[port] == NIL:
        return False
    ends = fabric.port_node[[port, int(fabric.port_peer[port])]]
    return bool((fabric.switch_row[ends] != NIL).all())
