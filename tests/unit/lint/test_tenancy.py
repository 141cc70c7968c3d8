from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests import tenant_files as make
from weftline.lint import RULES, LintSource, lint_devices
from weftline.model.finding import Finding
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedMirror

Change = Callable[[ObservedDevice], ObservedDevice]
OURS = tuple(rule for rule in RULES if rule.key.startswith("tenancy."))


def lint(change: Change | None = None, device: str = "leaf-1") -> tuple[Finding, ...]:
    files = make.make_files() if change is None else make.change(make.make_files(), device, change)
    return lint_devices(LintSource(files.devices), OURS)


def watch(leaf: ObservedDevice) -> ObservedDevice:
    session = ObservedMirror("spy", make.place("leaf-1", "spy"), make.say("leaf-1", "kind", "ERSPAN"))
    return replace(leaf, mirrors=(session,))


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
    "tenancy.sources-unchecked": [lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=())],
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
    assert lint(lambda leaf: make.change_port(leaf, "Ethernet0", filters_in=(), checks_source=strict)) == ()


def test_a_session_on_a_switch_without_tenants_is_none_of_our_business() -> None:
    assert lint(watch, "spine-1") == ()
