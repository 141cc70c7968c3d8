from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Interface, IPv4Network
from typing import Any

import numpy as np
import pytest

from tests.designs import render_design
from tests.fabrics import make_design, make_fabric
from weftline.errors import CapabilityError
from weftline.model.fabric import Tier
from weftline.model.parts import PortSet
from weftline.model.roce import RoceSection
from weftline.model.spec import LosslessSection, SiteSection
from weftline.technologies import TECHNOLOGIES
from weftline.technologies.roce import addresses as plan
from weftline.technologies.roce.classes import make_queues, traffic_class_byte
from weftline.technologies.roce.headrooms import round_length
from weftline.technologies.roce.limits import FIRST_NUMBER, count_problems, host_mtu

DESIGN = TECHNOLOGIES["roce"].design


def codes(**options: Any) -> list[str]:
    """Judge a design of the given sections."""
    return [problem.code for problem in count_problems(make_design(technology="roce", **options), 16, 4)]


def test_hosts_carry_the_largest_rdma_frame_unless_told() -> None:
    assert host_mtu(make_design(technology="roce")) == 4200
    assert host_mtu(make_design(technology="roce", lossless=LosslessSection(mtu=1500))) == 1500


def test_sizes_are_refused_with_the_arithmetic() -> None:
    design = make_design(technology="roce")
    assert not count_problems(design, 4_194_304, 1_048_575)
    links, loopbacks = count_problems(design, 4_194_305, 1_048_576)
    assert {links.code, loopbacks.code} == {"capability.too-many-addresses"}
    assert "8,388,608 / 2 = 4,194,304" in links.message


@pytest.mark.parametrize(
    ("lossless", "expected"),
    [
        (LosslessSection(), []),
        (LosslessSection(cnp_priority=3), ["capability.class-clash"]),
        (LosslessSection(cnp_dscp=26), ["capability.class-clash"]),
        (LosslessSection(mtu=9216), []),
        (LosslessSection(mtu=9217), ["capability.mtu"]),
        (LosslessSection(mtu=352), []),
        (LosslessSection(mtu=351), ["capability.mtu"]),
    ],
)
def test_classes_are_told_apart(lossless: LosslessSection, expected: list[str]) -> None:
    assert codes(lossless=lossless) == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("192.0.2.0/24", []),
        ("10.0.0.0/8", ["capability.address-overlap"] * 2),
        ("10.128.4.0/22", ["capability.address-overlap"]),
        ("2001:db8::/32", []),
        ("nonsense", []),
    ],
)
def test_management_keeps_out_of_the_plan(prefix: str, expected: list[str]) -> None:
    assert codes(site=SiteSection(management=(prefix,))) == expected


@pytest.mark.parametrize("kind", ["fat-tree", "rail-optimised", "rail-only"])
def test_every_host_link_is_a_pair_inside_the_block_of_its_switch(kind: str) -> None:
    rails = 1 if kind == "fat-tree" else 2
    design = make_design(kind, hosts=9, rails=rails, technology="roce")
    fabric = make_fabric(kind, hosts=9, rails=rails, technology="roce")
    addresses = DESIGN.assign(design, fabric)
    seen: set[int] = set()
    blocks: dict[int, set[IPv4Network]] = {}
    size = plan.block_size(fabric)
    for port in fabric.endpoint_port:
        peer = fabric.port_peer[port]
        if peer < 0:
            assert addresses.port_address[port] == -1
            continue
        own, far = int(addresses.port_address[port]), int(addresses.port_address[peer])
        assert own == far + 1
        assert far % 2 == 0
        assert not {own, far} & seen
        seen |= {own, far}
        blocks.setdefault(int(fabric.port_node[peer]), set()).add(
            IPv4Network((far - far % size, 33 - size.bit_length()))
        )
    assert all(len(found) == 1 for found in blocks.values())
    assert len({block for found in blocks.values() for block in found}) == len(blocks)


def test_three_tiers_share_numbers_so_that_no_route_goes_up_twice() -> None:
    design = make_design("fat-tree", hosts=64, ports=8, technology="roce")
    fabric = make_fabric("fat-tree", hosts=64, ports=8, technology="roce")
    addresses = DESIGN.assign(design, fabric)
    number = addresses.node_number
    leaves = number[fabric.node_tier == Tier.LEAF]
    assert len(set(leaves.tolist())) == len(leaves)
    assert leaves.min() == FIRST_NUMBER
    for group in set(fabric.node_group[fabric.node_tier == Tier.SPINE].tolist()):
        pod = number[(fabric.node_tier == Tier.SPINE) & (fabric.node_group == group)]
        assert len(set(pod.tolist())) == 1
    cores = number[fabric.node_tier == Tier.CORE]
    assert len(cores) > 1
    assert len(set(cores.tolist())) == 1
    spines = set(number[fabric.node_tier == Tier.SPINE].tolist())
    assert len(spines) == len(set(fabric.node_group[fabric.node_tier == Tier.SPINE].tolist()))
    assert not spines & set(leaves.tolist()) & set(cores.tolist())
    assert (number[fabric.node_tier == Tier.HOST] == -1).all()


def test_a_plan_that_does_not_hold_the_blocks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LINKS", IPv4Network("10.128.0.0/28"))
    with pytest.raises(CapabilityError) as refused:
        DESIGN.assign(make_design(technology="roce"), make_fabric(technology="roce"))
    assert refused.value.code == "capability.too-many-addresses"
    assert "4 switches with endpoints * 8 addresses = 32" in refused.value.message


