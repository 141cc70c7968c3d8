from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests import tenant_files as make
from weftline.errors import Problem
from weftline.kernels.column import digest_parts
from weftline.model.isolation import MANAGEMENT, NOBODY, Sharing
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedFilter, ObservedMirror, ObservedVrf
from weftline.model.proof import Certificate, Proof, Verdict
from weftline.model.separation import SeparationFiles
from weftline.prove.separate import check_separation, prove_separation

Change = Callable[[ObservedDevice], ObservedDevice]
BOTH = ("64512:10001", "64512:10002")


def prove(files: SeparationFiles) -> Proof:
    return prove_separation(files, required=True)


def judge(change: Change, device: str = "leaf-1") -> Proof:
    return prove(make.change(make.make_files(), device, change))


def kinds(proof: Proof) -> set[str]:
    return set(proof.detail["kinds"])


def walk(proof: Proof) -> list[str]:
    assert proof.witness is not None
    return [step["says"] for step in proof.witness.detail["path"]]


def test_tenants_with_a_vrf_each_are_kept_apart() -> None:
    proof = prove(make.make_files())
    assert proof.verdict is Verdict.PROVED, proof.statement
    assert check_separation(proof)
    assert proof.detail["checked_sources"] == 4


def test_a_witness_says_each_reason_with_its_place() -> None:
    proof = judge(lambda leaf: make.change_router(leaf, "Vrfred", imports=BOTH))
    assert proof.verdict is Verdict.REFUTED
    assert walk(proof) == [
        "host-red-1/nic1 of red is cabled to leaf-1/1",
        "leaf-1/Ethernet0 is in VRF Vrfred",
        "VRF Vrfred of leaf-1 imports 64512:10002",
        "VRF Vrfblue of leaf-1 exports 64512:10002",
        "leaf-1/Ethernet1 is in VRF Vrfblue",
        "host-blue-1/nic1 of blue is cabled to leaf-1/2",
    ]
    assert proof.witness is not None
    assert proof.witness.detail["path"][2]["file"] == "leaf-1.conf"
    assert proof.witness.detail["path"][2]["path"] == "router Vrfred imports"


def drop_export_of_blue(leaf: ObservedDevice) -> ObservedDevice:
    return make.change_router(leaf, "Vrfblue", exports=("64512:77",), imports=("64512:77",))


FORWARDING: dict[str, tuple[str, Change]] = {
    "imports the route target of another": (
        "path", lambda leaf: make.change_router(leaf, "Vrfred", imports=BOTH)),
    "imports a route target that only another leaf exports": (
        "path", lambda leaf: make.change_router(drop_export_of_blue(leaf), "Vrfred", imports=BOTH)),
    "exports under the route target of another": (
        "path", lambda leaf: make.change_router(leaf, "Vrfred", exports=("64512:10002",))),
    "imports any route target of a VNI": (
        "path", lambda leaf: make.change_router(leaf, "Vrfred", imports=("*:10002",))),
    "imports any route target of a VNI that only another leaf exports": (
        "path", lambda leaf: make.change_router(drop_export_of_blue(leaf), "Vrfred", imports=("*:10002",))),
    "writes the route target another way": (
        "path", lambda leaf: make.change_router(leaf, "Vrfred", imports=("target:0.64512:10002",))),
    "takes over the VRF of another": (
        "path", lambda leaf: make.change_router(leaf, "Vrfred", imported_vrfs=("Vrfblue",))),
    "takes over the default VRF": (
        "underlay", lambda leaf: make.change_router(leaf, "Vrfred", imported_vrfs=("default",))),
    "static route into the VRF of another": (
        "path", lambda leaf: make.add_static(leaf, "Vrfred", "10.101.1.0/31 via 10.101.1.1 vrf Vrfblue")),
    "static route that covers a gateway of another": (
        "path", lambda leaf: make.add_static(leaf, "Vrfred", "10.101.0.0/16 via Ethernet1 vrf Vrfblue")),
    "static route to the end of a tunnel": (
        "underlay", lambda leaf: make.add_static(leaf, "Vrfred", "10.0.0.2/32 via 10.0.1.1 vrf default")),
    "port in the VRF of another": (
        "path", lambda leaf: make.change_port(leaf, "Ethernet0", vrf=make.say("leaf-1", "vrf", "Vrfblue"))),
    "port in the default VRF": (
        "underlay", lambda leaf: make.change_port(leaf, "Ethernet0", vrf=None)),
    "static default route": (
        "outside", lambda leaf: make.add_static(leaf, "Vrfred", "0.0.0.0/0 via 10.100.1.1")),
    "default route by another VRF": (
        "outside", lambda leaf: make.add_static(leaf, "Vrfred", "0.0.0.0/0 via 10.0.1.1 vrf default")),
    "originated default route": (
        "outside", lambda leaf: make.change_router(
            leaf, "Vrfred", originates_default=make.say("leaf-1", "default", value=True))),
    "announced default route": (
        "outside", lambda leaf: make.change_router(leaf, "Vrfred", networks=("0.0.0.0/0",))),
    "VRF with the VNI of another": (
        "network", lambda leaf: make.change_vrf(leaf, "Vrfred", vni=make.say("leaf-1", "vni", 10002))),
    "port in a VLAN of another": (
        "segment", lambda leaf: share_vlan(leaf, "Ethernet0")),
    "end of the tunnel inside a VRF": (
        "underlay", lambda leaf: make.change_port(leaf, "Loopback0", vrf=make.say("leaf-1", "vrf", "Vrfred"))),
}  # fmt: skip


def share_vlan(leaf: ObservedDevice, *names: str) -> ObservedDevice:
    """Put a port into the VLAN that carries blue's VRF, and blue's port as well."""
    for name in (*names, "Ethernet1"):
        leaf = make.change_port(leaf, name, vlans=make.say_all("leaf-1", "VLAN_MEMBER", 1002))
    return leaf


@pytest.mark.parametrize("fault", FORWARDING)
def test_each_way_to_another_is_found(fault: str) -> None:
    kind, change = FORWARDING[fault]
    proof = judge(change)
    assert proof.verdict is Verdict.REFUTED
    assert kind in kinds(proof)
    assert not check_separation(proof)
    assert any(step["file"] == "leaf-1.conf" for meeting in proof.detail["meetings"] for step in meeting["path"])


