"""Interfaces of NVUE as observed ports."""

from __future__ import annotations

import re
from dataclasses import replace

from weftline.model.observed_port import ObservedPort, ObservedWatchdog
from weftline.model.said import Said
from weftline.vendors.nvue.file import At, NvueDevice
from weftline.vendors.nvue.traffic import KINDS, Profiles, start_port

MAX_MTU = 65_535
_SPEED = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)([GM])")
_PLUG = re.compile(r"swp(\d{1,4})(?:s(\d{1,2}))?")
_SILENT = frozenset({
    "type", "ip", "ipv4", "ipv6", "vrf", "description", "link", "qos", "bond", "bridge", "acl", "vlan", "evpn",
    "router", "telemetry", "lldp", "ptp", "storm-control", "base-interface", "synce", "dot1x", "port-security",
    "tunnel",
})  # fmt: skip
_SILENT_QOS = frozenset({*KINDS, "pfc-watchdog", "roce", "egress-shaper", "buffer"})


def read_interfaces(device: NvueDevice, root: At, watchdog: ObservedWatchdog | None) -> list[ObservedPort]:
    """Read all interfaces with what their profiles, and the watchdog of all ports, give them."""
    profiles = Profiles(device, root.find("qos"), watchdog)
    ports = [_read_interface(device, name, at, profiles) for name, at in root.items("interface") if not _is_split(at)]
    bundles = {
        member: device.said(name, item)
        for name, at in root.items("interface")
        for member, item in at.items("bond", "member")
    }
    return number_ports([_follow(port, bundles, ports) for port in ports])


def _is_split(at: At) -> bool:
    """Say whether a plug is split: it is then only the name of its parts."""
    return any(key not in {"1x", "disabled", "none"} for key in at.list_keys("link", "breakout"))


def _follow(port: ObservedPort, bundles: dict[str, Said[str]], ports: list[ObservedPort]) -> ObservedPort:
    """Give a member of a LAG its VRF, VLANs and addresses; traffic is each member's own."""
    said = bundles.get(port.name)
    if said is None:
        return port
    whole = next((one for one in ports if one.name == said.value), None)
    port = replace(port, bundle=said)
    return port if whole is None else replace(port, vrf=port.vrf or whole.vrf, vlans=port.vlans or whole.vlans)


def _read_interface(device: NvueDevice, name: str, at: At, profiles: Profiles) -> ObservedPort:
    port = ObservedPort(name, device.place(at))
    link = at.find("link")
    addresses = [
        device.said(address, item)
        for family in ("ip", "ipv4", "ipv6")
        for address, item in at.items(family, "address")
        if "/" in address
    ]
    vlans = [
        said
        for domain, _ in at.items("bridge", "domain")
        for key in ("access", "untagged", "vlan")
        for text, item in at.items("bridge", "domain", domain, key)
        if (said := device.number(item, 1, 4094, text)) is not None
    ]
    port = replace(
        port,
        peer=device.text(at.find("description")),
        mtu=device.number(link.find("mtu"), 68, MAX_MTU) if link is not None else None,
        is_up=None if link is None else _read_state(device, link),
        rate_gbps=None if link is None else _read_speed(device, link.find("speed")),
        fec=None if link is None else _read_fec(device, link.find("fec")),
        is_negotiating=device.switch(link.find("auto-negotiate")) if link is not None else None,
        addresses=tuple(addresses),
        vrf=device.text(at.find("vrf")) or device.text(at.find("ip", "vrf")),
        vlans=tuple(vlans),
        routes_vlan=device.number(at.find("vlan"), 1, 4094),
        filters_in=tuple(device.said(acl, item) for acl, item in at.items("acl") if item.find("inbound")),
        filters_out=tuple(device.said(acl, item) for acl, item in at.items("acl") if item.find("outbound")),
    )
    for key in at.list_keys():
        if key not in _SILENT:
            device.pass_over("interface", "*", key)
    return _serve(device, port, at, profiles) if _PLUG.fullmatch(name) else port


def _read_state(device: NvueDevice, link: At) -> Said[bool] | None:
    state = link.find("state") or link.find("admin-status")
    if state is None:
        return None
    word = state.text or next(iter(state.setting.children), None)
    return None if word not in {"up", "down"} else device.said(word == "up", state)


def _read_fec(device: NvueDevice, at: At | None) -> Said[str] | None:
    word = {"rs": "rs", "baser": "fc", "off": "none"}.get(at.text or "") if at is not None else None
    return None if at is None or word is None else device.said(word, at)


def _read_speed(device: NvueDevice, at: At | None) -> Said[float] | None:
    match = _SPEED.fullmatch(at.text) if at is not None and at.text is not None else None
    if at is None or match is None:
        if at is not None and at.text not in {None, "auto"}:
            device.blame("artifact.out-of-range", f"{str(at.text)[:40]!r} is no speed", at)
        return None
    return device.said(float(match[1]) / (1 if match[2] == "G" else 1_000), at)


def _serve(device: NvueDevice, port: ObservedPort, at: At, profiles: Profiles) -> ObservedPort:
    bound: dict[str, tuple[str, At]] = {}
    for kind in KINDS:
        profile = at.find("qos", kind, "profile")
        if profile is not None and profile.text is not None:
            bound[kind] = (profile.text, profile)
    for key in at.list_keys("qos"):
        if key not in _SILENT_QOS:
            device.pass_over("interface", "*", "qos", key)
    port = profiles.serve(start_port(port, profiles), bound)
    dog = device.state(at.find("qos", "pfc-watchdog"))
    if dog is None:
        return port
    pauses = port.pauses.value if port.pauses is not None else ()
    timers = profiles.watchdog
    watchdog = timers if dog.value and timers is not None and timers.detect_ms is not None else None
    return replace(port, watched=Said(pauses if dog.value else (), dog.where), watchdog=watchdog)


def number_ports(ports: list[ObservedPort]) -> list[ObservedPort]:
    """Count the plugs as printed, where all cages are split alike; else a number would name two ports."""
    parts = {port.name: match for port in ports if (match := _PLUG.fullmatch(port.name)) is not None}
    splits = {match[2] is not None for match in parts.values()}
    if len(splits) != 1:
        return ports
    per_cage = max((int(match[2]) + 1 for match in parts.values() if match[2] is not None), default=1)
    found: list[ObservedPort] = []
    for port in ports:
        match = parts.get(port.name)
        if match is None:
            found.append(port)
            continue
        key = (int(match[1]) - 1) * per_cage + int(match[2] or 0) + 1
        found.append(replace(port, number=Said(key, port.where)))
    return found