def test_a_plan_that_does_not_hold_the_switches_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LOOPBACKS", IPv4Network("10.0.0.0/30"))
    with pytest.raises(CapabilityError) as refused:
        DESIGN.assign(make_design(technology="roce"), make_fabric(technology="roce"))
    assert refused.value.code == "capability.too-many-addresses"


@pytest.mark.parametrize(("priority", "cnp"), [(p, c) for p in range(8) for c in (0, 1, 6) if p != c])
def test_every_dscp_has_one_class_and_only_the_lossless_one_pauses(priority: int, cnp: int) -> None:
    lossless = LosslessSection(priority=priority, dscp=5, cnp_priority=cnp, cnp_dscp=9)
    queues = make_queues(make_design(technology="roce", lossless=lossless).spec)
    dscps = sorted(dscp for item in queues.classes for dscp in item.dscps)
    assert dscps == list(range(64))
    assert len({item.key for item in queues.classes}) == len({item.queue for item in queues.classes}) == 3
    (lossless,) = [item for item in queues.classes if item.priority is not None]
    assert (lossless.dscps, lossless.priority, lossless.group) == ((5,), priority, priority)
    assert all(item.group != lossless.group for item in queues.classes if item is not lossless)
    (notify,) = [item for item in queues.classes if item.dscps == (9,)]
    assert (notify.key, notify.schedule) == (cnp, "strict")


def test_the_byte_says_dscp_and_ecn() -> None:
    assert traffic_class_byte(make_design(technology="roce").spec) == 106
    assert traffic_class_byte(make_design(technology="roce", lossless=LosslessSection(dscp=59)).spec) == 238


def test_hosts_and_switches_agree() -> None:
    made = render_design("roce", hosts=6, rails=2, lossless=LosslessSection(priority=4, dscp=30))
    switches = {item.device: item for item in made.intents if item.role == "switch"}
    for host in (item for item in made.intents if item.role == "host"):
        assert host.host is not None
        for port, nic in zip(host.ports, host.host.nics, strict=True):
            name, _, number = port.peer.partition("/")
            far = next(item for item in switches[name].ports if item.key == int(number))
            assert port.address is not None
            assert far.address is not None
            assert IPv4Interface(port.address).network == IPv4Interface(far.address).network
            assert nic.gateway == str(IPv4Interface(far.address).ip)
            assert port.pause_priorities == far.pause_priorities == (4,)
            assert (nic.traffic_class, host.host.traffic_class) == (122, 122)
            assert port.mtu is not None
            assert far.mtu is not None
            assert port.mtu < far.mtu
    for device, switch in switches.items():
        for port in switch.ports:
            if port.neighbour_number is not None:
                far = switches[port.peer.partition("/")[0]]
                assert far.forwarding is not None
                assert far.forwarding.exchange is not None
                assert far.forwarding.exchange.number == port.neighbour_number
                assert far.device != device


def test_a_switch_announces_what_its_hosts_have() -> None:
    made = render_design("roce", hosts=6, rails=2)
    for switch in (item for item in made.intents if item.role == "switch"):
        assert switch.forwarding is not None
        assert switch.forwarding.exchange is not None
        own, *blocks = switch.forwarding.exchange.announced
        assert own == switch.forwarding.exchange.router_address
        inside = [IPv4Interface(port.address).ip for port in switch.ports if port.address is not None]
        assert len(blocks) == (1 if inside else 0)
        assert all(address in IPv4Network(block) for block in blocks for address in inside)


def test_the_width_is_that_of_the_routes() -> None:
    made = render_design("roce", "fat-tree", hosts=16)
    leaf = made.intent("leaf-001").forwarding
    assert leaf is not None
    assert leaf.exchange is not None
    assert leaf.exchange.width == 4
    assert int(np.diff(made.routes.member_ptr).max()) == 4


@pytest.mark.parametrize(
    ("known", "length", "meant"),
    [
        ((5, 40, 300), 5, 5),
        ((5, 40, 300), 6, 40),
        ((5, 40, 300), 30, 40),
        ((5, 40, 300), 301, 301),
        ((), 30, 30),
    ],
)
def test_switches_take_lengths_that_they_have_headroom_for(known: tuple[int, ...], length: int, meant: int) -> None:
    design = make_design(technology="roce")
    leaf = design.leaf
    ports = (PortSet(rate_gbps=400, count=8, headroom_lengths_m=known), PortSet(rate_gbps=200, count=8))
    part = leaf.part.model_copy(update={"ports": ports})
    assert round_length(design, replace(leaf, part=part, rate_gbps=400.0), length) == (meant, bool(known))


@pytest.mark.parametrize(("kind", "said"), [("none", True), ("auto", False), ("evpn", False)])
def test_that_tenants_are_not_kept_apart_is_said(kind: str, said: bool) -> None:
    roce = RoceSection.model_validate({"tenancy": {"kind": kind}})
    notes = render_design("roce", tenants=(("red", "1-8"), ("blue", "9-16")), roce=roce).artifacts.notes
    assert any("tenants apart" in note for note in notes) == said


def test_a_switch_of_unknown_headroom_is_said_to_be_so() -> None:
    made = render_design("roce")
    assert any("pg_profile_lookup.ini" in note for note in made.artifacts.notes)
