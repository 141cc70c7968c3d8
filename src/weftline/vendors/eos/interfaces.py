"""Interfaces of a running configuration, as observed ports."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from weftline.formats.config_text import ConfigLine
from weftline.formats.eos import expand_numbers
from weftline.model.observed_port import ObservedPort, Ways
from weftline.model.said import Said
from weftline.vendors.eos.file import EosFile
from weftline.vendors.eos.traffic import Traffic, apply_lines

MAX_MTU = 65_535
_SPEED = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)(g|full|gfull)(?:-\d)?")
_FEC = {"reed-solomon": "rs", "fire-code": "fc"}
_TRAFFIC = frozenset({"qos", "priority-flow-control", "tx-queue", "uc-tx-queue", "mc-tx-queue", "shape"})
_SILENT = frozenset({
    "load-interval", "logging", "snmp", "lldp", "ipv6", "arp", "spanning-tree", "storm-control", "ptp", "bfd",
    "comment", "no", "default", "mac", "phy", "link-debounce", "l2", "dcbx", "unidirectional", "traffic-loopback",
    "encapsulation", "l2-protocol", "lacp", "port-channel", "mode", "transceiver", "poe", "dot1x", "pim", "isis",
    "tcp", "ntp", "igmp", "multicast", "mpls", "vmtracer", "bgp", "link", "evpn", "hardware", "traffic-policy",
    "flow", "sflow", "vxlan", "counter", "errdisable", "service-profile", "mld", "dhcp", "nat", "macsec", "monitor",
    "address", "vrrp", "lag",
})  # fmt: skip
"""Lines of an interface that decide nothing of what is judged, or are read elsewhere."""


def read_interfaces(
    file: EosFile, heads: list[ConfigLine], profiles: Mapping[str, ConfigLine]
) -> dict[str, tuple[ObservedPort, Traffic]]:
    """Read all interfaces; lines of a profile stand under those of the interface that it serves."""
    found: dict[str, tuple[ObservedPort, Traffic]] = {}
    for head in heads:
        text = "".join(head.words[1:])
        for name in file.expand(text, head) if text else ():
            port, traffic = found.get(name) or (ObservedPort(name, file.place(head)), Traffic())
            port = _read_lines(file, port, head)
            _serve(file, traffic, head, profiles)
            apply_lines(file, traffic, head.children, name)
            found[name] = (port, traffic)
    return found


def _serve(file: EosFile, traffic: Traffic, head: ConfigLine, profiles: Mapping[str, ConfigLine]) -> None:
    for line in head.children:
        if not line.starts("service-profile") or len(line.words) < 2:
            continue
        profile = profiles.get(line.words[1])
        if profile is None:
            file.blame("artifact.dangling", f"there is no qos profile {line.words[1][:60]}", line)
        else:
            apply_lines(file, traffic, profile.children, line.words[1])


def _read_lines(file: EosFile, port: ObservedPort, head: ConfigLine) -> ObservedPort:
    for line in head.children:
        word = line.body[0]
        read = _LINES.get(word)
        if read is not None:
            port = read(file, port, line, list(line.body[1:]))
        elif not line.is_negated and word not in _TRAFFIC and word not in _SILENT:
            file.pass_over(f"interface {word}")
    return port


def _read_description(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    return replace(port, peer=None if line.is_negated else file.said(" ".join(words), line))


def _read_shutdown(file: EosFile, port: ObservedPort, line: ConfigLine, _: list[str]) -> ObservedPort:
    return replace(port, is_up=file.said(line.is_negated, line))


def _read_mtu(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    if line.is_negated or not words:
        return port
    return replace(port, mtu=file.number(words[0], 68, MAX_MTU, line))


def _read_speed(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    """Read ``100g-2``, ``forced 25gfull``, ``auto 100full``; plain numbers are Mb/s."""
    match = _SPEED.fullmatch(words[-1]) if words and not line.is_negated else None
    if match is None:
        return port
    rate = float(match[1]) / (1 if match[2].startswith("g") else 1_000)
    said = file.said(rate, line)
    return replace(port, rate_gbps=said, is_negotiating=file.said(words[0] == "auto", line))


def _read_fec(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    if words[:1] != ["encoding"]:
        return port
    if line.words[0] == "no" and len(words) == 1:
        return replace(port, fec=file.said("none", line))
    kind = _FEC.get(words[1]) if len(words) > 1 and not line.is_negated else None
    return port if kind is None else replace(port, fec=file.said(kind, line))


def _read_ip(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    if words[:1] == ["address"] and len(words) > 1 and not line.is_negated:
        word = words[2] if words[1] == "virtual" and len(words) > 2 else words[1]
        return replace(port, addresses=(*port.addresses, file.said(word, line))) if "/" in word else port
    if words[:1] == ["access-group"] and len(words) > 2 and not line.is_negated:
        said = file.said(words[1], line)
        if words[2] == "in":
            return replace(port, filters_in=(*port.filters_in, said))
        return replace(port, filters_out=(*port.filters_out, said))
    if words[:2] == ["verify", "unicast"]:
        kind = "off" if line.is_negated else "strict" if words[-1] == "rx" else "loose"
        return replace(port, checks_source=file.said(kind, line))
    return port


def _read_vrf(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    name = words[-1] if words else None  # also ``vrf forwarding A`` of older releases
    return port if name is None or line.is_negated else replace(port, vrf=file.said(name, line))


def _read_bundle(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    if line.is_negated or not words:
        return port
    return replace(port, bundle=file.said(f"Port-Channel{words[0]}", line))


def _read_switchport(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    if line.is_negated or words[:2] not in (["access", "vlan"], ["trunk", "allowed"]):
        return port
    vlans = [file.said(number, line) for number in expand_numbers(words[-1]) or ()]
    return replace(port, vlans=(*port.vlans, *vlans))


def _read_flow(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    """Join ``flowcontrol send`` and ``receive``; ``desired`` leaves it to the other end, so it may well be on."""
    if not words or words[0] not in {"send", "receive"}:
        return port
    before = port.link_pause.value if port.link_pause is not None else "off"
    is_on = not line.is_negated and words[1:2] != ["off"]
    sends = is_on if words[0] == "send" else before in {"tx", "both"}
    takes = is_on if words[0] == "receive" else before in {"rx", "both"}
    ways: Ways = "both" if sends and takes else "tx" if sends else "rx" if takes else "off"
    return replace(port, link_pause=file.said(ways, line))


def _read_policy(file: EosFile, port: ObservedPort, line: ConfigLine, words: list[str]) -> ObservedPort:
    if not line.is_negated and words[:2] == ["type", "qos"]:
        file.pass_over("interface service-policy type qos")  # it may sort packets anew
    return port


_LINES: dict[str, Callable[[EosFile, ObservedPort, ConfigLine, list[str]], ObservedPort]] = {
    "description": _read_description,
    "shutdown": _read_shutdown,
    "mtu": _read_mtu,
    "speed": _read_speed,
    "error-correction": _read_fec,
    "ip": _read_ip,
    "vrf": _read_vrf,
    "channel-group": _read_bundle,
    "switchport": _read_switchport,
    "flowcontrol": _read_flow,
    "service-policy": _read_policy,
}
_NAME = re.compile(r"Ethernet(\d{1,4})(?:/(\d{1,2}))?")
LANES = 8


def number_ports(ports: list[ObservedPort]) -> list[ObservedPort]:
    """Count the plugs of a fixed switch as printed: by cages, and within a cage by the lanes that ports start at."""
    parts = {port.name: _NAME.fullmatch(port.name) for port in ports}
    lanes = sorted({int(match[2]) for match in parts.values() if match is not None and match[2] is not None})
    if lanes and (lanes[0] < 1 or lanes[-1] > LANES):
        return ports  # a line card of a modular switch: its numbers are slots
    step = math.gcd(LANES, *(lane - 1 for lane in lanes))
    per_cage = LANES // step
    found: list[ObservedPort] = []
    for port in ports:
        match = parts[port.name]
        if match is None:
            found.append(port)
            continue
        place = (int(match[2]) - 1) // step if match[2] is not None else 0
        key = (int(match[1]) - 1) * (per_cage if lanes else 1) + place + 1
        found.append(replace(port, number=Said(key, port.where)))
    return found
