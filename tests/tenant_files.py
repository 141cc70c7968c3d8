"""A small fabric of tenants as its files say it, built by hand so that one thing at a time can be broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from weftline.errors import Place
from weftline.model.isolation import Sharing
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort, ObservedWatchdog
from weftline.model.observed_routing import (
    ObservedFilter,
    ObservedNeighbour,
    ObservedRouter,
    ObservedRule,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.said import Said
from weftline.model.separation import EdgePort, SeparationFiles, SwitchLink

T = TypeVar("T")
COVERS = frozenset({"ports", "tenancy", "routing", "filters", "mirrors", "pauses"})
TENANTS = ("red", "blue")


def place(device: str, path: str) -> Place:
    """Place something in the file of a device."""
    return Place(f"{device}.conf", 1, path=path)


def say(device: str, path: str, value: T) -> Said[T]:
    """Say a value."""
    return Said(value, place(device, path))


def say_all(device: str, path: str, *values: T) -> tuple[Said[T], ...]:
    """Say several values."""
    return tuple(say(device, path, value) for value in values)


def rule(device: str, order: int, action: Any, **fields: Any) -> ObservedRule:
    """Make a rule of a filter."""
    return ObservedRule(place(device, f"rule {order}"), order, action, **fields)


def make_port(device: str, name: str, vrf: str | None = None, *addresses: str, **fields: Any) -> ObservedPort:
    """Make a port."""
    return ObservedPort(
        name,
        place(device, f"PORT|{name}"),
        vrf=None if vrf is None else say(device, f"INTERFACE|{name}", vrf),
        addresses=say_all(device, f"INTERFACE|{name}", *addresses),
        **fields,
    )


def make_router(device: str, vrf: str, number: int, **fields: Any) -> ObservedRouter:
    """Make a routing process; strings become said ones."""
    made: dict[str, Any] = {
        key: value if key == "neighbours" or not isinstance(value, tuple) else say_words(device, vrf, key, value)
        for key, value in fields.items()
    }
    return ObservedRouter(vrf, place(device, f"router {vrf}"), number=say(device, "as", number), **made)


def make_neighbour(device: str, name: str, *families: str, **fields: Any) -> ObservedNeighbour:
    """Make a neighbour."""
    return ObservedNeighbour(
        name, place(device, f"neighbor {name}"), families=say_all(device, "af", *families), **fields
    )


def make_leaf(number: int, tenants: Sequence[str] = TENANTS) -> ObservedDevice:
    """Make a leaf with one host of each tenant, a VRF and a network number per tenant, and two ports up."""
    name = f"leaf-{number}"
    ports = [make_port(name, "Loopback0", None, f"10.0.0.{number}/32"), make_port(name, "Uplink0", None)]
    vrfs: list[ObservedVrf] = []
    routers: list[ObservedRouter] = []
    filters: list[ObservedFilter] = []
    vnis: list[tuple[int, Said[int]]] = []
    ports[1] = replace(ports[1], pauses=say(name, "pfc", (3,)))
    neighbours = (make_neighbour(name, "Uplink0", "ipv4", "evpn"),)
    routers.append(
        make_router(name, "default", 65000 + number, neighbours=neighbours, networks=(f"10.0.0.{number}/32",))
    )
    for index, tenant in enumerate(tenants):
        vni, vlan = 10001 + index, 1001 + index
        subnet = f"10.{100 + index}.{number}.0/31"
        port = make_port(
            name, f"Ethernet{index}", f"Vrf{tenant}", subnet, filters_in=say_all(name, "acl", f"in-{tenant}")
        )
        ports.append(replace(port, number=say(name, "number", index + 1), pauses=say(name, "pfc", (3,))))
        ports.append(make_port(name, f"Vlan{vlan}", f"Vrf{tenant}"))
        vrfs.append(ObservedVrf(f"Vrf{tenant}", place(name, f"VRF|Vrf{tenant}"), vni=say(name, "vni", vni)))
        vnis.append((vlan, say(name, f"map {vlan}", vni)))
        routers.append(
            make_router(
                name, f"Vrf{tenant}", 65000 + number, redistributed=("connected",),
                imports=(f"64512:{vni}",), exports=(f"64512:{vni}",),
            )
        )  # fmt: skip
        rules = (
            rule(name, 1, "deny", protocol="udp", target_port="4789"),
            rule(name, 2, "permit", source=subnet),
            rule(name, 3, "deny"),
        )
        filters.append(ObservedFilter(f"in-{tenant}", place(name, f"acl in-{tenant}"), rules=rules))
    return ObservedDevice(
        name, "switch", "any", (f"{name}.conf",), ports=tuple(ports), vrfs=tuple(vrfs), routers=tuple(routers),
        tunnel=ObservedTunnel(
            place(name, "vtep"), source=say(name, "vtep", f"10.0.0.{number}"), vni_of_vlan=tuple(vnis)
        ),
        filters=tuple(filters), covers=COVERS,
        watchdog=ObservedWatchdog(place(name, "wd"), detect_ms=say(name, "wd", 200)),
    )  # fmt: skip


def make_spine(leaves: int) -> ObservedDevice:
    """Make a spine with a port to each leaf."""
    name = "spine-1"
    names = [f"Port{number}" for number in range(1, leaves + 1)]
    neighbours = tuple(make_neighbour(name, port, "ipv4", "evpn") for port in names)
    return ObservedDevice(
        name, "switch", "any", (f"{name}.conf",),
        ports=(
            make_port(name, "Loopback0", None, "10.0.1.1/32"),
            *(replace(make_port(name, port), pauses=say(name, "pfc", (3,))) for port in names),
        ),
        routers=(make_router(name, "default", 65100, neighbours=neighbours, networks=("10.0.1.1/32",)),),
        covers=COVERS,
    )  # fmt: skip


def make_files(
    leaves: int = 2, tenants: Sequence[str] = TENANTS, sharings: tuple[Sharing, ...] = ()
) -> SeparationFiles:
    """Make the files of a fabric in which tenants are kept apart."""
    devices = [make_leaf(number, tenants) for number in range(1, leaves + 1)]
    ends = [
        EdgePort(
            f"host-{tenant}-{number}/nic1", tenant, f"leaf-{number}/{index + 1}", (f"leaf-{number}", f"Ethernet{index}")
        )
        for number in range(1, leaves + 1)
        for index, tenant in enumerate(tenants)
    ]
    links = [
        SwitchLink(f"leaf-{number}/9~spine-1/{number}", (f"leaf-{number}", "Uplink0"), ("spine-1", f"Port{number}"))
        for number in range(1, leaves + 1)
    ]
    return SeparationFiles(
        (*devices, make_spine(leaves)), tuple(ends), tuple(links), sharings, "digest", "the files of 3 switches"
    )


def change(files: SeparationFiles, device: str, how: Callable[[ObservedDevice], ObservedDevice]) -> SeparationFiles:
    """Change the files of one device."""
    devices = tuple(how(one) if one.name == device else one for one in files.devices)
    assert devices != files.devices
    return replace(files, devices=devices)


def change_port(device: ObservedDevice, name: str, **fields: Any) -> ObservedDevice:
    """Change one port of a device."""
    return replace(device, ports=tuple(replace(one, **fields) if one.name == name else one for one in device.ports))


def change_router(device: ObservedDevice, vrf: str, **fields: Any) -> ObservedDevice:
    """Change the routing process of one VRF; strings become said ones."""
    made: dict[str, Any] = {
        key: value if key == "neighbours" or not isinstance(value, tuple) else say_words(device.name, vrf, key, value)
        for key, value in fields.items()
    }
    return replace(device, routers=tuple(replace(one, **made) if one.vrf == vrf else one for one in device.routers))


def say_words(device: str, vrf: str, key: str, words: Any) -> tuple[Said[str], ...]:
    """Say what a routing process has."""
    return say_all(device, f"router {vrf} {key}", *words)


def change_vrf(device: ObservedDevice, name: str, **fields: Any) -> ObservedDevice:
    """Change one VRF."""
    return replace(device, vrfs=tuple(replace(one, **fields) if one.name == name else one for one in device.vrfs))


def change_rules(device: ObservedDevice, name: str, *rules: ObservedRule, **fields: Any) -> ObservedDevice:
    """Give a filter other rules behind the one that drops what is meant for tunnels."""
    kept = (rule(device.name, 0, "deny", protocol="udp", target_port="4789"), *rules)
    filters = tuple(replace(one, rules=kept, **fields) if one.name == name else one for one in device.filters)
    return replace(device, filters=filters)


def add_static(device: ObservedDevice, vrf: str, text: str) -> ObservedDevice:
    """Add a static route."""
    return change_vrf(device, vrf, static_routes=say_all(device.name, f"STATIC_ROUTE|{vrf}", text))
