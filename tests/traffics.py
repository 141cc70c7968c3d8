"""Jobs for tests: rings over the endpoints of hosts, without a declaration."""

from __future__ import annotations

import numpy as np

from weftline.model.fabric import Fabric, NodeKind
from weftline.model.traffic import Collective, JobTraffic, Placement


def make_traffic(fabric: Fabric, hosts: list[int] | None = None, *, name: str = "job") -> JobTraffic:
    """Let each rail of some hosts, counted from 0, be a ring; a rank has a port on every plane."""
    every = [node for node in range(fabric.node_count) if fabric.node_kind[node] == NodeKind.HOST]
    nodes = every if hosts is None else [every[at] for at in hosts]
    planes = fabric.planes
    rails = int(fabric.port_ptr[nodes[0] + 1] - fabric.port_ptr[nodes[0]]) // planes
    port = [
        [int(fabric.port_ptr[node]) + rail * planes + plane for plane in range(planes)]
        for node in nodes
        for rail in range(rails)
    ]
    ranks = len(port)
    placement = Placement(
        np.array(port, dtype=np.int32),
        np.repeat(np.array(nodes, dtype=np.int32), rails),
        np.tile(np.arange(rails, dtype=np.int32), len(nodes)),
        "order",
        0,
    )
    groups = np.arange(ranks, dtype=np.int32).reshape(1, ranks)
    return JobTraffic(name, placement, groups, Collective("all-reduce", "hierarchical", 1000, ranks), rails, ())
