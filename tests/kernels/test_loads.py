"""Load kernels against flows that are led one by one in exact fractions."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import from_links
from tests.kernels.reference import loads as reference
from tests.tables import minimal_routes, random_world
from weftline.kernels import loads
from weftline.kernels.column import F64, I32
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules
from weftline.prove.reach import measure_distances
from weftline.prove.tables import Tables, read_tables

SEEDS = st.integers(0, 2**32)


def draw_flows(tables: Tables, seed: int) -> tuple[I32, I32, F64]:
    rng = random.Random(seed)
    goals = np.flatnonzero(tables.target_kind == 0).tolist()
    if not goals:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    flows = [(rng.choice(tables.endpoint.tolist()), rng.choice(goals), rng.choice((1.0, 2.0, 400.0))) for _ in range(6)]
    flows = [flow for flow in flows if tables.target_port[flow[1]] != flow[0]]
    return (
        np.array([f[0] for f in flows], dtype=np.int32),
        np.array([f[1] for f in flows], dtype=np.int32),
        np.array([f[2] for f in flows], dtype=np.float64),
    )


def add(kind: str, fabric: Fabric, tables: Tables, flows: tuple[I32, I32, F64]) -> tuple[F64, int]:
    load = np.zeros(fabric.port_count)
    distance = measure_distances(tables, ProofRules())
    if kind == "single":
        lost, _ = loads.add_single(
            *flows, tables.port_row, tables.target_port, tables.group, tables.group_ptr, tables.member_ptr,
            tables.member_port, tables.next_row, fabric.port_peer, distance, load,
        )  # fmt: skip
        return load, lost
    lost, _ = loads.add_split(
        *flows, tables.port_row, tables.target_port, tables.target_row, tables.group, tables.group_ptr,
        tables.member_ptr, tables.member_port, tables.next_row, fabric.port_peer, tables.same_as, tables.is_direct,
        distance, load,
    )  # fmt: skip
    return load, lost


def lead(fabric: Fabric, tables: Tables, flows: tuple[I32, I32, F64]) -> tuple[list[float], int]:
    led, lost = reference.add_flows(
        [(int(p), int(d), Fraction(r)) for p, d, r in zip(*flows, strict=True)],
        tables.port_row,
        fabric.port_peer,
        (
            tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row, tables.next_port,
            tables.target_port,
        ),
    )  # fmt: skip
    return [float(led.get(port, 0)) for port in range(fabric.port_count)], lost


@settings(max_examples=300)
@given(SEEDS, SEEDS, st.booleans())
def test_equal_split_is_that_of_exact_fractions(seed: int, flow_seed: int, sane: bool) -> None:
    fabric, routes = random_world(seed, sane=sane)
    tables = read_tables(fabric, routes)
    flows = draw_flows(tables, flow_seed)
    load, lost = add("split", fabric, tables, flows)
    wanted, wanted_lost = lead(fabric, tables, flows)
    assert lost == wanted_lost
    np.testing.assert_allclose(load, wanted, rtol=1e-9)


@settings(max_examples=400)
@given(SEEDS, SEEDS)
def test_single_ports_carry_whole_flows(seed: int, flow_seed: int) -> None:
    fabric, routes = random_world(seed)
    tables = read_tables(fabric, routes)
    if not tables.is_single:
        return
    flows = draw_flows(tables, flow_seed)
    load, lost = add("single", fabric, tables, flows)
    wanted, wanted_lost = lead(fabric, tables, flows)
    assert lost == wanted_lost
    assert load.tolist() == wanted


@pytest.mark.parametrize("kind", ["single", "split"])
def test_hosts_that_are_cabled_to_each_other_reach_their_peer_alone(kind: str) -> None:
    fabric = from_links(["leaf-001"], {f"host-000{i}": "leaf-001" for i in (1, 2, 3)}, [])
    peer = np.full_like(fabric.port_peer, -1)
    peer[[0, 1, 2, 5]] = 1, 0, 5, 2
    fabric = replace(fabric, port_peer=peer)
    tables = read_tables(fabric, minimal_routes(fabric))
    flows = (np.array([0, 0], np.int32), np.array([1, 2], np.int32), np.ones(2))
    load, lost = add(kind, fabric, tables, flows)
    assert (load.tolist(), lost) == ([2.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1)


@given(st.lists(st.sampled_from((0.0, 1.0, 2.0, 3.0)), max_size=6), st.sampled_from((1.0, 2.0)))
def test_worst_is_the_first_highest_share_of_a_rate(load: list[float], rate: float) -> None:
    rates = np.full(len(load), rate)
    assert loads.find_worst(np.array(load), rates) == reference.find_worst(np.array(load), rates)


@given(st.integers(1, 12), st.lists(st.integers(0, 5), max_size=4))
def test_a_shift_turns_every_component(shift: int, sizes: list[int]) -> None:
    ptr = np.cumsum([0, *sizes]).astype(np.int32)
    source, target = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.int32)
    used = loads.shift_flows(shift, ptr, source, target)
    assert list(zip(source[:used].tolist(), target[:used].tolist(), strict=True)) == reference.shift_flows(shift, ptr)


@pytest.mark.parametrize("seed", range(12))
def test_shifts_are_loaded_as_flows_are(seed: int) -> None:
    fabric, routes = random_world(seed, sane=True)
    tables = read_tables(fabric, routes)
    port = tables.endpoint
    ptr = np.array([0, len(port)], dtype=np.int32)
    target = np.searchsorted(tables.target_port[: len(port)], port).astype(np.int32)
    shifts = np.arange(1, max(len(port), 1), dtype=np.int64)
    rate = np.full(len(port), 4.0)
    port_rate = np.full(fabric.port_count, 2.0)
    distance = measure_distances(tables, ProofRules())
    worst, where, lost, _ = loads.load_shifts(
        shifts, ptr, port, target, rate, port_rate, int(tables.is_single), tables.port_row, tables.target_port,
        tables.target_row, tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row,
        fabric.port_peer, tables.same_as, tables.is_direct, distance,
    )  # fmt: skip
    for i, shift in enumerate(shifts.tolist()):
        pairs = reference.shift_flows(shift, ptr)
        flows = (
            port[[a for a, _ in pairs]].astype(np.int32), target[[b for _, b in pairs]], np.full(len(pairs), 4.0),
        )  # fmt: skip
        load, wanted_lost = lead(fabric, tables, flows)
        highest, place = reference.find_worst(np.array(load), port_rate)
        assert lost[i] == wanted_lost
        assert worst[i] == pytest.approx(highest)
        assert load[int(where[i])] == pytest.approx(load[place])
