from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.designs import render_design
from tests.fabrics import make_design
from weftline.errors import SpecError
from weftline.model.spec import SharedSpec, TenantSpec
from weftline.model.subnet import InfinibandSection, KeysSection, QosSection, ServiceClass
from weftline.technologies.infiniband.refusals import list_refusals

RED, BLUE = TenantSpec(name="red", hosts="1-2"), TenantSpec(name="blue", hosts="3-4")


def refuse(**options: Any) -> list[tuple[str, bool, str]]:
    """List code, weight and words of what stands against a design."""
    return [(one.code, one.is_error, one.message) for one in list_refusals(make_design(**options))]


def codes(**options: Any) -> list[str]:
    """List the codes alone."""
    return [code for code, _, _ in refuse(**options)]


def classes(*many: ServiceClass) -> InfinibandSection:
    """Declare classes of traffic."""
    return InfinibandSection(qos=QosSection(classes=many))


def test_nothing_stands_against_a_plain_design() -> None:
    assert codes() == []
    assert codes(tenants=(RED, BLUE)) == []


@pytest.mark.parametrize(
    ("number", "words"), [(0, "is no key"), (0x7FFF, "default partition"), (0xFFFF, "full membership"), (0x8001, "bit")]
)
def test_numbers_that_mean_something_else(number: int, words: str) -> None:
    ((code, is_error, message),) = refuse(tenants=(RED.model_copy(update={"partition": number}),))
    assert (code, is_error) == ("spec.partition-number", True)
    assert words in message


def test_numbers_that_run_out() -> None:
    found = codes(tenants=(RED, BLUE), infiniband=InfinibandSection(partition_first_key=0x7FFE))
    assert found == ["spec.partition-number"] * 2


def test_two_partitions_of_one_number() -> None:
    pair = tuple(one.model_copy(update={"partition": 7}) for one in (RED, BLUE))
    ((code, is_error, message),) = refuse(tenants=pair)
    assert (code, is_error) == ("spec.partition-clash", True)
    assert "tenant red and of tenant blue both have the number 0x0007" in message


@pytest.mark.parametrize("way", [{"enforcement": "off"}, {"enforcement": "out"}, {"default_partition": "full"}])
def test_walls_that_are_taken_away(way: dict[str, Any]) -> None:
    section = InfinibandSection(**way)
    assert codes(tenants=(RED, BLUE), infiniband=section) == ["spec.partitions-open"]
    assert codes(infiniband=section) == []


def test_both_memberships() -> None:
    both = (RED.model_copy(update={"membership": "both"}),)
    assert [(code, hard) for code, hard, _ in refuse(tenants=both)] == [("spec.both-memberships", True)]
    section = InfinibandSection(allow_both=True)
    found = refuse(tenants=both, infiniband=section)
    assert [(code, hard) for code, hard, _ in found] == [("spec.both-memberships", False)]
    assert "TEN-04" in found[0][2]


def test_tables_that_overflow() -> None:
    extras = (("disk", 1, "auto"),)
    shared = tuple(SharedSpec(name=f"s{n}", endpoints=("disk",)) for n in range(40))
    found = refuse(hosts=15, tenants=(RED,), extras=extras, shared=shared)
    assert [(code, hard) for code, hard, _ in found] == [("capability.partition-table", False)]
    assert "1 (default) + 1 (tenant) + 40 (shared services) = 42 keys" in found[0][2]
    design = make_design(hosts=15, tenants=(RED,), extras=extras, shared=shared)
    leaf = replace(design.leaf, part=design.leaf.part.model_copy(update={"partition_cap": 41}))
    nic = design.nic.model_copy(update={"partition_cap": 42})
    (problem,) = list_refusals(replace(design, leaf=leaf, nic=nic))
    assert problem.is_error
    assert "holds 41 (PartitionEnforcementCap)" in problem.message
    small = design.nic.model_copy(update={"partition_cap": 41})
    enough = replace(leaf, part=leaf.part.model_copy(update={"partition_cap": 42}))
    (problem,) = list_refusals(replace(design, leaf=enough, nic=small))
    assert "holds 41 (PartitionCap)" in problem.message


