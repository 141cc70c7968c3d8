"""Strain: loads of several jobs at once, changed flow by flow around an outage, and the worst of each job."""

from __future__ import annotations

from weftline.kernels._jit import kernel
from weftline.kernels.column import F64, I32, NIL, U8, U16
from weftline.kernels.outage import NO_HOP, climb_rest, keep_ways, leads_down


@kernel
def touch(
    job: int, port: int, amount: float, token: int, load: F64, load_stamp: I32, touched: I32, counts: I32
) -> None:
    """Add to the load of a job on a port, and remember the port."""
    load[job, port] += amount
    if load_stamp[job, port] != token:
        load_stamp[job, port] = token
        touched[job, counts[job]] = port
        counts[job] += 1


@kernel
def add_walk(
    row: int,
    goal: int,
    job: int,
    amount: float,
    token: int,
    group_ptr: I32,
    group_port: I32,
    group_row: I32,
    group: U8 | U16,
    load: F64,
    load_stamp: I32,
    touched: I32,
    counts: I32,
) -> bool:
    """Add one flow from a switch on, to its delivery; False where the walk ends elsewhere, which adds nothing more."""
    for _hop in range(256):
        entry = int(group[row, goal])
        at = group_ptr[row] + entry
        if at >= group_ptr[row + 1]:
            return False
        touch(job, int(group_port[at]), amount, token, load, load_stamp, touched, counts)
        if group_row[at] < 0:
            return True
        row = int(group_row[at])
    return False


@kernel
def list_redone(
    token: int,
    goal_stamp: I32,
    in_ptr: I32,
    in_flow: I32,
    removed: I32,
    flow_stamp: I32,
    redone: I32,
) -> int:
    """List the flows to stamped goals that are not removed, and stamp those that are; returns how many are listed."""
    for flow in removed:
        flow_stamp[flow] = token
    count = 0
    for goal in range(len(goal_stamp)):
        if goal_stamp[goal] != token:
            continue
        for index in range(in_ptr[goal], in_ptr[goal + 1]):
            if flow_stamp[in_flow[index]] != token:
                redone[count] = in_flow[index]
                count += 1
    return count


@kernel
def add_flows(
    flows: I32,
    sign: float,
    token: int,
    flow_job: I32,
    flow_row: I32,
    flow_goal: I32,
    flow_port: I32,
    flow_rate: F64,
    group_ptr: I32,
    group_port: I32,
    group_row: I32,
    group: U8 | U16,
    load: F64,
    load_stamp: I32,
    touched: I32,
    counts: I32,
) -> int:
    """Add (``sign`` 1) or take away (-1) whole flows by the tables as they stand; returns how many end elsewhere."""
    lost = 0
    for flow in flows:
        amount = float(sign * flow_rate[flow])
        job = int(flow_job[flow])
        touch(job, int(flow_port[flow]), amount, token, load, load_stamp, touched, counts)
        if not add_walk(
            int(flow_row[flow]), int(flow_goal[flow]), job, amount, token, group_ptr, group_port, group_row, group,
            load, load_stamp, touched, counts,
        ):  # fmt: skip
            lost += 1
    return lost


@kernel
def spread_unit(
    job: int,
    home: int,
    token: int,
    sign: float,
    carried: F64,
    started: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_port: I32,
    port_stamp: I32,
    skip: int,
    hop: U8,
    falls: U8,
    head: I32,
    following: I32,
    waits: U8,
    load: F64,
    load_stamp: I32,
    touched: I32,
    counts: I32,
) -> int:
    """Spread what stands in ``carried`` at the rows ``started`` towards ``home``, equally over all that leads on.

    Ports stamped with ``skip`` are lost. ``carried`` is zero again afterwards. Returns how many rows had no way.
    """
    lost = 0
    farthest = 0
    for row in started:
        if carried[row] == 0.0 or row == home:
            carried[row] = 0.0
            continue
        if hop[row] == NO_HOP:
            carried[row] = 0.0
            lost += 1
            continue
        if waits[row] == 0:
            waits[row] = 1
            away = int(hop[row])
            following[row] = head[away]
            head[away] = row
            farthest = max(farthest, away)
    for away in range(farthest, 0, -1):
        row = int(head[away])
        head[away] = NIL
        while row != NIL:
            after = int(following[row])
            flowing = carried[row]
            carried[row] = 0.0
            waits[row] = 0
            many = 0
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                if not leads_down(row, int(edge_row[edge]), order, hop, falls):
                    continue
                for link in range(link_ptr[edge], link_ptr[edge + 1]):
                    if port_stamp[link_port[link]] != skip:
                        many += 1
            if many == 0:
                lost += 1
                row = after
                continue
            share = float(flowing / many)
            for edge in range(edge_ptr[row], edge_ptr[row + 1]):
                step = int(edge_row[edge])
                if not leads_down(row, step, order, hop, falls):
                    continue
                for link in range(link_ptr[edge], link_ptr[edge + 1]):
                    if port_stamp[link_port[link]] == skip:
                        continue
                    touch(job, int(link_port[link]), sign * share, token, load, load_stamp, touched, counts)
                    if step == home:
                        continue
                    carried[step] += share
                    if waits[step] == 0:
                        waits[step] = 1
                        nearer = int(hop[step])
                        following[step] = head[nearer]
                        head[nearer] = step
            row = after
    return lost


