from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline import units
from weftline.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("4096B", 4096),
        ("64MiB", 64 * 2**20),
        (" 64 MiB ", 64 * 2**20),
        ("1GB", 10**9),
        ("1G", 10**9),
        ("1.5GB", 1_500_000_000),
        ("8KiB", 8192),
        ("8kB", 8000),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "many", "-1", "1e9", "0", "0.2", "64 MiBs", "nan", "2000PB", "9" * 39, "9" * 5000]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        units.parse_size(text)
    assert caught.value.code == "usage.size"
    assert len(caught.value.message) < 100


@given(st.text(max_size=60))
def test_any_text_is_a_size_or_refused(text: str) -> None:
    try:
        size = units.parse_size(text)
    except UsageError:
        return
    assert 1 <= size <= units.MAX_BYTES


def test_400_gigabit_are_50_gigabytes() -> None:
    assert units.gbps_to_bytes_per_us(400) == 50_000


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (67_108_864, "67.1 MB"), (1e9, "1 GB"), (5e18, "5000 PB")]
)
def test_sizes_are_written(size: float, text: str) -> None:
    assert units.format_size(size) == text


@pytest.mark.parametrize(("time_us", "text"), [(0.5, "0.500 us"), (2550, "2.550 ms"), (3e6, "3.000 s")])
def test_times_are_written(time_us: float, text: str) -> None:
    assert units.format_time_us(time_us) == text


def test_bus_bandwidth_is_a_dash_where_nothing_was_sent() -> None:
    assert units.format_busbw(None) == "-"
    assert units.format_busbw(47.25) == "47.25 GB/s"