def test_a_default_route_of_another_leaf_counts_for_all_who_import_it() -> None:
    proof = judge(lambda leaf: make.change_router(leaf, "Vrfred", networks=("0.0.0.0/0",)), "leaf-2")
    files = make.make_files()
    lone = replace(files, ends=tuple(end for end in files.ends if end.name != "host-red-2/nic1"))
    alone = make.change(lone, "leaf-2", lambda leaf: make.change_router(leaf, "Vrfred", networks=("0.0.0.0/0",)))
    assert "outside" in kinds(proof)
    assert prove(alone).verdict is Verdict.REFUTED
    assert walk(prove(alone))[-1] == "VRF Vrfred of leaf-2 announces 0.0.0.0/0"


def test_a_default_route_that_is_declared_is_none_of_our_business() -> None:
    files = make.change(
        make.make_files(), "leaf-1", lambda leaf: make.add_static(leaf, "Vrfred", "0.0.0.0/0 via 10.100.1.1")
    )
    assert prove(replace(files, may_leave=frozenset({"red"}))).verdict is Verdict.PROVED


def test_a_route_to_nowhere_leads_nowhere() -> None:
    assert judge(lambda leaf: make.add_static(leaf, "Vrfred", "0.0.0.0/0 via blackhole")).verdict is Verdict.PROVED


def auto(number: int, *, ignores: bool | None) -> SeparationFiles:
    """Let red derive its targets, and blue export what some number derives from red's VNI."""
    files = make.make_files()
    for device in ("leaf-1", "leaf-2"):
        files = make.change(files, device, lambda leaf: make.change_router(
            leaf, "Vrfred", imports=("auto",), exports=("auto",), ignores_number=ignores))  # fmt: skip
    return make.change(files, "leaf-2", lambda leaf: make.change_router(leaf, "Vrfblue", exports=(f"{number}:10001",)))


def test_derived_targets_are_held_against_written_ones() -> None:
    """leaf-1 derives 65001:10001, so an export of just that by another tenant is taken."""
    assert prove(auto(65001, ignores=False)).verdict is Verdict.REFUTED
    assert prove(auto(64999, ignores=False)).verdict is Verdict.PROVED


def test_an_import_may_take_the_vni_of_any_number() -> None:
    assert prove(auto(64999, ignores=True)).verdict is Verdict.REFUTED
    assert prove(auto(64999, ignores=None)).verdict is Verdict.UNKNOWN


def test_a_vrf_with_a_vni_and_no_targets_may_derive_them() -> None:
    """FRR does so; others exchange nothing then."""

    def bare(ignores: bool | None) -> SeparationFiles:
        def change(leaf: ObservedDevice) -> ObservedDevice:
            return make.change_router(leaf, "Vrfred", imports=(), exports=(), ignores_number=ignores)

        give = ("65001:10001",)
        files = make.change(make.make_files(), "leaf-1", change)
        return make.change(files, "leaf-2", lambda leaf: make.change_router(leaf, "Vrfblue", exports=give))

    assert prove(bare(ignores=True)).verdict is Verdict.REFUTED
    assert prove(bare(ignores=None)).verdict is Verdict.UNKNOWN
    assert prove(bare(ignores=False)).verdict is Verdict.UNKNOWN


