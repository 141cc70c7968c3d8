"""Channel kernels against sets of turns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import channels as reference
from tests.tables import clockwise_routes, random_world, ring
from weftline.kernels import channels, cycles
from weftline.kernels.column import I32, I64, NIL
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.prove.deadlock import build_dependencies
from weftline.prove.tables import Tables, read_tables

SEEDS = st.integers(0, 2**32)


def sources(tables: Tables) -> tuple[I32, I32, I32]:
    return tables.home_row, tables.home_count, tables.own_count


def pairs_of(tables: Tables) -> dict[tuple[int, int], set[int]]:
    return reference.dependencies(
        tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row, tables.target_kind,
        tables.target_row, *sources(tables),
    )  # fmt: skip


def list_pairs(fabric: Fabric, tables: Tables) -> tuple[tuple[I64, I32], list[tuple[int, int]]]:
    found = build_dependencies(fabric, tables)
    assert found is not None
    ptr, after = found
    return found, [(p, int(q)) for p in range(fabric.port_count) for q in after[ptr[p] : ptr[p + 1]]]


@settings(max_examples=300)
@given(SEEDS)
def test_dependencies_are_those_of_all_traffic(seed: int) -> None:
    fabric, routes = random_world(seed)
    tables = read_tables(fabric, routes)
    _, pairs = list_pairs(fabric, tables)
    assert pairs == sorted(pairs_of(tables))


def find_causes(fabric: Fabric, routes: Routes, tables: Tables, cycle: I32) -> tuple[I32, I32]:
    return channels.find_causes(
        cycle, fabric.port_node, fabric.switch_row, tables.group, tables.group_ptr, tables.member_ptr,
        routes.member_port, tables.next_row, tables.target_kind, tables.target_row, *sources(tables),
    )  # fmt: skip


@settings(max_examples=300)
@given(SEEDS)
def test_causes_are_the_lowest_destinations_that_use_both_channels(seed: int) -> None:
    fabric, routes = random_world(seed)
    tables = read_tables(fabric, routes)
    (ptr, after), _ = list_pairs(fabric, tables)
    rank, _ = cycles.rank_channels(ptr, after)
    cycle, _ = cycles.find_cycle(ptr, after, rank, 10**6)
    causes, origins = find_causes(fabric, routes, tables, cycle)
    known = pairs_of(tables)
    for i in range(len(cycle)):
        assert causes[i] == min(known[int(cycle[i]), int(cycle[(i + 1) % len(cycle)])])
        assert origins[i] in tables.home_row


def test_channels_that_nobody_uses_in_turn_have_no_cause() -> None:
    fabric = ring(4)
    routes = clockwise_routes(fabric, 4, ties="opposite")
    tables = read_tables(fabric, routes)
    names = {fabric.link_name(p): p for p in range(fabric.port_count)}
    never = [names["leaf-002/3~leaf-003/2"], names["leaf-003/3~leaf-004/2"]]
    causes, _ = find_causes(fabric, routes, tables, np.array(never, dtype=np.int32))
    assert causes[0] == NIL


@settings(max_examples=300)
@given(SEEDS, st.integers(0, 2**16), st.integers(-1, 6))
def test_ranks_are_checked_as_the_twin_checks_them(seed: int, place: int, value: int) -> None:
    fabric, routes = random_world(seed)
    tables = read_tables(fabric, routes)
    (ptr, after), _ = list_pairs(fabric, tables)
    rank, remaining = cycles.rank_channels(ptr, after)
    args = (
        tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row, tables.target_kind,
        tables.target_row, *sources(tables),
    )  # fmt: skip
    if remaining == 0:
        assert channels.check_ranks(rank, *args) == 0
    rank[place % len(rank)] = value
    assert (channels.check_ranks(rank, *args) == 0) == reference.check_ranks(rank, *args)
