"""Marks before pauses: the figures of the DCQCN paper, both verdicts, and what is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.lint.good import make_switch, said
from weftline.headroom import alpha_of, equal_share, find_limit, judge_marks, mark_limit
from weftline.model.headroom import PauseLimit

# The switch of the paper: 32 ports at 40G, 12 MB, 8 classes, 22.4 kB of headroom per group, beta = 8.
PORTS, CLASSES, BETA = 32, 8, 8
POOL = 12_000_000 - CLASSES * PORTS * 22_400


def test_the_static_threshold_of_the_paper() -> None:
    assert equal_share(POOL, PORTS, CLASSES) / 1000 == pytest.approx(24.47, abs=0.01)


def test_the_dynamic_rule_of_the_paper() -> None:
    limit = PauseLimit(pool_bytes=POOL, alpha=BETA / CLASSES, classes=CLASSES)
    found = mark_limit(limit, PORTS)
    assert found is not None
    assert found / 1000 == pytest.approx(21.75, abs=0.01)


def test_a_static_limit_is_shared_by_the_queues_that_one_group_fills() -> None:
    verdicts = judge_marks(150_000, PauseLimit(static_bytes=1_000_000), 8)
    assert verdicts is not None
    incast, worst = verdicts
    assert (incast.case, incast.holds, incast.below_bytes) == ("incast", True, 1_000_000)
    assert (worst.case, worst.holds, worst.below_bytes) == ("worst", False, 125_000)
    assert worst.how == "1,000,000 B / 8 = 125,000 B"


def test_sonics_default_of_a_mebibyte_does_not_meet_the_worst_case_of_a_shared_buffer() -> None:
    limit = PauseLimit(pool_bytes=73_684_992, alpha=alpha_of(0), classes=2)
    verdicts = judge_marks(1_048_576, limit, 64)
    assert verdicts is not None
    incast, worst = verdicts
    assert incast.holds
    assert incast.how == "1 * 73,684,992 B / (1 * (1 + 1 * 1)) = 36,842,496 B"
    assert not worst.holds
    assert worst.how == "1 * 73,684,992 B / (64 * (1 + 1 * 2)) = 383,776 B"


@pytest.mark.parametrize("limit", [PauseLimit(), PauseLimit(pool_bytes=1), PauseLimit(alpha=1.0)])
def test_a_limit_that_says_nothing_gives_no_verdict(limit: PauseLimit) -> None:
    assert judge_marks(1, limit, 8) is None


def test_a_threshold_at_the_limit_is_too_high() -> None:
    verdicts = judge_marks(1000, PauseLimit(static_bytes=1000), 1)
    assert verdicts is not None
    assert [verdict.holds for verdict in verdicts] == [False, False]


def test_alpha_is_a_power_of_two_and_bounded() -> None:
    assert [alpha_of(value) for value in (-8, -1, 0, 3)] == [1 / 256, 0.5, 1, 8]
    assert alpha_of(10**9) == alpha_of(64)


@given(st.integers(1, 10**9), st.integers(-8, 8), st.integers(1, 8), st.integers(1, 512))
def test_below_the_limit_the_group_is_not_paused_when_all_queues_are_at_their_mark(
    pool: int, dynamic_th: int, classes: int, fan: int
) -> None:
    limit = PauseLimit(pool_bytes=pool, alpha=alpha_of(dynamic_th), classes=classes)
    found = mark_limit(limit, fan)
    assert found is not None
    filled = fan * found * (classes if fan > 1 else 1)
    assert fan * found == pytest.approx(alpha_of(dynamic_th) * (pool - filled))
    verdicts = judge_marks(int(found) + 1, limit, fan)
    assert verdicts is not None
    assert not verdicts[1].holds
    # The worst case is never milder than the incast.
    assert verdicts[1].below_bytes <= verdicts[0].below_bytes


def test_a_limit_is_put_together_from_what_files_say_of_a_group_and_its_pool() -> None:
    switch = make_switch("leaf-1", ("spine-1/e1",), 1)
    port = switch.ports[0]
    assert find_limit(switch, port, 3, 2) == PauseLimit(pool_bytes=60_000_000, alpha=1.0, classes=2)
    assert find_limit(switch, port, 5, 2) is None  # there is no such group
    fixed = replace(port, groups=(replace(port.groups[0], static_bytes=said(90_000)),))
    assert find_limit(switch, fixed, 3, 2) == PauseLimit(static_bytes=90_000)
    silent = replace(port, groups=(replace(port.groups[0], dynamic_th=None),))
    assert find_limit(replace(switch, pools=()), silent, 3, 1) == PauseLimit()
    assert judge_marks(100_000, PauseLimit(), 4) is None