def test_a_vrf_derives_with_the_number_of_the_switch_where_it_has_none() -> None:
    def hide(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(leaf, "Vrfred", number=None)

    assert prove(make.change(auto(65001, ignores=False), "leaf-1", hide)).verdict is Verdict.REFUTED
    lost = make.change(auto(65001, ignores=False), "leaf-1", lambda leaf: make.change_router(
        hide(leaf), "default", number=None))  # fmt: skip
    assert "a number that no file says" in prove(lost).statement


def test_hosts_of_a_stretched_vlan_are_announced_one_by_one() -> None:
    """Nothing is redistributed, and yet EVPN tells the addresses of hosts in VLANs with a VNI."""

    def stretch(leaf: ObservedDevice) -> ObservedDevice:
        leaf = make.change_router(leaf, "Vrfblue", redistributed=())
        gateway = make.say_all(leaf.name, "Vlan1002", f"10.150.{leaf.name[-1]}.1/24")
        return make.change_port(leaf, "Vlan1002", addresses=gateway)

    def quiet(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(leaf, "Vrfblue", redistributed=())

    for how, verdict in ((stretch, Verdict.REFUTED), (quiet, Verdict.UNKNOWN)):
        files = make.make_files()
        for device in ("leaf-1", "leaf-2"):
            files = make.change(files, device, how)
        files = make.change(files, "leaf-1", lambda leaf: make.change_router(leaf, "Vrfred", imports=BOTH))
        assert prove(files).verdict is verdict


def test_filters_on_every_evpn_session_leave_it_open() -> None:
    def sift(leaf: ObservedDevice, **filters: object) -> ObservedDevice:
        leaf = make.change_router(drop_export_of_blue(leaf), "Vrfred", imports=BOTH)
        spoken = make.make_neighbour("leaf-1", "Uplink0", "ipv4", "evpn", **filters)
        return make.change_router(leaf, "default", neighbours=(spoken,))

    said = make.say("leaf-1", "route-map", "SOME")
    assert judge(sift).verdict is Verdict.REFUTED
    assert judge(lambda leaf: sift(leaf, filter_in=said)).verdict is Verdict.UNKNOWN
    assert judge(lambda leaf: sift(leaf, filter_out=said)).verdict is Verdict.UNKNOWN


def test_prefixes_may_lead_to_owners_whose_subnets_no_file_says() -> None:
    def hide(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_port(leaf, "Ethernet1", addresses=(), checks_source=make.say("leaf-1", "urpf", "strict"))

    files = make.make_files()
    for device in ("leaf-1", "leaf-2"):
        files = make.change(files, device, hide)
    assert prove(files).verdict is Verdict.PROVED
    leading = make.change(files, "leaf-1", lambda leaf: make.add_static(
        leaf, "Vrfred", "192.0.2.0/24 via Ethernet1 vrf Vrfblue"))  # fmt: skip
    assert prove(leading).verdict is Verdict.UNKNOWN


def test_a_static_route_that_is_not_announced_is_not_certainly_taken_over() -> None:
    """Red takes over a shared VRF that has a default route: only routes that its routing process has go along."""
    files = make.make_files(2, ("red", "store"), (Sharing("store"),))
    files = replace(files, may_leave=frozenset({"store"}))

    def take(leaf: ObservedDevice, *sources: str) -> ObservedDevice:
        leaf = make.add_static(leaf, "Vrfstore", "0.0.0.0/0 via 10.101.1.1")
        leaf = make.change_router(leaf, "Vrfstore", redistributed=sources)
        return make.change_router(leaf, "Vrfred", imported_vrfs=("Vrfstore",))

    quiet = prove(make.change(files, "leaf-1", lambda leaf: take(leaf, "connected")))
    loud = prove(make.change(files, "leaf-1", lambda leaf: take(leaf, "connected", "static")))
    assert quiet.verdict is Verdict.UNKNOWN
    assert loud.verdict is Verdict.REFUTED


def test_numbers_of_four_bytes_lose_their_upper_half_when_targets_are_derived() -> None:
    def widen(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(leaf, "Vrfred", number=make.say("leaf-1", "as", 4_200_000_001))

    low = 4_200_000_001 & 0xFFFF
    assert prove(make.change(auto(low, ignores=False), "leaf-1", widen)).verdict is Verdict.REFUTED
    assert prove(make.change(auto(low + 1, ignores=False), "leaf-1", widen)).verdict is Verdict.PROVED


def test_targets_do_nothing_between_switches_that_do_not_speak_evpn() -> None:
    def silence(leaf: ObservedDevice) -> ObservedDevice:
        spoken = (make.make_neighbour("leaf-1", "Uplink0", "ipv4"),)
        return make.change_router(leaf, "default", neighbours=spoken)

    def take(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(drop_export_of_blue(leaf), "Vrfred", imports=BOTH)

    def give(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(drop_export_of_blue(leaf), "Vrfred", exports=("64512:10002",))

    for change in (take, give):
        assert judge(change).verdict is Verdict.REFUTED
        assert judge(lambda leaf, change=change: silence(change(leaf))).verdict is Verdict.PROVED


def test_a_route_map_on_what_is_announced_leaves_it_open() -> None:
    def sift(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(leaf, "Vrfblue", redistributed=("connected via SOME",))

    files = make.change(make.make_files(), "leaf-1", sift)
    files = make.change(files, "leaf-2", sift)
    files = make.change(files, "leaf-1", lambda leaf: make.change_router(leaf, "Vrfred", imports=BOTH))
    assert prove(files).verdict is Verdict.UNKNOWN


def test_sessions_join_the_tables_at_both_ends_of_a_cable() -> None:
    """VRF-lite: the spine has red's port in the VRF of blue."""
    files = with_tenant_links("Vrfred", "Vrfblue")
    proof = prove(files)
    assert proof.verdict is Verdict.REFUTED
    assert "VRF Vrfred of leaf-1 exchanges routes with VRF Vrfblue of spine-1" in walk(proof)
    assert prove(with_tenant_links("Vrfred", "Vrfred")).verdict is Verdict.PROVED


def test_a_cable_between_vrfs_without_a_session_leaves_it_open() -> None:
    files = with_tenant_links("Vrfred", "Vrfblue")

    def hush(device: ObservedDevice) -> ObservedDevice:
        return make.change_router(device, "Vrfblue", neighbours=()) if device.name == "spine-1" else device

    assert prove(make.change(files, "spine-1", hush)).verdict is Verdict.UNKNOWN


def test_a_session_with_a_filter_leaves_it_open() -> None:
    said = make.say("spine-1", "route-map", "SOME")

    def sift(spine: ObservedDevice) -> ObservedDevice:
        spoken = tuple(
            replace(one, filter_in=said) if one.name == "Tenant1-0" else one
            for router in spine.routers
            if router.vrf == "Vrfblue"
            for one in router.neighbours
        )
        return make.change_router(spine, "Vrfblue", neighbours=spoken)

    assert prove(make.change(with_tenant_links("Vrfred", "Vrfblue"), "spine-1", sift)).verdict is Verdict.UNKNOWN


def test_sessions_by_address_join_the_tables_that_have_it() -> None:
    """Two tenants use one address; the neighbour is the one at the other end of the cable."""
    files = make.make_files()

    def speak(device: ObservedDevice, port: str, vrf: str, own: str, far: str) -> ObservedDevice:
        made = make.make_port(device.name, port, vrf, own)
        return add_speaker(replace(device, ports=(*device.ports, made)), vrf, far)

    for index, vrf in enumerate(("Vrfred", "Vrfblue")):
        peer = f"Peer{index}"
        files = make.change(files, "leaf-1", lambda leaf, vrf=vrf, peer=peer: speak(
            leaf, peer, vrf, "192.168.0.0/31", "192.168.0.1"))  # fmt: skip
        files = make.change(files, "spine-1", lambda spine, vrf=vrf, peer=peer: speak(
            spine, peer, vrf, "192.168.0.1/31", "192.168.0.0"))  # fmt: skip
        link = replace(files.links[0], name=f"leaf-1/{peer}~spine-1/{peer}", a=("leaf-1", peer), b=("spine-1", peer))
        files = replace(files, links=(*files.links, link))
    assert prove(files).verdict is Verdict.PROVED
    crossed = make.change(files, "spine-1", lambda spine: make.change_port(
        spine, "Peer0", vrf=make.say("spine-1", "vrf", "Vrfblue")))  # fmt: skip
    assert prove(crossed).verdict is Verdict.REFUTED


def with_tenant_links(near: str, far: str) -> SeparationFiles:
    """Let leaf-1 and leaf-2 reach the spine by a port of their own for red and for blue."""
    files = make.make_files()
    vrfs = {"Vrfred": (near, far), "Vrfblue": ("Vrfblue", "Vrfblue")}
    for number in (1, 2):
        name = f"leaf-{number}"
        for index, tenant in enumerate(("Vrfred", "Vrfblue")):
            mine, other = vrfs[tenant] if number == 1 else (tenant, tenant)
            port, peer = f"Tenant{index}", f"Tenant{number}-{index}"
            files = make.change(files, name, lambda leaf, port=port, mine=mine, name=name: add_speaker(
                replace(leaf, ports=(*leaf.ports, make.make_port(name, port, mine))), mine, port))  # fmt: skip
            files = make.change(files, "spine-1", lambda spine, peer=peer, other=other: add_speaker(
                replace(spine, ports=(*spine.ports, make.make_port("spine-1", peer, other))), other, peer))  # fmt: skip
            link = replace(files.links[0], name=f"{name}/{port}~spine-1/{peer}", a=(name, port), b=("spine-1", peer))
            files = replace(files, links=(*files.links, link))
    return files


def add_speaker(device: ObservedDevice, vrf: str, port: str) -> ObservedDevice:
    """Let a VRF speak with whoever is at a port or an address."""
    known = next((one for one in device.routers if one.vrf == vrf), None)
    spoken = make.make_neighbour(device.name, port, "ipv4")
    if known is None:
        made = make.make_router(device.name, vrf, 65100, neighbours=(spoken,), redistributed=("connected",))
        return replace(device, routers=(*device.routers, made))
    return make.change_router(device, vrf, neighbours=(*known.neighbours, spoken))


OPEN: dict[str, Change] = {
    "no filter": lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=()),
    "a filter that lets everything in": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit")),
    "a filter for the addresses of another": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.101.1.0/31"), make.rule("leaf-1", 2, "deny")),
    "a filter for the addresses of both": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.100.0.0/15"), make.rule("leaf-1", 2, "deny")),
    "a filter that lets a protocol in": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", protocol="udp"), make.rule("leaf-1", 2, "deny")),
    "a filter that drops one protocol and permits the rest": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "deny", protocol="tcp"),
        otherwise=make.say("leaf-1", "rest", "permit")),
    "a loose check of the way back": lambda leaf: make.change_port(
        leaf, "Ethernet0", filters_in=(), checks_source=make.say("leaf-1", "urpf", "loose")),
}  # fmt: skip
REST = make.say("leaf-1", "rest", "permit")
OWN = make.rule("leaf-1", 1, "permit", source="10.100.1.0/31")
for _field, _value in (("target_port", "80"), ("target", "10.0.0.1/32"), ("source", "10.101.1.0/31")):
    OPEN[f"a filter that drops by {_field} alone"] = lambda leaf, f=_field, v=_value: make.change_rules(
        leaf, "in-red", OWN, make.rule("leaf-1", 2, "deny", **{f: v}), otherwise=REST)  # fmt: skip
OPEN["rules that stand in another order than they act"] = lambda leaf: make.change_rules(
    leaf, "in-red", make.rule("leaf-1", 2, "deny"), make.rule("leaf-1", 1, "permit"))  # fmt: skip
OPEN["a filter on the way out"] = lambda leaf: replace(
    make.change_port(leaf, "Ethernet0", filters_in=()),
    filters=tuple(
        replace(one, stage=make.say("leaf-1", "stage", "out"), ports=make.say_all("leaf-1", "ports", "Ethernet0"))
        for one in leaf.filters
    ),
)
CHECKED: dict[str, Change] = {
    "a strict check of the way back": lambda leaf: make.change_port(
        make.change_rules(leaf, "in-red", make.rule("leaf-1", 1, "permit")),
        "Ethernet0", checks_source=make.say("leaf-1", "urpf", "strict")),
    "all addresses of the tenant": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.100.0.0/16"), make.rule("leaf-1", 2, "deny")),
    "a filter whose rest is dropped": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.100.1.0/31"),
        otherwise=make.say("leaf-1", "rest", "deny")),
    "a filter bound from its own side": lambda leaf: replace(
        make.change_port(leaf, "Ethernet0", filters_in=()),
        filters=tuple(
            replace(one, ports=make.say_all("leaf-1", "ACL_TABLE", "Ethernet0")) if one.name == "in-red" else one
            for one in leaf.filters
        ),
    ),
}  # fmt: skip
NOT_KNOWN: dict[str, Change] = {
    "a filter that does not say what becomes of the rest": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.100.1.0/31")),
    "a match that nobody understands": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", unread=("ETHER_TYPE",)), make.rule("leaf-1", 2, "deny")),
    "a drop of which something is not understood": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.100.1.0/31"),
        make.rule("leaf-1", 2, "deny", unread=("ETHER_TYPE",))),
    "an action that nobody understands": lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "other"), make.rule("leaf-1", 2, "deny")),
    "a filter that is not in the files": lambda leaf: make.change_port(
        leaf, "Ethernet0", filters_in=make.say_all("leaf-1", "acl", "gone")),
}  # fmt: skip


