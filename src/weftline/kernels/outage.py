"""Outages: a graph of switches without some links, whether it still hangs together and which ways it still has."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import I32, NIL, U8, U16

NO_HOP = 255
"""Stands where no legal way exists; hops are single bytes here."""


@kernel
def mark_outage(
    ports: I32,
    token: int,
    port_edge: I32,
    link_ptr: I32,
    link_port: I32,
    port_stamp: I32,
    edge_stamp: I32,
    dead_edge: I32,
) -> int:
    """Stamp the lost ports, and the edges that lost their last link; lists these edges and returns how many."""
    for port in ports:
        port_stamp[port] = token
    count = 0
    for port in ports:
        edge = port_edge[port]
        if edge == NIL or edge_stamp[edge] == token:
            continue
        alive = False
        for link in range(link_ptr[edge], link_ptr[edge + 1]):
            if port_stamp[link_port[link]] != token:
                alive = True
                break
        if not alive:
            edge_stamp[edge] = token
            dead_edge[count] = edge
            count += 1
    return count


@kernel
def is_joined(row: int, token: int, edge_ptr: I32, edge_stamp: I32) -> bool:
    """Say whether a switch still has a link to another."""
    for edge in range(edge_ptr[row], edge_ptr[row + 1]):  # noqa: SIM110  (numba compiles no generator)
        if edge_stamp[edge] != token:
            return True
    return False


@kernel
def stay_together(
    dead_edge: I32,
    token: int,
    edge_ptr: I32,
    edge_row: I32,
    edge_from: I32,
    edge_stamp: I32,
    component: I32,
    row_stamp: I32,
    queue: I32,
) -> bool:
    """Say whether the ends of the lost edges that still have links reach each other as before; O(edges) at worst.

    What falls apart is then single switches without links, since every part that splits off has an end of a lost edge.
    """
    for first in range(len(dead_edge)):
        start = int(edge_from[dead_edge[first]])
        if row_stamp[start] == token or not is_joined(start, token, edge_ptr, edge_stamp):
            continue
        missing = 0
        for other in range(first, len(dead_edge)):
            row = int(edge_from[dead_edge[other]])
            if component[row] == component[start] and is_joined(row, token, edge_ptr, edge_stamp):
                missing += 1
        row_stamp[start] = token
        queue[0] = start
        head = 0
        tail = 1
        # ends are counted as often as they stand in the list
        for other in range(first, len(dead_edge)):
            if edge_from[dead_edge[other]] == start:
                missing -= 1
        while head < tail and missing > 0:
            row = queue[head]
            head += 1
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                step = edge_row[edge]
                if edge_stamp[edge] == token or row_stamp[step] == token:
                    continue
                row_stamp[step] = token
                queue[tail] = step
                tail += 1
                for other in range(first, len(dead_edge)):
                    if edge_from[dead_edge[other]] == step:
                        missing -= 1
        if missing > 0:
            return False
    return True


@kernel
def falls_on(
    high: int,
    wanted: int,
    token: int,
    edge_ptr: I32,
    edge_row: I32,
    edge_stamp: I32,
    order: I32,
    hop: U8,
    falls: U8,
) -> bool:
    """Say whether a switch still falls over a neighbour ``wanted`` hops from home; one without any link loses none."""
    linked = False
    for other in range(edge_ptr[high], edge_ptr[high + 1]):
        if edge_stamp[other] == token:
            continue
        linked = True
        step = edge_row[other]
        if order[step] > order[high] and falls[step] == 1 and hop[step] == wanted:
            return True
    return not linked


@kernel
def keep_ways(
    dead_edge: I32,
    token: int,
    edge_ptr: I32,
    edge_row: I32,
    edge_from: I32,
    edge_stamp: I32,
    order: I32,
    hop: U8,
    falls: U8,
) -> bool:
    """Say whether every switch keeps its hops to one home without the lost edges.

    ``hop`` and ``falls`` are those of the whole graph, as ``climb`` finds them. Each switch has them from a neighbour
    that is one hop nearer; where every switch that a lost edge gave its hops has another such neighbour, none changes.
    """
    for at in range(len(dead_edge)):
        edge = dead_edge[at]
        low = edge_from[edge]
        high = edge_row[edge]
        if order[high] > order[low]:
            continue
        if falls[low] == 1:
            if hop[high] == hop[low] + 1 and not falls_on(
                int(high), int(hop[low]), token, edge_ptr, edge_row, edge_stamp, order, hop, falls
            ):
                return False
        else:
            if hop[low] == NO_HOP or hop[high] == NO_HOP or hop[low] != hop[high] + 1:
                continue
            found = False
            linked = False
            for other in range(edge_ptr[low], edge_ptr[low + 1]):
                if edge_stamp[other] == token:
                    continue
                linked = True
                step = edge_row[other]
                if order[step] < order[low] and hop[step] == hop[high]:
                    found = True
                    break
            if linked and not found:
                return False
    return True


@kernel
def mend_ways(
    dead_edge: I32,
    token: int,
    edge_ptr: I32,
    edge_row: I32,
    edge_from: I32,
    edge_stamp: I32,
    order: I32,
    hop: U8,
    falls: U8,
    new_hop: U8,
    new_falls: U8,
) -> bool:
    """Find the hops to one home without the lost edges where only switches at the bottom change theirs.

    Nobody goes up through a switch without lower neighbours, so that its hops concern itself alone. False where others
    lose theirs: then ``climb_rest`` has to find all. Switches without any link keep what they had.
    """
    new_hop[:] = hop
    new_falls[:] = falls
    for at in range(len(dead_edge)):
        edge = dead_edge[at]
        low = edge_from[edge]
        high = edge_row[edge]
        if order[high] > order[low]:
            continue
        if falls[low] == 1:
            if hop[high] == hop[low] + 1 and not falls_on(
                int(high), int(hop[low]), token, edge_ptr, edge_row, edge_stamp, order, hop, falls
            ):
                return False
            continue
        if hop[low] == NO_HOP or hop[high] == NO_HOP or hop[low] != hop[high] + 1:
            continue
        best = 250
        is_bottom = True
        for other in range(edge_ptr[low], edge_ptr[low + 1]):
            if edge_stamp[other] == token:
                continue
            step = edge_row[other]
            if order[step] > order[low]:
                is_bottom = False
            elif hop[step] < best:
                best = int(hop[step])
        if not is_bottom and best != hop[high]:
            return False
        new_hop[low] = best + 1 if best < 250 else NO_HOP
    return True


@kernel
def climb_rest(
    home: int,
    first: int,
    last: int,
    token: int,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    edge_stamp: I32,
    hop: U8,
    falls: U8,
    queue: I32,
) -> int:
    """Find the hops to ``home`` as ``climb`` does, without the stamped edges; returns the most hops of any switch.

    A way of more than 250 hops counts as none, so that hops stay single bytes.
    """
    for at in range(first, last):
        hop[sequence[at]] = NO_HOP
        falls[sequence[at]] = 0
    hop[home] = 0
    falls[home] = 1
    queue[0] = home
    head = 0
    tail = 1
    most = 0
    while head < tail:
        row = queue[head]
        head += 1
        if hop[row] >= 250:
            continue
        for edge in range(edge_ptr[row], edge_ptr[row + 1]):
            other = edge_row[edge]
            if order[other] < order[row] and falls[other] == 0 and edge_stamp[edge] != token:
                falls[other] = 1
                hop[other] = hop[row] + 1
                most = max(most, int(hop[other]))
                queue[tail] = other
                tail += 1
    for at in range(first, last):
        row = sequence[at]
        if falls[row] == 1:
            continue
        best = 250
        for edge in range(edge_ptr[row], edge_ptr[row + 1]):
            other = edge_row[edge]
            if order[other] < order[row] and hop[other] < best and edge_stamp[edge] != token:
                best = int(hop[other])
        if best < 250:
            hop[row] = best + 1
            most = max(most, best + 1)
    return most


@kernel
def list_ways(
    home: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    edge_stamp: I32,
    hop: U8,
    falls: U8,
    queue: I32,
) -> int:
    """Fill ``hop[i]`` and ``falls[i]`` towards each home of the whole graph; returns the most hops."""
    most = 0
    for at in range(len(home)):
        part = component[home[at]]
        hop[at, :] = NO_HOP
        falls[at, :] = 0
        found = climb_rest(
            int(home[at]), int(component_ptr[part]), int(component_ptr[part + 1]), 1, sequence, order, edge_ptr,
            edge_row, edge_stamp,
            hop[at], falls[at], queue,
        )  # fmt: skip
        most = max(most, found)
    return most


@kernel
def leads_down(row: int, other: int, order: I32, hop: U8, falls: U8) -> bool:
    """Say whether ``other``, a neighbour of ``row``, is one hop nearer on a way that goes up and then down."""
    if hop[row] == NO_HOP or hop[other] == NO_HOP or hop[other] + 1 != hop[row]:
        return False
    if falls[row] == 1:
        return bool(order[other] > order[row] and falls[other] == 1)
    return bool(order[other] < order[row])


@kernel
def hold_ends(ports: I32, step: int, port_row: I32, rests: I32) -> int:
    """Add ``step`` to what each switch holds for every endpoint among the ports; returns how many endpoints."""
    count = 0
    for port in ports:
        if port_row[port] != NIL:
            rests[port_row[port]] += step
            count += 1
    return count


@kernel
def has_stranded(dead_edge: I32, token: int, edge_ptr: I32, edge_from: I32, edge_stamp: I32, rests: I32) -> bool:
    """Say whether a switch that lost its last link to another still holds an endpoint."""
    for edge in dead_edge:
        row = int(edge_from[edge])
        if rests[row] > 0 and not is_joined(row, token, edge_ptr, edge_stamp):
            return True
    return False


@kernel
def count_odd_sets(
    home: I32,
    goal_ptr: I32,
    goal: I32,
    goal_home_port: I32,
    component: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    hop: U8,
    falls: U8,
    group_ptr: I32,
    member_ptr: I32,
    member_port: I32,
    member_row: I32,
    group: U8 | U16,
) -> int:
    """Count the entries whose ports are not exactly those that lead one hop nearer on a way up and then down."""
    wrong = 0
    for at in range(len(home)):
        for row in range(len(order)):
            if component[row] != component[home[at]]:
                continue
            many = 0
            if row != home[at]:
                for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                    if leads_down(row, edge_row[edge], order, hop[at], falls[at]):
                        many += link_ptr[edge + 1] - link_ptr[edge]
            before = NIL
            for index in range(goal_ptr[at], goal_ptr[at + 1]):
                entry = int(group[row, goal[index]])
                if row != home[at] and entry == before:
                    continue
                slot = group_ptr[row] + entry
                if slot >= group_ptr[row + 1]:
                    if row == home[at] or many > 0:
                        wrong += 1
                    continue
                size = member_ptr[slot + 1] - member_ptr[slot]
                if row == home[at]:
                    if size != 1 or member_port[member_ptr[slot]] != goal_home_port[goal[index]]:
                        wrong += 1
                    continue
                if size != many:
                    wrong += 1
                for member in range(member_ptr[slot], member_ptr[slot + 1]):
                    step = member_row[member]
                    if step < 0 or not leads_down(row, step, order, hop[at], falls[at]):
                        wrong += 1
                before = entry
    return wrong
