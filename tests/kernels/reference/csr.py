"""Components and distances by the definition."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx


def label_components(nodes: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Label components in the order of their least nodes."""
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(nodes))
    parts = sorted(nx.connected_components(graph), key=min)
    return [next(label for label, part in enumerate(parts) if node in part) for node in range(nodes)]


def spread_distance(nodes: int, edges: Sequence[tuple[int, int]], sources: Sequence[int]) -> list[int]:
    """Relax every edge until nothing changes."""
    far = nodes + 1
    distance = [0 if node in sources else far for node in range(nodes)]
    for _ in range(nodes):
        for a, b in edges:
            distance[a] = min(distance[a], distance[b] + 1)
            distance[b] = min(distance[b], distance[a] + 1)
    return [-1 if steps >= far else steps for steps in distance]