@pytest.mark.parametrize("fault", OPEN)
def test_sources_of_others_that_are_let_in_are_found(fault: str) -> None:
    proof = judge(OPEN[fault])
    assert proof.verdict is Verdict.REFUTED
    assert kinds(proof) - {"tunnel"} == {"source"}
    assert proof.detail["open_sources"] == 1


@pytest.mark.parametrize("case", CHECKED)
def test_sources_that_are_checked_are_not_complained_of(case: str) -> None:
    proof = judge(CHECKED[case])
    assert proof.verdict is Verdict.PROVED, proof.statement


@pytest.mark.parametrize("case", NOT_KNOWN)
def test_filters_that_are_not_understood_leave_it_open(case: str) -> None:
    proof = judge(NOT_KNOWN[case])
    assert proof.verdict is Verdict.UNKNOWN
    assert "sources of host-red-1/nic1" in proof.statement


def mirror(*ports: str, kind: str = "ERSPAN") -> Change:
    def add(device: ObservedDevice) -> ObservedDevice:
        name = device.name
        session = ObservedMirror(
            "spy", make.place(name, "MIRROR_SESSION|spy"), make.say(name, "kind", kind),
            make.say(name, "dst", "192.0.2.1"), make.say_all(name, "src", *ports),
        )  # fmt: skip
        return replace(device, mirrors=(session,))

    return add


