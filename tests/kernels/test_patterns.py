from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference import patterns as reference
from tests.tables import random_world
from weftline.kernels.patterns import lead_flows, share_links, shuffle
from weftline.prove.tables import read_tables


@given(st.integers(0, 60), st.integers(0, 2**63 - 1))
def test_a_shuffle_is_the_twin_s_and_a_permutation(count: int, seed: int) -> None:
    order = shuffle(count, seed).tolist()
    assert order == reference.shuffle(count, seed)
    assert sorted(order) == list(range(count))


def test_shuffles_of_other_seeds_differ() -> None:
    assert len({tuple(shuffle(20, seed).tolist()) for seed in range(50)}) == 50


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(2, 8))
def test_flows_take_the_twin_s_ways_and_get_its_shares(seed: int, most: int) -> None:
    fabric, routes = random_world(seed)
    tables = read_tables(fabric, routes)
    goals = [d for d, port in enumerate(tables.target_port.tolist()) if port >= 0]
    if not goals or not len(tables.endpoint):
        return
    picks = random.Random(seed)
    flows = [(picks.choice(tables.endpoint.tolist()), picks.choice(goals)) for _ in range(9)]
    source, target = (np.array(part, dtype=np.int32) for part in zip(*flows, strict=True))
    path, count = np.zeros((9, most), dtype=np.int32), np.zeros(9, dtype=np.int32)
    names = (
        tables.group, tables.group_ptr, tables.member_ptr, tables.member_port, tables.next_row, tables.next_port,
    )  # fmt: skip
    lost = lead_flows(
        source, target, tables.port_row, tables.target_port, *names, fabric.port_peer, seed % 1000, path, count
    )
    wanted = [
        reference.lead(port, d, tables.port_row, tables.target_port, fabric.port_peer, seed % 1000, most, names)
        for port, d in flows
    ]
    assert [row[:many].tolist() for row, many in zip(path, count, strict=True)] == [ports for ports, _ in wanted]
    assert lost == sum(not arrived for _, arrived in wanted)
    rate = [picks.randrange(1, 5) for _ in flows]
    port_rate = [picks.randrange(1, 5) for _ in range(fabric.port_count)]
    load, share = np.zeros(fabric.port_count), np.zeros(9)
    share_links(path, count, np.array(rate, dtype=np.float64), np.array(port_rate, dtype=np.float64), load, share)
    loads, shares = reference.shares([ports for ports, _ in wanted], rate, port_rate)
    assert share.tolist() == pytest.approx([float(one) for one in shares])
    assert {port: float(load[port]) for port in np.flatnonzero(load)} == pytest.approx(
        {port: float(value) for port, value in loads.items()}
    )
