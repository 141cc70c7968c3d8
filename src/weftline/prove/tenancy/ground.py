"""The ground: which table of which VRF, and which VLAN, each port of each device belongs to by the files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from weftline.admit.filters import RuleIndex
from weftline.admit.prefix import Prefix, is_inside, parse_prefix
from weftline.errors import Place
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import DEFAULT_VRF, ObservedFilter, ObservedRouter, ObservedVrf
from weftline.model.said import Said

Table = tuple[str, str]
"""Device and VRF."""
_GATEWAY = re.compile(r"vlan[-_ ]?(\d{1,4})", re.IGNORECASE | re.ASCII)
"""How SONiC, EOS and NVUE all name the interface that routes a VLAN, where no reader said which one it is."""
_DEFAULT_NAMES = frozenset({"", DEFAULT_VRF})
_NAME = attrgetter("name")
_LETTERS = frozenset("vV")


class Step(NamedTuple):
    """One reason in a witness, and the place in a file that says so."""

    says: str
    where: Place | None = None


class Routing(NamedTuple):
    """One interface that routes: the table that it belongs to, and its subnets."""

    port: ObservedPort
    table: Table
    subnets: tuple[tuple[Prefix, Said[str]], ...]

    def may_hold(self, address: Prefix) -> bool:
        """Tell whether an address may be its own: it is in a subnet, or what it has is not understood."""
        inside = [prefix for prefix, _ in self.subnets if is_inside(address, prefix)]
        return bool(inside) or len(self.subnets) < len(self.port.addresses)

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
    bundled: set[str] = field(default_factory=set[str])
    """Ports that are members of a bundle."""
    shut: set[str] = field(default_factory=set[str])
    """Ports that are known to be down."""
    routing: dict[str, Routing] = field(default_factory=dict[str, Routing])
    """Interfaces that route by what they say themselves; all others are made by ``find_routing`` when asked for."""
    gateways: dict[int, list[Routing]] = field(default_factory=dict[int, list[Routing]])
    """The interfaces that route a VLAN."""
    vrfs: dict[str, ObservedVrf] = field(default_factory=dict[str, ObservedVrf])
    routers: dict[str, list[ObservedRouter]] = field(default_factory=dict[str, list[ObservedRouter]])
    spoken: dict[str, None] = field(default_factory=dict[str, None])
    """Names of all neighbours: interfaces or addresses."""
    doubts: list[str] = field(default_factory=list[str])
    filters: dict[str, ObservedFilter] = field(default_factory=dict[str, ObservedFilter])
    filters_of: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Names of filters on the way in that say by themselves at which port."""
    has_vlans: bool = False
    """Whether any port is in a VLAN."""
    vrf_names: frozenset[str] = frozenset()
    """All VRFs that something names."""
    _rules: dict[str, RuleIndex] = field(default_factory=dict[str, RuleIndex])
    _carriers: dict[str, tuple[ObservedPort, ...]] = field(default_factory=dict[str, tuple[ObservedPort, ...]])

    def find_routing(self, name: str) -> Routing | None:
        """Find how an interface routes; None where it does not."""
        known = self.routing.get(name)
        if known is None and name in self.spoken and name in self.ports and _routes(self, self.ports[name]):
            known = _add_routing(self, self.ports[name])
        return known

    def find_filters(self, ports: Iterable[str], names: Iterable[str]) -> list[RuleIndex]:
        """Find the filters on the way in at some ports, by name or by what they say themselves."""
        wanted = {*names}
        if self.filters_of:
            wanted.update(name for port in ports for name in self.filters_of.get(port, ()))
        return [self._index(name) for name in sorted(wanted) if name in self.filters]

    def _index(self, name: str) -> RuleIndex:
        known = self._rules.get(name)
        if known is None:
            known = self._rules[name] = RuleIndex(self.filters[name])
        return known

    def is_alone(self, name: str) -> bool:
        """Tell whether packets of a port are taken by no other interface: by no bundle, and by none upon it."""
        return name not in self.bundled and name not in self.parts

    def carriers(self, name: str) -> tuple[ObservedPort, ...]:
        """List the interfaces by which packets of a port are taken: itself or its bundle, and those upon it."""
        if self.is_alone(name):
            port = self.ports.get(name)
            return () if port is None else (port,)
        known = self._carriers.get(name)
        if known is None:
            known = self._carriers[name] = tuple(self._list_carriers(name))
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
    if port.name[:1] not in _LETTERS:
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
        ground.spoken.update(dict.fromkeys(map(_NAME, router.neighbours)))
    for one in device.filters:
        ground.filters.setdefault(one.name, one)
        for said in one.ports if one.stage is None or one.stage.value == "in" else ():
            ground.filters_of.setdefault(said.value, []).append(one.name)
    _add_ports(ground)
    used = {routing.table[1] for routing in ground.routing.values()}
    ground.vrf_names = frozenset((*ground.vrfs, *ground.routers, *used, DEFAULT_VRF))
    return ground


def _add_ports(ground: DeviceGround) -> None:
    """Put ports in order; of most, which only have a cable, nothing is made here but their place by name."""
    ports = ground.device.ports
    ground.ports = dict(zip(map(_NAME, ports), ports, strict=True))
    telling = [
        port
        for port in ports
        if port.addresses or port.vrf is not None or port.vlans or port.bundle is not None
        or port.routes_vlan is not None or "." in port.name or port.name[:1] in _LETTERS
    ]  # fmt: skip
    if len(ground.ports) < len(ports):  # of a name that is said twice the first counts
        ground.ports = {port.name: port for port in reversed(ports)}
        telling = [*ports]
    ground.shut = {port.name for port in ground.ports.values() if port.is_up is not None and not port.is_up.value}
    ground.bundled = {port.name for port in telling if ground.ports[port.name].bundle is not None}
    for port in telling:
        ground.has_vlans |= bool(port.vlans)
        above, dot, _ = port.name.rpartition(".")
        if dot:
            ground.parts.setdefault(above, []).append(port)
    for port in telling:
        if _routes(ground, port):
            _add_routing(ground, port)


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
    return bool(port.addresses or port.vrf or port.name in ground.spoken or find_vlan(port) is not None)


def _add_routing(ground: DeviceGround, port: ObservedPort) -> Routing:
    subnets = [(prefix, said) for said in port.addresses if (prefix := parse_prefix(said.value)) is not None]
    routing = Routing(port, (ground.device.name, name_vrf(port.vrf)), tuple(subnets))
    ground.routing[port.name] = routing
    vlan = find_vlan(port)
    if vlan is not None and not is_shut(port):
        ground.gateways.setdefault(vlan, []).append(routing)
    return routing
