"""Routes on whole trees agree with networkx about who is reached, and by how many hops at least."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.unit.route.walks import walk
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.route import compute_routes


def draw_graph(fabric: Fabric) -> nx.Graph[tuple[str, int]]:
    """Draw switches as nodes, and endpoint ports as leaves of the graph, so that no path leads through a host."""
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    endpoints = set(fabric.endpoint_port.tolist())
    for port, peer in enumerate(fabric.port_peer.tolist()):
        if peer != NIL:
            ends = [("port", end) if end in endpoints else ("node", int(fabric.port_node[end])) for end in (port, peer)]
            graph.add_edge(ends[0], ends[1])
    return graph


@pytest.mark.parametrize("engine", ["fat-tree", "updown", "ecmp", "layered"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("fat-tree", {"hosts": 54, "ports": 6}),
        ("rail-optimised", {"hosts": 16, "rails": 4, "ports": 8, "unit_size": 4}),
        ("rail-optimised", {"hosts": 12, "rails": 2, "ports": 8, "unit_size": 4, "planes": 2}),
        ("rail-only", {"hosts": 16, "rails": 4, "ports": 8, "unit_size": 4}),
    ],
)
def test_reach_and_hops_of_every_pair(engine: str, kind: str, options: dict[str, Any]) -> None:
    fabric = make_fabric(kind, **options)
    routes = compute_routes(fabric, engine, to_switches=False)
    graph = draw_graph(fabric)
    port = fabric.endpoint_port
    source, target = np.repeat(port, len(port)), np.tile(np.arange(len(port), dtype=np.int32), len(port))
    ptr, _, status = walk(fabric, routes, source, target)
    hops = np.diff(ptr)
    for at in range(len(source)):
        a, b = ("port", int(source[at])), ("port", int(port[target[at]]))
        if a == b:
            continue
        assert (status[at] == 0) == nx.has_path(graph, a, b)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    for at in np.flatnonzero((status == 0) & (source != port[target])):
        assert hops[at] == lengths["port", int(source[at])]["port", int(port[target[at]])]
