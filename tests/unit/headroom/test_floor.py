"""The floor under headroom, and tables held against it and against themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.headroom import HALF_SMALL, find_floor, judge_rows, switch_headroom
from weftline.headroom.switch import PAUSE_QUANTA
from weftline.model.headroom import HeadroomAsic, HeadroomPort, HeadroomRow


def test_the_floor_is_the_cable_both_ways_and_a_frame() -> None:
    floor = find_floor(400_000, 40, 9216)
    assert floor is not None
    assert (round(floor.cable), floor.frame, floor.response) == (20_202, 9216, 57_920)
    assert round(floor.certain) == 29_418
    assert floor.standard == pytest.approx(87_338, abs=1)


def test_a_speed_without_a_time_has_the_certain_floor_only() -> None:
    floor = find_floor(1_600_000, 5, 9216)
    assert floor is not None
    assert floor.certain > 9216
    assert floor.standard is None


@pytest.mark.parametrize(
    ("speed", "cable", "mtu"),
    [(0, 5, 9216), (-1, 5, 9216), (1, -5, 9216), (1, float("nan"), 9216), (1, float("inf"), 9216), (1, 5, 0)],
)
def test_what_is_no_length_has_no_floor(speed: int, cable: float, mtu: int) -> None:
    assert find_floor(speed, cable, mtu) is None


def row(speed: int, cable: float, xoff: int) -> HeadroomRow:
    return HeadroomRow(speed_mbps=speed, cable_m=cable, xoff=xoff)


def test_a_table_that_falls_with_length_is_doubted() -> None:
    short, long = row(10_000, 40, 20_480), row(10_000, 250, 14_336)
    (doubt,) = judge_rows([long, short], 9216)
    assert (doubt.kind, doubt.row, doubt.against) == ("falls-with-length", long, short)


def test_a_table_that_falls_with_speed_is_doubted() -> None:
    slow, fast = row(400_000, 30, 514_553), row(800_000, 30, 244_000)
    (doubt,) = judge_rows([fast, slow], 9216)
    assert (doubt.kind, doubt.row, doubt.against) == ("falls-with-speed", fast, slow)


def test_a_row_below_the_floor_is_doubted() -> None:
    low = row(100_000, 2000, 234_496)
    (doubt,) = judge_rows([low], 9216)
    assert (doubt.kind, doubt.row, doubt.against) == ("below-floor", low, find_floor(100_000, 2000, 9216))


def test_a_row_said_twice_is_doubted_only_where_it_differs() -> None:
    first, second = row(100_000, 5, 44_032), row(100_000, 5, 45_056)
    assert judge_rows([first, first], 9216) == ()
    (doubt,) = judge_rows([first, second], 9216)
    assert (doubt.kind, doubt.row, doubt.against) == ("said-twice", second, first)


def test_an_empty_table_has_nothing_to_doubt() -> None:
    assert judge_rows([], 9216) == ()


ASIC = HeadroomAsic(cell_bytes=192, pipeline_kib=19, mac_phy_kib=0.8, is_tiled=True)
rows = st.tuples(st.sampled_from(sorted(PAUSE_QUANTA)), st.integers(0, 50_000))


@given(st.lists(rows, max_size=12))
def test_the_published_formula_is_never_doubted_nor_below_the_standard(pairs: list[tuple[int, int]]) -> None:
    table: list[HeadroomRow] = []
    for speed, cable in pairs:
        port = HeadroomPort(speed_mbps=speed, cable_m=cable, mtu=9216, lanes=4)
        found, floor = switch_headroom(port, ASIC, HALF_SMALL, is_pool_shared=True), find_floor(speed, cable, 9216)
        assert found is not None
        assert floor is not None
        assert floor.standard is not None
        assert found.xoff > floor.standard > floor.certain
        table.append(row(speed, cable, found.xoff))
    assert judge_rows(table, 9216) == ()
