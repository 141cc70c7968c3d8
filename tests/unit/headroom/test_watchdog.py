"""The longest pause that is no fault, against the watchdog; shares of a scheduler."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.headroom import judge_watchdog, longest_pause, share_weights
from weftline.model.headroom import HopLoad

LEAF = HopLoad(held_bytes=10_000_000, senders=64, rate_gbps=400, share=0.5)


def test_what_a_group_holds_leaves_at_its_share_of_the_rate() -> None:
    bound = longest_pause([LEAF])
    assert bound is not None
    assert bound.us == pytest.approx(64 * 10_000_000 * 8 / (400e9 * 0.5) * 1e6)
    assert bound.terms[0].how == "64 * 10,000,000 B / (400 Gb/s * 0.5)"


def test_hops_add_up_since_a_paused_hop_waits_for_the_next() -> None:
    one, two = longest_pause([LEAF]), longest_pause([LEAF, LEAF])
    assert one is not None
    assert two is not None
    assert two.us == 2 * one.us


@pytest.mark.parametrize("hop", [HopLoad(1, 1, 0), HopLoad(1, 1, 400, 0), HopLoad(-1, 1, 400), HopLoad(1, 0, 400)])
def test_a_hop_that_drains_nothing_has_no_bound(hop: HopLoad) -> None:
    assert longest_pause([LEAF, hop]) is None


def test_a_watchdog_acts_after_the_longest_pause_or_too_early() -> None:
    bound = longest_pause([LEAF])
    assert bound is not None
    assert judge_watchdog(bound, 200).holds
    early = judge_watchdog(bound, 20)
    assert (early.holds, early.detect_ms, early.longest_us) == (False, 20, bound.us)


def test_a_port_without_load_is_never_paused() -> None:
    bound = longest_pause([])
    assert bound is not None
    assert bound.us == 0


def test_weights_are_shares_of_their_sum() -> None:
    assert share_weights({3: 50, 0: 50}) == {0: 0.5, 3: 0.5}
    assert share_weights({0: 14, 3: 15, 4: 15, 1: 0}) == pytest.approx({0: 14 / 44, 1: 0, 3: 15 / 44, 4: 15 / 44})
    assert share_weights({0: 0}) == {0: 0}
    assert share_weights({}) == {}


@given(st.dictionaries(st.integers(0, 7), st.integers(-5, 100)))
def test_shares_are_whole_or_nothing(weights: dict[int, int]) -> None:
    total = sum(share_weights(weights).values())
    assert total == pytest.approx(1) or total == 0
