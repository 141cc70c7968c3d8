"""What an ``frr.conf`` says of one switch, read back line by line."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from weftline.errors import Place
from weftline.formats.lines import Reading, read_number
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import FactValue
from weftline.model.observed import Fact, ObservedConfig
from weftline.vendors.frr.writing import BFD, GROUP, NAME, OWN, TELL

MAX_NUMBER = 4_294_967_295
MAX_WIDTH = 512
MAX_VNI = 0xFFFFFF
MAX_UNITS = 25_600
"""What FRR takes as a bandwidth."""
_EVPN = "address-family l2vpn evpn"
_FAMILIES = ("address-family ipv4 unicast", _EVPN)
_NEEDED_OF_VRF = ("redistribute connected", "advertise ipv4 unicast")
_KNOWN = (
    "frr defaults datacenter", "log syslog informational", "service integrated-vtysh-config",
    "ipv6 nd ra-interval 1", "no ipv6 nd suppress-ra", "no bgp ebgp-requires-policy",
    "timers bgp 3 9", f"neighbor {GROUP} peer-group", f"neighbor {GROUP} timers connect 1",
    f"route-map {OWN} permit 10", f"match ip address prefix-list {OWN}",
    f"neighbor {GROUP} activate", f"neighbor {GROUP} bfd",
)  # fmt: skip
_NEEDED = (
    "no zebra nexthop kernel enable",
    "bgp bestpath as-path multipath-relax",
    f"redistribute connected route-map {OWN}",
    f"neighbor {GROUP} bfd profile {GROUP}",
    *(line.strip() for line in BFD if line != "!"),
)


@dataclass
class _File:
    """One file while it is being read."""

    reading: Reading
    facts: list[Fact] = field(default_factory=list[Fact])
    interface: str = ""
    port: dict[str, int] = field(default_factory=dict[str, int])
    announced: list[str] = field(default_factory=list[str])
    vrf: str = ""
    """The VRF of the lines that follow."""
    family: str = ""
    targets: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Route targets by the path of their fact."""
    told: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Lines that each VRF needs, as far as they were seen."""
    seen: set[str] = field(default_factory=set[str])
    maps: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Lines of each route map that tells a bandwidth, by its name and number."""
    map: str = ""
    bound: list[tuple[int, str, Place]] = field(default_factory=list[tuple[int, str, Place]])
    """Ports over which a route map tells, and where that is said."""

    def say(self, path: str, value: FactValue, where: Place) -> None:
        self.facts.append(Fact(path, value, where))

    def number(self, text: str, high: int, where: Place) -> int | None:
        value = read_number(text, 1, high)
        if value is None:
            self.reading.report("artifact.out-of-range", f"{text!r} is no number from 1 to {high:,}", where)
        return value


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the file of each switch."""
    return tuple(_observe_switch(artifact) for artifact in artifacts.artifacts if artifact.vendor == NAME)


def _observe_switch(artifact: Artifact) -> ObservedConfig:
    file = _File(Reading(artifact.path))
    for number, text in file.reading.lines(artifact.content, comment="!"):
        where = file.reading.place(number)
        file.seen.add(text)
        if _read_map(file, text) or _read_state(file, text, where) or text in _KNOWN or text in _NEEDED:
            continue
        for pattern, read in _LINES:
            match = pattern.fullmatch(text)
            if match is not None:
                read(file, match, where)
                break
        else:
            file.reading.report("artifact.unreadable-line", f"{text[:60]!r} is not known here", where)
    for needed in _NEEDED:
        if needed not in file.seen:
            file.reading.report("artifact.unexpected", f"line {needed!r} is missing", file.reading.place())
    _close_vrfs(file)
    _close_maps(file)
    if file.announced:
        file.say("forwarding.exchange.announced", tuple(file.announced), file.reading.place())
    return ObservedConfig(artifact.device, NAME, (artifact.path,), tuple(file.facts), tuple(file.reading.problems))


def _close_vrfs(file: _File) -> None:
    for path, found in file.targets.items():
        file.say(path, tuple(found), file.reading.place())
    for vrf, told in file.told.items():
        if told != set(_NEEDED_OF_VRF):
            file.reading.report("artifact.unexpected", f"VRF {vrf} does not tell its routes", file.reading.place())


def _read_map(file: _File, text: str) -> bool:
    """Follow the lines of a route map that tells a bandwidth; true for those inside."""
    match = _MAP.fullmatch(text)
    if match is not None:
        file.map = f"{match[1]} {match[2]}"
        file.maps.setdefault(file.map, [])
        return True
    if file.map and text != "exit":
        file.maps[file.map].append(text)
        return True
    file.map = ""
    return False


def _close_maps(file: _File) -> None:
    """Say what is told over each port, where its route map tells own networks with it and all others as heard."""
    for port, name, where in file.bound:
        own, rest = file.maps.get(f"{name} 10", []), file.maps.get(f"{name} 20")
        told = _TOLD.fullmatch(own[1]) if len(own) == 2 else None
        if told is None or own[0] != f"match ip address prefix-list {OWN}" or rest != []:
            message = f"route map {name} does not tell own networks with a bandwidth, and others as they were heard"
            file.reading.report("artifact.unexpected", message, where)
            continue
        value = file.number(told[1], MAX_UNITS, where)
        if value is not None:
            file.say(f"ports.{port}.told_units", value, where)
    unused = {key.split(" ")[0] for key in file.maps} - {name for _, name, _ in file.bound}
    for name in sorted(unused):
        file.reading.report("artifact.dangling", f"route map {name} is used by no neighbour", file.reading.place())


def _read_state(file: _File, text: str, where: Place) -> bool:
    """Follow in which VRF and family the lines stand; true where a line says nothing else."""
    if text in {"exit", "exit-vrf"}:
        file.vrf = file.family = ""
        return True
    if text == "exit-address-family":
        file.family = ""
        return True
    if text in _FAMILIES:
        file.family = text
        return True
    if text in _NEEDED_OF_VRF and file.vrf:
        file.told.setdefault(file.vrf, set()).add(text)
        return True
    if text == f"neighbor {GROUP} activate" and file.family == _EVPN:
        file.say("forwarding.exchange.carries_tenants", value=True, where=where)
        return True
    return text == "advertise-all-vni" and file.family == _EVPN and not file.vrf


def _read_vrf(file: _File, match: re.Match[str], _where: Place) -> None:
    file.vrf = match[1]


def _read_vni(file: _File, match: re.Match[str], where: Place) -> None:
    value = file.number(match[1], MAX_VNI, where)
    if value is not None:
        file.say(f"tenancy.vrfs.{file.vrf}.vni", value, where)


def _read_vrf_process(file: _File, match: re.Match[str], where: Place) -> None:
    file.vrf = match[2]
    file.told.setdefault(file.vrf, set())
    value = file.number(match[1], MAX_NUMBER, where)
    if value is not None:
        file.say(f"tenancy.vrfs.{file.vrf}.number", value, where)


def _read_rd(file: _File, match: re.Match[str], where: Place) -> None:
    file.say(f"tenancy.vrfs.{file.vrf}.rd", match[1], where)


def _read_target(file: _File, match: re.Match[str], _where: Place) -> None:
    file.targets.setdefault(f"tenancy.vrfs.{file.vrf}.{match[1]}s", []).append(match[2])


def _read_interface(file: _File, match: re.Match[str], _where: Place) -> None:
    file.interface = match[1]


def _read_description(file: _File, match: re.Match[str], where: Place) -> None:
    file.port[file.interface] = int(match[1])
    file.say(f"ports.{int(match[1])}.peer", match[2], where)


def _read_process(file: _File, match: re.Match[str], where: Place) -> None:
    value = file.number(match[1], MAX_NUMBER, where)
    if value is not None:
        file.say("forwarding.exchange.number", value, where)


def _read_router(file: _File, match: re.Match[str], where: Place) -> None:
    if _is_network(file, match[1], where) and not file.vrf:
        file.say("forwarding.exchange.router_address", f"{match[1]}/32", where)


def _read_neighbour(file: _File, match: re.Match[str], where: Place) -> None:
    value = file.number(match[2], MAX_NUMBER, where)
    if match[1] not in file.port:
        file.reading.report("artifact.dangling", f"there is no interface {match[1]}", where)
    elif value is not None:
        file.say(f"ports.{file.port[match[1]]}.neighbour_number", value, where)


def _read_membership(file: _File, match: re.Match[str], where: Place) -> None:
    if match[1] not in file.port:
        file.reading.report("artifact.dangling", f"there is no interface {match[1]}", where)


def _read_bound(file: _File, match: re.Match[str], where: Place) -> None:
    if match[1] not in file.port:
        file.reading.report("artifact.dangling", f"there is no interface {match[1]}", where)
    else:
        file.bound.append((file.port[match[1]], match[2], where))


def _read_width(file: _File, match: re.Match[str], where: Place) -> None:
    value = file.number(match[1], MAX_WIDTH, where)
    if value is not None:
        file.say("forwarding.exchange.width", value, where)


def _read_announced(file: _File, match: re.Match[str], where: Place) -> None:
    if _is_network(file, match[1], where):
        file.announced.append(match[1])


def _read_aggregate(file: _File, match: re.Match[str], where: Place) -> None:
    if match[1] not in file.announced:
        file.reading.report("artifact.dangling", f"{match[1]} is no network of its own", where)


def _read_name(_file: _File, _match: re.Match[str], _where: Place) -> None:
    return


def _is_network(file: _File, text: str, where: Place) -> bool:
    try:
        ipaddress.IPv4Network(text)
    except ValueError:
        file.reading.report("artifact.out-of-range", f"{text!r} is no IPv4 network", where)
        return False
    return True


_MAP = re.compile(rf"^route-map ({TELL}\d{{1,5}}) permit (10|20)$")
_TOLD = re.compile(r"^set extcommunity bandwidth (\d{1,6})$")
_LINES: tuple[tuple[re.Pattern[str], Callable[[_File, re.Match[str], Place], None]], ...] = (
    (re.compile(r"^hostname (\S{1,63})$"), _read_name),
    (re.compile(r"^interface (Ethernet\d{1,5})$"), _read_interface),
    (re.compile(r"^description port (\d{1,4}) to (\S{1,80})$"), _read_description),
    (re.compile(r"^router bgp (\d{1,12})$"), _read_process),
    (re.compile(r"^router bgp (\d{1,12}) vrf (\S{1,15})$"), _read_vrf_process),
    (re.compile(r"^vrf (\S{1,15})$"), _read_vrf),
    (re.compile(r"^vni (\d{1,10})$"), _read_vni),
    (re.compile(r"^rd (\S{1,40})$"), _read_rd),
    (re.compile(r"^route-target (import|export) (\S{1,40})$"), _read_target),
    (re.compile(r"^bgp router-id (\S{1,40})$"), _read_router),
    (re.compile(r"^neighbor (Ethernet\d{1,5}) interface remote-as (\d{1,12})$"), _read_neighbour),
    (re.compile(rf"^neighbor (Ethernet\d{{1,5}}) peer-group {GROUP}$"), _read_membership),
    (re.compile(rf"^neighbor (Ethernet\d{{1,5}}) route-map ({TELL}\d{{1,5}}) out$"), _read_bound),
    (re.compile(r"^maximum-paths (\d{1,6})$"), _read_width),
    (re.compile(rf"^ip prefix-list {OWN} seq \d{{1,4}} permit (\S{{1,40}})(?: le 32)?$"), _read_announced),
    (re.compile(r"^aggregate-address (\S{1,40}) summary-only$"), _read_aggregate),
)
