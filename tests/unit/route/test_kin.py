"""Tables of engine ecmp against sets that are told switch by switch, on whole and degraded fabrics."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.kernels.reference import kin as reference
from tests.tables import cut, ports_of
from tests.unit.route.walks import members, switch_links
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.route import compute_routes
from weftline.route.graph import read_destinations, read_graph
from weftline.route.order import order_switches

SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("fat-tree", {"hosts": 54, "ports": 6}),
    ("fat-tree", {"hosts": 18, "ports": 9, "unit_size": 6, "oversubscription": 2.0}),
    ("rail-optimised", {"hosts": 16, "rails": 2, "ports": 8, "unit_size": 4, "planes": 2}),
    ("rail-only", {"hosts": 10, "rails": 2, "ports": 8, "unit_size": 4}),
]


def check_tables(fabric: Fabric) -> None:
    """Every entry is the set by the definition, and each switch numbers its sets by the first home that uses them."""
    graph, goals = read_graph(fabric), read_destinations(fabric, to_switches=True)
    placed = order_switches(graph, goals, np.zeros(0, dtype=np.int32))
    low = np.repeat(np.arange(graph.switch_count), np.diff(graph.edge_ptr))
    edges = {(int(a), int(b)) for a, b in zip(low, graph.edge_row, strict=True)}
    homes = [int(home) for home in np.unique(goals.home[goals.home != NIL])]
    numbers, sets = reference.collect_sets(placed.order.tolist(), edges, homes)
    routes = compute_routes(fabric, "ecmp", to_switches=True)
    row_of = fabric.switch_row[fabric.port_node]
    for row in range(graph.switch_count):
        for goal, home in enumerate(goals.home.tolist()):
            found = members(routes, row, goal)
            if home == row:
                delivered = [] if goals.port[goal] == NIL else [int(goals.home_port[goal])]
                assert found == delivered
                continue
            number = NIL if home == NIL else numbers[row][homes.index(home)]
            if number == NIL:
                assert found is None
                continue
            assert int(routes.group[row, goal]) == number
            wanted = sets[row][number]
            ports = ports_of(fabric, row)
            assert found == [
                port for port in ports if fabric.port_peer[port] != NIL and row_of[fabric.port_peer[port]] in wanted
            ]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape[0])
@pytest.mark.parametrize("lost", [0, 1, 3, 12])
def test_entries_are_the_sets_of_the_definition(shape: tuple[str, dict[str, Any]], lost: int) -> None:
    fabric = make_fabric(shape[0], **shape[1])
    links = switch_links(fabric)
    check_tables(cut(fabric, random.Random(lost).sample(links, min(lost, len(links)))))
