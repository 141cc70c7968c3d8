"""VRFs, BGP, tunnels, filters and mirrors of NVUE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weftline.formats.lines import read_number
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import (
    DEFAULT_VRF,
    ObservedFilter,
    ObservedMirror,
    ObservedNeighbour,
    ObservedRouteMap,
    ObservedRouter,
    ObservedRule,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.said import Said
from weftline.vendors.nvue.file import At, NvueDevice

MAX_NUMBER = 4_294_967_295
MAX_VNI = 2**24 - 1
MAX_WIDTH = 1_024
_FAMILIES = {"ipv4-unicast": "ipv4", "ipv6-unicast": "ipv6", "l2vpn-evpn": "evpn"}


def read_vrfs(device: NvueDevice, root: At) -> tuple[ObservedVrf, ...]:
    """Read the VRFs; the default one only where it has routes of its own."""
    found: list[ObservedVrf] = []
    for name, at in root.items("vrf"):
        vnis = [said for text, item in at.items("evpn", "vni") if (said := device.number(item, 1, MAX_VNI, text))]
        routes = tuple(_list_routes(device, at))
        if name != DEFAULT_VRF or routes:
            found.append(ObservedVrf(name, device.place(at), vnis[0] if vnis else None, routes))
    return tuple(found)


def _list_routes(device: NvueDevice, at: At) -> Iterator[Said[str]]:
    for prefix, item in at.items("router", "static"):
        for hop, via in item.items("via"):
            other = via.find("vrf")
            name = other.text if other is not None else None
            yield device.said(f"{prefix} via {hop}" + (f" vrf {name}" if name else ""), via)


def read_routers(device: NvueDevice, root: At) -> tuple[ObservedRouter, ...]:
    """Read the process of each VRF; what it does not say is said for all of them under ``router.bgp``."""
    common = root.find("router", "bgp")
    found: list[ObservedRouter] = []
    for name, vrf in root.items("vrf"):
        at = vrf.find("router", "bgp")
        if at is None:
            continue
        state = device.state(at)
        if state is None or state.value:
            found.append(_read_router(device, name, at, common, vrf))
    return tuple(found)


def _pick(at: At, common: At | None, key: str) -> At | None:
    """Find a setting of the VRF's own process, else that of all."""
    own = at.find(key)
    if own is not None and own.text not in {None, "auto"}:
        return own
    return common.find(key) if common is not None else None


def _read_router(device: NvueDevice, name: str, at: At, common: At | None, vrf: At) -> ObservedRouter:
    number = device.number(_pick(at, common, "autonomous-system"), 1, MAX_NUMBER)
    families = dict(at.items("address-family"))
    ipv4 = families.get("ipv4-unicast")
    groups = {key: _read_peer(device, key, item, number, None) for key, item in at.items("peer-group")}
    neighbours = [
        _read_peer(device, key, item, number, groups.get(_group_of(item) or "")) for key, item in at.items("neighbor")
    ]
    has_default = any(
        said is not None and said.value
        for _, family in families.items()
        for item in (family.find("default-route-origination"),)
        for said in (device.state(item) or device.switch(item),)
    )
    width = device.number(ipv4.find("multipaths", "ebgp"), 1, MAX_WIDTH) if ipv4 is not None else None
    router = ObservedRouter(
        vrf=name,
        where=device.place(at),
        number=number,
        router_id=device.text(_pick(at, common, "router-id")),
        width=width,
        mixes_paths=device.switch(at.find("path-selection", "multipath", "aspath-ignore")),
        neighbours=tuple(neighbours),
        redistributed=tuple(said for family in families.values() for said in _list_redistributed(device, family)),
        networks=tuple(
            device.said(prefix, item)
            for family in families.values()
            for key in ("network", "aggregate-route")
            for prefix, item in family.items(key)
        ),
        aggregates=frozenset(prefix for family in families.values() for prefix, _ in family.items("aggregate-route")),
        originates_default=device.said(value=True, at=at) if has_default else None,
        rd=device.text(at.find("rd")),
        ignores_number=True,
    )
    return _read_targets(device, router, at, tuple(families.values()), vrf)


def _read_targets(
    device: NvueDevice, router: ObservedRouter, at: At, families: tuple[At, ...], vrf: At
) -> ObservedRouter:
    imports = [device.said(text, item) for text, item in at.items("route-import", "from-evpn", "route-target")]
    exports = [device.said(text, item) for text, item in at.items("route-export", "to-evpn", "route-target")]
    leaked: list[Said[str]] = []
    others: list[Said[str]] = []
    for family in (at, *families):
        leaked += [device.said(text, item) for text, item in family.items("route-import", "from-vrf", "list")]
        sieve = family.find("route-import", "from-vrf", "route-map")
        if sieve is not None and sieve.text is not None:
            others.append(device.said(f"route-import from-vrf route-map {sieve.text}", sieve))
    vnis = [device.place(item) for _, item in vrf.items("evpn", "vni")]
    if vnis and router.vrf != DEFAULT_VRF:  # without targets of its own a VRF with a VNI derives them
        imports = imports or [Said("auto", vnis[0])]
        exports = exports or [Said("auto", vnis[0])]
    return replace(
        router, imports=tuple(imports), exports=tuple(exports), imported_vrfs=tuple(leaked), leaks=tuple(others)
    )


