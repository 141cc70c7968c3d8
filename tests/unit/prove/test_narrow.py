"""Shifts over sets of ports: columns that are shared are led together, and load what each flow alone would."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.tables import cut
from tests.unit.route.walks import switch_links
from weftline.model.proof import ProofRules
from weftline.prove.balance import choose_shifts, flows_of_shift, gather_crowd, load_many, load_pairs
from weftline.prove.reach import measure_distances
from weftline.prove.tables import narrow_columns, read_tables
from weftline.route import compute_routes


@pytest.mark.parametrize("engine", ["ecmp", "updown"])
@pytest.mark.parametrize("lost", [0, 3])
def test_many_shifts_load_what_each_loads_alone(engine: str, lost: int) -> None:
    whole = make_fabric("fat-tree", hosts=54, ports=6, tiers=3)
    fabric = cut(whole, random.Random(lost).sample(switch_links(whole), lost))
    tables = read_tables(fabric, compute_routes(fabric, engine, to_switches=False))
    distance = measure_distances(tables, ProofRules())
    crowd = gather_crowd(fabric, tables)
    shifts = choose_shifts(fabric, crowd, 20, 1)
    worst, where, lost_flows, steps = load_many(fabric, tables, distance, crowd, shifts)
    assert len(worst) == len(where) == len(lost_flows) == len(shifts) > 10
    assert steps > 0
    for at, shift in enumerate(shifts.tolist()):
        load, gone = load_pairs(fabric, tables, distance, flows_of_shift(crowd, shift))
        assert worst[at] == pytest.approx(float((load / crowd.port_rate).max()))
        assert lost_flows[at] == gone


def test_no_shifts_load_nothing() -> None:
    fabric = make_fabric("fat-tree", hosts=6, ports=6)
    tables = read_tables(fabric, compute_routes(fabric, "ecmp", to_switches=False))
    distance = measure_distances(tables, ProofRules())
    found = load_many(fabric, tables, distance, gather_crowd(fabric, tables), np.zeros(0, dtype=np.int64))
    assert [len(column) for column in found[:3]] == [0, 0, 0]
    assert found[3] == 0


def test_columns_are_narrowed_to_one_for_each_leaf() -> None:
    fabric = make_fabric("fat-tree", hosts=54, ports=6, tiers=3)
    tables = read_tables(fabric, compute_routes(fabric, "ecmp", to_switches=False))
    distance = measure_distances(tables, ProofRules())
    narrow, near = narrow_columns(tables, distance)
    leaves = len(np.unique(tables.target_row))
    assert narrow.group.shape == near.shape == (len(fabric.switch_node), leaves)
    for goal in range(tables.group.shape[1]):
        at = int(narrow.same_as[goal])
        other = np.arange(len(fabric.switch_node)) != tables.target_row[goal]
        assert np.array_equal(narrow.group[other, at], tables.group[other, goal])
        assert np.array_equal(near[:, at], distance[:, goal])
        assert narrow.target_row[at] == tables.target_row[goal]
    single = read_tables(fabric, compute_routes(fabric, "updown", to_switches=False))
    assert narrow_columns(single, distance)[0] is single
