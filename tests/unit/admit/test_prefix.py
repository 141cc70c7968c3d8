"""Prefixes are read as Python's own reader does, whichever way they are written."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.admit.prefix import parse_prefix

octets = st.one_of(st.integers(0, 255).map(str), st.sampled_from(["256", "999", "", "a", "-1", "+1", " 1", "1_0"]))
lengths = st.one_of(
    st.just(""), st.integers(0, 32).map("/{}".format), st.sampled_from(["/33", "/", "/x", "/ 8", "/-1"])
)


def read(text: str) -> tuple[int, int, int] | None:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    return network.version, int(network.network_address), int(network.broadcast_address)


@given(st.lists(octets, min_size=3, max_size=5).map(".".join), lengths)
def test_what_looks_like_version_4(address: str, length: str) -> None:
    assert parse_prefix(address + length) == read(address + length)


@given(st.ip_addresses(v=4), st.integers(0, 32))
def test_prefixes_of_version_4(address: ipaddress.IPv4Address, length: int) -> None:
    assert parse_prefix(f"{address}/{length}") == read(f"{address}/{length}")


@given(st.ip_addresses(v=6), st.integers(0, 128))
def test_prefixes_of_version_6(address: ipaddress.IPv6Address, length: int) -> None:
    assert parse_prefix(f"{address}/{length}") == read(f"{address}/{length}")


@pytest.mark.parametrize(
    ("text", "same"),
    [("010.000.0.1", "10.0.0.1"), ("10.0.0.1/08", "10.0.0.1/8"), ("default", "0.0.0.0/0")],
)
def test_other_ways_to_write_one(text: str, same: str) -> None:
    assert parse_prefix(text) == read(same)


@pytest.mark.parametrize("text", ["", "x", "10.0.0.1/8/9", "10.0.0.1/24 ", "1" * 100])
def test_what_is_no_prefix(text: str) -> None:
    assert parse_prefix(text) is None