@pytest.mark.parametrize(
    ("device", "ports", "kind"),
    [
        ("leaf-1", ("Ethernet0",), "SPAN"),
        ("leaf-1", ("Uplink0",), "ERSPAN"),
        ("spine-1", ("Port1",), "ERSPAN"),
        ("leaf-1", ("Vlan1001",), "SPAN"),
        ("leaf-1", (), "sFlow"),
    ],
)
def test_sessions_that_observe_a_tenant_are_named(device: str, ports: tuple[str, ...], kind: str) -> None:
    files = make.make_files()
    if ports == ("Vlan1001",):
        files = make.change(files, "leaf-1", lambda leaf: make.change_port(
            leaf, "Ethernet0", vrf=None, addresses=(), vlans=make.say_all("leaf-1", "VLAN_MEMBER", 1001)))  # fmt: skip
    proof = prove(make.change(files, device, mirror(*ports, kind=kind)))
    assert proof.verdict is Verdict.REFUTED
    assert "mirror" in kinds(proof)
    assert any("session spy" in meeting["summary"] for meeting in proof.detail["meetings"])


def test_sessions_that_do_not_say_what_they_observe_leave_it_open() -> None:
    assert judge(mirror()).verdict is Verdict.UNKNOWN
    assert judge(mirror("Ethernet99")).verdict is Verdict.UNKNOWN


def test_a_session_at_a_port_of_nobody_is_none_of_our_business() -> None:
    def spare(leaf: ObservedDevice) -> ObservedDevice:
        return mirror("Spare")(replace(leaf, ports=(*leaf.ports, make.make_port("leaf-1", "Spare"))))

    assert judge(spare).verdict is Verdict.PROVED


def test_a_rule_that_copies_packets_is_a_session() -> None:
    proof = judge(lambda leaf: make.change_rules(
        leaf, "in-red", make.rule("leaf-1", 1, "mirror"), make.rule("leaf-1", 1, "permit", source="10.100.1.0/31"),
        make.rule("leaf-1", 2, "deny")))  # fmt: skip
    assert kinds(proof) == {"mirror"}


@pytest.mark.parametrize("topic", ["ports", "tenancy", "routing", "filters", "mirrors"])
def test_files_that_cannot_say_something_prove_nothing(topic: str) -> None:
    proof = judge(lambda leaf: replace(leaf, covers=leaf.covers - {topic}))
    assert proof.verdict is Verdict.UNKNOWN
    assert f"leaf-1 do not say anything of {topic}" in proof.statement


UNREAD: dict[str, Change] = {
    "tables that nobody reads": lambda leaf: replace(leaf, unread=(("VNET", 2),)),
    "a broken file": lambda leaf: replace(
        leaf, problems=(Problem("artifact.x", "a reference dangles", severity="warning"),)),
    "a leak in words": lambda leaf: make.change_router(leaf, "Vrfred", leaks=("subscribe POLICY",)),
    "a leak that names a VRF": lambda leaf: make.change_router(leaf, "Vrfred", leaks=("source-vrf Vrfblue policy P",)),
    "a static route that is not understood": lambda leaf: make.add_static(leaf, "Vrfred", "10.0.0.0/8 towards heaven"),
    "a route target that is none": lambda leaf: make.change_router(leaf, "Vrfred", imports=("many",)),
    "routes from elsewhere": lambda leaf: make.change_router(leaf, "Vrfred", redistributed=("connected", "ospf")),
    "a neighbour that nobody knows": lambda leaf: make.change_router(
        leaf, "Vrfred", neighbours=(make.make_neighbour("leaf-1", "192.0.2.7", "ipv4"),)),
    "a host that announces": lambda leaf: make.change_router(
        leaf, "Vrfred", neighbours=(make.make_neighbour("leaf-1", "10.100.1.1", "ipv4"),)),
    "a port in no VRF and no VLAN": lambda leaf: make.change_port(
        leaf, "Ethernet0", vrf=None, addresses=()),
    "no such port": lambda leaf: replace(leaf, ports=tuple(one for one in leaf.ports if one.name != "Ethernet0")),
    "no such uplink": lambda leaf: replace(leaf, ports=tuple(one for one in leaf.ports if one.name != "Uplink0")),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREAD)
def test_what_is_not_understood_proves_nothing(case: str) -> None:
    proof = judge(UNREAD[case])
    assert proof.verdict is Verdict.UNKNOWN, proof.witness
    assert proof.certificate is None


def test_a_switch_without_files_proves_nothing() -> None:
    files = make.make_files()
    without = replace(files, devices=tuple(one for one in files.devices if one.name != "spine-1"))
    assert prove(without).verdict is Verdict.UNKNOWN
    assert prove(replace(files, devices=())).verdict is Verdict.UNKNOWN
    assert prove(replace(files, ends=())).verdict is Verdict.UNKNOWN
    assert prove(replace(files, doubts=("a file is missing",))).verdict is Verdict.UNKNOWN


def test_vlans_that_a_network_number_joins_are_one() -> None:
    """On leaf-1 red is in VLAN 7, on leaf-2 blue in VLAN 8, and both are VNI 900."""
    files = make.make_files()
    for device, port, vlan in (("leaf-1", "Ethernet0", 7), ("leaf-2", "Ethernet1", 8)):

        def stretch(leaf: ObservedDevice, port: str = port, vlan: int = vlan) -> ObservedDevice:
            leaf = make.change_port(leaf, port, vrf=None, addresses=(), vlans=make.say_all(leaf.name, "VLAN", vlan))
            assert leaf.tunnel is not None
            vnis = (*leaf.tunnel.vni_of_vlan, (vlan, make.say(leaf.name, "VXLAN_TUNNEL_MAP", 900)))
            return replace(leaf, tunnel=replace(leaf.tunnel, vni_of_vlan=vnis))

        files = make.change(files, device, stretch)
    proof = prove(files)
    assert {"segment", "network"} <= kinds(proof)
    assert "leaf-1 maps VLAN 7 to VNI 900" in walk(proof)
    assert "leaf-2 maps VLAN 8 to VNI 900" in walk(proof)


