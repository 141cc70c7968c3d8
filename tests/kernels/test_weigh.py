"""Widths and wheels against slow twins, and the law that every stretch of turns is in proportion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference import weigh as reference
from tests.kernels.test_updown import Case, Laid, cases, rates_of
from weftline.kernels.climb import climb
from weftline.kernels.column import NIL
from weftline.kernels.weigh import FINEST, measure_width, sum_rates, turn_wheel, weigh_links

shares = st.lists(st.integers(0, FINEST), min_size=1, max_size=12).filter(any)


def spin(share: list[int]) -> list[int]:
    wheel = np.empty(len(share) * FINEST, dtype=np.int32)
    return wheel[: turn_wheel(np.array(share, dtype=np.int64), wheel)].tolist()


@given(cases, st.data())
def test_widths_match_the_twin(case: Case, data: st.DataObject) -> None:
    laid = Laid(case)
    rate = sum_rates(laid.link_ptr, np.array(data.draw(rates_of(laid)), dtype=np.float64))
    by_pair = dict(zip(sorted(laid.edges), rate.tolist(), strict=True))
    for home in range(laid.rows):
        hop, falls = np.full(laid.rows, NIL, dtype=np.int32), np.zeros(laid.rows, dtype=np.uint8)
        part = int(laid.component[home])
        first, last = (int(at) for at in laid.component_ptr[part : part + 2])
        queue = np.empty(laid.rows, dtype=np.int32)
        graph = (laid.order, laid.edge_ptr, laid.edge_row)
        count = climb(home, first, last, laid.sequence, *graph, hop, falls, queue)
        width, end = np.full(laid.rows, math.nan), np.full(laid.rows, math.nan)
        measure_width(first, last, laid.sequence, *graph, rate, hop, falls, queue[:count], width, end)
        wanted, wanted_end = reference.widths(laid.order.tolist(), by_pair, home)
        assert {row: width[row] for row in range(laid.rows) if hop[row] != NIL} == wanted
        assert {row: end[row] for row in wanted_end} == wanted_end


@given(shares)
def test_the_wheel_matches_the_twin_and_holds_each_place_as_often_as_its_share(share: list[int]) -> None:
    found = spin(share)
    assert found == reference.wheel(share)
    assert [found.count(place) for place in range(len(share))] == share


@given(shares, st.integers(0, 10_000), st.integers(1, 400))
def test_every_stretch_of_turns_is_in_proportion(share: list[int], start: int, length: int) -> None:
    """Of any consecutive destinations each link has its exact part, give or take less than two."""
    found = spin(share)
    stretch = [found[(start + step) % len(found)] for step in range(length)]
    for place, own in enumerate(share):
        assert abs(stretch.count(place) - length * own / len(found)) < 2


@given(st.integers(1, 40))
def test_equal_shares_take_turns_in_order(links: int) -> None:
    assert spin([1] * links) == list(range(links))


@pytest.mark.parametrize(
    ("rates", "width", "wheel"),
    [
        ([400.0, 200.0], [math.inf, math.inf], [0, 0, 1]),
        ([400.0, 400.0, 200.0, 200.0], [math.inf] * 4, [0, 1, 3, 0, 1, 2]),
        # the second is as fast, but only half of it goes on
        ([400.0, 400.0], [400.0, 200.0], [0, 0, 1]),
        ([400.0, 400.0], [200.0, 200.0], []),
        ([400.0, 1.0], [400.0, 400.0], [0]),
    ],
)
def test_links_are_weighed_by_rate_and_by_what_goes_on(
    rates: list[float], width: list[float], wheel: list[int]
) -> None:
    count = len(rates)
    one_each = np.arange(count + 1, dtype=np.int32)
    made = np.empty(count * FINEST, dtype=np.int32)
    every = np.arange(count, dtype=np.int32)
    rate = np.array(rates)
    length = weigh_links(every, 1, every, one_each, rate, rate, np.array(width), every, made)
    assert made[:length].tolist() == wheel


@pytest.mark.parametrize(("by_edge", "wheel"), [(1, [0, 1, 2]), (0, [])])
def test_bundles_of_unequal_size_are_weighed_where_digits_would_choose_a_neighbour(
    by_edge: int, wheel: list[int]
) -> None:
    made = np.empty(3 * FINEST, dtype=np.int32)
    lead = np.arange(2, dtype=np.int32)
    spot = np.array([0, 2, 1], dtype=np.int32)
    link_ptr = np.array([0, 2, 3], dtype=np.int32)
    rate, width = np.full(3, 400.0), np.full(2, math.inf)
    length = weigh_links(lead, by_edge, lead, link_ptr, rate, sum_rates(link_ptr, rate), width, spot, made)
    assert made[:length].tolist() == wheel
