"""Names of nodes, and which adapters are one host."""

from __future__ import annotations

import pytest

from weftline.adopt.names import group_hosts, is_extra, natural, plain_name, split_adapter, unique_names
from weftline.model.discovery import NodeRecord


def adapters(*descriptions: str) -> list[NodeRecord]:
    return [NodeRecord("ca", f"H-{at:016x}", 1, description=text) for at, text in enumerate(descriptions)]


def grouped(*descriptions: str) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    records = adapters(*descriptions)
    return [(group.name, group.members, group.slots) for group in group_hosts(records, list(range(len(records))))]


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("MF0;A09-P1-IBLEAF-04-04:MQM9701/U1", "A09-P1-IBLEAF-04-04"),
        ("MF0;dc-01-A:MCS8500/L16/U2", "dc-01-A.L16.U2"),
        ("leaf-001", "leaf-001"),
        (" a/b~c ", "a-b-c"),
        ("\N{SNOWMAN}", ""),
    ],
)
def test_plain_names(description: str, name: str) -> None:
    assert plain_name(description) == name


def test_names_are_unique() -> None:
    assert unique_names([("a", "k1"), ("b", "k2"), ("a", "k3"), ("", "S-1")]) == ["a.k1", "b", "a.k3", "S-1"]
    assert unique_names([("a.k1", "x"), ("a", "k1"), ("a", "k2")]) == ["a.k1", "a.k1.2", "a.k2"]


def test_natural_order() -> None:
    assert sorted(["b-10", "b-9", "a", "b", "10", "9"], key=natural) == ["9", "10", "a", "b", "b-9", "b-10"]


def test_one_adapter_by_two_conventions() -> None:
    assert split_adapter("h1 HCA-3") == split_adapter("h1 mlx5_2") == ("h1", (2, ""))
    assert split_adapter("h1 ibp75s0f0") == ("h1", (75, "ibp75s0f0"))
    assert split_adapter("MT4129 ConnectX7   Mellanox Technologies") is None
    assert split_adapter("localhost HCA-1") is None


def test_adapters_of_a_host_are_joined_and_a_lost_one_shifts_none() -> None:
    assert grouped("h1 mlx5_0", "h2 mlx5_5", "h1 mlx5_5", "h1 mlx5_4", "h2 mlx5_0") == [
        ("h1", (0, 3, 2), (0, 1, 2)),
        ("h2", (4, 1), (0, 2)),
    ]


def test_doubt_means_one_host_each() -> None:
    assert grouped("h1 HCA-1", "h1 HCA-1", "localhost HCA-1", "localhost HCA-2", "") == [
        ("h1 HCA-1", (0,), (0,)),
        ("h1 HCA-1", (1,), (0,)),
        ("localhost HCA-1", (2,), (0,)),
        ("localhost HCA-2", (3,), (0,)),
        ("", (4,), (0,)),
    ]
    assert len(grouped(*(f"h1 mlx5_{at}" for at in range(65)))) == 65


def test_aggregation_nodes_and_routers_are_no_hosts() -> None:
    assert is_extra(NodeRecord("ca", "k", 1, description="Mellanox Technologies Aggregation Node"))
    assert is_extra(NodeRecord("router", "k", 1))
    assert not is_extra(NodeRecord("switch", "k", 1, description="Aggregation Node"))
    assert not is_extra(NodeRecord("ca", "k", 1, description="h1 HCA-1"))
