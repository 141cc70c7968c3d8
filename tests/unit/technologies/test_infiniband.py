from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.designs import render_design
from tests.fabrics import make_design, make_fabric
from weftline.errors import CapabilityError
from weftline.formats.lid import MAX_UNICAST
from weftline.model.fabric import Fabric
from weftline.model.intent import NO_PORT, ForwardingTable
from weftline.model.spec import RoutingSection
from weftline.route import compute_routes, trace_path
from weftline.technologies import TECHNOLOGIES
from weftline.technologies.infiniband.limits import count_problems

DESIGN = TECHNOLOGIES["infiniband"].design


@pytest.mark.parametrize(
    ("endpoints", "switches", "lmc", "planes", "fits"),
    [
        (MAX_UNICAST - 100, 100, 0, 1, True),
        (MAX_UNICAST - 100, 101, 0, 1, False),
        (12_000, 1_151, 2, 1, True),
        (12_000, 1_152, 2, 1, False),
        (2 * (MAX_UNICAST - 100), 200, 0, 2, True),
        (2 * (MAX_UNICAST - 100), 202, 0, 2, False),
    ],
)
def test_lids_are_counted_per_plane(endpoints: int, switches: int, lmc: int, planes: int, fits: bool) -> None:
    design = make_design(planes=planes, routing=RoutingSection(lmc=lmc))
    problems = count_problems(design, endpoints, switches)
    assert not problems if fits else [problem.code for problem in problems] == ["capability.too-many-lids"]


def test_the_refusal_holds_the_arithmetic_and_a_way_out() -> None:
    (problem,) = count_problems(make_design(routing=RoutingSection(lmc=1)), 65_536, 5_120)
    assert "49,151" in problem.message
    assert "65,536 endpoints * 2^1 + 5,120 switches = 136,192 LIDs" in problem.message
    assert "planes" in problem.hint
    assert "subnets" in problem.hint


def test_a_smaller_lmc_is_proposed_where_it_is_enough() -> None:
    (problem,) = count_problems(make_design(routing=RoutingSection(lmc=2)), 20_000, 1_000)
    assert "lmc" in problem.hint


def test_no_smaller_lmc_is_proposed_where_it_is_not_enough() -> None:
    for switches, way in ((100, "set routing.lmc to 0"), (101, "split the fabric into planes")):
        (problem,) = count_problems(make_design(routing=RoutingSection(lmc=2)), MAX_UNICAST - 100, switches)
        assert problem.hint.startswith(way)


@pytest.mark.parametrize(("planes", "words"), [(1, "and the subnet needs"), (2, "and each of the 2 planes needs")])
def test_the_refusal_says_where(planes: int, words: str) -> None:
    assert words in count_problems(make_design(planes=planes), 200_000, 10)[0].message


@pytest.mark.parametrize(("ports", "fits"), [(254, True), (255, False)])
def test_a_table_entry_names_254_ports(ports: int, fits: bool) -> None:
    design = make_design()
    wide = replace(design, spine=replace(design.spine, ports=ports))
    codes = [problem.code for problem in count_problems(wide, 40, 8)]
    assert codes == ([] if fits else ["capability.too-many-ports"])


def test_a_small_forwarding_table_is_refused() -> None:
    design = make_design()
    part = design.leaf.part.model_copy(update={"linear_fdb_cap": 48})
    small = replace(design, leaf=replace(design.leaf, part=part))
    assert not count_problems(small, 40, 7)
    (problem,) = count_problems(small, 40, 8)
    assert problem.code == "capability.table-too-small"
    assert "48" in problem.message


def test_a_switch_with_too_many_ports_is_refused() -> None:
    assert {p.code for p in count_problems(make_design(ports=512), 8, 2)} == {"capability.too-many-ports"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"planes": 2},
        {"routing": RoutingSection(lmc=2)},
        {"hosts": 15, "extras": (("ufm", 1, "auto"),)},
        {"kind": "rail-only", "rails": 2, "hosts": 8},
    ],
)
def test_lids_are_unique_aligned_and_dense(options: dict[str, Any]) -> None:
    options = dict(options)
    kind = options.pop("kind", "fat-tree")
    design = make_design(kind, **options)
    fabric = make_fabric(kind, **options)
    addresses = DESIGN.assign(design, fabric)
    bits = addresses.multipath_bits
    for plane in range(fabric.planes):
        ports = fabric.endpoint_port[fabric.port_plane[fabric.endpoint_port] == plane]
        switches = fabric.switch_node[fabric.node_plane[fabric.switch_node] == plane]
        base = addresses.port_address[ports]
        assert (base % 2**bits == 0).all()
        assert (np.diff(base) == 2**bits).all()
        lids = np.concatenate([*(base + i for i in range(2**bits)), addresses.node_address[switches]])
        assert sorted(lids) == list(range(1, len(ports) * 2**bits + len(switches) + 1))


def test_guids_are_local_unique_and_stay_when_hosts_are_added() -> None:
    found: list[dict[str, int]] = []
    for fabric in (make_fabric(hosts=8), make_fabric(hosts=16)):
        addresses = DESIGN.assign(make_design(), fabric)
        ids = [*addresses.node_id.tolist(), *addresses.port_id[fabric.endpoint_port].tolist()]
        assert len(set(ids)) == len(ids)
        assert {value >> 56 for value in ids} == {0x02}
        found.append(dict(zip(fabric.node_name, addresses.node_id.tolist(), strict=True)))
    small, large = found
    assert len(small.keys() & large.keys()) > 8
    assert all(large[name] == value for name, value in small.items() if name in large)


