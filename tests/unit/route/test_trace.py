from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import from_links, make_fabric
from tests.tables import cut
from weftline.compile.direct import build_dragonfly
from weftline.errors import CapabilityError
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.route import compute_routes, find_destination, find_endpoint, trace_path


@pytest.fixture(name="fabric")
def make_three_tiers() -> Fabric:
    return make_fabric("rail-optimised", hosts=32, rails=4, ports=8, unit_size=4)


def trace(fabric: Fabric, routes: Routes, source: str, target: str, seed: int = 0) -> list[tuple[object, ...]]:
    path = trace_path(fabric, routes, find_endpoint(fabric, source), find_destination(fabric, routes, target), seed)
    return [(hop.node, hop.in_port, hop.out_port, hop.alternatives, hop.why) for hop in path.hops]


def test_a_path_is_explained_hop_by_hop(fabric: Fabric) -> None:
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    assert trace(fabric, routes, "host-0001/nic2", "host-0032/nic3") == [
        ("host-0001", None, 2, 1, "sends on host-0001/nic2, up to leaf-002"),
        ("leaf-002", 1, 8, 1, "up to spine-12: the only port of its entry"),
        ("spine-12", 1, 8, 1, "up to core-16: the only port of its entry"),
        ("core-16", 3, 6, 1, "down to spine-24: the only port of its entry"),
        ("spine-24", 8, 4, 1, "down to leaf-031: the only port of its entry"),
        ("leaf-031", 8, 4, 1, "delivers to host-0032: the only port of its entry"),
        ("host-0032", 3, None, 0, "is the destination"),
    ]


def test_the_choice_of_a_set_follows_the_seed(fabric: Fabric) -> None:
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    paths = {tuple(trace(fabric, routes, "host-0001", "host-0032", seed)) for seed in range(20)}
    assert len(paths) > 3
    first = trace(fabric, routes, "host-0001", "host-0032")
    assert first[1][3] == 4
    assert "one of 4 ports" in str(first[1][4])
    assert first == trace(fabric, routes, "host-0001", "host-0032", 0)


def test_a_switch_is_a_target_where_tables_lead_to_it(fabric: Fabric) -> None:
    routes = compute_routes(fabric, "fat-tree", to_switches=True)
    assert trace(fabric, routes, "host-0001", "core-01")[-1] == ("core-01", 1, None, 0, "is the destination")


def test_links_between_equals_go_across() -> None:
    fabric = from_links(2, 1, [(0, 1)])
    routes = compute_routes(fabric, "updown", to_switches=False)
    assert "across to leaf-002" in str(trace(fabric, routes, "host-0001", "host-0002")[1][4])


def test_a_port_reaches_itself_at_once(fabric: Fabric) -> None:
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    assert trace(fabric, routes, "host-0001", "host-0001")[0][:3] == ("host-0001", None, None)


def lose(fabric: Fabric, routes: Routes, source: str, target: str) -> CapabilityError:
    with pytest.raises(CapabilityError) as caught:
        trace(fabric, routes, source, target)
    return caught.value


def test_a_missing_route_names_the_switch() -> None:
    fabric = make_fabric("rail-only", hosts=8, rails=2, ports=8, unit_size=4)
    error = lose(fabric, compute_routes(fabric, "updown", to_switches=False), "host-0001/nic1", "host-0002/nic2")
    assert error.code == "capability.no-route"
    assert error.message == "from host-0001/nic1 to host-0002/nic2 nothing is delivered: leaf-001 has no route"


def test_a_loop_is_shown() -> None:
    fabric = from_links(3, 1, [(0, 1), (1, 2), (2, 0)])
    routes = compute_routes(fabric, "updown", to_switches=False)
    group = routes.group.copy()
    # Towards host-0003 every switch sends on round the ring: its own ports are host, then links in order.
    group[0, 2], group[1, 2], group[2, 2] = 1, 2, 2
    error = lose(fabric, replace(routes, group=group), "host-0001", "host-0003")
    assert error.code == "capability.route-loop"
    assert "it loops" in error.message
    assert all(name in error.message for name in ("leaf-001", "leaf-002", "leaf-003"))


def test_a_long_loop_is_cut_short() -> None:
    size = 12
    fabric = from_links(size, 1, [(i, (i + 1) % size) for i in range(size)])
    routes = compute_routes(fabric, "updown", to_switches=False)
    group = routes.group.copy()
    group[:, 5] = 2
    group[0, 5] = 1
    error = lose(fabric, replace(routes, group=group), "host-0001", "host-0006")
    assert " ... " in error.message


def test_a_packet_astray_is_named() -> None:
    fabric = from_links(2, 2, [(0, 1)])
    routes = compute_routes(fabric, "updown", to_switches=False)
    group = routes.group.copy()
    group[1, 2] = routes.group[1, 3]
    error = lose(fabric, replace(routes, group=group), "host-0001", "host-0003")
    assert error.code == "capability.route-astray"
    assert error.message.endswith("it goes astray at host-0004")


def test_a_dark_source_and_a_dark_port_are_named() -> None:
    fabric = from_links(2, 1, [(0, 1)])
    routes = compute_routes(fabric, "updown", to_switches=False)
    dark = cut(fabric, [int(fabric.endpoint_port[0])])
    assert lose(dark, routes, "host-0001", "host-0002").message.endswith("port host-0001/nic1 is dark")
    unplugged = cut(fabric, [int(fabric.port_ptr[2]) + 1])
    assert lose(unplugged, routes, "host-0001", "host-0002").message.endswith("port leaf-001/2 is dark")


@pytest.mark.parametrize("broken", ["empty", "unknown", "foreign", "nil"])
def test_broken_foreign_tables_end_in_an_error(broken: str) -> None:
    fabric = from_links(2, 1, [(0, 1)])
    routes = compute_routes(fabric, "updown", to_switches=False)
    group, member_ptr, member_port = routes.group.copy(), routes.member_ptr.copy(), routes.member_port.copy()
    if broken == "empty":
        member_ptr[2:] -= 1
        member_port = np.delete(member_port, 1)
    elif broken == "unknown":
        group[0, 1] = 9
    else:
        member_port[1] = -1 if broken == "nil" else 0
    changed = replace(routes, group=group, member_ptr=member_ptr, member_port=member_port)
    assert lose(fabric, changed, "host-0001", "host-0002").code in {"capability.no-route", "capability.route-astray"}


def test_lanes_that_change_are_told_hop_by_hop() -> None:
    fabric = build_dragonfly(1, 4, 2, 9)
    routes = compute_routes(fabric, "dragonfly", to_switches=False)
    found: set[tuple[str, ...]] = set()
    for goal in range(1, len(routes.destination_port)):
        hops = trace_path(fabric, routes, int(fabric.endpoint_port[0]), goal).hops
        found.add(tuple(hop.why.rpartition("on lane ")[2] for hop in hops if "on lane" in hop.why))
    assert found == {("0",), ("0", "1"), ("0", "0"), ("0", "0", "1")}
