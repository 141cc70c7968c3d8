"""The ground: which table of which VRF, and which VLAN, each port of each device belongs to by the files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from weftline.admit.filters import index_rules, narrow_filter
from weftline.admit.prefix import Prefix, parse_prefix
from weftline.errors import Place
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import DEFAULT_VRF, ObservedFilter, ObservedNeighbour, ObservedRouter, ObservedVrf
from weftline.model.said import Said

Table = tuple[str, str]
"""Device and VRF."""
_GATEWAY = re.compile(r"vlan[-_ ]?(\d{1,4})", re.IGNORECASE | re.ASCII)
"""How SONiC, EOS and NVUE all name the interface that routes a VLAN, where no reader said which one it is."""
_DEFAULT_NAMES = frozenset({"", DEFAULT_VRF})


class Step(NamedTuple):
    """One reason in a witness, and the place in a file that says so."""

    says: str
    where: Place | None = None


class Routing(NamedTuple):
    """One interface that routes: the table that it belongs to, and its subnets."""

    port: ObservedPort
    table: Table
    subnets: tuple[tuple[Prefix, Said[str]], ...]

    def tell(self) -> Step:
        """Say in which VRF it is."""
        where = self.port.where if self.port.vrf is None else self.port.vrf.where
        return Step(f"{self.table[0]}/{self.port.name} is in {call_vrf(self.table[1])}", where)


@dataclass(slots=True)
class DeviceGround:
    """The ports, VRFs and routers of one device by name."""

    device: ObservedDevice
    ports: dict[str, ObservedPort] = field(default_factory=dict[str, ObservedPort])
    parts: dict[str, list[ObservedPort]] = field(default_factory=dict[str, list[ObservedPort]])
    """Interfaces upon a port, as ``Ethernet0.101`` upon ``Ethernet0``."""
    routing: dict[str, Routing] = field(default_factory=dict[str, Routing])
    gateways: dict[int, list[Routing]] = field(default_factory=dict[int, list[Routing]])
    """The interfaces that route a VLAN."""
    vrfs: dict[str, ObservedVrf] = field(default_factory=dict[str, ObservedVrf])
    routers: dict[str, list[ObservedRouter]] = field(default_factory=dict[str, list[ObservedRouter]])
    neighbours: dict[str, list[tuple[str, ObservedNeighbour]]] = field(
        default_factory=dict[str, list[tuple[str, ObservedNeighbour]]]
    )
    """By interface or address: the VRF and the neighbour."""
    doubts: list[str] = field(default_factory=list[str])
    filters: dict[str, ObservedFilter] = field(default_factory=dict[str, ObservedFilter])
    filters_of: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Names of filters on the way in that say by themselves at which port."""
    has_vlans: bool = False
    """Whether any port is in a VLAN."""
    _rules: dict[str, dict[str, list[int]]] = field(default_factory=dict[str, dict[str, list[int]]])
    _carriers: dict[str, tuple[ObservedPort, ...]] = field(default_factory=dict[str, tuple[ObservedPort, ...]])

    @property
    def vrf_names(self) -> frozenset[str]:
        """All VRFs that something names."""
        used = (routing.table[1] for routing in self.routing.values())
        return frozenset((*self.vrfs, *self.routers, *used, DEFAULT_VRF))

    def find_filters(self, ports: Iterable[str], names: Iterable[str]) -> tuple[ObservedFilter, ...]:
        """Find the filters on the way in at some ports, by name or by what they say themselves."""
        bound = [name for port in ports for name in self.filters_of.get(port, ())]
        return tuple([self.filters[name] for name in sorted({*bound, *names}) if name in self.filters])

    def narrow_filters(self, filters: Iterable[ObservedFilter], ports: Collection[str]) -> tuple[ObservedFilter, ...]:
        """Leave out the rules of filters that hold at other ports; a table for all ports is looked through once."""
        found: list[ObservedFilter] = []
        for one in filters:
            if one.name not in self._rules:
                self._rules[one.name] = index_rules(one)
            found.append(narrow_filter(one, self._rules[one.name], ports))
        return tuple(found)

    def carriers(self, name: str) -> tuple[ObservedPort, ...]:
        """List the interfaces by which packets of a port are taken: itself or its bundle, and those upon it."""
        known = self._carriers.get(name)
        if known is None:
            port = self.ports.get(name)
            is_alone = port is not None and port.bundle is None and name not in self.parts
            known = (port,) if port is not None and is_alone else tuple(self._list_carriers(name))
            self._carriers[name] = known
        return known

    def _list_carriers(self, name: str) -> Iterator[ObservedPort]:
        port = self.ports.get(name)
        if port is None:
            return
        if port.bundle is not None:
            bundle = self.ports.get(port.bundle.value)
            if bundle is not None:
                port = bundle
        yield port
        yield from self.parts.get(port.name, ())


