"""The proof of losslessness: every fault of every kind is found at its end, and what is not said is never proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.lint.good import (
    CLASSES,
    GROUP,
    GROUPS,
    IDENTITY,
    NIC,
    POOL,
    change,
    change_all,
    change_group,
    change_nic,
    change_queue,
    make_fabric,
    said,
)
from weftline.errors import Place
from weftline.model.lossless import LosslessClass, LosslessDemand, LosslessLink, LosslessSource, Need
from weftline.model.observed import ObservedDevice, ObservedSetting
from weftline.model.observed_port import ObservedPort, ObservedWatchdog
from weftline.model.observed_routing import ObservedTunnel
from weftline.model.proof import Certificate, Proof, Verdict
from weftline.prove.lossless import CLAIM, check_lossless, prove_lossless
from weftline.prove.lossless_way import judge_way

Fabric = tuple[ObservedDevice, ...]
LINKS = (
    LosslessLink("leaf-1", 1, "host-1", 1, 40.0),
    LosslessLink("leaf-2", 1, "host-2", 1, 40.0),
    LosslessLink("leaf-1", 2, "spine-1", 1, 40.0),
    LosslessLink("leaf-2", 2, "spine-1", 2, 40.0),
)
RDMA = LosslessClass("rdma", (26,))


def find_need(device: ObservedDevice, _port: ObservedPort, length_m: float | None) -> Need | None:
    """Ask for what the good fabric has, or a little less."""
    if length_m is None:
        return None
    return Need(100_000 if device.role == "switch" else 150_000, "as the test asks")


def find_no_need(_device: ObservedDevice, _port: ObservedPort, _length_m: float | None) -> Need | None:
    """Know nothing."""
    return None


def make_source(fabric: Fabric, **fields: Any) -> LosslessSource:
    """Ask the devices for one class over all links."""
    demand = LosslessDemand(LINKS, (RDMA,), 48, find_need, {})
    return LosslessSource({device.name: device for device in fabric}, replace(demand, **fields), "digest")


def prove(fabric: Fabric, **fields: Any) -> Proof:
    """Prove it."""
    return prove_lossless(make_source(fabric, **fields), required=True)


def test_a_good_fabric_is_lossless_and_its_certificate_holds() -> None:
    proof = prove(make_fabric())
    assert proof.verdict is Verdict.PROVED, proof.statement
    assert (proof.claim, proof.required, proof.of) == (CLAIM, True, "digest")
    assert "rdma (DSCP 26)" in proof.statement
    assert check_lossless(proof)


KNOWN: dict[str, tuple[str, Callable[[], Fabric]]] = {
    "receiver sorts it away": ("spine-1/e1", lambda: change("spine-1", 0, class_of_dscp=said({**CLASSES, 26: 1}))),
    "receiver drops a DSCP": ("spine-1/e1", lambda: change("spine-1", 0, class_of_dscp=said({48: 6}))),
    "receiver trusts VLANs": ("leaf-1/e1", lambda: change("leaf-1", 0, trust=said("pcp"))),
    "receiver asks no pause": ("leaf-1/e2", lambda: change("leaf-1", 1, pauses=said(()))),
    "group asks for another": ("leaf-1/e2", lambda: change("leaf-1", 1, group_of_priority=said({3: 4}))),
    "class in another group": ("leaf-1/e2", lambda: change("leaf-1", 1, group_of_class=said({**GROUPS, 3: 0}))),
    "sender obeys another": ("leaf-1/e2", lambda: change("leaf-1", 1, pauses=said((4,)), watched=said((4,)))),
    "pause stops another queue": ("leaf-1/e2", lambda: change("leaf-1", 1, queue_of_priority=said({**IDENTITY, 3: 5}))),
    "class leaves by another": ("leaf-1/e2", lambda: change("leaf-1", 1, queue_of_class=said({**IDENTITY, 3: 5}))),
    "headroom too small": ("leaf-1/e2", lambda: change_group("leaf-1", 1, xoff_bytes=said(90_000))),
    "headroom is none": ("leaf-1/e2", lambda: change_group("leaf-1", 1, xoff_bytes=None)),
    "NIC buffer too small": ("host-1/eth2", lambda: change_nic("host-1", buffers=said((0, 140_000, 0, 0, 0, 0, 0, 0)))),
    "NIC priority without one": ("host-1/eth2", lambda: change_nic("host-1", buffer_of_priority=said({3: 9}))),
    "NIC sends another DSCP": ("host-1/eth2", lambda: change_nic("host-1", traffic_class=said(2))),
    "library sends another": (
        "host-1",
        lambda: change("host-1", settings=(ObservedSetting("NCCL_IB_TC", said("0")),)),
    ),
    "NIC does not pause": ("host-1/eth2", lambda: change("host-1", 0, pauses=said(()))),
    "NIC pauses the link": ("host-1/eth2", lambda: change("host-1", 0, link_pause=said("both"))),
    "hosts differ in MTU": ("host-2", lambda: change("host-2", 0, mtu=said(1500))),
    "switch takes less": ("spine-1/e1", lambda: change("spine-1", 0, mtu=said(4000))),
    "asymmetric": ("leaf-1/e2", lambda: change("leaf-1", 1, is_asymmetric=said(True))),
    "one way": ("leaf-1/e2", lambda: change("leaf-1", 1, pause_ways=said("rx"))),
    "remarked": ("leaf-1/e2", lambda: change("leaf-1", 1, dscp_of_class=said({3: 24}))),
    "watchdog elsewhere": ("leaf-1/e2", lambda: change("leaf-1", 1, watched=said((4,)))),
    "watchdog nowhere": ("leaf-1/e2", lambda: change("leaf-1", 1, watched=None)),
    "notifications pause": ("leaf-1/e2", lambda: change("leaf-1", 1, class_of_dscp=said({**CLASSES, 48: 3}))),
    "notifications wait": ("leaf-1/e2", lambda: change_queue("leaf-1", 1, 6, schedule=said("weighted"))),
    "flooded": ("leaf-1", lambda: change("leaf-1", discards_incomplete=said(False))),
    "tunnel drops DSCP": ("leaf-1", lambda: change("leaf-1", tunnel=ObservedTunnel(POOL.where, dscp_out=said("pipe")))),
}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_each_fault_refutes_and_is_named_with_its_device(name: str) -> None:
    device, broken = KNOWN[name]
    proof = prove(broken())
    assert proof.verdict is Verdict.REFUTED, name
    assert proof.witness is not None
    assert any(fault.startswith(device) or device in fault for fault in proof.detail["faults"]), proof.detail["faults"]
    assert not check_lossless(proof)


OPEN: dict[str, Callable[[], Fabric]] = {
    "no map": lambda: change("leaf-1", 1, class_of_dscp=None),
    "no pauses": lambda: change("leaf-1", 1, pauses=None),
    "device computes": lambda: change_group("leaf-1", 1, is_computed=said(True)),
    "no group": lambda: change("leaf-1", 1, groups=()),
    "size without headroom unknown": lambda: change_group("leaf-1", 1, xoff_bytes=None, size_bytes=None),
    "no MTU": lambda: change("leaf-1", 1, mtu=None),
    "NIC without buffers": lambda: change_nic("host-1", buffers=None),
    "NIC group without size": lambda: change(
        "host-1", 0, nic=replace(NIC, buffers=None), groups=(replace(GROUP, key=1, size_bytes=None),)
    ),
    "NIC without map": lambda: change("host-1", 0, class_of_dscp=None),
    "host sends who knows what": lambda: change("host-1", 0, nic=replace(NIC, traffic_class=None)),
    "device without files": lambda: make_fabric()[1:],
}


@pytest.mark.parametrize("name", sorted(OPEN))
def test_what_files_do_not_say_is_unknown_and_never_proved(name: str) -> None:
    fabric = OPEN[name]()
    if name.startswith("host sends"):
        fabric = tuple(replace(d, settings=()) if d.name == "host-1" else d for d in fabric)
    proof = prove(fabric)
    assert proof.verdict is Verdict.UNKNOWN, proof.detail
    assert "Not decided" in proof.statement
    assert proof.certificate is None


def test_a_need_that_nobody_knows_a_class_and_a_link_that_are_none_are_unknown() -> None:
    assert prove(make_fabric(), find_need=find_no_need).verdict is Verdict.UNKNOWN
    assert prove(make_fabric(), classes=()).verdict is Verdict.UNKNOWN
    assert prove(make_fabric(), links=()).verdict is Verdict.UNKNOWN


def test_a_fault_outweighs_what_is_not_known() -> None:
    broken = change("leaf-1", 1, pauses=said((4,)), class_of_dscp=None)
    assert prove(broken).verdict is Verdict.REFUTED


def test_two_dscps_of_one_class_must_stay_together() -> None:
    both = (LosslessClass("rdma", (24, 26)),)
    assert prove(make_fabric(), classes=both).verdict is Verdict.REFUTED
    kept = change_all(class_of_dscp=said({**CLASSES, 24: 3}))
    kept = tuple(
        d
        if d.role == "switch"
        else replace(d, ports=tuple(replace(p, class_of_dscp=said({**CLASSES, 24: 3})) for p in d.ports))
        for d in kept
    )
    assert prove(kept, classes=both).verdict is Verdict.PROVED


def test_ports_of_a_switch_that_sort_differently_are_named() -> None:
    odd = {**CLASSES, 26: 4}
    fabric = change(
        "spine-1", 0, class_of_dscp=said(odd), pauses=said((4,)), watched=said((4,)), group_of_priority=said({4: 3}),
        group_of_class=said({**GROUPS, 4: 3}),
    )  # fmt: skip
    proof = prove(fabric)
    assert any("is sorted into class 4 on e1 and 3 on e2" in fault for fault in proof.detail["faults"])


def test_shared_headroom_says_for_how_many_groups_it_is_enough() -> None:
    fabric = change("leaf-1", pools=(replace(POOL, headroom_bytes=said(104_448)),))
    proof = prove(fabric)
    assert proof.verdict is Verdict.PROVED
    assert proof.bound_text == "1 groups that pause at once"
    assert "no more than 1 groups of one switch (leaf-1 first) pause at once" in proof.statement


def test_a_pool_larger_than_its_chip_is_refuted() -> None:
    assert prove(make_fabric(), buffers={"leaf-1": 70_000_000}).verdict is Verdict.PROVED
    proof = prove(make_fabric(), buffers={"leaf-1": 60_000_000})
    assert proof.verdict is Verdict.REFUTED
    assert "the chip 60,000,000 B" in proof.detail["faults"][0]


def test_marks_have_two_verdicts_with_their_arithmetic() -> None:
    marks = prove(make_fabric()).detail["marks"]
    assert {(mark["incast"], mark["worst"]) for mark in marks} == {("before", "before")}
    late = replace(make_fabric()[0].ports[1].queues[1].marks, min_bytes=said(50_000_000))  # type: ignore[type-var]
    marks = prove(change_queue("leaf-1", 1, 3, marks=late)).detail["marks"]
    assert ("after", "after") in {(mark["incast"], mark["worst"]) for mark in marks}
    assert all("60,000,000 B" in mark["how"] for mark in marks)


def test_frames_with_outer_headers_must_fit() -> None:
    hosts = make_fabric()[3:]
    fabric = (*change_all(mtu=said(4220))[:3], *hosts)
    assert prove(fabric).verdict is Verdict.PROVED
    tunnel = ObservedTunnel(POOL.where, dscp_out=said("copy"), dscp_in=said("preserve"))
    assert (
        prove(tuple(replace(d, tunnel=tunnel) if d.name == "leaf-1" else d for d in fabric)).verdict is Verdict.REFUTED
    )


def test_a_certificate_that_was_touched_does_not_hold() -> None:
    proof = prove(make_fabric())
    certificate = proof.certificate
    assert isinstance(certificate, Certificate)
    have = certificate.columns["have"].astype(np.int64)
    short = {**certificate.columns, "have": have - 100_000}
    assert not check_lossless(replace(proof, certificate=replace(certificate, columns=short)))
    assert not check_lossless(replace(proof, claim="reach"))
    assert not check_lossless(replace(proof, certificate=None))
    assert not check_lossless(replace(proof, verdict=Verdict.REFUTED))
    empty = {name: np.zeros(0, dtype=np.int64) for name in ("have", "need")}
    assert not check_lossless(replace(proof, certificate=replace(certificate, columns=empty)))


def test_ports_that_differ_in_places_alone_are_judged_once() -> None:
    asked: list[str] = []

    def count(device: ObservedDevice, port: ObservedPort, length_m: float | None) -> Need | None:
        asked.append(device.name)
        return find_need(device, port, length_m)

    fabric = tuple(
        replace(one, ports=tuple(replace(port, sorted_at=Place(one.name, None, None, port.name)) for port in one.ports))
        for one in make_fabric()
    )
    assert prove(fabric, find_need=count).verdict is Verdict.PROVED
    assert len(asked) < 2 * len(LINKS)


FAULTS = st.sampled_from(
    [
        {}, {"pauses": said((3, 4))}, {"pauses": None}, {"class_of_dscp": said({**CLASSES, 26: 1})},
        {"mtu": said(1500)},
        {"groups": (replace(GROUP, xoff_bytes=said(1)),)}, {"queue_of_priority": said({3: 2})}, {"trust": said("port")},
        {"watchdog": ObservedWatchdog(POOL.where)}, {"watched": said((3, 4))}, {"class_of_dscp": said(dict(CLASSES))},
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(FAULTS, min_size=6, max_size=6))
def test_ports_that_are_judged_together_come_to_what_they_come_to_alone(faults: list[dict[str, Any]]) -> None:
    """The slow twin judges each way of each link by itself, without asking whether one like it was judged before."""
    draws = iter(faults)
    fabric = tuple(
        replace(d, ports=tuple(replace(p, **next(draws)) for p in d.ports)) if d.role == "switch" else d
        for d in make_fabric()
    )
    devices = {device.name: device for device in fabric}
    known = unknown = 0
    for link in LINKS:
        a, b = (
            (devices[name], next(p for p in devices[name].ports if p.number is not None and p.number.value == number))
            for name, number in ((link.a_device, link.a_number), (link.b_device, link.b_number))
        )
        for sender, receiver in ((a, b), (b, a)):
            flaws = judge_way(sender, receiver, RDMA, find_need(receiver[0], receiver[1], 40.0)).flaws
            known += sum(flaw.is_known for flaw in flaws)
            unknown += sum(not flaw.is_known for flaw in flaws)
    proof = prove(fabric)
    if known:
        assert proof.verdict is Verdict.REFUTED
    elif unknown:
        assert proof.verdict is not Verdict.PROVED
    else:
        assert proof.verdict is not Verdict.UNKNOWN
