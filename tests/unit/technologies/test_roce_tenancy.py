from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Interface
from typing import Any

import pytest

from tests.designs import Rendered, render_design
from tests.fabrics import make_design
from tests.unit.vendors.damage import damage, replace
from weftline.model.intent import DeviceIntent
from weftline.model.roce import RoceSection
from weftline.model.spec import LosslessSection, SharedSpec, TenantSpec
from weftline.model.tenancy import TenancyIntent
from weftline.technologies.roce.limits import count_problems

PAIR = (("red", "1-3"), ("blue", "4-6"))
STORAGE = (("store", 1, "leaf-001"), ("mgmt", 1, "leaf-002"))
SHARED = (SharedSpec(name="storage", endpoints=("store",)),)


def make(**options: Any) -> Rendered:
    whole: dict[str, Any] = {"hosts": 6, "rails": 2, "ports": 16, "tenants": PAIR} | options
    return render_design("roce", **whole)


def tenancy_of(intent: DeviceIntent) -> TenancyIntent:
    assert intent.tenancy is not None
    return intent.tenancy


def switches(made: Rendered) -> list[DeviceIntent]:
    return [intent for intent in made.intents if intent.role == "switch"]


def test_every_tenant_has_a_table_of_its_own() -> None:
    made = make()
    seen: dict[str, set[tuple[int | None, tuple[str, ...], tuple[str, ...]]]] = {}
    for leaf in (one for one in switches(made) if one.tier == "leaf"):
        for vrf in tenancy_of(leaf).vrfs:
            seen.setdefault(vrf.key, set()).add((vrf.vni, vrf.imports, vrf.exports))
    assert seen == {
        "Vrfred": {(10_001, ("64512:10001",), ("64512:10001",))},
        "Vrfblue": {(10_002, ("64512:10002",), ("64512:10002",))},
    }
    assert all(one.tenancy is None for one in switches(made) if one.tier == "spine")


def test_each_host_port_is_in_the_table_of_its_tenant_and_no_other_port_is_in_any() -> None:
    made = make()
    owner = {f"host-{number:04}": "Vrfred" if number < 4 else "Vrfblue" for number in range(1, 7)}
    for switch in switches(made):
        for port in switch.ports:
            assert port.vrf == owner.get(port.peer.partition("/")[0])


def test_the_fabric_itself_tells_the_ends_of_tunnels_alone() -> None:
    for switch in switches(make()):
        assert switch.forwarding is not None
        assert switch.forwarding.exchange is not None
        assert switch.forwarding.exchange.announced == (switch.forwarding.exchange.router_address,)
        assert switch.forwarding.exchange.carries_tenants is True


def test_ports_take_their_own_sources_alone() -> None:
    for leaf in (one for one in switches(make()) if one.tier == "leaf"):
        address = {port.key: port for port in leaf.ports}
        for one in tenancy_of(leaf).filters:
            (port,) = one.ports
            link = IPv4Interface(address[port].address or "")
            assert one.sources == (f"{next(iter(set(link.network) - {link.ip}))}/32",)
            assert one.tunnel_port == 4789
        named = [port for one in tenancy_of(leaf).filters for port in one.ports]
        assert sorted(named) == sorted(key for key, port in address.items() if port.vrf is not None)


def test_source_checks_can_be_left_out() -> None:
    made = make(roce=RoceSection.model_validate({"tenancy": {"source_checks": False}}))
    assert not any(tenancy_of(one).filters for one in switches(made) if one.tier == "leaf")
    assert "ACL_TABLE" not in made.text("switches/leaf-001/config_db.json")


def test_a_service_is_a_hub_whose_users_are_spokes() -> None:
    vrfs = {
        vrf.key: vrf for one in switches(make(extras=STORAGE, shared=SHARED)) if one.tenancy for vrf in one.tenancy.vrfs
    }
    red, blue, hub, rest = (vrfs[name] for name in ("Vrfred", "Vrfblue", "Vrfstorage", "Vrfrest"))
    assert set(hub.imports) == {*red.exports, *blue.exports, *hub.exports}
    assert set(red.imports) == {*red.exports, *hub.exports}
    assert set(blue.imports) == {*blue.exports, *hub.exports}
    assert set(rest.imports) == set(rest.exports)
    assert not {*red.exports, *blue.exports} & set(rest.imports)


