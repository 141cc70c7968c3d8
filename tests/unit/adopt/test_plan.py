"""A plan held against a fabric: every change of a cable is told, and what cannot be told is never fine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from tests.unit.adopt.dumps import adopt, number, rediscover, rewire
from weftline.adopt import hold_plan
from weftline.adopt.places import make_directory
from weftline.compile import write_cabling
from weftline.errors import Place
from weftline.formats import ibnetdiscover, ndt
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption
from weftline.model.fabric import Fabric
from weftline.model.plan import PlanVerdict
from weftline.model.survey import PlannedCable

TREE = make_fabric(hosts=15)
"""4 leaves of 4 hosts, the last one short of a host, and 2 spines of 8 ports."""
PLAN = ndt.parse(write_cabling(TREE).encode(), "plan.csv").plan


def held(fabric: Fabric, plan: tuple[PlannedCable, ...] = PLAN) -> PlanVerdict:
    verdict = hold_plan(plan, rediscover(fabric))
    assert verdict.planned == verdict.as_planned + verdict.miswired + verdict.missing + verdict.unknown
    assert verdict.planned + verdict.excused == len(plan)
    return verdict


def kinds(verdict: PlanVerdict) -> list[tuple[str, str]]:
    return [(item.kind, item.subject) for item in verdict.differences]


def cable(a: str, a_port: str, b: str, b_port: str) -> PlannedCable:
    return PlannedCable(a, a_port, b, b_port, Place("plan", 1))


def test_the_same_is_as_planned() -> None:
    verdict = held(TREE)
    assert verdict.is_as_planned
    assert (verdict.planned, verdict.as_planned, verdict.outside, verdict.absent) == (len(PLAN), len(PLAN), 0, ())


def test_a_missing_cable() -> None:
    verdict = held(rewire(TREE, ("leaf-001/5", None)))
    assert kinds(verdict) == [("missing", "leaf-001/5~spine-01/1")]
    assert verdict.differences[0].message == "no cable was found at leaf-001/5 and spine-01/1"
    assert not verdict.is_as_planned


def test_a_missing_host_cable_is_missing_though_its_host_is_gone() -> None:
    verdict = held(rewire(TREE, ("host-0001/nic1", None)))
    assert kinds(verdict) == [("missing", "host-0001/nic1~leaf-001/1")]
    assert verdict.absent == ("host-0001",)
    assert verdict.differences[0].message == "leaf-001/1 is dark, and host-0001 was not found"


def test_a_moved_cable() -> None:
    verdict = held(rewire(TREE, ("host-0001/nic1", "leaf-004/4")))
    assert kinds(verdict) == [("miswired", "host-0001/nic1~leaf-001/1")]
    assert "is wired to leaf-004/4, leaf-001/1 is dark" in verdict.differences[0].message
    assert verdict.differences[0].found == ("host-0001/nic1~leaf-004/4",)


def test_exchanged_cables_are_two() -> None:
    verdict = held(rewire(TREE, ("host-0001/nic1", "leaf-001/2"), ("host-0002/nic1", "leaf-001/1")))
    assert (verdict.miswired, verdict.missing, verdict.unknown, verdict.unplanned) == (2, 0, 0, 0)
    assert verdict.differences[0].device == "leaf-001"


def test_an_unplanned_cable() -> None:
    verdict = held(TREE, tuple(c for c in PLAN if c.a_device != "host-0002"))
    assert kinds(verdict) == [("unplanned", "host-0002/nic1~leaf-001/2")]
    assert verdict.as_planned == verdict.planned


def test_what_a_plan_does_not_speak_of_is_only_counted() -> None:
    hosts = tuple(c for c in PLAN if c.a_device.startswith("host"))
    verdict = held(TREE, hosts)
    assert (verdict.is_as_planned, verdict.outside) == (True, len(PLAN) - len(hosts))


def test_a_cable_that_need_not_be_there_is_not_judged_and_not_unplanned() -> None:
    plan = (replace(PLAN[0], is_expected=False), *PLAN[1:])
    for fabric in (TREE, rewire(TREE, ("host-0001/nic1", None))):
        verdict = held(fabric, plan)
        assert (verdict.excused, verdict.is_as_planned) == (1, True)


def test_a_port_that_is_planned_twice_is_not_judged() -> None:
    twice = cable("host-0002", "nic1", "leaf-001", "1")
    verdict = held(TREE, (*PLAN, twice))
    assert verdict.unknown == 3
    assert "the plan has 2 cables at" in verdict.differences[0].message


def test_other_names_altogether_are_unknown_and_never_missing() -> None:
    plan = tuple(
        cable(c.a_device.replace("-", "_x_"), c.a_port, c.b_device.replace("-", "_x_"), c.b_port) for c in PLAN
    )
    verdict = held(TREE, plan)
    assert (verdict.unknown, verdict.as_planned, verdict.is_as_planned) == (len(PLAN), 0, False)


def test_a_host_of_a_factory_name_may_be_the_planned_one() -> None:
    text = ibnetdiscover.write(TREE, number(TREE)).replace(
        "host-0003 HCA-1", "MT4129 ConnectX7   Mellanox Technologies"
    )
    verdict = hold_plan(PLAN, adopt(text))
    assert (verdict.unknown, verdict.as_planned) == (1, len(PLAN) - 1)
    assert "which the plan does not name" in verdict.differences[0].message


MANAGED = """\
switchguid=0xa1
Switch\t65 "S-00000000000000a1"\t\t# "MF0;leaf-a:MQM9700/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-00000000000000b1"[1](b1)\t\t# "host-a mlx5_0" lid 3 4xNDR
[2]\t"H-00000000000000b2"[1](b2)\t\t# "host-a mlx5_1" lid 4 4xNDR
[64]\t"S-00000000000000d2"[20]\t\t# "MF0;core-a:MCS8500/L16/U2" lid 2 4xNDR

