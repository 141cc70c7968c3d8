"""Routes for tests, made entry by entry: minimal, of any choice, and broken on purpose."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tests.fabrics import from_links
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes

LOCAL = "local"
Entry = Sequence[int] | str | None
"""The ports of an entry, ``LOCAL``, or None for no route."""


def make_routes(fabric: Fabric, choose: Callable[[int, int], Entry], *, to_switches: bool = False) -> Routes:
    """Make routes from ``choose(row, destination) -> ports``; entries of equal ports share a group."""
    port, node = _destinations(fabric, to_switches=to_switches)
    group = np.full((len(fabric.switch_node), len(port)), 255, dtype=np.uint8)
    group_ptr, member_ptr, members = [0], [0], list[int]()
    for row in range(len(fabric.switch_node)):
        known: dict[tuple[int, ...], int] = {}
        for d in range(len(port)):
            entry = choose(row, d)
            if entry is None:
                continue
            if isinstance(entry, str):
                group[row, d] = 254
                continue
            ports = tuple(entry)
            if ports not in known:
                known[ports] = len(known)
                members.extend(ports)
                member_ptr.append(len(members))
            group[row, d] = known[ports]
        group_ptr.append(group_ptr[-1] + len(known))
    return Routes(
        fabric_digest=fabric.digest,
        engine="by hand",
        guarantee="none",
        destination_node=node,
        destination_port=port,
        group=group,
        group_ptr=np.array(group_ptr, dtype=np.int32),
        member_ptr=np.array(member_ptr, dtype=np.int32),
        member_port=np.array(members, dtype=np.int32),
    )


def minimal_routes(
    fabric: Fabric,
    *,
    tie: Callable[[int, int, Sequence[int]], Sequence[int]] = lambda _row, _d, ports: ports[:1],
    to_switches: bool = False,
) -> Routes:
    """Route by fewest switches; ``tie(row, destination, ports)`` chooses among the ports that are as good."""
    port, node = _destinations(fabric, to_switches=to_switches)
    near = [_distances(fabric, int(port[d]), int(node[d])) for d in range(len(port))]

    def choose(row: int, d: int) -> Entry:
        if port[d] == NIL and fabric.switch_node[row] == node[d]:
            return LOCAL
        best = [p for p in ports_of(fabric, row) if _comes_nearer(fabric, near[d], row, p, int(port[d]))]
        return tie(row, d, best) if best else None

    return make_routes(fabric, choose, to_switches=to_switches)


def ports_of(fabric: Fabric, row: int) -> range:
    """List the ports of a switch."""
    node = int(fabric.switch_node[row])
    return range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))


def ring(switches: int = 4, hosts: int = 1) -> Fabric:
    """Make a ring; on each switch the hosts' ports come first, then one each way."""
    return from_links(switches, hosts, [(i, (i + 1) % switches) for i in range(switches)])


def clockwise_routes(fabric: Fabric, switches: int, *, ties: str) -> Routes:
    """Route a ring minimally; ``ties``: ``clockwise``, or ``opposite`` for opposite pairs."""
    here = fabric.switch_row[fabric.port_node[fabric.port_peer[fabric.endpoint_port]]]

    def port_to(row: int, other: int) -> list[int]:
        peers = [(p, int(fabric.port_peer[p])) for p in ports_of(fabric, row)]
        return [p for p, q in peers if q != NIL and fabric.switch_row[fabric.port_node[q]] == other]

    def choose(row: int, d: int) -> Entry:
        ahead = (int(here[d]) - row) % switches
        if ahead == 0:
            return [int(fabric.port_peer[fabric.endpoint_port[d]])]
        is_clockwise = ahead * 2 < switches or (ahead * 2 == switches and (ties == "clockwise" or row % 2 == 0))
        return port_to(row, (row + (1 if is_clockwise else -1)) % switches)

    return make_routes(fabric, choose)


def change_entries(routes: Routes, changes: Mapping[tuple[int, int], int]) -> Routes:
    """Overwrite entries of the group table."""
    group = routes.group.copy()
    for (row, d), entry in changes.items():
        group[row, d] = entry
    return replace(routes, group=group)