def test_too_many_endpoints_are_refused_when_lids_are_assigned() -> None:
    design = make_design(hosts=16, ports=8, routing=RoutingSection(lmc=7))
    fabric = make_fabric(hosts=512, ports=32, rails=1)
    with pytest.raises(CapabilityError) as refused:
        DESIGN.assign(design, fabric)
    assert refused.value.code == "capability.too-many-lids"


def follow(fabric: Fabric, table: ForwardingTable, source: int, lid: int) -> list[str]:
    """Follow a table from an endpoint, the slow and obvious way."""
    names: list[str] = []
    port = int(fabric.port_peer[source])
    while True:
        node = int(fabric.port_node[port])
        name = fabric.node_name[node]
        if name not in table.switch_name:
            return [*names, fabric.port_name(port)]
        row = table.switch_name.index(name)
        number = int(table.port[row, int(np.flatnonzero(table.address == lid)[0])])
        assert number not in {0, NO_PORT}
        names.append(name)
        port = int(fabric.port_peer[int(fabric.port_ptr[node]) + number - 1])


@pytest.mark.parametrize("options", [{}, {"planes": 2}, {"routing": RoutingSection(lmc=1)}])
def test_tables_forward_as_the_routes_say(options: dict[str, Any]) -> None:
    made = render_design("infiniband", "fat-tree", hosts=12, **options)
    fabric, addresses = made.fabric, made.addresses
    for plane in range(fabric.planes):
        forwarding = made.intent(f"subnet-{plane + 1}").forwarding
        assert forwarding is not None
        assert forwarding.table is not None
        ports = [int(p) for p in fabric.endpoint_port if fabric.port_plane[p] == plane]
        for target in ports[1:]:
            columns = np.flatnonzero(made.routes.destination_port == target).tolist()
            assert len(columns) == 2**addresses.multipath_bits
            for offset, column in enumerate(columns):
                path = trace_path(fabric, made.routes, ports[0], column)
                nodes = [hop.node for hop in path.hops if hop.node in forwarding.table.switch_name]
                lid = int(addresses.port_address[target]) + offset
                assert follow(fabric, forwarding.table, ports[0], lid) == [*nodes, fabric.port_name(target)]


def test_a_switch_delivers_to_itself() -> None:
    made = render_design("infiniband", "fat-tree")
    table = made.intent("subnet-1").forwarding.table  # type: ignore[union-attr]
    assert table is not None
    for row, lid in enumerate(table.switch_address):
        assert table.port[row, int(np.flatnonzero(table.address == lid)[0])] == 0


def test_groups_of_several_ports_are_refused() -> None:
    with pytest.raises(CapabilityError) as refused:
        render_design("infiniband", "fat-tree", engine="ecmp")
    assert refused.value.code == "capability.several-ports"
    assert "fat-tree" in refused.value.hint


def test_port_numbers_beyond_a_byte_are_refused() -> None:
    design = make_design("fat-tree", hosts=260, ports=512, unit_size=260)
    fabric = make_fabric("fat-tree", hosts=260, ports=512, unit_size=260)
    addresses = DESIGN.assign(design, fabric)
    routes = compute_routes(fabric, DESIGN.engine, to_switches=True)
    with pytest.raises(CapabilityError) as refused:
        DESIGN.intents(design, fabric, addresses, routes)
    assert refused.value.code == "capability.too-many-ports"


def test_each_tenant_has_a_partition_and_the_rest_has_one_of_its_own() -> None:
    made = render_design("infiniband", hosts=8, rails=2, unit_size=4, tenants=(("red", "1-3"), ("blue", "4-5")))
    isolation = made.intent("subnet-1").isolation
    assert isolation is not None
    assert (isolation.default_key, isolation.default_membership, isolation.enforcement) == (0x7FFF, "limited", "both")
    assert [(p.key, p.name, len(p.full), p.is_first) for p in isolation.partitions] == [
        (1, "red", 6, True),
        (2, "blue", 4, True),
        (3, "unassigned", 6, True),
    ]
    members = [set(p.full) for p in isolation.partitions]
    assert not members[0] & members[1]
    assert not (members[0] | members[1]) & members[2]


def test_without_tenants_all_endpoints_share_one_partition() -> None:
    isolation = render_design("infiniband").intent("subnet-1").isolation
    assert isolation is not None
    assert [(p.name, len(p.full)) for p in isolation.partitions] == [("compute", 16)]


def test_a_tenant_may_be_called_as_the_rest_is() -> None:
    made = render_design("infiniband", tenants=(("unassigned", "1-3"),))
    isolation = made.intent("subnet-1").isolation
    assert isolation is not None
    assert [p.name for p in isolation.partitions] == ["unassigned", "unassigned-"]


def test_a_latency_has_its_source() -> None:
    for technology in TECHNOLOGIES.values():
        assert technology.transport.message_latency_us > 0
        assert "override with policy.latency_us" in technology.transport.message_latency_source