switchguid=0xd1
Switch\t41 "S-00000000000000d1"\t\t# "MF0;core-a:MCS8500/L16/U1" base port 0 lid 5 lmc 0
[1]\t"S-00000000000000d2"[1]\t\t# "MF0;core-a:MCS8500/L16/U2" lid 2 4xNDR

switchguid=0xd2
Switch\t41 "S-00000000000000d2"\t\t# "MF0;core-a:MCS8500/L16/U2" base port 0 lid 2 lmc 0
[1]\t"S-00000000000000d1"[1]\t\t# "MF0;core-a:MCS8500/L16/U1" lid 5 4xNDR
[20]\t"S-00000000000000a1"[64]\t\t# "MF0;leaf-a:MQM9700/U1" lid 1 4xNDR

caguid=0xb1
Ca\t1 "H-00000000000000b1"\t\t# "host-a mlx5_0"
[1](b1)\t"S-00000000000000a1"[1]\t\t# lid 3 lmc 0 "MF0;leaf-a:MQM9700/U1" lid 1 4xNDR

caguid=0xb2
Ca\t1 "H-00000000000000b2"\t\t# "host-a mlx5_1"
[1](b2)\t"S-00000000000000a1"[2]\t\t# lid 4 lmc 0 "MF0;leaf-a:MQM9700/U1" lid 1 4xNDR
"""


@pytest.fixture(scope="module")
def managed() -> Adoption:
    return adopt(MANAGED)


@pytest.mark.parametrize(
    ("device", "port", "name"),
    [
        ("LEAF-A", "Port 1", "leaf-a/1"),
        ("leaf-a.example.com", "1", "leaf-a/1"),
        ("leaf-a", "1/2", "leaf-a/2"),
        ("leaf-a", "32/2", "leaf-a/64"),
        ("MF0;leaf-a:MQM9700/U1", "P64", "leaf-a/64"),
        ("0x00000000000000a1", "64", "leaf-a/64"),
        ("Core-A", "Blade 16_Port 2/20", "core-a.L16.U2/20"),
        ("host-a", "mlx5_1", "host-a/nic2"),
        ("HOST-A", "HCA-2", "host-a/nic2"),
        ("host-a", "host-a mlx5_0", "host-a/nic1"),
        ("host-a", "mlx5_0/1", "host-a/nic1"),
        ("Host-A IB Port 2", "IB Port 2", "host-a/nic2"),
        ("host-a", "nic2", "host-a/nic2"),
    ],
)
def test_ports_are_found_by_what_people_call_them(managed: Adoption, device: str, port: str, name: str) -> None:
    found = make_directory(managed).find(device, port)
    assert found.port != NIL, found.reason
    assert managed.fabric.port_name(found.port) == name


@pytest.mark.parametrize(
    ("device", "port", "words"),
    [
        ("leaf-b", "Port 1", "leaf-b was not found"),
        ("leaf-a.x", "Port 66", "no such port"),
        ("leaf-a", "33/1", "no such port"),
        ("leaf-a", "1/3", "no such port"),
        ("leaf-a", "mlx5_0", "a switch has no adapter"),
        ("leaf-a", "abra", "names no port"),
        ("core-a", "Port 20", "2 chips have that name; say the board"),
        ("core-a", "Blade 16_Port 3/20", "no chip U3 of board L16"),
        ("core-a", "1/2", "is not known"),
        ("core-a.L16.U2", "1/2", "is not known"),
        ("core-a", "Blade 16_Port 20", "2 chips have that name"),
        ("host-a", "mlx5_7", "no cable was found there"),
        ("host-a", "mlx5_0/2", "no cable was found there"),
        ("host-a", "nic1p2", "does not tell planes"),
        ("host-a", "ibp1s0", "no cable was found there"),
    ],
)
def test_what_is_not_found_says_why(managed: Adoption, device: str, port: str, words: str) -> None:
    found = make_directory(managed).find(device, port)
    assert (found.port, words in found.reason) == (-1, True), found.reason


def test_wires_inside_a_director_are_nobodys_plan(managed: Adoption) -> None:
    plan = (cable("leaf-a", "64", "core-a", "Blade 16_Port 2/20"),)
    verdict = hold_plan(plan, managed)
    assert (verdict.as_planned, verdict.unplanned, verdict.outside) == (1, 0, 3)


@settings(max_examples=60)
@given(st.data())
def test_every_change_of_cables_is_told(data: st.DataObject) -> None:
    """Cables are pulled and exchanged at will: what is as planned is exactly what stands where the plan has it."""
    lit = [port for port in range(TREE.port_count) if TREE.port_peer[port] > port]
    names = [(TREE.port_name(port), TREE.port_name(int(TREE.port_peer[port]))) for port in lit]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=6))
    far = data.draw(st.permutations([b for _, b in chosen]))
    pulled = data.draw(st.sets(st.sampled_from(range(6)), max_size=2))
    links = [(a, None if at in pulled else b) for at, ((a, _), b) in enumerate(zip(chosen, far, strict=True))]
    left = {(a, b) for a, b in names if (a, b) not in chosen} | {link for link in links if link[1] is not None}
    verdict = held(rewire(TREE, *((a, None) for a, _ in chosen), *((b, None) for _, b in chosen), *links))
    assert verdict.as_planned == sum(pair in left for pair in names)
    assert verdict.unknown == 0
    assert verdict.is_as_planned == (left == set(names))
