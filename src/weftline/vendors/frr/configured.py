"""FRR files that anybody wrote, as observed devices: VRFs, BGP processes, interfaces, and lists of prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weftline.errors import Place, Problem
from weftline.formats import cumulus, eos, frr_conf
from weftline.formats.config_text import ConfigLine, ConfigText
from weftline.formats.lines import read_number
from weftline.formats.route_map import read_route_maps
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import (
    DEFAULT_VRF,
    ObservedFilter,
    ObservedRouteMap,
    ObservedRouter,
    ObservedRule,
    ObservedVrf,
)
from weftline.model.said import Said
from weftline.vendors.frr.interfaces import read_stanzas
from weftline.vendors.frr.processes import read_process
from weftline.vendors.frr.writing import NAME

MAX_VNI = 2**24 - 1
COVERS = frozenset({"routing", "tenancy", "kernel-groups"})
_SILENT = frozenset({
    "frr", "hostname", "log", "service", "password", "enable", "username", "banner", "debug", "line", "agentx",
    "route-map", "bfd", "domainname",
})  # fmt: skip
"""Lines outside contexts that decide nothing of what is judged, or are read where they are named."""


@dataclass
class _Device:
    """The files of one device while they are read."""

    name: str
    files: list[str] = field(default_factory=list[str])
    release: Said[str] | None = None
    ports: dict[str, ObservedPort] = field(default_factory=dict[str, ObservedPort])
    vrfs: dict[str, ObservedVrf] = field(default_factory=dict[str, ObservedVrf])
    routers: list[ObservedRouter] = field(default_factory=list[ObservedRouter])
    lists: dict[str, tuple[Place, list[ObservedRule]]] = field(
        default_factory=dict[str, tuple[Place, list[ObservedRule]]]
    )
    """Lists of prefixes by name, each with its first line."""
    route_maps: list[ObservedRouteMap] = field(default_factory=list[ObservedRouteMap])
    groups: Said[bool] | None = None
    unread: dict[str, int] = field(default_factory=dict[str, int])
    problems: list[Problem] = field(default_factory=list[Problem])


def recognise(name: str, head: bytes) -> str | None:
    """Name the form of a file: FRR's own, or that of Cumulus Linux before NVUE."""
    if cumulus.looks_like(head):
        return "cumulus"
    if frr_conf.looks_like(name, head):
        return NAME
    # BGP and route maps are written alike on EOS, which has lines of its own besides.
    return NAME if frr_conf.could_be(head) and not eos.looks_like(head) else None


def configure(files: Sequence[tuple[str, bytes]]) -> tuple[ObservedDevice, ...]:
    """Read files of any number of devices; those of one folder without another name are one device's."""
    devices: dict[str, _Device] = {}
    for name, data in files:
        if cumulus.looks_like(data[:65_536]):
            read = cumulus.read_cumulus(data, name)
            text, hostname, stanzas = read.routing, read.hostname, read.interfaces
            problems = read.problems
        else:
            text, hostname, stanzas = frr_conf.read_frr(data, name), None, ()
            problems = text.problems
        said = next((line.words[1] for line in text.find("hostname") if len(line.words) > 1), hostname)
        device = devices.setdefault(said or _name_of(name), _Device(said or _name_of(name)))
        device.files.append(name)
        device.problems += problems
        read_stanzas(name, stanzas, device.ports, device.vrfs)
        _read_text(device, text)
    return tuple(_finish(device) for device in devices.values())


