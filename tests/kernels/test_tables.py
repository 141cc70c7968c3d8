from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.fabrics import from_links
from tests.kernels.reference import tables as reference
from tests.unit.route.walks import members, walk
from weftline.kernels.column import NIL
from weftline.kernels.tables import DELIVERED, MISDELIVERED, NO_ROUTE, TOO_LONG, mix
from weftline.model.routes import Routes
from weftline.route import compute_routes

WORDS = {"delivered": DELIVERED, "misdelivered": MISDELIVERED, "no route": NO_ROUTE, "too long": TOO_LONG}


@given(st.integers(-(2**40), 2**40))
def test_mix_matches_the_twin_and_stays_in_32_bits(value: int) -> None:
    assert mix(value) == reference.mix(value)
    assert 0 <= mix(value) < 2**32


def test_mix_is_a_bijection_on_close_values() -> None:
    assert len({mix(value) for value in range(10_000)}) == 10_000


@given(st.data())
def test_random_tables_are_walked_as_the_twin_walks_them(data: st.DataObject) -> None:
    switches = data.draw(st.integers(1, 4))
    end = st.integers(0, switches - 1)
    fabric = from_links(switches, 2, data.draw(st.lists(st.tuples(end, end), max_size=6)))
    dark = data.draw(st.sets(st.integers(0, fabric.port_count - 1), max_size=2))
    peer = {
        port: int(fabric.port_peer[port])
        for port in range(fabric.port_count)
        if not dark & {port, int(fabric.port_peer[port])}
    }
    goals = len(fabric.endpoint_port)
    group_ptr, member_ptr, member_port = [0], [0], list[int]()
    for node in fabric.switch_node:
        ports = list(range(fabric.port_ptr[node], fabric.port_ptr[node + 1]))
        for _ in range(data.draw(st.integers(1, 3))):
            member_port += data.draw(st.lists(st.sampled_from(ports), min_size=1, max_size=3))
            member_ptr.append(len(member_port))
        group_ptr.append(len(member_ptr) - 1)
    group = np.array(
        data.draw(
            st.lists(
                st.lists(st.sampled_from([0, 0, 0, 1, 2, 255]), min_size=goals, max_size=goals),
                min_size=switches,
                max_size=switches,
            )
        ),
        dtype=np.uint8,
    )
    for row in range(switches):
        groups = group_ptr[row + 1] - group_ptr[row]
        group[row] = np.where(group[row] == 255, 255, group[row] % groups)
    routes = Routes(
        "",
        "",
        "",
        fabric.port_node[fabric.endpoint_port].copy(),
        fabric.endpoint_port.copy(),
        group,
        np.array(group_ptr, dtype=np.int32),
        np.array(member_ptr, dtype=np.int32),
        np.array(member_port, dtype=np.int32),
    )
    port_peer = np.array([peer.get(port, NIL) for port in range(fabric.port_count)], dtype=np.int32)
    cut = replace(fabric, port_peer=port_peer)
    table = {(row, goal): members(routes, row, goal) for row in range(switches) for goal in range(goals)}
    switch_of = {
        port: int(fabric.switch_row[fabric.port_node[port]])
        for port in range(fabric.port_count)
        if fabric.switch_row[fabric.port_node[port]] != NIL
    }
    source = np.repeat(fabric.endpoint_port, goals)
    target = np.tile(np.arange(goals, dtype=np.int32), goals)
    ptr, path, status = walk(cut, routes, source, target, 5)
    for at in range(len(source)):
        want_path, word = reference.walk_pair(
            int(source[at]), int(target[at]), table, peer, switch_of, fabric.endpoint_port.tolist(), 5
        )
        assert path[ptr[at] : ptr[at + 1]].tolist() == want_path
        assert status[at] == WORDS[word]


def test_the_last_switch_allowed_is_told_before_what_lies_behind_it() -> None:
    fabric = from_links(2, 1, [(0, 1)])
    dark = replace(fabric, port_peer=np.where(fabric.port_peer == 1, NIL, fabric.port_peer).astype(np.int32))
    ends = fabric.port_node[fabric.endpoint_port].copy(), fabric.endpoint_port.copy()
    up = [int(p) for p in range(fabric.port_count) if fabric.switch_row[fabric.port_node[p]] != NIL][1::2]
    ptr = np.arange(3, dtype=np.int32)
    routes = Routes("", "", "", *ends, np.zeros((2, 2), np.uint8), ptr, ptr, np.array(up, dtype=np.int32))
    empty = replace(routes, member_ptr=np.array([0, 1, 1], dtype=np.int32))
    foreign = replace(routes, member_port=np.array([up[0], up[0]], dtype=np.int32))
    source, goal = np.array([0], np.int32), np.array([1], np.int32)
    for tables, behind in ((routes, TOO_LONG), (empty, NO_ROUTE), (foreign, MISDELIVERED)):
        told = [int(walk(dark, tables, source, goal, hops)[2][0]) for hops in (1, 2)]
        assert told == [TOO_LONG, behind]


def test_a_switch_takes_what_is_for_itself_alone() -> None:
    fabric = from_links(2, 1, [(0, 1)])
    routes = compute_routes(fabric, "updown", to_switches=True)
    source, goal = np.array([0, 0], np.int32), np.array([2, 3], np.int32)
    ptr, _, status = walk(fabric, routes, source, goal)
    assert status.tolist() == [DELIVERED, DELIVERED]
    assert np.diff(ptr).tolist() == [1, 2]
    node = routes.destination_node.copy()
    node[2:] = node[:1:-1].copy()
    assert walk(fabric, replace(routes, destination_node=node), source, goal)[2].tolist() == [MISDELIVERED] * 2
