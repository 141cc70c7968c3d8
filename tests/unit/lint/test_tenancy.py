from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pytest

from tests import tenant_files as make
from weftline.lint import RULES, LintSource, lint_devices
from weftline.model.finding import Finding
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedMirror, ObservedRule, ObservedVrf

Change = Callable[[ObservedDevice], ObservedDevice]
OURS = tuple(rule for rule in RULES if rule.key.startswith("tenancy."))


def lint(change: Change | None = None, device: str = "leaf-1") -> tuple[Finding, ...]:
    files = make.make_files() if change is None else make.change(make.make_files(), device, change)
    return lint_devices(LintSource(files.devices), OURS)


def watch(leaf: ObservedDevice) -> ObservedDevice:
    session = ObservedMirror("spy", make.place("leaf-1", "spy"), make.say("leaf-1", "kind", "ERSPAN"))
    return replace(leaf, mirrors=(session,))


def bind(leaf: ObservedDevice, stage: Literal["in", "out"]) -> ObservedDevice:
    """Bind the filter of red from its own side."""
    said, ports = make.say("leaf-1", "stage", stage), make.say_all("leaf-1", "ports", "Ethernet0")
    filters = tuple(replace(one, stage=said, ports=ports) if one.name == "in-red" else one for one in leaf.filters)
    return replace(make.change_port(leaf, "Ethernet0", filters_in=()), filters=filters)


def set_rules(leaf: ObservedDevice, *rules: ObservedRule) -> ObservedDevice:
    """Give the filter of red these rules alone."""
    filters = tuple(replace(one, rules=rules) if one.name == "in-red" else one for one in leaf.filters)
    return replace(leaf, filters=filters)


def tunnels(port: str, order: int = 9) -> ObservedRule:
    """Make a rule that drops UDP to a port."""
    return make.rule("leaf-1", order, "deny", protocol="udp", target_port=port)