def call_vrf(name: str) -> str:
    """Call a VRF as people do."""
    return "the default VRF" if name == DEFAULT_VRF else f"VRF {name}"


def name_vrf(said: Said[str] | None) -> str:
    """Name the VRF of an interface; one that is bound to none is in the default VRF, on every system."""
    return DEFAULT_VRF if said is None or said.value in _DEFAULT_NAMES else said.value


def is_shut(port: ObservedPort) -> bool:
    """Tell whether a port is known to be down."""
    return port.is_up is not None and not port.is_up.value


def find_vlan(port: ObservedPort) -> int | None:
    """Tell which VLAN an interface routes; None where it is none of that kind."""
    if port.routes_vlan is not None:
        return port.routes_vlan.value
    if port.name[:1] not in {"v", "V"}:
        return None
    found = _GATEWAY.fullmatch(port.name)
    return int(found[1]) if found else None


def lay_ground(device: ObservedDevice) -> DeviceGround:
    """Put what one device's files say in order."""
    ground = DeviceGround(device)
    for vrf in device.vrfs:
        _add_vrf(ground, DEFAULT_VRF if vrf.name in _DEFAULT_NAMES else vrf.name, vrf)
    for router in device.routers:
        name = DEFAULT_VRF if router.vrf in _DEFAULT_NAMES else router.vrf
        ground.routers.setdefault(name, []).append(router)
        for neighbour in router.neighbours:
            ground.neighbours.setdefault(neighbour.name, []).append((name, neighbour))
    for one in device.filters:
        ground.filters.setdefault(one.name, one)
        for said in one.ports if one.stage is None or one.stage.value == "in" else ():
            ground.filters_of.setdefault(said.value, []).append(one.name)
    for port in device.ports:
        ground.ports.setdefault(port.name, port)
        ground.has_vlans |= bool(port.vlans)
        above, dot, _ = port.name.rpartition(".")
        if dot:
            ground.parts.setdefault(above, []).append(port)
    for port in device.ports:
        if _routes(ground, port):
            _add_routing(ground, port)
    return ground


def _add_vrf(ground: DeviceGround, name: str, vrf: ObservedVrf) -> None:
    """Join what several files say of one VRF, as a switch's tables and its routing daemon do."""
    known = ground.vrfs.get(name)
    if known is None:
        ground.vrfs[name] = vrf
        return
    if known.vni is not None and vrf.vni is not None and known.vni.value != vrf.vni.value:
        words = f"VRF {name} of {ground.device.name} is VNI {known.vni.value} in {known.vni.where.file}"
        ground.doubts.append(f"{words} and VNI {vrf.vni.value} in {vrf.vni.where.file}")
    routes = tuple(dict.fromkeys((*known.static_routes, *vrf.static_routes)))
    ground.vrfs[name] = replace(known, vni=known.vni or vrf.vni, static_routes=routes)


def _routes(ground: DeviceGround, port: ObservedPort) -> bool:
    """Tell whether an interface routes: it has an address or a VRF, or a router speaks by it."""
    if port.bundle is not None and port.bundle.value in ground.ports:
        return False
    is_gateway = find_vlan(port) is not None
    return bool(port.vrf or port.addresses or port.name in ground.neighbours or is_gateway)


def _add_routing(ground: DeviceGround, port: ObservedPort) -> None:
    subnets = [(prefix, said) for said in port.addresses if (prefix := parse_prefix(said.value)) is not None]
    routing = Routing(port, (ground.device.name, name_vrf(port.vrf)), tuple(subnets))
    ground.routing[port.name] = routing
    vlan = find_vlan(port)
    if vlan is not None and not is_shut(port):
        ground.gateways.setdefault(vlan, []).append(routing)