def test_only_users_of_a_service_reach_it() -> None:
    shared = (SharedSpec(name="storage", endpoints=("store",), tenants=("red",)),)
    vrfs = {
        vrf.key: vrf for one in switches(make(extras=STORAGE, shared=shared)) if one.tenancy for vrf in one.tenancy.vrfs
    }
    assert set(vrfs["Vrfblue"].imports) == set(vrfs["Vrfblue"].exports)
    assert set(vrfs["Vrfstorage"].imports) == {*vrfs["Vrfred"].exports, *vrfs["Vrfstorage"].exports}


@pytest.mark.parametrize("tenants", [(), (("red", "1-6"),)])
def test_one_owner_needs_no_walls(tenants: tuple[tuple[str, str], ...]) -> None:
    made = make(tenants=tenants)
    assert all(one.tenancy is None for one in made.intents)
    assert "vrf" not in made.text("switches/leaf-001/frr.conf")


def test_names_that_no_kernel_takes_are_numbers() -> None:
    made = make(tenants=(("a-tenant-with-a-long-name", "1-3"), ("10001", "4-6")))
    (first, second) = tenancy_of(made.intent("leaf-001")).vrfs
    assert (first.key, second.key) == ("Vrf10001", "Vrf-10002")
    assert all(len(vrf.key) <= 15 for vrf in (first, second))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"roce": {"tenancy": {"kind": "vrf-lite"}}}, "capability.not-rendered", "shared by all tenants"),
        ({"roce": {"tenancy": {"first_vlan": 4093}}}, "capability.too-many-tenants", "2 tenants + 0 services + 1"),
        ({"roce": {"tenancy": {"first_vni": 0xFFFFFE}}}, "capability.too-many-tenants", "on end at 16,777,216"),
        ({"lossless": LosslessSection(mtu=9200)}, "capability.mtu", "a frame has 9,250"),
        ({"shared": SHARED}, "capability.downstream-vni", "hub and spoke"),
    ],
)
def test_what_cannot_be_kept_apart_is_refused(options: dict[str, Any], code: str, words: str) -> None:
    sections = dict(options)
    if "roce" in sections:
        sections["roce"] = RoceSection.model_validate(sections["roce"])
    tenants = (TenantSpec(name="red", hosts="1-8"), TenantSpec(name="blue", hosts="9-16"))
    found = count_problems(make_design(technology="roce", tenants=tenants, **sections), 16, 8)
    assert [(one.code, words in one.message) for one in found] == [(code, True)]


MADE = make()
SWITCH, ROUTER = "switches/leaf-001/config_db.json", "switches/leaf-001/frr.conf"


@pytest.mark.parametrize(
    ("path", "change", "code"),
    [
        (SWITCH, replace('"vrf_name": "Vrfred"', '"vrf_name": "Vrfgreen"'), "artifact.dangling"),
        (SWITCH, replace('"vlanid": "1001"', '"vlanid": "1009"'), "artifact.dangling"),
        (SWITCH, replace('"source_vtep": "vtep"', '"source_vtep": "other"'), "artifact.dangling"),
        (SWITCH, replace('"vni": "10001"\n        },\n        "vtep', '"vni": "10002"\n        },\n        "vtep'),
         "artifact.dangling"),
        (SWITCH, replace('"stage": "ingress"', '"stage": "egress"'), "artifact.unexpected"),
        (SWITCH, replace('"PACKET_ACTION": "DROP"', '"PACKET_ACTION": "FORWARD"'), "artifact.unexpected"),
        (SWITCH, replace('"PACKET_ACTION": "FORWARD"', '"PACKET_ACTION": "DROP"'), "artifact.unexpected"),
        (ROUTER, replace("  advertise ipv4 unicast\n", ""), "artifact.unexpected"),
        (ROUTER, replace("  redistribute connected\n", ""), "artifact.unexpected"),
        (ROUTER, replace(" vni 10001", " vni 0"), "artifact.out-of-range"),
        (ROUTER, replace("route-target import", "route-target both"), "artifact.unreadable-line"),
    ],
)  # fmt: skip
def test_damage_to_the_walls_is_seen(path: str, change: Callable[[str], str], code: str) -> None:
    assert code in [problem.code for problem in damage(MADE, path, change)]