def test_two_vrfs_that_route_one_vlan_are_not_apart() -> None:
    """No host is in the VLAN: it only joins red's VRF to a network number, which is blue's."""

    def remap(leaf: ObservedDevice) -> ObservedDevice:
        assert leaf.tunnel is not None
        vnis = (*leaf.tunnel.vni_of_vlan, (1001, make.say("leaf-1", "map", 10002)))
        return replace(leaf, tunnel=replace(leaf.tunnel, vni_of_vlan=vnis))

    proof = judge(remap)
    assert {"segment", "network"} <= kinds(proof)
    assert "leaf-1/Vlan1001 is in VRF Vrfred" in walk(proof)
    assert "leaf-1 maps VLAN 1001 to VNI 10002" in walk(proof)


def cross_vlans(mine: int, other: int) -> SeparationFiles:
    """Put red of leaf-1 and blue of leaf-2 into VLANs that the cables carry."""
    files = make.make_files()
    for device, port, vlan in (("leaf-1", "Ethernet0", mine), ("leaf-2", "Ethernet1", other)):

        def trunk(leaf: ObservedDevice, port: str = port, vlan: int = vlan) -> ObservedDevice:
            for name in (port, "Uplink0"):
                leaf = make.change_port(leaf, name, vlans=make.say_all(leaf.name, "VLAN", vlan))
            strict = make.say(leaf.name, "urpf", "strict")
            return make.change_port(leaf, port, vrf=None, addresses=(), checks_source=strict)

        files = make.change(files, device, trunk)
    return make.change(files, "spine-1", lambda spine: make.change_port(
        make.change_port(spine, "Port1", vlans=make.say_all("spine-1", "VLAN", 7)),
        "Port2", vlans=make.say_all("spine-1", "VLAN", 7)))  # fmt: skip


def test_vlans_that_cables_carry_are_one() -> None:
    assert "segment" in kinds(prove(cross_vlans(7, 7)))


def test_cables_that_carry_another_vlan_at_each_end_leave_it_open() -> None:
    proof = prove(cross_vlans(7, 8))
    assert proof.verdict is Verdict.UNKNOWN
    assert "leaf-2/9~spine-1/2 carries VLAN 8, and its other end VLAN 7 instead" in proof.statement


def test_cables_of_ports_that_are_shut_carry_nothing() -> None:
    def shut(spine: ObservedDevice) -> ObservedDevice:
        return make.change_port(spine, "Port2", is_up=make.say("spine-1", "up", value=False))

    assert "segment" not in kinds(prove(make.change(cross_vlans(7, 7), "spine-1", shut)))


def make_hub(**fields: Any) -> SeparationFiles:
    """Let red and blue share a store that a third leaf has: it imports both, and each imports it."""
    files = make.make_files(3, ("red", "blue", "store"), (Sharing("store"),))
    for number in (1, 2, 3):
        for tenant, own in (("red", 10001), ("blue", 10002)):
            files = make.change(files, f"leaf-{number}", lambda leaf, tenant=tenant, own=own: make.change_router(
                leaf, f"Vrf{tenant}", imports=(f"64512:{own}", "64512:10003")))  # fmt: skip
        files = make.change(files, f"leaf-{number}", lambda leaf: make.change_router(
            leaf, "Vrfstore", imports=("64512:10001", "64512:10002", "64512:10003")))  # fmt: skip
    return (
        make.change(files, "leaf-3", lambda leaf: make.change_router(leaf, "Vrfstore", **fields)) if fields else files
    )


