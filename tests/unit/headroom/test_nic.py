"""Headroom of a NIC by mlx5's formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.headroom import nic_headroom


@pytest.mark.parametrize(("cable", "kb"), [(7, 137.9), (30, 157.7), (100, 218.2)])
def test_at_400g_with_frames_of_4200_bytes(cable: int, kb: float) -> None:
    found = nic_headroom(400, cable, 4200)
    assert found is not None
    assert round(found.xoff / 1000, 1) == kb
    assert sum(term.amount for term in found.terms) == pytest.approx(found.xoff)


def test_without_a_length_the_driver_assumes_seven_metres() -> None:
    assert nic_headroom(400, None, 4200) == nic_headroom(400, 7, 4200)


def test_the_driver_counts_in_integers_and_gets_a_little_less() -> None:
    # (301 + 216 * 7 / 100) * 400000 / 1000 + 272 * 4200 / 100 in integers.
    found = nic_headroom(400, 7, 4200)
    assert found is not None
    assert found.driver_xoff == (301 + 15) * 400 + 11_424
    assert found.buffer == found.driver_xoff + 9216 + 128


def test_slow_links_are_taken_for_40g() -> None:
    assert nic_headroom(10, 5, 1500) == nic_headroom(40, 5, 1500)


@pytest.mark.parametrize(("rate", "cable"), [(float("nan"), 5), (400, float("inf")), (400, -1)])
def test_what_is_no_number_has_no_headroom(rate: float, cable: float) -> None:
    assert nic_headroom(rate, cable, 4200) is None


@given(st.integers(1, 1600), st.integers(0, 10_000), st.integers(64, 9216))
def test_the_driver_is_short_by_less_than_a_metre_and_two_bytes(rate: int, cable: int, mtu: int) -> None:
    found = nic_headroom(rate, cable, mtu)
    assert found is not None
    assert 0 <= found.xoff - found.driver_xoff < max(rate, 40) + 2
