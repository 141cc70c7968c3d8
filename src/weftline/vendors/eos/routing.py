"""VRFs, BGP and the VXLAN end of a running configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from weftline.formats.config_text import ConfigLine
from weftline.formats.eos import expand_numbers
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import (
    DEFAULT_VRF,
    ObservedRouter,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.said import Said
from weftline.vendors.eos.file import EosFile
from weftline.vendors.eos.neighbours import Peers, read_autonomous

MAX_VNI = 2**24 - 1
MAX_WIDTH = 1_024
_FAMILIES = {"ipv4": "ipv4", "ipv6": "ipv6", "evpn": "evpn", "vpn-ipv4": "vpn", "vpn-ipv6": "vpn"}
_SILENT = frozenset({
    "bgp", "timers", "distance", "graceful-restart", "graceful-restart-helper", "ucmp", "update", "shutdown", "no",
    "monitoring", "ip", "ipv6", "default-metric", "host-flap", "network", "vlan", "vlan-aware-bundle",
    "peer-filter",
})  # fmt: skip


@dataclass(slots=True)
class Tenancy:
    """What a file says of VRFs and tunnels while it is read."""

    vrfs: dict[str, ObservedVrf] = field(default_factory=dict[str, ObservedVrf])
    routers: list[ObservedRouter] = field(default_factory=list[ObservedRouter])
    leaks: dict[str, list[Said[str]]] = field(default_factory=dict[str, "list[Said[str]]"])
    tunnel: ObservedTunnel | None = None


def read_tenancy(file: EosFile, lines: tuple[ConfigLine, ...], ports: Mapping[str, ObservedPort]) -> Tenancy:
    """Read what stands outside interfaces, and the interface of the tunnel."""
    found = Tenancy()
    for line in lines:
        if (line.starts("vrf", "instance") or line.starts("vrf", "definition")) and len(line.words) > 2:
            found.vrfs.setdefault(line.words[2], ObservedVrf(line.words[2], file.place(line)))
        elif line.starts("ip", "route"):
            _read_route(file, found, line)
        elif line.starts("router", "general"):
            _read_leaks(file, found, line)
    for line in lines:
        if line.starts("interface") and line.words[1:2] and line.words[1].startswith("Vxlan"):
            _read_tunnel(file, found, line, ports)
        elif line.starts("router", "bgp") and len(line.words) > 2:
            _read_process(file, found, line)
    found.routers = [
        replace(router, leaks=(*router.leaks, *found.leaks.get(router.vrf, ()))) for router in found.routers
    ]
    return found


def _read_route(file: EosFile, found: Tenancy, line: ConfigLine) -> None:
    words = list(line.words[2:])
    name = DEFAULT_VRF
    if words[:1] == ["vrf"] and len(words) > 1:
        name, words = words[1], words[2:]
    if len(words) < 2:
        return
    other = words[2] if words[1] == "egress-vrf" and len(words) > 2 else None
    hop = words[3] if other is not None and len(words) > 3 else words[1]
    text = f"{words[0]} via {hop}" + (f" vrf {other}" if other else "")
    vrf = found.vrfs.get(name) or ObservedVrf(name, file.place(line))
    found.vrfs[name] = replace(vrf, static_routes=(*vrf.static_routes, file.said(text, line)))


def _read_leaks(file: EosFile, found: Tenancy, head: ConfigLine) -> None:
    """Read ``router general``, where routes of one VRF are handed to another."""
    for vrf in head.children:
        for line in vrf.children:
            if line.starts("leak", "routes") and len(vrf.words) > 1:
                said = found.leaks.setdefault(vrf.words[1], [])
                said.append(file.said(f"leak routes source-vrf {line.value('source-vrf')}", line))


def _read_tunnel(file: EosFile, found: Tenancy, head: ConfigLine, ports: Mapping[str, ObservedPort]) -> None:
    tunnel = ObservedTunnel(file.place(head))
    vnis: list[tuple[int, Said[int]]] = []
    for line in head.children:
        words = list(line.words)
        if line.starts("vxlan", "source-interface") and len(words) > 2:
            own = ports.get(words[2])
            source = own.addresses[0] if own is not None and own.addresses else None
            if own is None:
                file.blame("artifact.dangling", f"there is no interface {words[2][:60]}", line)
            said = None if source is None else Said(source.value.partition("/")[0], source.where)
            tunnel = replace(tunnel, source=said)
        elif line.starts("vxlan", "udp-port") and len(words) > 2:
            tunnel = replace(tunnel, udp_port=file.number(words[2], 1, 65_535, line))
        elif line.starts("vxlan", "vlan") and words[3:4] == ["vni"] and len(words) > 4:
            vnis += _read_vnis(file, words[2], words[4], line)
        elif line.starts("vxlan", "vrf") and words[3:4] == ["vni"] and len(words) > 4:
            _read_vrf_vni(file, found, words[2], words[4], line)
        elif line.starts("vxlan", "qos", "dscp", "propagation"):
            way = file.said("copy", line)
            is_out = "decapsulation" not in words
            tunnel = replace(tunnel, dscp_out=way) if is_out else replace(tunnel, dscp_in=way)
        elif line.starts("vxlan", "qos", "map", "dscp"):
            tunnel = replace(tunnel, dscp_in=file.said("preserve", line))
        elif words[:2] not in (["vxlan", "flood"], ["vxlan", "qos"], ["vxlan", "mlag"]) and words[0] == "vxlan":
            file.pass_over(f"vxlan {words[1] if len(words) > 1 else ''}")
    found.tunnel = replace(tunnel, vni_of_vlan=tuple(vnis))


def _read_vnis(file: EosFile, vlans: str, vnis: str, line: ConfigLine) -> list[tuple[int, Said[int]]]:
    low, high = expand_numbers(vlans), expand_numbers(vnis)
    if low is None or high is None or len(low) != len(high) or not all(0 < number <= MAX_VNI for number in high):
        file.blame("artifact.out-of-range", "VLANs and VNIs of this line do not pair up", line)
        return []
    return [(vlan, file.said(vni, line)) for vlan, vni in zip(low, high, strict=True)]


def _read_vrf_vni(file: EosFile, found: Tenancy, name: str, text: str, line: ConfigLine) -> None:
    vni = file.number(text, 1, MAX_VNI, line)
    if name not in found.vrfs:
        file.blame("artifact.dangling", f"there is no VRF {name[:60]}", line)
    vrf = found.vrfs.get(name) or ObservedVrf(name, file.place(line))
    found.vrfs[name] = replace(vrf, vni=vni)


@dataclass(slots=True)
class _Process:
    router: ObservedRouter
    peers: Peers


def _read_process(file: EosFile, found: Tenancy, head: ConfigLine) -> None:
    number = read_autonomous(file, head.words[2], head)
    top = _Process(ObservedRouter(DEFAULT_VRF, file.place(head), number), Peers(file, number))
    _read_lines(file, top, head, "ipv4")
    for line in head.children:
        if line.starts("address-family"):
            _read_lines(file, top, line, _FAMILIES.get(line.words[-1], line.words[-1]))
    found.routers.append(_finish(top))
    for line in head.children:
        if line.starts("vrf") and len(line.words) > 1:
            where = file.place(line)
            inner = _Process(ObservedRouter(line.words[1], where, number), Peers(file, number, top.peers.has_ipv4))
            inner.peers.groups.update(top.peers.groups)
            inner.peers.by_name.update(
                {name: top.peers.by_name[name] for name in top.peers.groups if name in top.peers.by_name}
            )
            _read_lines(file, inner, line, "ipv4")
            for family in line.children:
                if family.starts("address-family"):
                    _read_lines(file, inner, family, _FAMILIES.get(family.words[-1], family.words[-1]))
            found.routers.append(_finish(inner))


def _finish(process: _Process) -> ObservedRouter:
    neighbours = tuple(process.peers.finish())
    default = process.router.originates_default or process.peers.default
    return replace(process.router, neighbours=neighbours, originates_default=default)


def _read_lines(file: EosFile, process: _Process, head: ConfigLine, family: str) -> None:
    for line in head.children:
        words = list(line.body)
        router = process.router
        if words[0] == "neighbor":
            process.peers.read(line, family)
        elif words[:3] == ["bgp", "listen", "range"]:
            process.peers.listen(line)
        elif words == ["bgp", "default", "ipv4-unicast"]:
            process.peers.has_ipv4 = not line.is_negated
        elif words[0] == "router-id" and len(words) > 1 and not line.is_negated:
            process.router = replace(router, router_id=file.said(words[1], line))
        elif line.body[:4] == ("bgp", "bestpath", "as-path", "multipath-relax"):
            process.router = replace(router, mixes_paths=file.said(not line.is_negated, line))
        elif words[0] == "maximum-paths" and len(words) > 1 and not line.is_negated:
            process.router = replace(router, width=file.number(words[1], 1, MAX_WIDTH, line))
        elif not line.is_negated and words[0] not in {"vrf", "address-family"}:
            process.router = _read_routes(file, router, line, words)


def _read_routes(file: EosFile, router: ObservedRouter, line: ConfigLine, words: list[str]) -> ObservedRouter:
    if words[0] == "redistribute" and len(words) > 1:
        sifted = line.value("route-map")
        text = f"{words[1]} via {sifted}" if sifted else words[1]
        return replace(router, redistributed=(*router.redistributed, file.said(text, line)))
    if words[0] in {"network", "aggregate-address"} and len(words) > 1:
        more = {words[1]} if words[0] == "aggregate-address" else set[str]()
        networks = (*router.networks, file.said(words[1], line))
        return replace(router, networks=networks, aggregates=router.aggregates | more)
    if words[0] == "rd" and len(words) > 1:
        return replace(router, rd=file.said(words[1], line))
    if words[0] == "route-target" and len(words) > 2:
        said = (file.said(words[-1], line),)
        if words[1] in {"import", "both"}:
            router = replace(router, imports=(*router.imports, *said))
        if words[1] in {"export", "both"}:
            router = replace(router, exports=(*router.exports, *said))
        return router
    if words[:2] == ["default-route", "export"] or words[0] == "default-originate":
        return replace(router, originates_default=file.said(value=True, line=line))
    if words[0] not in _SILENT:
        file.pass_over(f"router bgp {words[0]}")
    return router
