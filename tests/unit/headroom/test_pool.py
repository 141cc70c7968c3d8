"""Buffer pools that add up, and those that do not."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.headroom import plan_pools
from weftline.model.headroom import BufferGroup, PoolDemand, Term

# SN5600-V256: 256 ports at 200G and 300 m, two lossless classes, 10 KiB per port, half of the rest in a shared pool.
V256 = PoolDemand(
    total_bytes=158_229_504,
    groups=(BufferGroup(count=512, size=19_456, xon=19_456, xoff=240_640, per_port=2),),
    port_headroom=10_240,
    over_subscribe_ratio=2,
)


def test_the_shared_headroom_of_a_shipped_platform_comes_out_to_the_byte() -> None:
    plan = plan_pools(V256)
    assert plan.shared_headroom == 60_293_120
    assert plan.asked_headroom == 2 * 60_293_120
    assert (plan.paused_at_once, plan.group_count) == (256, 512)
    assert plan.shared_pool == 158_229_504 - 512 * 19_456 - 256 * 10_240 - 60_293_120
    assert plan.problems == ()


def test_its_pools_as_shipped_add_up() -> None:
    shipped = dataclasses.replace(
        V256, shared_headroom=60_293_120, pool_bytes=73_684_992, egress_bytes=158_229_504, over_subscribe_ratio=None
    )
    assert plan_pools(shipped).problems == ()


def test_the_terms_are_the_sum() -> None:
    demand = dataclasses.replace(V256, reserved=(Term("management", 262_144), Term("mirrors", 2_621_440)))
    plan = plan_pools(demand)
    assert sum(term.amount for term in plan.terms) == plan.shared_pool
    assert [term.name for term in plan.terms] == [
        "buffer", "reserved by lossless groups", "headroom of ports", "management", "mirrors", "shared headroom",
    ]  # fmt: skip


def test_only_whole_cells_count() -> None:
    plan = plan_pools(PoolDemand(total_bytes=1000, groups=(), cell_bytes=192))
    assert plan.shared_pool == 5 * 192


def test_groups_with_headroom_of_their_own_may_all_pause() -> None:
    plan = plan_pools(PoolDemand(total_bytes=10**8, groups=(BufferGroup(64, 19_456 + 104_448, 19_456, 104_448),)))
    assert (plan.shared_headroom, plan.paused_at_once, plan.group_count) == (0, 64, 64)
    assert plan.problems == ()


def test_groups_without_headroom_lose_at_the_first_pause() -> None:
    plan = plan_pools(PoolDemand(total_bytes=10**8, groups=(BufferGroup(64, 19_456, 19_456, 104_448),)))
    assert plan.paused_at_once == 0
    (problem,) = plan.problems
    assert problem.code == "capability.headroom-pool"
    assert "one group takes 104,448 B" in problem.message


def test_the_largest_groups_are_counted_first() -> None:
    groups = (BufferGroup(10, 100, 100, 50), BufferGroup(2, 100, 100, 1000))
    demand = PoolDemand(total_bytes=10**6, groups=groups, shared_headroom=2120)
    assert plan_pools(demand).paused_at_once == 4
    assert plan_pools(dataclasses.replace(demand, shared_headroom=1999)).paused_at_once == 1


def test_more_than_the_chip_has_is_a_problem() -> None:
    (problem,) = plan_pools(dataclasses.replace(V256, total_bytes=60_000_000)).problems
    assert problem.code == "capability.pool-overdrawn"
    assert "take 12,876,032 B more than the chip's 60,000,000 B" in problem.message


def test_a_pool_larger_than_what_is_left_is_a_problem() -> None:
    (problem,) = plan_pools(dataclasses.replace(V256, pool_bytes=100_000_000)).problems
    assert problem.code == "capability.pool-overdrawn"
    assert "85,353,472 B are left for it" in problem.message


def test_a_small_egress_pool_is_a_problem() -> None:
    (problem,) = plan_pools(dataclasses.replace(V256, pool_bytes=73_684_992, egress_bytes=100_000_000)).problems
    assert problem.code == "capability.egress-pool"


def test_a_ratio_that_is_no_number_gives_no_pool() -> None:
    for ratio in (0, -1, float("nan"), float("inf")):
        assert plan_pools(dataclasses.replace(V256, over_subscribe_ratio=ratio)).shared_headroom == 0


groups = st.builds(
    BufferGroup,
    count=st.integers(1, 40),
    size=st.integers(0, 10**5),
    xon=st.integers(0, 10**5),
    xoff=st.integers(0, 10**6),
)


@given(st.lists(groups, max_size=4), st.integers(0, 10**7))
def test_as_many_groups_fit_as_are_said_and_not_one_more(alike: list[BufferGroup], shared: int) -> None:
    plan = plan_pools(PoolDemand(total_bytes=10**9, groups=tuple(alike), shared_headroom=shared))
    each = sorted((max(g.xon + g.xoff - g.size, 0) for g in alike for _ in range(g.count)), reverse=True)
    assert plan.group_count == len(each)
    assert sum(each[: plan.paused_at_once]) <= shared
    if plan.paused_at_once < len(each):
        assert sum(each[: plan.paused_at_once + 1]) > shared


@pytest.mark.parametrize("ratio", [1, 2, 4])
def test_a_ratio_of_one_holds_all(ratio: int) -> None:
    plan = plan_pools(dataclasses.replace(V256, over_subscribe_ratio=ratio, total_bytes=10**9))
    assert plan.paused_at_once == 512 // ratio


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 10**5), st.integers(0, 10**4), st.integers(0, 10**6))
def test_no_choice_of_ports_takes_more_than_is_said(
    ports: int, per_port: int, xoff: int, private: int, shared: int
) -> None:
    group = BufferGroup(ports * per_port, 0, 0, xoff, per_port)
    plan = plan_pools(PoolDemand(10**9, (group,), port_headroom=private, shared_headroom=shared))
    # The worst choice fills port after port.
    full, rest = divmod(plan.paused_at_once, per_port)
    taken = full * max(per_port * xoff - private, 0) + max(rest * xoff - private, 0)
    assert taken <= shared