FAULTS: dict[str, list[Change]] = {
    "tenancy.foreign-target": [
        lambda leaf: make.change_router(leaf, "Vrfred", imports=("64512:10001", "64512:10002")),
        lambda leaf: make.change_router(leaf, "Vrfred", imports=("*:10002",)),
        lambda leaf: make.change_router(
            make.change_router(leaf, "Vrfblue", exports=("65001:10001",)), "Vrfred", imports=("auto",)),
        lambda leaf: make.change_router(
            make.change_router(leaf, "Vrfblue", exports=("7:10001",)),
            "Vrfred", imports=("auto",), ignores_number=True),
    ],
    "tenancy.leak": [
        lambda leaf: make.change_router(leaf, "Vrfred", imported_vrfs=("Vrfblue",)),
        lambda leaf: make.change_router(leaf, "Vrfred", imported_vrfs=("default",)),
        lambda leaf: make.change_router(leaf, "Vrfred", leaks=("subscribe POLICY",)),
        lambda leaf: make.add_static(leaf, "Vrfred", "10.0.0.0/8 via 10.0.0.1 vrf default"),
    ],
    "tenancy.default-route": [
        lambda leaf: make.add_static(leaf, "Vrfred", "0.0.0.0/0 via 10.100.1.1"),
        lambda leaf: make.change_router(leaf, "Vrfred", networks=("0.0.0.0/0",)),
        lambda leaf: make.change_router(leaf, "Vrfred", originates_default=make.say("leaf-1", "d", value=True)),
    ],
    "tenancy.tunnel-in-vrf": [
        lambda leaf: make.change_port(leaf, "Loopback0", vrf=make.say("leaf-1", "vrf", "Vrfred")),
    ],
    "tenancy.shared-vni": [
        lambda leaf: make.change_vrf(leaf, "Vrfred", vni=make.say("leaf-1", "vni", 10002)),
        lambda leaf: replace(leaf, tunnel=None if leaf.tunnel is None else replace(
            leaf.tunnel, vni_of_vlan=((7, make.say("leaf-1", "map", 9)), (8, make.say("leaf-1", "map", 9))))),
    ],
    "tenancy.mirror": [watch],
    "tenancy.sources-unchecked": [
        lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=()),
        lambda leaf: make.change_rules(leaf, "in-red", make.rule("leaf-1", 1, "permit")),
        lambda leaf: make.change_rules(
            leaf, "in-red", make.rule("leaf-1", 1, "permit", source="10.100.0.0/16"), make.rule("leaf-1", 2, "deny")),
        lambda leaf: make.change_port(
            leaf, "Ethernet0", filters_in=(), checks_source=make.say("leaf-1", "urpf", "off")),
        lambda leaf: bind(leaf, "out"),
    ],
    "tenancy.vni-differs": [
        lambda leaf: make.change_port(leaf, "Vlan1001", vrf=make.say("leaf-1", "VLAN_INTERFACE", "Vrfblue")),
        lambda leaf: make.change_vrf(leaf, "Vrfred", vni=make.say("leaf-1", "vni", 10009)),
        lambda leaf: replace(leaf, vrfs=(*leaf.vrfs, ObservedVrf(
            "Vrfred", make.place("leaf-1", "frr"), make.say("leaf-1", "frr vni", 7)))),
        lambda leaf: replace(leaf, tunnel=None if leaf.tunnel is None else replace(
            leaf.tunnel, vni_of_vlan=((1001, make.say("leaf-1", "map", 10009)),))),
    ],
    "tenancy.port-in-no-vrf": [
        lambda leaf: make.change_port(leaf, "Ethernet0", vrf=None),
        lambda leaf: make.change_port(leaf, "Ethernet0", vrf=make.say("leaf-1", "vrf", "default")),
    ],
    "tenancy.tunnels-unfiltered": [
        lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=()),
        lambda leaf: bind(leaf, "out"),
        lambda leaf: set_rules(leaf, make.rule("leaf-1", 2, "permit", source="10.100.1.0/31"),
                               make.rule("leaf-1", 3, "deny")),
        lambda leaf: set_rules(leaf, make.rule("leaf-1", 2, "permit", source="10.100.1.0/31"), tunnels("4789")),
        lambda leaf: set_rules(leaf, tunnels("8472"), make.rule("leaf-1", 2, "permit", source="10.100.1.0/31")),
        lambda leaf: replace(leaf, tunnel=None if leaf.tunnel is None else replace(
            leaf.tunnel, udp_port=make.say("leaf-1", "udp", 8472))),
    ],
}  # fmt: skip


def test_every_rule_has_a_fault() -> None:
    assert {rule.key for rule in OURS} == set(FAULTS)


def test_tenants_that_are_kept_apart_have_no_finding() -> None:
    assert lint() == ()


@pytest.mark.parametrize(("key", "number"), [(key, n) for key, changes in FAULTS.items() for n in range(len(changes))])
def test_each_rule_fires_and_names_the_device_and_its_file(key: str, number: int) -> None:
    found = [finding for finding in lint(FAULTS[key][number]) if finding.rule == key]
    assert found
    assert any(finding.subject.startswith("leaf-1") or "leaf-1" in finding.message for finding in found)
    assert all(finding.where[0].file.startswith("leaf-") for finding in found)
    assert all(finding.next_step for finding in found)


def test_a_derived_target_of_another_number_is_not_foreign() -> None:
    def change(leaf: ObservedDevice) -> ObservedDevice:
        leaf = make.change_router(leaf, "Vrfblue", exports=("7:10001",))
        return make.change_router(leaf, "Vrfred", imports=("auto",), ignores_number=False)

    assert "tenancy.foreign-target" not in {finding.rule for finding in lint(change)}


def test_a_route_to_nowhere_is_no_way_out() -> None:
    assert lint(lambda leaf: make.add_static(leaf, "Vrfred", "0.0.0.0/0 via blackhole")) == ()


def test_files_that_cannot_say_filters_are_not_blamed_for_none() -> None:
    def change(leaf: ObservedDevice) -> ObservedDevice:
        return replace(make.change_port(leaf, "Ethernet0", filters_in=()), covers=leaf.covers - {"filters"})

    assert lint(change) == ()