def change_member(routes: Routes, member: int, port: int) -> Routes:
    """Overwrite one member of one group."""
    members = routes.member_port.copy()
    members[member] = port
    return replace(routes, member_port=members)


def cut(fabric: Fabric, ports: Iterable[int]) -> Fabric:
    """Make links dark."""
    peer = fabric.port_peer.copy()
    for port in ports:
        if peer[port] != NIL:
            peer[peer[port]] = NIL
            peer[port] = NIL
    return replace(fabric, port_peer=peer)


def random_world(seed: int, *, sane: bool = False) -> tuple[Fabric, Routes]:
    """Make a small random graph and random routes; unless ``sane``, with entries that are broken in every way."""
    rng = random.Random(seed)
    count = rng.randint(1, 5)
    links = [(rng.randrange(i), i) for i in range(1, count)]
    links += [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(0, 4))]
    homes = {f"host-{i + 1:04d}": f"leaf-{rng.randrange(count) + 1:03d}" for i in range(rng.randint(1, 5))}
    names = [f"leaf-{i + 1:03d}" for i in range(count)]
    fabric = from_links(names, homes, [link for link in links if link[0] != link[1]])
    fabric = cut(fabric, [p for p in range(fabric.port_count) if not sane and rng.random() < 0.04])
    component = fabric.port_component.copy()
    if rng.random() < 0.4:
        component[: len(homes)] = [rng.randrange(2) for _ in homes]
    fabric = replace(fabric, port_component=component)
    to_switches = rng.random() < 0.5

    def tie(_row: int, _d: int, ports: Sequence[int]) -> Sequence[int]:
        return rng.sample(ports, rng.randint(1, len(ports)))

    routes = minimal_routes(fabric, tie=tie, to_switches=to_switches)
    return fabric, routes if sane else _damage(fabric, routes, rng)


def _damage(fabric: Fabric, routes: Routes, rng: random.Random) -> Routes:
    rows, ends = routes.group.shape
    many = rng.choice((0, 1, 1, 2, 5))
    places = [(rng.randrange(rows), rng.randrange(ends)) for _ in range(many)] if ends else []
    changed = change_entries(routes, {place: rng.choice((0, 1, 2, 3, 9, 254, 255)) for place in places})
    if len(routes.member_port) and rng.random() < 0.5:
        member = rng.randrange(len(routes.member_port))
        row = (
            int(np.searchsorted(routes.group_ptr, np.searchsorted(routes.member_ptr, member, "right") - 1, "right")) - 1
        )
        own = list(ports_of(fabric, row))
        port = rng.choice([*own, *own, *own, -5, fabric.port_count + 3, rng.randrange(fabric.port_count)])
        changed = change_member(changed, member, port)
    return changed


def _destinations(fabric: Fabric, *, to_switches: bool) -> tuple[I32, I32]:
    port, node = fabric.endpoint_port, fabric.port_node[fabric.endpoint_port]
    if to_switches:
        port = np.concatenate((port, np.full(len(fabric.switch_node), NIL, dtype=np.int32)))
        node = np.concatenate((node, fabric.switch_node))
    return port.copy(), node.copy()


def _distances(fabric: Fabric, port: int, node: int) -> dict[int, int]:
    """Count the switches from each switch to a destination."""
    if port == NIL:
        start = int(fabric.switch_row[node])
    elif fabric.port_peer[port] == NIL:
        return {}
    else:
        start = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
    near = {start: 1}
    queue = deque([start])
    while queue:
        row = queue.popleft()
        for p in ports_of(fabric, row):
            peer = int(fabric.port_peer[p])
            other = NIL if peer == NIL else int(fabric.switch_row[fabric.port_node[peer]])
            if other != NIL and other not in near:
                near[other] = near[row] + 1
                queue.append(other)
    return near


def _comes_nearer(fabric: Fabric, near: Mapping[int, int], row: int, port: int, target: int) -> bool:
    peer = int(fabric.port_peer[port])
    if peer == NIL or row not in near:
        return False
    other = int(fabric.switch_row[fabric.port_node[peer]])
    return peer == target if other == NIL else near.get(other, 99) == near[row] - 1
