"""Cycles of any graph: ranks that grow along every edge, or else a shortest cycle."""

from __future__ import annotations

import numpy as np

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, I64, NIL


@kernel
def rank_channels(ptr: I64, after: I32) -> tuple[I32, int]:
    """Rank each node above all that lead to it (Kahn); O(nodes + edges).

    Returns the ranks, from 0, and how many nodes have none (NIL): they are on a cycle or behind one.
    """
    nodes = len(ptr) - 1
    rank = np.full(nodes, NIL, dtype=np.int32)
    before = np.zeros(nodes, dtype=np.int32)
    level = np.zeros(nodes, dtype=np.int32)
    queue = np.empty(nodes, dtype=np.int32)
    for edge in range(len(after)):
        before[after[edge]] += 1
    tail = np.int64(0)
    for node in range(nodes):
        if before[node] == 0:
            queue[tail] = node
            tail += 1
    done = np.int64(0)
    while done < tail:
        node = queue[done]
        done += 1
        rank[node] = level[node]
        for edge in range(ptr[node], ptr[node + 1]):
            other = after[edge]
            level[other] = max(level[other], level[node] + 1)
            before[other] -= 1
            if before[other] == 0:
                queue[tail] = other
                tail += 1
    return rank, int(nodes - tail)


@kernel
def find_cycle(ptr: I64, after: I32, rank: I32, max_steps: int) -> tuple[I32, bool]:
    """Find a shortest cycle among the nodes without rank, in at most about ``max_steps`` edge visits.

    Returns its nodes in order, from the smallest (empty where there is no cycle), and whether no shorter one exists:
    False where the steps ran out. Of several shortest cycles the one with the smallest first node is taken.
    """
    nodes = len(rank)
    # drop what leads into no cycle: repeatedly, the nodes that nothing follows
    alive = np.zeros(nodes, dtype=np.uint8)
    follows = np.zeros(nodes, dtype=np.int32)
    indegree = np.zeros(nodes + 1, dtype=np.int64)
    for node in range(nodes):
        if rank[node] == NIL:
            alive[node] = 1
            for edge in range(ptr[node], ptr[node + 1]):
                if rank[after[edge]] == NIL:
                    follows[node] += 1
                    indegree[after[edge] + 1] += 1
    for node in range(nodes):
        indegree[node + 1] += indegree[node]
    back_ptr = indegree
    fill = back_ptr.copy()
    back = np.empty(back_ptr[nodes], dtype=np.int32)
    queue = np.empty(nodes, dtype=np.int32)
    tail = np.int64(0)
    for node in range(nodes):
        if alive[node] == 0:
            continue
        for edge in range(ptr[node], ptr[node + 1]):
            other = after[edge]
            if alive[other] == 1:
                back[fill[other]] = node
                fill[other] += 1
        if follows[node] == 0:
            queue[tail] = node
            tail += 1
    done = np.int64(0)
    while done < tail:
        node = queue[done]
        done += 1
        alive[node] = 0
        for edge in range(back_ptr[node], back_ptr[node + 1]):
            follows[back[edge]] -= 1
            if follows[back[edge]] == 0:
                queue[tail] = back[edge]
                tail += 1
    # any cycle first: go on to the first follower until a node comes again
    stamp = np.full(nodes, NIL, dtype=np.int32)
    parent = np.full(nodes, NIL, dtype=np.int32)
    best = np.empty(0, dtype=np.int32)
    start = np.int64(0)
    while start < nodes and alive[start] == 0:
        start += 1
    if start == nodes:
        return best, True
    node = start
    length = np.int64(0)
    while stamp[node] == NIL:
        stamp[node] = length
        queue[length] = node
        length += 1
        edge = ptr[node]
        while alive[after[edge]] == 0:
            edge += 1
        node = np.int64(after[edge])
    best = queue[stamp[node] : length].copy()
    # then breadth first from each node, over larger nodes only, no deeper than what is known
    limit = np.int64(len(best) + 1)
    stamp[:] = NIL
    depth = np.zeros(nodes, dtype=np.int32)
    steps = np.int64(0)
    complete = True
    for origin in range(nodes):
        if alive[origin] == 0:
            continue
        if steps > max_steps:
            complete = False
            break
        stamp[origin] = origin
        depth[origin] = 0
        queue[0] = origin
        tail = np.int64(1)
        done = np.int64(0)
        closing = np.int64(NIL)
        while done < tail and closing == NIL:
            node = np.int64(queue[done])
            done += 1
            if depth[node] + 1 >= limit:
                break
            for edge in range(ptr[node], ptr[node + 1]):
                other = np.int64(after[edge])
                steps += 1
                if other == origin:
                    closing = node
                    break
                if other > origin and alive[other] == 1 and stamp[other] != origin:
                    stamp[other] = origin
                    depth[other] = depth[node] + 1
                    parent[other] = node
                    queue[tail] = other
                    tail += 1
        if closing != NIL:
            best = np.empty(depth[closing] + 1, dtype=np.int32)
            node = closing
            for back_step in range(len(best)):
                best[len(best) - 1 - back_step] = node
                if node != origin:
                    node = np.int64(parent[node])
            limit = np.int64(len(best))
    lowest = np.argmin(best)
    return np.concatenate((best[lowest:], best[:lowest])), complete