def test_checks_of_other_kinds_count() -> None:
    strict = make.say("leaf-1", "urpf", "strict")

    def change(leaf: ObservedDevice) -> ObservedDevice:
        return make.change_port(make.change_rules(leaf, "in-red", make.rule("leaf-1", 1, "permit")),
                                "Ethernet0", checks_source=strict)  # fmt: skip

    assert lint(change) == ()
    assert lint(lambda leaf: bind(leaf, "in")) == ()


def test_a_hole_for_tunnels_is_named_with_its_ports_and_the_right_value() -> None:
    def change(leaf: ObservedDevice) -> ObservedDevice:
        return replace(make.change_port(leaf, "Ethernet0", filters_in=()), tables=(("filters", "ACL_RULE"),))

    (found,) = [one for one in lint(change) if one.rule == "tenancy.tunnels-unfiltered"]
    assert (found.subject, found.severity) == ("leaf-1/Ethernet0", "warning")
    assert found.message == (
        "takes UDP 4789, in which a host can write packets of another tenant: there is no filter on the way in"
    )
    assert found.next_step == "a rule that drops UDP 4789 before any lets it in (ACL_RULE)"
    late = [one for one in lint(FAULTS["tenancy.tunnels-unfiltered"][3]) if one.rule == "tenancy.tunnels-unfiltered"]
    assert late[0].message.endswith("rule 2 of filter in-red lets UDP 4789 in before a rule drops it")
    assert late[0].where[0].path == "rule 2"


def test_what_is_not_understood_or_not_in_the_files_is_not_blamed_on_the_edge() -> None:
    gone = make.say_all("leaf-1", "acl", "gone")
    assert lint(lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=gone)) == ()
    odd = make.rule("leaf-1", 1, "permit", unread=("DSCP",))
    assert lint(lambda leaf: set_rules(leaf, odd)) == ()
    assert "tenancy.tunnels-unfiltered" not in {
        one.rule for one in lint(lambda leaf: replace(make.change_port(leaf, "Ethernet0", filters_in=()), tunnel=None))
    }


def route_by_vlan(leaf: ObservedDevice, name: str, **fields: Any) -> ObservedDevice:
    """Put red's port into VLAN 7, which an interface of its VRF routes."""
    red = next(port for port in leaf.ports if port.name == "Ethernet0")
    gate = replace(red, name=name, routes_vlan=make.say("leaf-1", "vlan", 7), **fields)
    plug = replace(red, vrf=None, addresses=(), vlans=make.say_all("leaf-1", "member", 7), filters_in=())
    return replace(leaf, ports=(*(plug if port is red else port for port in leaf.ports), gate))


def test_ports_of_a_vlan_are_named_where_neither_they_nor_their_gateway_filter() -> None:
    assert lint(lambda leaf: route_by_vlan(leaf, "Vlan7")) == ()
    found = lint(lambda leaf: route_by_vlan(leaf, "Vlan7", filters_in=()))
    assert {(one.rule, one.subject) for one in found} == {
        ("tenancy.tunnels-unfiltered", "leaf-1/Ethernet0"),
        ("tenancy.sources-unchecked", "leaf-1/Ethernet0"),
    }


def test_interfaces_without_a_plug_and_ports_that_are_down_let_nothing_in() -> None:
    down = make.say("leaf-1", "up", value=False)
    assert lint(lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=(), is_up=down)) == ()

    def lone(leaf: ObservedDevice) -> ObservedDevice:
        return replace(leaf, ports=(*leaf.ports, make.make_port("leaf-1", "Loopback7", "Vrfred", "10.9.9.9/32")))

    assert lint(lone) == ()


def test_a_session_on_a_switch_without_tenants_is_none_of_our_business() -> None:
    assert lint(watch, "spine-1") == ()


