"""Reach kernels against walks that are all walked."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import reach as reference
from tests.tables import random_world
from weftline.kernels import reach, tiles
from weftline.kernels.column import I8, I32, NIL
from weftline.kernels.reach import MIXED, NEVER, share_columns
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.routes import GroupTable, Routes
from weftline.prove.reach import judge, measure_distances
from weftline.prove.tables import Tables, read_tables

SEEDS = st.integers(0, 2**32)


def measured(tables: Tables) -> tuple[GroupTable, I32, I32, I32, I32, int, I8, I32, I32]:
    """The arguments that describe the tables to the kernels."""
    return (
        tables.group, tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port, tables.local,
        tables.target_kind, tables.target_port, tables.target_row,
    )  # fmt: skip


def world(seed: int) -> tuple[Fabric, Routes, Tables]:
    fabric, routes = random_world(seed)
    return fabric, routes, read_tables(fabric, routes)


@given(SEEDS)
def test_members_are_followed_over_their_links(seed: int) -> None:
    fabric, routes, tables = world(seed)
    rows, ports = reference.link_members(
        routes.group_ptr, routes.member_ptr, routes.member_port, fabric.switch_node, fabric.switch_row,
        fabric.port_node, fabric.port_peer,
    )  # fmt: skip
    assert tables.next_row.tolist() == rows
    assert tables.next_port.tolist() == ports


@given(SEEDS)
def test_shared_columns_are_those_that_are_alike(seed: int) -> None:
    _, _, tables = world(seed)
    same, direct = reference.share_columns(
        tables.group, tables.group_ptr, tables.member_ptr, tables.next_row, tables.next_port, tables.target_kind,
        tables.target_port, tables.target_row,
    )  # fmt: skip
    assert tables.same_as.tolist() == same
    assert tables.is_direct.tolist() == direct


@given(st.integers(1, 3), st.lists(st.tuples(st.integers(0, 149), st.integers(0, 7)), max_size=4))
def test_columns_of_many_rows_are_compared_to_the_last(homes: int, odd: list[tuple[int, int]]) -> None:
    # eight destinations on switches 70, 71, ...; entries of other switches are equal but for some odd ones
    rows, goals = 150, 8
    target_row = np.array([70 + d % homes for d in range(goals)], dtype=np.int32)
    group = np.zeros((rows, goals), dtype=np.uint8)
    for row, d in odd:
        group[row, d] = 9
    group[target_row, np.arange(goals)] = np.arange(goals)
    args = (
        np.arange(0, 8 * rows + 1, 8, dtype=np.int32), np.arange(8 * rows + 1, dtype=np.int32),
        np.full(8 * rows, NIL, dtype=np.int32), np.tile(np.arange(8, dtype=np.int32), rows),
        np.zeros(goals, dtype=np.int8), np.arange(goals, dtype=np.int32), target_row,
    )  # fmt: skip
    found = share_columns(group, *args)
    assert [column.tolist() for column in found] == list(reference.share_columns(group, *args))


@settings(max_examples=300)
@given(SEEDS)
def test_distances_are_those_of_all_walks(seed: int) -> None:
    _, _, tables = world(seed)
    args = measured(tables)
    distance = measure_distances(tables, ProofRules())
    wanted = reference.measure_reach(*args, tables.same_as)
    assert distance.tolist() == wanted.tolist()


@given(SEEDS, st.integers(1, 6))
def test_judgement_counts_every_pair(seed: int, max_hops: int) -> None:
    _, _, tables = world(seed)
    distance = measure_distances(tables, ProofRules())
    args = (
        distance, tables.group, tables.no_route, max_hops, tables.target_kind, tables.target_row,
        tables.target_component, tables.source_row, tables.source_component, tables.source_count,
    )  # fmt: skip
    counts, first = judge(tables, distance, max_hops)
    wanted = reference.judge_reach(*args)
    assert (counts.tolist(), first.tolist()) == wanted


@given(SEEDS)
def test_measured_distances_are_a_certificate(seed: int) -> None:
    _, _, tables = world(seed)
    distance = measure_distances(tables, ProofRules())
    assert reach.check_distances(distance, *measured(tables)) == 0


@settings(max_examples=200)
@given(SEEDS, st.integers(0, 2**16), st.sampled_from((0, 1, 2, 3, 7, 251, MIXED, NEVER)))
def test_changed_distances_are_counted_as_the_twin_counts_them(seed: int, place: int, value: int) -> None:
    _, _, tables = world(seed)
    distance = measure_distances(tables, ProofRules())
    if distance.size:
        distance.flat[place % distance.size] = value
    wrong = reach.check_distances(distance, *measured(tables))
    assert wrong == reference.check_distances(distance, *measured(tables))


def test_a_chain_longer_than_a_certificate_holds_is_not_called_delivered() -> None:
    rows = reach.FARTHEST + 3
    ptr = np.arange(rows + 1, dtype=np.int32)
    next_row = np.array([*range(1, rows), -1], dtype=np.int32)
    next_port = np.array([*[9] * (rows - 1), 0], dtype=np.int32)
    one = (np.zeros(1, np.int8), np.zeros(1, np.int32), np.full(1, rows - 1, np.int32))
    group = np.zeros((rows, 1), dtype=np.uint8)
    zero = np.zeros(1, np.int32)
    twins = tiles.find_twins(ptr, ptr, next_row, 254, 256)
    distance = np.empty((rows, 1), dtype=np.uint8)
    share = (zero, np.arange(2, dtype=np.int32), zero)
    tiles.measure_reach(0, 1, group, ptr, ptr, next_row, next_port, 254, *one, *share, *twins, distance)
    assert distance[-1, 0] == 1
    assert distance[rows - reach.FARTHEST, 0] == reach.FARTHEST
    assert distance[0, 0] == MIXED
