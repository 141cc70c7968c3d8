"""Rows that treat a tile alike: what that saves changes nothing."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from tests.kernels.reference import tiles as reference
from tests.tables import cut, random_world
from tests.unit.route.walks import switch_links
from weftline.kernels import tiles
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.model.routes import Routes
from weftline.prove.deadlock import gather_turns, place_turns
from weftline.prove.reach import measure_distances
from weftline.prove.tables import Tables, read_tables
from weftline.route import compute_routes

TREES = [
    make_fabric("fat-tree", hosts=54, ports=6, tiers=3),
    make_fabric("fat-tree", hosts=80, ports=8, tiers=3),
    make_fabric("fat-tree", hosts=32, ports=8, tiers=2),
    make_fabric("rail-optimised", hosts=16, rails=4, ports=8),
]


def broken_tree(fabric: Fabric, engine: str, seed: int, faults: int) -> tuple[Fabric, Routes]:
    """Route a tree and put some entries of other columns, or none at all, into its tables."""
    routes = compute_routes(fabric, engine, to_switches=bool(seed % 2))
    group = routes.group.copy()
    picks = random.Random(seed)
    rows, goals = group.shape
    for _ in range(faults):
        row, d, other = picks.randrange(rows), picks.randrange(goals), picks.randrange(goals)
        group[row, d] = group[row, other] if picks.randrange(4) else 255
    return fabric, replace(routes, group=group)


worlds = st.one_of(
    st.builds(
        broken_tree,
        st.sampled_from(TREES),
        st.sampled_from(("fat-tree", "updown", "ecmp")),
        st.integers(0, 2**16),
        st.integers(0, 6),
    ),
    st.integers(0, 2**32).map(random_world),
)


def lonely(tables: Tables) -> Tables:
    """Let every row stand for itself."""
    return replace(tables, twin=np.full_like(tables.twin, NIL))


@settings(max_examples=40, deadline=None)
@given(worlds)
def test_distances_and_turns_are_the_same_when_every_row_stands_for_itself(world: tuple[Fabric, Routes]) -> None:
    tables = read_tables(*world)
    alone = lonely(tables)
    assert np.array_equal(measure_distances(tables, ProofRules()), measure_distances(alone, ProofRules()))
    ptr = place_turns(tables)
    assert np.array_equal(gather_turns(tables, ptr), gather_turns(alone, ptr))


@settings(max_examples=40, deadline=None)
@given(worlds)
def test_twins_agree_where_their_entries_lead_to_the_same_switches(world: tuple[Fabric, Routes]) -> None:
    tables = read_tables(*world)
    names = (tables.group_ptr, tables.member_ptr, tables.next_row, tables.local)
    for row, twins in enumerate(tables.twin.tolist()):
        for which, other in enumerate(twins):
            for entry in range(256) if other != NIL else ():
                if int(tables.agrees[row, which, entry >> 6]) >> (entry & 63) & 1:
                    assert other < row
                    assert reference.leads_to(row, entry, *names) == reference.leads_to(other, entry, *names)


@settings(max_examples=40, deadline=None)
@given(worlds, st.integers(0, 2**16))
def test_a_root_has_the_entries_of_all_that_it_stands_for(world: tuple[Fabric, Routes], seed: int) -> None:
    tables = read_tables(*world)
    rows, destinations = tables.group.shape
    if not destinations:
        return
    columns: I32 = np.sort(np.random.default_rng(seed).permutation(destinations)[: tiles.WIDTH]).astype(np.int32)
    tile = np.zeros_like(tables.group, shape=(rows, tiles.WIDTH))
    root, roots = np.zeros(rows, dtype=np.int32), np.zeros(rows, dtype=np.int32)
    used = np.zeros((rows, tiles.WORDS), dtype=np.uint64)
    found = tiles.load_tile(columns, tables.group, tables.twin, tables.agrees, tile, root, roots, used)
    assert np.array_equal(tile[:, : len(columns)], tables.group[:, columns])
    assert roots[:found].tolist() == [row for row in range(rows) if root[row] == row]
    names = (tables.group_ptr, tables.member_ptr, tables.next_row, tables.local)
    for row, top in enumerate(root.tolist()):
        for entry, same in zip(tables.group[row, columns], tables.group[top, columns], strict=True):
            assert entry == same
            assert row == top or reference.leads_to(row, int(entry), *names) == reference.leads_to(
                top, int(entry), *names
            )


def test_a_full_tree_is_told_by_few_rows() -> None:
    fabric = make_fabric("fat-tree", hosts=1024, ports=16, tiers=3)
    tables = read_tables(fabric, compute_routes(fabric, "fat-tree", to_switches=False))
    rows = len(tables.group)
    room = np.zeros_like(tables.group, shape=(rows, tiles.WIDTH))
    used = np.zeros((rows, tiles.WORDS), dtype=np.uint64)
    root, roots = np.zeros(rows, dtype=np.int32), np.zeros(rows, dtype=np.int32)
    columns = np.arange(tiles.WIDTH, dtype=np.int32)
    assert tiles.load_tile(columns, tables.group, tables.twin, tables.agrees, room, root, roots, used) < rows / 4


@pytest.mark.parametrize("fabric", TREES, ids=lambda fabric: fabric.name)
@pytest.mark.parametrize("lost", [0, 2])
def test_destinations_of_one_leaf_are_measured_together(fabric: Fabric, lost: int) -> None:
    broken = cut(fabric, random.Random(1).sample(switch_links(fabric), lost))
    tables = read_tables(broken, compute_routes(broken, "ecmp", to_switches=False))
    assert len(tables.columns) < tables.group.shape[1], "some share a column"
    alone = replace(tables, same_as=np.arange(len(tables.same_as), dtype=np.int32))
    assert np.array_equal(measure_distances(tables, ProofRules()), measure_distances(alone, ProofRules()))
