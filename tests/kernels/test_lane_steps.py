"""Kernels of lane steps against packets that are followed one by one."""

from __future__ import annotations

import random
from bisect import bisect_right
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import lane_steps as reference
from tests.tables import random_world
from weftline.kernels import cycles
from weftline.kernels.column import I32, NIL
from weftline.kernels.mixture import list_column_turns
from weftline.kernels.reach import IS_SKIPPED
from weftline.model.fabric import Fabric
from weftline.model.lanes import Lanes, LaneSteps
from weftline.model.routes import Routes
from weftline.prove import steps
from weftline.prove.tables import Tables, read_tables

SEEDS = st.integers(0, 2**32)


def stepping_world(seed: int) -> tuple[Fabric, Routes, Tables, LaneSteps]:
    """Make a small random world whose packets change lanes at random."""
    fabric, routes = random_world(seed)
    rng = random.Random(seed + 1)
    lanes, classes, kinds = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
    rows, goals = len(fabric.switch_node), len(routes.destination_port)
    wide = rng.random() < 0.6
    column = LaneSteps(
        path_class=np.array(
            [[rng.randrange(classes) for _ in range(goals)] for _ in range(rows if wide else 1)], dtype=np.int8
        ).reshape(rows if wide else 1, goals),
        port_class=np.array([rng.randrange(kinds) for _ in range(fabric.port_count)], dtype=np.int8),
        lane=np.array([rng.randrange(lanes) for _ in range(classes * kinds**2)], dtype=np.int8).reshape(
            classes, kinds, kinds
        ),
    )
    changed = replace(
        routes, lanes=Lanes(lanes, np.zeros(goals, dtype=np.int8), with_answers=rng.random() < 0.5, steps=column)
    )
    return fabric, changed, read_tables(fabric, changed), column


@settings(max_examples=300)
@given(SEEDS)
def test_dependencies_are_those_of_all_packets(seed: int) -> None:
    fabric, routes, tables, column = stepping_world(seed)
    walkers = steps.gather_walkers(fabric, routes, tables, column)
    found = steps.list_dependencies(fabric, tables, column, walkers, routes.lane_count)
    assert found is not None
    ptr, after = found
    ports = fabric.port_count
    pairs = [
        (divmod(node, ports), divmod(int(then), ports))
        for node in range(len(ptr) - 1)
        for then in after[ptr[node] : ptr[node + 1]]
    ]
    assert pairs == sorted(reference.dependencies(fabric, routes, tables))


@settings(max_examples=300)
@given(SEEDS)
def test_witnesses_are_what_some_packet_does(seed: int) -> None:
    fabric, routes, tables, column = stepping_world(seed)
    judged = steps.judge_steps(fabric, routes, tables, column)
    assert judged is not None
    ranks, count, behind, witness = judged
    known = reference.dependencies(fabric, routes, tables)
    assert count == len(known)
    assert (witness is None) == (behind == 0)
    if witness is None:
        assert reference.check_ranks(fabric, routes, tables, ranks)
        return
    ports = {fabric.link_name(port): port for port in range(fabric.port_count)}
    for step in witness.detail["steps"]:
        ends: list[tuple[int, int]] = []
        for name in (step["holds"], step["waits_for"]):
            link, _, lane = name.rpartition(" lane ")
            ends.append((int(lane), ports[link]))
        row = fabric.switch_row[fabric.node_name.index(step["source_switch"])]
        causes = known[ends[0], ends[1]]
        said = {(one[1], one[2]) for one in causes if _names(fabric, routes, one[0]) == step["destination"]}
        assert (step["path_class"], row) in said


def _names(fabric: Fabric, routes: Routes, d: int) -> str:
    port = int(routes.destination_port[d])
    return fabric.node_name[int(routes.destination_node[d])] if port == NIL else fabric.port_name(port)


@settings(max_examples=300)
@given(SEEDS, st.integers(0, 2**16), st.integers(-1, 6))
def test_ranks_are_checked_as_the_twin_checks_them(seed: int, place: int, value: int) -> None:
    fabric, routes, tables, column = stepping_world(seed)
    walkers = steps.gather_walkers(fabric, routes, tables, column)
    found = steps.list_dependencies(fabric, tables, column, walkers, routes.lane_count)
    assert found is not None
    rank, behind = cycles.rank_channels(*found)
    held: I32 = rank.reshape(routes.lane_count, -1).copy()
    if behind == 0:
        assert steps.check_steps(fabric, routes, tables, column, held)
    held[place % routes.lane_count, place % fabric.port_count] = value
    wanted = reference.check_ranks(fabric, routes, tables, held)
    assert steps.check_steps(fabric, routes, tables, column, held) == wanted


@settings(max_examples=200)
@given(SEEDS)
def test_the_turns_of_a_column_are_those_of_its_packets(seed: int) -> None:
    """Lane by lane; where each switch has either of two entries, those of the joined entries."""
    fabric, routes, tables, column = stepping_world(seed)
    walkers = steps.gather_walkers(fabric, routes, tables, column)
    maps = steps.read_maps(column)
    widths = np.diff(fabric.port_ptr)[fabric.switch_node].astype(np.int64)
    turn_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths * widths)))
    found: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    lanes = routes.lane_count
    for goal in range(len(tables.target_kind)):
        if tables.target_kind[goal] == IS_SKIPPED:
            continue
        own = routes.group[:, goal].astype(np.int32)
        turns = list_column_turns(
            own, own.copy(), goal, walkers.mask, maps.held, maps.port_class, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row, tables.next_port, turn_ptr, fabric.port_ptr, fabric.switch_node,
            lanes, tables.target_row, walkers.own_kind, tables.own_count, walkers.home_row, walkers.home_kind,
            walkers.home_count,
        )  # fmt: skip
        for number in turns.tolist():
            turn, pair = divmod(number, lanes * lanes)
            row = bisect_right(turn_ptr.tolist(), turn) - 1
            came, out = divmod(turn - int(turn_ptr[row]), int(widths[row]))
            base = int(fabric.port_ptr[fabric.switch_node[row]])
            found.add(((pair // lanes, int(fabric.port_peer[base + came])), (pair % lanes, base + out)))
    own_ports = {port for port in range(fabric.port_count) if tables.port_row[port] >= 0}
    wanted = {pair for pair in reference.dependencies(fabric, routes, tables) if pair[1][1] in own_ports}
    assert found == wanted