def _group_of(at: At) -> str | None:
    group = at.find("peer-group")
    return group.text if group is not None else None


def _read_peer(
    device: NvueDevice, name: str, at: At, own: Said[int] | None, base: ObservedNeighbour | None
) -> ObservedNeighbour:
    """Read a neighbour with what its group adds; IPv4 is on unless it is switched off."""
    peer = base or ObservedNeighbour(name, device.place(at))
    peer = replace(peer, name=name, where=device.place(at))
    remote = at.find("remote-as")
    if remote is not None and remote.text in {"external", "internal"}:
        peer = replace(peer, is_external=device.said(remote.text == "external", remote))
    elif remote is not None:
        number = device.number(remote, 1, MAX_NUMBER)
        outside = None if number is None or own is None else Said(number.value != own.value, number.where)
        peer = replace(peer, number=number, is_external=outside)
    peer = replace(peer, has_bfd=device.state(at.find("bfd")) or peer.has_bfd)
    families = {said.value: said for said in peer.families} or {"ipv4": Said("ipv4", peer.where)}
    for key, family in at.items("address-family"):
        word = _FAMILIES.get(key, key)
        state = device.state(family)
        if state is None or state.value:
            families[word] = Said(word, device.place(family) if state is None else state.where)
        else:
            families.pop(word, None)
        sieve_in = device.text(family.find("policy", "inbound", "route-map"))
        sieve_out = device.text(family.find("policy", "outbound", "route-map"))
        own_again = device.state(family.find("aspath", "allow-my-asn"))
        peer = replace(
            peer,
            filter_in=sieve_in or peer.filter_in,
            filter_out=sieve_out or peer.filter_out,
            allows_own_number=own_again or peer.allows_own_number,
        )
    return replace(peer, families=tuple(families[key] for key in sorted(families)))


def _list_redistributed(device: NvueDevice, family: At) -> Iterator[Said[str]]:
    for kind, item in family.items("redistribute"):
        state = device.state(item)
        if state is not None and not state.value:
            continue
        sieve = item.find("route-map")
        name = sieve.text if sieve is not None else None
        yield device.said(f"{kind} via {name}" if name not in {None, "none"} else kind, item)


def read_tunnel(device: NvueDevice, root: At) -> ObservedTunnel | None:
    """Read the VXLAN end and the VNIs of VLANs."""
    at = root.find("nve", "vxlan")
    state = device.state(at)
    if at is None or (state is not None and not state.value):
        return None
    vnis: list[tuple[int, Said[int]]] = []
    for _, domain in root.items("bridge", "domain"):
        for vlan, item in domain.items("vlan"):
            for text, vni in item.items("vni"):
                number = device.number(item, 1, 4094, vlan)
                if number is not None and text == "auto":
                    vnis.append((number.value, device.said(number.value, vni)))
                elif number is not None and (said := device.number(vni, 1, MAX_VNI, text)) is not None:
                    vnis.append((number.value, said))
    out, back = at.find("encapsulation", "dscp", "action"), at.find("decapsulation", "dscp", "action")
    tunnel = ObservedTunnel(
        device.place(at),
        source=device.text(at.find("source", "address")),
        udp_port=device.number(at.find("port"), 1, 65_535),
        vni_of_vlan=tuple(vnis),
    )
    if out is not None:
        tunnel = replace(tunnel, dscp_out=device.said("copy" if out.text == "copy" else "pipe", out))
    if back is not None and back.text in {"copy", "preserve"}:
        tunnel = replace(tunnel, dscp_in=device.said("copy" if back.text == "copy" else "preserve", back))
    return tunnel


def read_filters(device: NvueDevice, root: At, ports: list[ObservedPort]) -> tuple[ObservedFilter, ...]:
    """Read access lists with where they are bound, and lists of prefixes, which sift routes and no packets."""
    found = [_read_list(device, name, at, ports) for name, at in root.items("acl")]
    names = {one.name for one in found}
    for port in ports:
        for said in (*port.filters_in, *port.filters_out):
            if said.value not in names:
                at = root.find("interface", port.name, "acl", said.value)
                if at is not None:
                    device.blame("artifact.dangling", f"there is no access list {said.value[:60]}", at)
    for name, at in root.items("router", "policy", "prefix-list"):
        rules = tuple(rule for key, item in at.items("rule") for rule in _list_prefixes(device, key, item))
        where = device.place(at)
        found.append(ObservedFilter(f"prefix-list {name}", where, rules=rules, otherwise=Said("deny", where)))
    return tuple(found)