@pytest.mark.parametrize(
    ("many", "found"),
    [
        ((ServiceClass(name="a", sl=16, vl=0),), ["spec.service-level"]),
        ((ServiceClass(name="a", sl=0, vl=15),), ["spec.service-level"]),
        ((ServiceClass(name="a", sl=1, vl=0), ServiceClass(name="b", sl=1, vl=0)), ["spec.class-clash"]),
        ((ServiceClass(name="a", sl=1, vl=0), ServiceClass(name="b", sl=2, vl=0, weight=9)), ["spec.class-clash"]),
        ((ServiceClass(name="a", sl=1, vl=0, tenants=("green",)),), ["spec.unknown-tenant"]),
        ((ServiceClass(name="a", sl=1, vl=0, tenants=("red",)),), []),
    ],
)
def test_classes_that_cannot_be(many: tuple[ServiceClass, ...], found: list[str]) -> None:
    assert codes(tenants=(RED,), infiniband=classes(*many)) == found


def test_lanes_beyond_those_of_a_port() -> None:
    section = classes(ServiceClass(name="a", sl=1, vl=4))
    found = refuse(infiniband=section)
    assert [(code, hard) for code, hard, _ in found] == [("capability.lanes", False)]
    design = make_design(infiniband=section)
    nic = design.nic.model_copy(update={"data_lanes": 4})
    problems = list_refusals(replace(design, nic=nic))
    assert [(one.code, one.is_error) for one in problems] == [("capability.lanes", True), ("capability.lanes", False)]
    assert "use 5 lanes (vl 0 to 4), and ports of NIC generic-nic have 4 (VLCap)" in problems[0].message


@pytest.mark.parametrize(("lease", "sweep", "fits"), [(10, 10, False), (9, 10, False), (11, 10, True)])
def test_a_lease_is_longer_than_a_sweep(lease: int, sweep: int, fits: bool) -> None:
    keys = KeysSection(m_key_file="m", lease_s=lease)
    found = codes(infiniband=InfinibandSection(keys=keys, sweep_interval_s=sweep))
    assert found == ([] if fits else ["spec.lease-too-short"])
    assert codes(infiniband=InfinibandSection(keys=KeysSection(lease_s=lease), sweep_interval_s=sweep)) == []


def test_classes_become_levels() -> None:
    section = classes(
        ServiceClass(name="disk", sl=2, vl=2, weight=64, high=True, ports=("host-0004",)),
        ServiceClass(name="train", sl=1, vl=1, weight=16, tenants=("red",)),
    )
    made = render_design("infiniband", hosts=4, rails=1, tenants=(RED, BLUE), infiniband=section)
    options = made.text("opensm/subnet-1/opensm.conf")
    assert "qos_sl2vl 0,1,2,0,0,0,0,0,0,0,0,0,0,0,0,0\n" in options
    assert "qos_vlarb_high 0:0,1:0,2:64\n" in options
    assert "qos_vlarb_low 0:32,1:16,2:0\n" in options
    service = made.intent("subnet-1").service
    assert service is not None
    assert [(one.level, one.source, one.destination) for one in service.matches] == [
        ("disk", None, "ports-disk"), ("disk", "ports-disk", None), ("train", "tenant-red", "tenant-red"),
    ]  # fmt: skip
    host, other = (made.intent(name).host for name in ("host-0001", "host-0003"))
    assert host is not None
    assert other is not None
    assert (host.service_level, other.service_level) == (1, 0)


def test_a_class_for_a_node_of_nobody() -> None:
    section = classes(ServiceClass(name="disk", sl=2, vl=0, ports=("host-9999",)))
    with pytest.raises(SpecError, match="'host-9999' is no host") as caught:
        render_design("infiniband", hosts=4, rails=1, infiniband=section)
    assert caught.value.code == "spec.unknown-member"
