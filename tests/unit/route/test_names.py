from __future__ import annotations

import pytest

from tests.fabrics import from_links, make_fabric
from weftline.errors import SpecError
from weftline.route import compute_routes, find_destination, find_endpoint


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("host-0003", "host-0003/nic1p1"),
        (" host-0003/nic2 ", "host-0003/nic2p1"),
        ("host-0003/nic2p2", "host-0003/nic2p2"),
        ("host-0003/4", "host-0003/nic2p2"),
        ("ufm", "ufm/1"),
        ("ufm/2", "ufm/2"),
    ],
)
def test_endpoints_are_found_by_every_form_of_their_name(text: str, name: str) -> None:
    fabric = make_fabric(
        "rail-optimised", hosts=8, rails=2, ports=16, unit_size=4, planes=2, extras=(("ufm", 2, "leaf"),)
    )
    assert fabric.port_name(find_endpoint(fabric, text)) == name
    routes = compute_routes(fabric, "updown", to_switches=False)
    assert routes.destination_port[find_destination(fabric, routes, text)] == find_endpoint(fabric, text)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("hots-0003", "host-0003"),
        ("host-0003/nic7", "host-0003/nic1"),
        ("host-0003/nic1p3", "host-0003/nic1"),
        ("host-0003/nic99999999999", "host-0003/nic1"),
        ("host-0003/nic0", "host-0003/nic1"),
        ("leaf-001", "host-0001"),
        ("leaf-001/3", "host-0001"),
        ("", "host-0001"),
        ("/", "host-0001"),
        ("x" * 100_000, "host-0001"),
    ],
)
def test_an_unknown_endpoint_gets_the_nearest_names(text: str, near: str) -> None:
    fabric = make_fabric("fat-tree", hosts=8, ports=8)
    with pytest.raises(SpecError) as caught:
        find_endpoint(fabric, text)
    assert caught.value.code == "spec.unknown-endpoint"
    assert near in caught.value.hint
    assert len(caught.value.message) < 150


def test_a_switch_is_a_destination_only_where_tables_lead_to_it() -> None:
    fabric = make_fabric("fat-tree", hosts=8, ports=8)
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    assert routes.destination_node[find_destination(fabric, routes, "leaf-002")] == fabric.node_name.index("leaf-002")
    with pytest.raises(SpecError, match="leaf-002"):
        find_destination(fabric, compute_routes(fabric, "fat-tree", to_switches=False), "leaf-002")


def test_an_endpoint_without_ports_is_refused() -> None:
    fabric = from_links(1, 1, [])
    empty = from_links([], {}, [])
    with pytest.raises(SpecError):
        find_endpoint(empty, "host-0001")
    assert find_endpoint(fabric, "host-0001") == 0