def add_port(name: str, *addresses: str, peer: str = "") -> Change:
    """Add a port in the default VRF, and a router that may speak by it."""

    def change(leaf: ObservedDevice) -> ObservedDevice:
        leaf = replace(leaf, ports=(*leaf.ports, make.make_port("leaf-1", name, None, *addresses)))
        return make.change_router(leaf, "default", neighbours=(make.make_neighbour("leaf-1", peer, "ipv4"),))

    return change


def test_ports_between_switches_and_of_management_are_in_no_vrf_rightly() -> None:
    assert {one.subject for one in lint(add_port("Ethernet9", "10.7.0.0/31"))} == {"leaf-1/Ethernet9"}
    assert lint(add_port("Ethernet9", "10.7.0.0/31", peer="10.7.0.1")) == ()
    assert lint(add_port("Ethernet9", "10.7.0.0/31", peer="Ethernet9")) == ()
    for name in ("eth0", "Management1", "mgmt0", "ma1", "Loopback5", "Vlan9"):
        assert lint(add_port(name, "10.7.0.0/31")) == ()
    assert lint(add_port("Ethernet9")) == ()
    assert lint(add_port("Ethernet9", "10.7.0.0/31"), "spine-1") == ()


def test_a_cable_to_a_switch_is_no_port_of_a_host() -> None:
    def change(leaf: ObservedDevice) -> ObservedDevice:
        port = replace(make.make_port("leaf-1", "Ethernet9", None, "10.7.0.0/31"),
                       peer=make.say("leaf-1", "peer", "spine-1/Port1"))  # fmt: skip
        return replace(leaf, ports=(*leaf.ports, port))

    assert lint(change) == ()


def test_a_network_of_a_vlan_is_not_that_of_its_vrf() -> None:
    """A VLAN with hosts has a VNI of its own; only one without addresses stands for the whole VRF."""

    def change(leaf: ObservedDevice) -> ObservedDevice:
        assert leaf.tunnel is not None
        pairs = (*leaf.tunnel.vni_of_vlan, (7, make.say("leaf-1", "map", 20007)))
        gate = make.make_port("leaf-1", "Vlan7", "Vrfred", "10.100.7.1/24")
        return replace(leaf, ports=(*leaf.ports, gate), tunnel=replace(leaf.tunnel, vni_of_vlan=pairs))

    assert lint(change) == ()


def test_an_import_of_what_two_others_export_is_one_finding() -> None:
    def change(leaf: ObservedDevice) -> ObservedDevice:
        green = make.make_router("leaf-1", "Vrfgreen", 65001, exports=("64512:10002",))
        leaf = replace(leaf, routers=(*leaf.routers, green))
        return make.change_router(leaf, "Vrfred", imports=("64512:10001", "64512:10002"))

    found = [one for one in lint(change) if one.rule == "tenancy.foreign-target" and "VRF Vrfred" in one.message[:10]]
    assert len(found) == 1


def test_a_drop_for_every_end_of_a_tunnel_is_enough() -> None:
    def drop_to(*targets: str) -> Change:
        rules = [make.rule("leaf-1", n, "deny", protocol="17", target=one) for n, one in enumerate(targets)]
        own = make.rule("leaf-1", 8, "permit", source="10.100.1.0/31")
        return lambda leaf: set_rules(leaf, *rules, own, make.rule("leaf-1", 9, "deny"))

    assert lint(drop_to("10.0.0.1/32", "10.0.0.2/32")) == ()
    assert {one.rule for one in lint(drop_to("10.0.0.1/32"))} == {"tenancy.tunnels-unfiltered"}
    files = make.change(make.make_files(), "leaf-1", drop_to("10.0.0.1/32", "10.0.0.2/32"))
    hidden = make.change(
        files,
        "leaf-2",
        lambda leaf: replace(leaf, tunnel=None if leaf.tunnel is None else replace(leaf.tunnel, source=None)),
    )
    found = lint_devices(LintSource(hidden.devices), OURS)
    assert {(one.rule, one.subject) for one in found} == {("tenancy.tunnels-unfiltered", "leaf-1/Ethernet0")}