def _permits(rule: At) -> bool:
    return rule.find("action", "permit") is not None or (rule.find("action") or rule).text == "permit"


def read_route_maps(device: NvueDevice, root: At) -> tuple[ObservedRouteMap, ...]:
    """Read route maps; one that is made of anything but permits by lists of prefixes is not plain."""
    found: list[ObservedRouteMap] = []
    for name, at in root.items("router", "policy", "route-map"):
        rules = [rule for _, rule in at.items("rule")]
        lists = tuple(
            Said(f"prefix-list {said.value}", said.where)
            for rule in rules
            if (said := device.text(rule.find("match", "ip-prefix-list"))) is not None
        )
        permits = all(
            (rule.find("action", "permit") or (rule.find("action") or rule).text == "permit") for rule in rules
        )
        keys = {key for rule in rules for part in ("match", "set") for key, _ in rule.items(part)}
        is_plain = len(lists) == len(rules) and permits and keys <= {"ip-prefix-list"}
        found.append(ObservedRouteMap(name, device.place(at), lists, is_plain=is_plain))
    return tuple(found)


def _read_list(device: NvueDevice, name: str, at: At, ports: list[ObservedPort]) -> ObservedFilter:
    rules = tuple(_read_rule(device, key, item) for key, item in at.items("rule"))
    ins = tuple(Said(port.name, said.where) for port in ports for said in port.filters_in if said.value == name)
    outs = tuple(Said(port.name, said.where) for port in ports for said in port.filters_out if said.value == name)
    bound = (*ins, *outs)
    one = ObservedFilter(name, device.place(at), ports=bound, rules=rules)
    return replace(one, stage=Said("in" if ins else "out", bound[0].where)) if bound else one


_PROTOCOLS = frozenset({"udp", "tcp"})
_KNOWN_MATCHES = frozenset({"source-ip", "dest-ip", "protocol", "dest-port"}) | _PROTOCOLS


def _read_rule(device: NvueDevice, key: str, at: At) -> ObservedRule:
    match = at.find("match", "ip")
    action = "permit" if at.find("action", "permit") else "deny" if at.find("action", "deny") else "other"
    words: dict[str, str] = {}
    unread = tuple(name for name, _ in at.items("match") if name != "ip")
    for name, item in match.items() if match is not None else ():
        if name not in _KNOWN_MATCHES:
            unread = (*unread, name)
        elif name in _PROTOCOLS:
            words.setdefault("protocol", name)
            unread = (*unread, *(f"{name}.{way}" for way, _ in item.items() if way != "dest-port"))
            words["dest-port"] = ",".join(port for port, _ in item.items("dest-port"))
        elif name == "dest-port":
            words[name] = ",".join(port for port, _ in item.items())
        elif item.text is not None:
            words[name] = "" if item.text == "ANY" else item.text
    order = read_number(key, 0, MAX_NUMBER) or 0
    source, target, protocol = (words.get(name, "") for name in ("source-ip", "dest-ip", "protocol"))
    return ObservedRule(device.place(at), order, action, source, target, protocol, words.get("dest-port", ""), unread)


def _list_prefixes(device: NvueDevice, key: str, at: At) -> Iterator[ObservedRule]:
    action = "permit" if _permits(at) else "deny"
    order = read_number(key, 0, MAX_NUMBER) or 0
    for prefix, item in at.items("match"):
        high = item.find("max-prefix-len")
        text = prefix if high is None or high.text is None else f"{prefix} le {high.text}"
        yield ObservedRule(device.place(item), order, action, source=text)


def read_mirrors(device: NvueDevice, root: At) -> tuple[ObservedMirror, ...]:
    """Read sessions that copy traffic, and sFlow where it runs."""
    found: list[ObservedMirror] = []
    for name, at in root.items("system", "port-mirror", "session"):
        for kind in ("span", "erspan"):
            inner = at.find(kind)
            if inner is None:
                continue
            ports = tuple(device.said(port, item) for port, item in inner.items("source-port"))
            target = next((device.said(text, item) for text, item in inner.items("destination")), None)
            found.append(ObservedMirror(name, device.place(inner), device.said(kind, inner), target, ports))
    sflow = root.find("system", "sflow")
    state = device.state(sflow)
    if sflow is not None and state is not None and state.value:
        target = next((device.said(text, item) for text, item in sflow.items("collector")), None)
        found.append(ObservedMirror("sflow", device.place(sflow), device.said("sflow", sflow), target))
    return tuple(found)