def test_tenants_reach_what_they_share_and_not_each_other() -> None:
    proof = prove(make_hub())
    assert proof.verdict is Verdict.PROVED, proof.statement
    assert check_separation(proof)
    assert prove(replace(make_hub(), sharings=())).verdict is Verdict.REFUTED
    assert prove(replace(make_hub(), sharings=(Sharing("store", frozenset({"red"})),))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("wide", ["10.0.0.0/8", "10.100.0.0/15"])
def test_a_hub_that_announces_more_than_its_own_joins_its_users(wide: str) -> None:
    proof = prove(make_hub(networks=(wide,)))
    assert proof.verdict is Verdict.REFUTED
    assert {"red", "blue"} <= {meeting["a_owner"] for meeting in proof.detail["meetings"]}
    assert f"VRF Vrfstore of leaf-3 announces {wide}" in walk(proof)


def test_a_hub_that_announces_its_own_joins_nobody() -> None:
    assert prove(make_hub(networks=("10.102.0.0/16",))).verdict is Verdict.PROVED


def test_a_hub_that_may_announce_what_it_took_over_leaves_it_open() -> None:
    proof = prove(make_hub(imported_vrfs=("Vrfred",)))
    assert proof.verdict is Verdict.UNKNOWN
    assert "it may be that" in proof.statement


def test_a_static_route_that_may_be_announced_leaves_it_open() -> None:
    def give(*sources: str) -> SeparationFiles:
        files = make_hub(redistributed=("bgp", *sources))
        wide = "10.100.0.0/15 via 10.102.3.1"
        return make.change(files, "leaf-3", lambda leaf: make.add_static(leaf, "Vrfstore", wide))

    assert prove(give("connected")).verdict is Verdict.PROVED
    assert prove(give("connected", "static via SOME")).verdict is Verdict.UNKNOWN
    assert prove(give("connected", "static")).verdict is Verdict.REFUTED


def test_management_reaches_everybody_and_nobody_meets_no_tenant() -> None:
    files = make.make_files()
    shared = (Sharing(MANAGEMENT),)
    seats = tuple(replace(end, owner=MANAGEMENT) if end.owner == "blue" else end for end in files.ends)
    loose = tuple(replace(end, owner=NOBODY) if end.owner == "blue" else end for end in files.ends)

    def take(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_router(leaf, "Vrfred", imports=BOTH)

    assert prove(make.change(replace(files, ends=seats, sharings=shared), "leaf-1", take)).verdict is Verdict.PROVED
    assert prove(make.change(replace(files, ends=loose, sharings=shared), "leaf-1", take)).verdict is Verdict.REFUTED


def test_management_may_stand_in_the_default_vrf_and_be_watched() -> None:
    files = make.make_files(1)
    seats = tuple(replace(end, owner=MANAGEMENT) if end.owner == "blue" else end for end in files.ends)
    managed = replace(files, ends=seats, sharings=(Sharing(MANAGEMENT),))
    lowered = make.change(managed, "leaf-1", lambda leaf: make.change_port(leaf, "Ethernet1", vrf=None))
    assert prove(lowered).verdict is Verdict.PROVED
    assert prove(make.change(managed, "leaf-1", mirror("Ethernet1"))).verdict is Verdict.PROVED


def test_hosts_in_a_vlan_are_where_its_gateway_is() -> None:
    def put(leaf: ObservedDevice) -> ObservedDevice:
        strict = make.say("leaf-1", "urpf", "strict")
        return make.change_port(leaf, "Ethernet0", vrf=None, addresses=(), checks_source=strict,
                                vlans=make.say_all("leaf-1", "VLAN_MEMBER", 1001))  # fmt: skip

    assert judge(put).verdict is Verdict.PROVED
    leaking = judge(lambda leaf: make.change_router(put(leaf), "Vrfred", imports=BOTH))
    assert kinds(leaking) == {"path"}
    assert "leaf-1/1 is in VLAN 1001 of leaf-1" in walk(leaking)


def test_pauses_that_hold_up_others_are_a_risk_in_words() -> None:
    def risks(files: SeparationFiles) -> list[str]:
        return prove(files).detail["residual_risks"]

    files = make.make_files()
    assert "blue and red share priority 3" in risks(files)[0]
    assert "bounds each pause to 200 ms" in risks(files)[0]
    apart = files
    for device in ("leaf-1", "leaf-2"):
        apart = make.change(apart, device, lambda leaf: make.change_port(
            leaf, "Ethernet0", pauses=make.say(leaf.name, "pfc", (4,))))  # fmt: skip
    assert not any("share priority" in risk for risk in risks(apart))
    shared = replace(files, sharings=(Sharing("red"),))
    assert not any("share priority" in risk for risk in risks(shared))
    unbounded = files
    for device in ("leaf-1", "leaf-2"):
        unbounded = make.change(unbounded, device, lambda leaf: replace(leaf, watchdog=None))
    assert "no file bounds it" in risks(unbounded)[0]


def test_each_priority_that_cables_share_is_named_whichever_cable_it_is_of() -> None:
    def pause(leaf: ObservedDevice) -> ObservedDevice:
        for name in ("Ethernet0", "Ethernet1"):
            leaf = make.change_port(leaf, name, pauses=make.say(leaf.name, "pfc", (3, 4)))
        return leaf

    files = make.change(make.change(make.make_files(), "leaf-1", pause), "leaf-2", pause)
    files = make.change(files, "leaf-2", lambda leaf: make.change_port(
        leaf, "Uplink0", pauses=make.say(leaf.name, "pfc", (4,))))  # fmt: skip
    first, second = prove(files).detail["residual_risks"][:2]
    assert "blue and red share priority 3" in first
    assert "blue and red share priority 4" in second


def test_pauses_of_ports_that_nobody_declared_are_a_risk_in_words() -> None:
    files = make.make_files()
    loose = tuple(replace(end, owner=NOBODY) if end.owner == "blue" else end for end in files.ends)
    assert any("which is no tenant's" in risk for risk in prove(replace(files, ends=loose)).detail["residual_risks"])

    def spare(leaf: ObservedDevice) -> ObservedDevice:
        port = make.make_port("leaf-1", "Spare")
        up = replace(port, is_up=make.say("leaf-1", "up", value=True), pauses=make.say("leaf-1", "pfc", (3,)))
        return replace(leaf, ports=(*leaf.ports, up))

    assert any("leaf-1/Spare is up" in risk for risk in judge(spare).detail["residual_risks"])


def test_files_that_cannot_say_filters_leave_tunnels_a_risk_in_words() -> None:
    proof = judge(lambda leaf: replace(leaf, covers=leaf.covers - {"filters"}))
    assert proof.verdict is Verdict.UNKNOWN
    assert any("the files of 2 edge ports, leaf-1/1 first, cannot" in risk for risk in proof.detail["residual_risks"])
    assert not any("tunnel port" in risk for risk in prove(make.make_files()).detail["residual_risks"])


def change_tunnel(**fields: Any) -> Change:
    def change(leaf: ObservedDevice) -> ObservedDevice:
        assert leaf.tunnel is not None
        return replace(leaf, tunnel=replace(leaf.tunnel, **fields))

    return change


def drop_to(*targets: str) -> Change:
    rules = [make.rule("leaf-1", n, "deny", protocol="17", target=one) for n, one in enumerate(targets)]
    last = (make.rule("leaf-1", 8, "permit", source="10.100.1.0/31"), make.rule("leaf-1", 9, "deny"))
    filters = (ObservedFilter("in-red", make.place("leaf-1", "acl"), rules=(*rules, *last)),)
    return lambda leaf: replace(leaf, filters=(*filters, *leaf.filters[1:]))


def test_what_is_meant_for_every_end_of_a_tunnel_must_be_dropped() -> None:
    assert judge(drop_to("10.0.0.1/32", "10.0.0.2/32")).verdict is Verdict.PROVED
    half = judge(drop_to("10.0.0.1/32"))
    assert kinds(half) == {"tunnel"}
    assert half.detail["open_tunnels"] == 1
    hidden = make.change(make.make_files(), "leaf-1", drop_to("10.0.0.1/32", "10.0.0.2/32"))
    assert kinds(prove(make.change(hidden, "leaf-2", change_tunnel(source=None)))) == {"tunnel"}


def test_each_port_that_some_tunnel_listens_at_must_be_dropped() -> None:
    port = make.say("leaf-2", "udp", 8472)
    proof = prove(make.change(make.make_files(), "leaf-2", change_tunnel(udp_port=port)))
    assert kinds(proof) == {"tunnel"}
    assert "lets UDP 8472 in" in proof.detail["meetings"][0]["summary"]


def test_a_switch_that_unpacks_nothing_needs_no_drop() -> None:
    files = make.change(make.make_files(), "leaf-1", lambda leaf: replace(leaf, tunnel=None))
    assert kinds(prove(make.change(files, "leaf-1", drop_to()))) == set()


def test_a_drop_of_tunnels_that_may_hold_leaves_it_open() -> None:
    proof = judge(
        lambda leaf: make.change_port(
            replace(leaf, filters=leaf.filters[1:]), "Ethernet0", checks_source=make.say("leaf-1", "urpf", "strict")
        )
    )
    assert proof.verdict is Verdict.UNKNOWN
    assert "whether tunnel packets of host-red-1/nic1 are dropped is not known" in proof.statement


def test_a_port_that_is_shut_stands_nowhere() -> None:
    def shut(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_port(leaf, "Ethernet0", vrf=None, is_up=make.say("leaf-1", "up", value=False))

    assert judge(shut).verdict is Verdict.PROVED


def test_a_port_of_a_bundle_is_where_the_bundle_is() -> None:
    def bundle(vrf: str) -> Change:
        def put(leaf: ObservedDevice) -> ObservedDevice:
            leaf = make.change_port(leaf, "Ethernet0", vrf=None, addresses=(), filters_in=(),
                                    bundle=make.say("leaf-1", "PORTCHANNEL", "Bundle1"))  # fmt: skip
            made = make.make_port(
                "leaf-1", "Bundle1", vrf, "10.100.1.0/31", filters_in=make.say_all("leaf-1", "a", "in-red")
            )
            return replace(leaf, ports=(*leaf.ports, made))

        return put

    assert judge(bundle("Vrfred")).verdict is Verdict.PROVED
    assert judge(bundle("Vrfblue")).verdict is Verdict.REFUTED


def test_interfaces_upon_a_port_count_as_the_port() -> None:
    def part(leaf: ObservedDevice) -> ObservedDevice:
        return replace(leaf, ports=(*leaf.ports, upon))

    upon = make.make_port("leaf-1", "Ethernet0.7", "Vrfblue", "10.101.9.0/31")
    assert judge(part).verdict is Verdict.REFUTED
    upon = replace(upon, is_up=make.say("leaf-1", "up", value=False))
    assert judge(part).verdict is Verdict.PROVED


def certificate_of(proof: Proof) -> Certificate:
    assert proof.certificate is not None
    return proof.certificate


@pytest.mark.parametrize(
    "column", ["reach", "way", "mask", "end_reach", "forbidden", "may_meet", "group_owner", "is_checked"]
)
def test_a_certificate_that_was_changed_does_not_check(column: str) -> None:
    proof = prove(make.make_files())
    certificate = certificate_of(proof)
    other = np.array(certificate.columns[column])
    other.reshape(-1)[0] ^= 1
    changed = replace(certificate, columns={**certificate.columns, column: other})
    assert not check_separation(replace(proof, certificate=changed))


def forge(proof: Proof, **columns: Any) -> Proof:
    """Change columns and the digest with them, as one who wants to be believed would."""
    made = {**certificate_of(proof).columns, **columns}
    digest = digest_parts(("separation", *made, *made.values()))
    return replace(proof, certificate=replace(certificate_of(proof), columns=made, digest=digest))


def test_a_forged_certificate_does_not_check() -> None:
    proof = prove(make.make_files())
    columns = certificate_of(proof).columns
    assert check_separation(forge(proof))
    assert not check_separation(forge(proof, reach=np.zeros_like(columns["reach"])))
    assert not check_separation(forge(proof, reach=np.full_like(columns["reach"], 255)))
    assert not check_separation(forge(proof, is_checked=np.zeros_like(columns["is_checked"])))
    assert not check_separation(forge(proof, may_meet=np.zeros_like(columns["may_meet"])))
    one_sided = np.array(columns["may_meet"])
    one_sided[0, 1] = 1
    assert not check_separation(forge(proof, may_meet=one_sided))
    mixed = np.array(columns["group_owner"])
    ends = np.array([0, len(mixed)], dtype=np.int64)
    assert not check_separation(forge(proof, group_ptr=ends))
    leak = np.vstack([columns["way"], [columns["stand"][0, 0], columns["stand"][1, 0], columns["way"][0, 2]]])
    assert not check_separation(forge(proof, way=leak))


def test_proofs_without_a_certificate_or_of_another_claim_do_not_check() -> None:
    proof = prove(make.make_files())
    assert not check_separation(replace(proof, certificate=None))
    assert not check_separation(replace(proof, claim="reach"))
    assert not check_separation(replace(proof, bound=1))
    assert not check_separation(replace(proof, verdict=Verdict.UNKNOWN))


def test_meetings_of_many_owners_are_counted_and_few_are_explained() -> None:
    tenants = tuple(f"t{number}" for number in range(16))
    files = make.make_files(2, tenants)
    for device in ("leaf-1", "leaf-2"):
        files = make.change(files, device, lambda leaf: replace(
            leaf, ports=tuple(replace(port, vrf=None) for port in leaf.ports)))  # fmt: skip
    proof = prove(files)
    assert proof.bound is not None
    assert proof.bound >= 100
    assert len(proof.detail["meetings"]) == 20


def test_what_several_files_say_of_one_vrf_is_joined() -> None:
    """A switch's tables have the VNI, and its routing daemon the static routes."""

    def double(*routes: str, vni: int | None = None) -> Change:
        def add(leaf: ObservedDevice) -> ObservedDevice:
            said = None if vni is None else make.say("leaf-1", "frr vni", vni)
            again = ObservedVrf("Vrfred", make.place("leaf-1", "frr"), said, make.say_all("leaf-1", "route", *routes))
            return replace(leaf, vrfs=(*leaf.vrfs, again))

        return add

    assert judge(double()).verdict is Verdict.PROVED
    assert judge(double(vni=10001)).verdict is Verdict.PROVED
    assert "VNI 10001 in leaf-1.conf and VNI 7" in judge(double(vni=7)).statement
    assert kinds(judge(double("0.0.0.0/0 via 10.100.1.1"))) == {"outside"}


def test_a_filter_that_is_bound_nowhere_does_no_harm() -> None:
    spare = ObservedFilter("x", make.place("leaf-1", "x"))
    assert judge(lambda leaf: replace(leaf, filters=(*leaf.filters, spare))).verdict is Verdict.PROVED
