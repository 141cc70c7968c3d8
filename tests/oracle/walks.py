"""The claims judged by graphs of networkx: all walks towards a destination are one graph, all waits another."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import networkx as nx

from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes

Graph: TypeAlias = "nx.MultiDiGraph[Any]"
THERE, LOST = "there", "lost"


def members_of(routes: Routes, row: int, destination: int) -> list[int]:
    """List the ports of an entry; none where it names no group."""
    entry = int(routes.group[row, destination])
    if entry >= int(routes.group_ptr[row + 1]) - int(routes.group_ptr[row]):
        return []
    place = int(routes.group_ptr[row]) + entry
    return [int(p) for p in routes.member_port[routes.member_ptr[place] : routes.member_ptr[place + 1]]]


def walks_towards(fabric: Fabric, routes: Routes, destination: int) -> Graph:
    """Draw every switch's choices towards a destination; edges are ports, their ends are rows, there, or lost."""
    graph: Graph = nx.MultiDiGraph()
    target = int(routes.destination_port[destination])
    for row, node in enumerate(fabric.switch_node.tolist()):
        ports = members_of(routes, row, destination)
        if not ports:
            last = int(routes.group[row, destination]) == _local(routes)
            is_it = target == NIL and last and int(routes.destination_node[destination]) == node
            graph.add_edge(row, THERE if is_it else LOST, key=NIL)
        for port in ports:
            graph.add_edge(row, _end(fabric, node, port, target), key=port)
    return graph


def _local(routes: Routes) -> int:
    return 254 if routes.group.dtype.itemsize == 1 else 65534


def _end(fabric: Fabric, node: int, port: int, target: int) -> int | str:
    """Find where a port leads: a row, there, or lost."""
    if not 0 <= port < fabric.port_count or fabric.port_node[port] != node or fabric.port_peer[port] == NIL:
        return LOST
    peer = int(fabric.port_peer[port])
    row = int(fabric.switch_row[fabric.port_node[peer]])
    if row != NIL:
        return row
    return THERE if peer == target else LOST


def pairs_of(fabric: Fabric, routes: Routes) -> Iterator[tuple[int, int]]:
    """List the lit endpoints, each with every destination that is lit and not itself."""
    for source in fabric.endpoint_port.tolist():
        if fabric.port_peer[source] == NIL:
            continue
        for d, target in enumerate(routes.destination_port.tolist()):
            if target == NIL or (target != source and fabric.port_peer[target] != NIL):
                yield source, d


def home_of(fabric: Fabric, port: int) -> int:
    """Find the row of the switch that an endpoint hangs on."""
    return int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])


def judge_reach(fabric: Fabric, routes: Routes) -> tuple[bool, int]:
    """Judge reach without a hop bound, and find the most switches on a walk between endpoints of one component."""
    graphs = [walks_towards(fabric, routes, d) for d in range(len(routes.destination_port))]
    lengths: list[dict[int, int]] = [_longest(graph) for graph in graphs]
    good, most = True, 0
    for source, d in pairs_of(fabric, routes):
        row, target = home_of(fabric, source), int(routes.destination_port[d])
        length = lengths[d].get(row)
        if target == NIL:
            is_absent = int(routes.group[row, d]) == _local(routes) + 1
            good &= length is not None or is_absent
        elif fabric.port_component[target] == fabric.port_component[source]:
            good &= length is not None
        else:
            good &= not nx.has_path(graphs[d], row, THERE) if THERE in graphs[d] else True
            continue
        most = max(most, length or 0)
    return good, most


def _longest(graph: Graph) -> dict[int, int]:
    """Measure the longest walk of each switch that is delivered over every choice; others are left out."""
    bad = {LOST} | {row for part in nx.strongly_connected_components(graph) if _is_cycle(graph, part) for row in part}
    spoiled: set[Any] = set()
    for one in bad:
        spoiled |= _every(nx.ancestors(graph, one)) | {one} if one in graph else set()  # pyright: ignore[reportUnknownMemberType]
    sound = graph.subgraph([node for node in graph if node not in spoiled])
    found: dict[Any, int] = {}
    for node in reversed(list(nx.topological_sort(sound))):
        found[node] = 0 if node == THERE else 1 + max(found[after] for after in sound.successors(node))
    return {node: length for node, length in found.items() if node != THERE}


def _every(found: Any) -> set[Any]:
    return set(found)


def _edges(graph: Graph) -> list[tuple[Any, Any, Any]]:
    return list(graph.edges(keys=True))


def _is_cycle(graph: Graph, part: set[Any]) -> bool:
    one = next(iter(part))
    return len(part) > 1 or graph.has_edge(one, one)


def draw_waits(fabric: Fabric, routes: Routes) -> nx.DiGraph[int]:
    """Draw which channel between switches waits on which, on behalf of packets that endpoints send."""
    waits: nx.DiGraph[int] = nx.DiGraph()
    starts: dict[int, set[int]] = {}
    for source, d in pairs_of(fabric, routes):
        starts.setdefault(d, set()).add(home_of(fabric, source))
    for d, rows in starts.items():
        graph = walks_towards(fabric, routes, d)
        used: set[Any] = set(rows)
        for row in rows:
            used |= _every(nx.descendants(graph, row))  # pyright: ignore[reportUnknownMemberType]
        out: dict[Any, list[tuple[Any, Any]]] = {row: [] for row in used - {THERE, LOST}}
        for row, step, port in _edges(graph):
            if row in out:
                out[row].append((step, port))
        for choices in out.values():
            for step, port in choices:
                waits.add_edges_from((port, then) for after, then in out.get(step, []) if after in out)
    return waits


def load_flows(fabric: Fabric, routes: Routes, flows: list[tuple[int, int]]) -> dict[int, Fraction]:
    """Load each port with flows of 1 from endpoint ports to destinations; every group splits equally."""
    load: dict[int, Fraction] = {}

    def carry(port: int, d: int, share: Fraction) -> None:
        load[port] = load.get(port, Fraction(0)) + share
        row = int(fabric.switch_row[fabric.port_node[fabric.port_peer[port]]])
        ports = members_of(routes, row, d) if row != NIL else []
        for member in ports:
            carry(member, d, share / len(ports))

    for source, d in flows:
        carry(source, d, Fraction(1))
    return load
