"""Whatever is judged in a shorter way than one by one, against doing so, on files with all that could be missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import tenant_files as make
from tests.unit.prove.altered_tenants import make_altered
from tests.unit.prove.slow_sessions import list_ways
from weftline.admit.prefix import is_inside, parse_prefix
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.proof import Verdict
from weftline.model.separation import SeparationFiles
from weftline.prove.separate import check_separation, prove_separation
from weftline.prove.sharing import Allowed
from weftline.prove.tenancy.exchange import Roads, build_roads
from weftline.prove.tenancy.forwarding import ALL, Graph
from weftline.prove.tenancy.ground import Routing, lay_ground
from weftline.prove.tenancy.placement import Placement, place_owners

seeds = st.integers(0, 1 << 30)


def build(files: SeparationFiles) -> tuple[Placement, Roads]:
    placement = place_owners(files, Allowed(files.sharings))
    return placement, build_roads(files, placement)


@given(seeds)
@settings(max_examples=300)
def test_sessions_are_those_that_are_found_one_by_one(seed: int) -> None:
    files = make_altered(seed)
    placement, roads = build(files)
    wanted, doubts = list_ways(files, placement)
    graph, ways = roads.graph, roads.graph.crossings
    rows: list[tuple[int, int, bool]] = list(
        zip(ways.start.tolist(), ways.to.tolist(), ways.is_certain.tolist(), strict=True)
    )
    found = {
        (graph.names[a], graph.names[b]): (sure, ways.tell(row).says, ways.tell(row).where)
        for row, (a, b, sure) in enumerate(rows)
    }
    assert len(found) == len(ways.start)
    assert found == wanted
    assert {one for one in roads.doubts if "takes routes" in one or "both ends" in one} == doubts


@given(seeds, st.booleans())
@settings(max_examples=300)
def test_groups_of_neighbours_reach_what_each_does_by_itself(seed: int, is_certain: bool) -> None:
    graph = build(make_altered(seed))[1].graph
    assert graph.reach(is_certain=is_certain) == reach_slowly(graph, is_certain=is_certain)


def reach_slowly(graph: Graph, *, is_certain: bool) -> list[int]:
    ways = [(a, way.to, way.targets, way.is_certain) for a, out in enumerate(graph.ways) for way in out]
    crossings = zip(graph.crossings.start, graph.crossings.to, graph.crossings.is_certain, strict=True)
    ways += [(int(a), int(b), ALL, bool(sure)) for a, b, sure in crossings]
    found = [graph.ends.get(point, 0) for point in range(len(graph.ways))]
    before: list[int] = []
    while found != before:
        before = [*found]
        for a, b, targets, sure in ways:
            found[a] |= found[b] & targets if sure or not is_certain else 0
    return found


@given(seeds)
@settings(max_examples=300)
def test_what_is_said_in_full_is_judged_as_what_is_said_shortly(seed: int) -> None:
    """Ports that are said twice, each with an interface upon it that is shut, have no shorter way."""
    files = make_altered(seed)
    full = replace(files, devices=tuple(say_in_full(device) for device in files.devices))
    short, long = (prove_separation(one, required=True) for one in (files, full))
    assert (short.verdict, short.statement, short.witness) == (long.verdict, long.statement, long.witness)
    assert short.detail == long.detail
    if short.verdict is Verdict.PROVED:
        assert check_separation(short)
        assert short.certificate is not None
        assert long.certificate is not None
        assert short.certificate.digest == long.certificate.digest


def say_in_full(device: ObservedDevice) -> ObservedDevice:
    ports: list[ObservedPort] = []
    for port in device.ports:
        shut = make.make_port(device.name, f"{port.name}.4094", is_up=make.say(device.name, "up", value=False))
        ports += [port, port, shut]
    return replace(device, ports=tuple(ports))


def test_altered_files_have_every_verdict() -> None:
    verdicts = [prove_separation(make_altered(seed), required=True).verdict for seed in range(100)]
    assert min(map(verdicts.count, Verdict)) >= 5


addresses = st.sampled_from(["10.0.0.1/32", "10.0.0.0/31", "10.0.0.1/24", "10.0.0.1/99", "x", "10.1.0.1/16", "::1/128"])


@given(st.lists(addresses, max_size=3), st.sampled_from(["10.0.0.1", "10.1.0.1", "10.2.0.1", "::1"]))
def test_a_subnet_that_cannot_hold_an_address_has_none_that_is_it(texts: list[str], wanted: str) -> None:
    port = make.make_port("leaf-1", "Ethernet0", "Vrfred", *texts)
    subnets = [(prefix, said) for said in port.addresses if (prefix := parse_prefix(said.value)) is not None]
    address = parse_prefix(wanted)
    assert address is not None
    is_own = any(parse_prefix(text.partition("/")[0]) == address for text in texts)
    may_hold = Routing(port, ("leaf-1", "Vrfred"), tuple(subnets)).may_hold(address)
    assert may_hold or not is_own
    assert may_hold == any(is_inside(address, prefix) for prefix, _ in subnets) or len(subnets) < len(texts)


def test_a_way_between_neighbours_has_one_back() -> None:
    ways = build(make_altered(3))[1].graph.crossings
    rows = set(zip(ways.start.tolist(), ways.to.tolist(), ways.is_certain.tolist(), strict=True))
    assert rows
    assert rows == {(b, a, sure) for a, b, sure in rows}
    assert np.all(np.diff(ways.start) >= 0)


def test_of_an_interface_that_is_said_twice_the_last_decides_how_it_routes() -> None:
    device = make.make_leaf(1)
    first, last = make.make_port("leaf-1", "Uplink0", "Vrfred"), make.make_port("leaf-1", "Uplink0")
    twice = replace(device, ports=(*[one for one in device.ports if one.name != "Uplink0"], first, last))
    routing = lay_ground(twice).find_routing("Uplink0")
    assert routing is not None
    assert routing.table == ("leaf-1", "default")


def test_a_port_routes_by_what_it_says_or_by_a_neighbour() -> None:
    device = make.make_leaf(1)
    ports = (*device.ports, make.make_port("leaf-1", "Idle0"), make.make_port("leaf-1", "Vlan7"))
    ground = lay_ground(replace(device, ports=ports))
    found = {name: ground.find_routing(name) for name in ("Uplink0", "Ethernet0", "Idle0", "Vlan7", "Nowhere0")}
    tables = {name: None if one is None else one.table[1] for name, one in found.items()}
    assert tables == {"Uplink0": "default", "Ethernet0": "Vrfred", "Idle0": None, "Vlan7": "default", "Nowhere0": None}
    assert [one.port.name for one in ground.gateways[7]] == ["Vlan7"]
