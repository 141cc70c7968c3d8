"""Headroom of a switch port: worked examples, the arithmetic that is kept, and laws of the formula."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.headroom import HALF_SMALL, ONLY_SMALL, peer_response, switch_headroom
from weftline.headroom.switch import PAUSE_QUANTA
from weftline.model.headroom import HeadroomAsic, HeadroomPort, LosslessTraffic, SwitchHeadroom

SPECTRUM_4 = HeadroomAsic(cell_bytes=192, pipeline_kib=19, mac_phy_kib=0.8, is_tiled=True)
SPECTRUM_6 = HeadroomAsic(cell_bytes=256, pipeline_kib=42, mac_phy_kib=0.8, pause_quanta=((800_000, 1810),))


def size(speed: int, cable: float, asic: HeadroomAsic = SPECTRUM_4, **options: object) -> SwitchHeadroom:
    """Size a port with frames of 9216 bytes; from 800 Gb/s on it has eight lanes."""
    port = HeadroomPort(speed_mbps=speed, cable_m=cable, mtu=9216, lanes=8 if speed >= 800_000 else 4)
    traffic = options.pop("traffic", HALF_SMALL)
    assert isinstance(traffic, LosslessTraffic)
    found = switch_headroom(
        port,
        asic,
        traffic,
        is_pool_shared=bool(options.pop("is_pool_shared", True)),
        counts_packets=bool(options.pop("counts_packets", False)),
    )
    assert not options
    assert found is not None
    return found


PUBLISHED = [
    # Tables of SN5600-C256S1 and SN5640: (speed, cable, xoff).
    (100_000, 5, 44_032), (100_000, 40, 49_152), (100_000, 300, 83_968),
    (400_000, 5, 86_016), (400_000, 40, 104_448), (400_000, 300, 243_712),
    (800_000, 5, 95_232), (800_000, 40, 132_096), (800_000, 300, 411_648),
]  # fmt: skip
BY_COUNT = [
    (100_000, 5, 79_872), (100_000, 40, 88_064), (100_000, 300, 153_600),
    (400_000, 5, 157_696), (400_000, 40, 192_512), (400_000, 300, 455_680),
    (800_000, 5, 175_104), (800_000, 40, 245_760), (800_000, 300, 771_072),
]  # fmt: skip
SMALL = [
    (100_000, 5, 113_664), (100_000, 40, 126_976), (100_000, 300, 225_280),
    (400_000, 5, 231_424), (400_000, 40, 283_648), (400_000, 300, 677_888),
    (800_000, 5, 257_024), (800_000, 40, 362_496), (800_000, 300, 1_150_976),
]  # fmt: skip


@pytest.mark.parametrize(("speed", "cable", "xoff"), PUBLISHED)
def test_the_formula_meets_the_tables_to_the_byte(speed: int, cable: int, xoff: int) -> None:
    assert size(speed, cable).xoff == xoff


@pytest.mark.parametrize(("speed", "cable", "xoff"), BY_COUNT)
def test_the_older_formula_counts_small_packets_by_number(speed: int, cable: int, xoff: int) -> None:
    assert size(speed, cable, counts_packets=True).xoff == xoff


@pytest.mark.parametrize(("speed", "cable", "xoff"), SMALL)
def test_nothing_but_small_packets_takes_three_times_the_buffer(speed: int, cable: int, xoff: int) -> None:
    assert size(speed, cable, traffic=ONLY_SMALL).xoff == xoff


def test_the_worked_example_prints_its_arithmetic() -> None:
    found = size(400_000, 40)
    assert [(term.name, round(term.amount)) for term in found.terms] == [
        ("port MTU", 9216),
        ("cable", 20202),
        ("MAC and PHY", 819),
        ("peer response", 57920),
        ("tile", 6000),
    ]
    assert round(found.in_flight) == 94_157
    assert round(found.small_share * 100, 3) == 3.077
    assert found.cells_per_small == 3
    assert round(found.occupancy, 4) == 1.0615
    assert int(found.rounded_from) == 104_047
    assert found.xoff == 104_448


def test_a_shared_pool_holds_what_lies_above_xon() -> None:
    shared, own = size(400_000, 40), size(400_000, 40, is_pool_shared=False)
    assert (shared.xon, shared.size) == (19_456, 19_456)
    assert (own.xon, own.size) == (19_456, 19_456 + 104_448)


def test_a_port_of_eight_lanes_has_twice_the_pipeline_and_a_frame_more() -> None:
    own = size(800_000, 40, is_pool_shared=False)
    assert own.xon == 38_912
    assert own.size == own.xon + own.xoff + 9216


def test_spectrum_6_has_no_tile_and_twice_the_response_at_800g() -> None:
    assert [size(speed, 40, SPECTRUM_6).xoff for speed in (100_000, 400_000, 800_000)] == [48_128, 101_376, 186_368]


def test_a_gearbox_is_passed_twice() -> None:
    port = HeadroomPort(speed_mbps=100_000, cable_m=5, mtu=9216, lanes=4, gearbox_ns=40)
    found = switch_headroom(port, SPECTRUM_4, HALF_SMALL, is_pool_shared=True)
    assert found is not None
    # 40 ns at 100 Gb/s are 4,000 bits.
    assert [term.amount for term in found.terms if term.name == "gearbox"] == [2 * 500]


def test_a_speed_that_the_standard_does_not_list_is_unknown() -> None:
    port = HeadroomPort(speed_mbps=1_600_000, cable_m=5, mtu=9216, lanes=8)
    assert peer_response(1_600_000) is None
    assert switch_headroom(port, SPECTRUM_4, HALF_SMALL, is_pool_shared=True) is None


@pytest.mark.parametrize("cable", [-1.0, float("inf"), float("nan")])
def test_a_cable_without_a_length_is_unknown(cable: float) -> None:
    port = HeadroomPort(speed_mbps=400_000, cable_m=cable, mtu=9216, lanes=4)
    assert switch_headroom(port, SPECTRUM_4, HALF_SMALL, is_pool_shared=True) is None


def test_a_small_cell_wastes_at_most_half_of_itself() -> None:
    spectrum_1 = dataclasses.replace(SPECTRUM_4, cell_bytes=96, is_tiled=False)
    assert size(100_000, 5, spectrum_1).cells_per_small == 2


speeds = st.sampled_from(sorted(PAUSE_QUANTA))
lengths = st.integers(0, 100_000)


@given(speeds, lengths, lengths)
def test_more_cable_never_needs_less(speed: int, one: int, other: int) -> None:
    assert size(speed, min(one, other)).xoff <= size(speed, max(one, other)).xoff


@given(speeds, speeds, lengths)
def test_more_speed_never_needs_less(one: int, other: int, cable: int) -> None:
    assert size(min(one, other), cable).xoff <= size(max(one, other), cable).xoff


@given(speeds, lengths, st.integers(64, 9216), st.integers(0, 100))
def test_what_comes_out_is_the_sum_of_what_is_printed(speed: int, cable: int, mtu: int, small: int) -> None:
    found = size(speed, cable, traffic=LosslessTraffic(mtu=mtu, small_percent=small))
    total = sum(term.amount for term in found.terms)
    assert found.in_flight == pytest.approx(total)
    assert found.rounded_from == pytest.approx(mtu + total * found.occupancy)
    assert 0 <= found.xoff - found.rounded_from < 1024
    assert found.xoff % 1024 == found.xon % 1024 == found.size % 1024 == 0
    assert 0 <= found.small_share <= 1