@kernel
def find_most(
    job: int, token: int, order: I32, base: F64, load: F64, load_stamp: I32, touched: I32, capacity: F64
) -> tuple[float, int]:
    """Find the highest load over capacity of a job and the lowest port that has it; O(ports that changed).

    ``order`` are the ports by falling ``base`` load over capacity: the first that did not change stands for all others.
    """
    worst = 0.0
    where = NIL
    for port in touched:
        relative = load[job, port] / capacity[port]
        if relative > worst + 1e-12 or (where != NIL and relative > worst - 1e-12 and port < where):
            worst = max(worst, relative)
            where = port
    for port in order:
        if load_stamp[job, port] == token:
            continue
        relative = base[job, port] / capacity[port]
        if relative > worst + 1e-12 or (where != NIL and relative > worst - 1e-12 and port < where):
            worst = max(worst, relative)
            where = port
        break
    return worst, where


@kernel
def restore(job: int, base: F64, load: F64, touched: I32) -> None:
    """Put the loads of the ports that changed back, byte for byte."""
    for port in touched:
        load[job, port] = base[job, port]


@kernel
def mark_units(
    ports: I32,
    token: int,
    use_ptr: I32,
    use_unit: I32,
    flows: I32,
    flow_unit: I32,
    added_unit: I32,
    unit_stamp: I32,
    units: I32,
) -> int:
    """List the units that use a lost port, or whose flows go or come; returns how many."""
    count = 0
    for port in ports:
        for at in range(use_ptr[port], use_ptr[port + 1]):
            if unit_stamp[use_unit[at]] != token:
                unit_stamp[use_unit[at]] = token
                units[count] = use_unit[at]
                count += 1
    for flow in flows:
        unit = flow_unit[flow]
        if unit != NIL and unit_stamp[unit] != token:
            unit_stamp[unit] = token
            units[count] = unit
            count += 1
    for unit in added_unit:
        if unit_stamp[unit] != token:
            unit_stamp[unit] = token
            units[count] = unit
            count += 1
    return count


@kernel
def spread_units(
    units: I32,
    token: int,
    sign: float,
    unit_ptr: I32,
    unit_flow: I32,
    unit_home: I32,
    unit_job: I32,
    flow_stamp: I32,
    flow_row: I32,
    flow_rate: F64,
    added_unit: I32,
    added_row: I32,
    added_rate: F64,
    home: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    link_ptr: I32,
    link_port: I32,
    port_stamp: I32,
    hop: U8,
    falls: U8,
    new_hop: U8,
    new_falls: U8,
    new_of: I32,
    carried: F64,
    started: I32,
    head: I32,
    following: I32,
    waits: U8,
    load: F64,
    load_stamp: I32,
    touched: I32,
    counts: I32,
) -> int:
    """Take away (``sign`` -1) what units spread over the whole fabric, or add (1) what they spread over what is left.

    Before, every flow counts; after, those that are not stamped, and the added ones. Returns how many rows had no way.
    """
    lost = 0
    for unit in units:
        where = int(unit_home[unit])
        job = int(unit_job[unit])
        many = 0
        for at in range(unit_ptr[unit], unit_ptr[unit + 1]):
            flow = unit_flow[at]
            if sign > 0 and flow_stamp[flow] == token:
                continue
            carried[flow_row[flow]] += flow_rate[flow]
            started[many] = flow_row[flow]
            many += 1
        if sign > 0:
            for at in range(len(added_unit)):
                if added_unit[at] == unit:
                    carried[added_row[at]] += added_rate[at]
                    started[many] = added_row[at]
                    many += 1
        fresh = new_of[where] if sign > 0 else NIL
        skip = token if sign > 0 else NIL
        if fresh == NIL:
            lost += spread_unit(
                job, int(home[where]), token, sign, carried, started[:many], order, edge_ptr, edge_row, link_ptr,
                link_port, port_stamp, skip, hop[where], falls[where], head, following, waits, load, load_stamp,
                touched, counts,
            )  # fmt: skip
        else:
            lost += spread_unit(
                job, int(home[where]), token, sign, carried, started[:many], order, edge_ptr, edge_row, link_ptr,
                link_port, port_stamp, skip, new_hop[fresh], new_falls[fresh], head, following, waits, load,
                load_stamp, touched, counts,
            )  # fmt: skip
    return lost


@kernel
def renew_ways(
    token: int,
    dead_edge: I32,
    home: I32,
    rests: I32,
    component: I32,
    component_ptr: I32,
    sequence: I32,
    order: I32,
    edge_ptr: I32,
    edge_row: I32,
    edge_from: I32,
    edge_stamp: I32,
    hop: U8,
    falls: U8,
    new_hop: U8,
    new_falls: U8,
    new_of: I32,
    queue: I32,
) -> tuple[int, int]:
    """Find the hops to every home again that lost edges change; O(homes * ends + those * edges).

    ``rests`` counts the endpoints that a switch still holds. Returns how many pairs of switches that hold some have no
    way left, and the most hops.
    """
    apart = 0
    most = 0
    fresh = 0
    for at in range(len(home)):
        new_of[at] = NIL
        if rests[home[at]] == 0:
            continue
        if keep_ways(dead_edge, token, edge_ptr, edge_row, edge_from, edge_stamp, order, hop[at], falls[at]):
            continue
        part = component[home[at]]
        found = climb_rest(
            int(home[at]), int(component_ptr[part]), int(component_ptr[part + 1]), token, sequence, order, edge_ptr,
            edge_row,
            edge_stamp, new_hop[fresh], new_falls[fresh], queue,
        )  # fmt: skip
        most = max(most, found)
        for place in range(component_ptr[part], component_ptr[part + 1]):
            row = sequence[place]
            if rests[row] > 0 and new_hop[fresh, row] == NO_HOP:
                apart += 1
        new_of[at] = fresh
        fresh += 1
    return apart, most
