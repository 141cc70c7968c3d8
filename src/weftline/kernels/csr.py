"""Graphs as CSR: connected components and distances."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL


@kernel
def label_components(nbr_ptr: I32, nbr: I32) -> I32:
    """Number the connected components of an undirected graph in the order of their first nodes; O(nodes + edges)."""
    nodes = len(nbr_ptr) - 1
    label = np.full(nodes, NIL, dtype=np.int32)
    queue = np.empty(nodes, dtype=np.int32)
    found = 0
    for start in range(nodes):
        if label[start] != NIL:
            continue
        label[start] = found
        queue[0] = start
        head = 0
        tail = 1
        while head < tail:
            node = queue[head]
            head += 1
            for at in range(nbr_ptr[node], nbr_ptr[node + 1]):
                other = nbr[at]
                if label[other] == NIL:
                    label[other] = found
                    queue[tail] = other
                    tail += 1
        found += 1
    return label


@kernel
def spread_distance(nbr_ptr: I32, nbr: I32, sources: I32) -> I32:
    """Count the edges from each node to the nearest of ``sources``, NIL where there is no way; O(nodes + edges)."""
    nodes = len(nbr_ptr) - 1
    distance = np.full(nodes, NIL, dtype=np.int32)
    queue = np.empty(nodes, dtype=np.int32)
    tail = 0
    for at in range(len(sources)):
        source = sources[at]
        if distance[source] == NIL:
            distance[source] = 0
            queue[tail] = source
            tail += 1
    head = 0
    while head < tail:
        node = queue[head]
        head += 1
        for at in range(nbr_ptr[node], nbr_ptr[node + 1]):
            other = nbr[at]
            if distance[other] == NIL:
                distance[other] = distance[node] + 1
                queue[tail] = other
                tail += 1
    return distance