def _name_of(path: str) -> str:
    """Name a device that no line names: by its folder, else by its file."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    stem = parts[-1].removesuffix(".conf").removesuffix(".cfg").removesuffix(".txt")
    if stem in {"frr", "bgpd", "zebra", "bfdd", "staticd"}:
        return next((part for part in reversed(parts[:-1]) if part not in {"frr", "etc", "sonic", "", "."}), stem)
    return stem


def _read_text(device: _Device, text: ConfigText) -> None:
    device.route_maps += read_route_maps(text.file, text.lines)
    for line in text.lines:
        where = Place(text.file, line.number, line.column)
        first = line.body[0]
        if line.starts("router", "bgp"):
            device.routers.append(read_process(text.file, line, device.problems, device.unread))
        elif line.starts("vrf") and len(line.words) > 1:
            _read_vrf(device, text.file, line)
        elif line.starts("interface") and len(line.words) > 1:
            _read_interface(device, text.file, line)
        elif line.starts("ip", "route") and len(line.words) > 3:
            _read_route(device, line, where, line.value("vrf") or DEFAULT_VRF)
        elif line.words[:2] in {("ip", "prefix-list"), ("ipv6", "prefix-list")} and len(line.words) > 3:
            _read_prefix(device, line, where)
        elif line.body == ("zebra", "nexthop", "kernel", "enable"):
            device.groups = Said(not line.is_negated, where)
        elif line.starts("frr", "version") and len(line.words) > 2:
            device.release = Said(line.words[2], where)
        elif first not in _SILENT:
            kind = " ".join(line.body[:2])
            device.unread[kind] = device.unread.get(kind, 0) + 1


def _read_vrf(device: _Device, file: str, head: ConfigLine) -> None:
    name = head.words[1]
    vrf = device.vrfs.get(name) or ObservedVrf(name, Place(file, head.number, head.column))
    device.vrfs[name] = vrf
    for line in head.children:
        where = Place(file, line.number, line.column)
        if line.starts("vni") and len(line.words) > 1:
            vni = read_number(line.words[1], 1, MAX_VNI)
            if vni is None:
                message = f"{line.words[1][:40]!r} is no VNI from 1 to {MAX_VNI:,}"
                device.problems.append(Problem("artifact.out-of-range", message, where=where, severity="warning"))
            else:
                device.vrfs[name] = replace(device.vrfs[name], vni=Said(vni, where))
        elif line.starts("ip", "route") and len(line.words) > 3:
            _read_route(device, line, where, name)
        else:
            kind = f"vrf {' '.join(line.body[:2])}"
            device.unread[kind] = device.unread.get(kind, 0) + 1


def _read_route(device: _Device, line: ConfigLine, where: Place, name: str) -> None:
    other = line.value("nexthop-vrf")
    words = f"{line.words[2]} via {line.words[3]}" + (f" vrf {other}" if other else "")
    vrf = device.vrfs.get(name) or ObservedVrf(name, where)
    device.vrfs[name] = replace(vrf, static_routes=(*vrf.static_routes, Said(words, where)))


def _read_interface(device: _Device, file: str, head: ConfigLine) -> None:
    """Read what FRR itself gives an interface; its link is the system's to say."""
    name = head.words[1]
    known = device.ports.get(name)
    at = known.where if known is not None else Place(file, head.number, head.column)
    vrf = head.value("vrf")
    said = Said(vrf, at) if vrf else None
    addresses: list[Said[str]] = []
    peer: Said[str] | None = None
    is_up: Said[bool] | None = None
    for line in head.children:
        where = Place(file, line.number, line.column)
        if line.starts("description") and len(line.words) > 1:
            peer = Said(" ".join(line.words[1:]), where)
        elif line.words[:2] in {("ip", "address"), ("ipv6", "address")} and len(line.words) > 2:
            addresses.append(Said(line.words[2], where))
        elif line.body == ("shutdown",):
            is_up = Said(line.is_negated, where)
        elif line.body[:2] != ("ipv6", "nd"):
            kind = f"interface {' '.join(line.body[:2])}"
            device.unread[kind] = device.unread.get(kind, 0) + 1
    if known is not None:
        addresses[:0] = known.addresses
        peer, is_up, said = peer or known.peer, is_up or known.is_up, said or known.vrf
    device.ports[name] = ObservedPort(name, at, is_up=is_up, peer=peer, addresses=tuple(addresses), vrf=said)


def _read_prefix(device: _Device, line: ConfigLine, where: Place) -> None:
    """Keep a list of prefixes as a filter that is bound to no port: it sifts routes, not packets."""
    name = f"prefix-list {line.words[2]}"
    rest = list(line.words[3:])
    known = device.lists.get(name, (where, list[ObservedRule]()))
    order = len(known[1]) + 1
    if rest[:1] == ["seq"] and len(rest) > 2:
        order, rest = read_number(rest[1], 1, 4_294_967_295) or order, rest[2:]
    if rest[0] not in {"permit", "deny"} or len(rest) < 2:
        return
    action = "permit" if rest[0] == "permit" else "deny"
    known[1].append(ObservedRule(where, order, action, source=" ".join(rest[1:])))
    device.lists[name] = known


def _finish(device: _Device) -> ObservedDevice:
    return ObservedDevice(
        name=device.name,
        role="switch",
        vendor=NAME,
        files=tuple(device.files),
        release=device.release,
        ports=tuple(device.ports.values()),
        vrfs=tuple(device.vrfs.values()),
        routers=tuple(_add_automatic(device, router) for router in device.routers),
        filters=tuple(
            ObservedFilter(name, where, rules=tuple(rules), otherwise=Said("deny", where))
            for name, (where, rules) in device.lists.items()
        ),
        route_maps=tuple(device.route_maps),
        uses_kernel_groups=device.groups,
        unread=tuple(sorted(device.unread.items())),
        covers=COVERS,
        problems=tuple(device.problems),
    )


def _add_automatic(device: _Device, router: ObservedRouter) -> ObservedRouter:
    """A VRF with a VNI has route targets of its own making unless some are written. FRR user guide, 'EVPN'."""
    vrf = device.vrfs.get(router.vrf)
    if vrf is None or vrf.vni is None or router.vrf == DEFAULT_VRF:
        return router
    auto = (Said("auto", vrf.vni.where),)
    return replace(router, imports=router.imports or auto, exports=router.exports or auto)
