from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.declare.ranges import count_hosts, expand_ranges, parse_ranges


@pytest.mark.parametrize(
    ("text", "hosts"),
    [("all", (0, 1, 2, 3)), ("2", (1,)), ("1-3", (0, 1, 2)), ("4, 1 - 2", (0, 1, 3)), ("1-4", (0, 1, 2, 3))],
)
def test_reads_ranges(text: str, hosts: tuple[int, ...]) -> None:
    ranges = parse_ranges(text, 4)
    assert not isinstance(ranges, str)
    assert expand_ranges(ranges) == hosts
    assert count_hosts(ranges) == len(hosts)


@pytest.mark.parametrize(
    "text", ["", ",", "0", "5", "3-2", "1-2,2", "one", "1-", "-1", "1--2", "1-9999999999", "\u0661"]
)
def test_says_what_is_wrong(text: str) -> None:
    assert isinstance(parse_ranges(text, 4), str)


@given(st.sets(st.integers(1, 200), min_size=1))
def test_any_set_of_hosts_can_be_written(hosts: set[int]) -> None:
    ranges = parse_ranges(",".join(str(host) for host in hosts), 200)
    assert not isinstance(ranges, str)
    assert expand_ranges(ranges) == tuple(sorted(host - 1 for host in hosts))
