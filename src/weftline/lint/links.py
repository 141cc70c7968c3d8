"""Rules on links: what both ends must say alike besides pauses and frame sizes, and who is at the other end."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import TypeAlias

from weftline.lint.pairing import End, Link, find_claims
from weftline.lint.rule import Hit, LintSource, Rule, is_used, show_place
from weftline.model.observed_port import ObservedPort

Interface: TypeAlias = ipaddress.IPv4Interface | ipaddress.IPv6Interface
_UNSURE = frozenset({"auto", ""})


def _judge_ends(source: LintSource) -> Iterator[Hit]:
    """A link whose ends run at two rates, or with two codes, does not come up."""
    for link in source.links:
        (device, port), (other_device, other) = link.a, link.b
        if not (is_used(port) and is_used(other)):
            continue
        at = f"{other_device.name}/{other.name}"
        if port.rate_gbps is not None and other.rate_gbps is not None and port.rate_gbps.value != other.rate_gbps.value:
            words = f"it runs at {port.rate_gbps.value:g} Gb/s, and {at} at {other.rate_gbps.value:g} Gb/s"
            where = other.rate_gbps.where
            yield Hit(
                device.name,
                f"{words} ({show_place(where)})",
                port.rate_gbps.where,
                "one rate at both ends",
                (port.name,),
            )
        codes = {_UNSURE.isdisjoint({said.value}) and said.value for said in (port.fec, other.fec) if said is not None}
        if port.fec is not None and other.fec is not None and False not in codes and len(codes) > 1:
            words = f"FEC is {port.fec.value}, and {other.fec.value} at {at} ({show_place(other.fec.where)})"
            yield Hit(device.name, words, port.fec.where, "one FEC at both ends", (port.name,))


def _judge_shut(source: LintSource) -> Iterator[Hit]:
    """A link that is shut at one end is a way less than the fabric was made for."""
    for link in source.links:
        for (device, port), (other_device, other) in link.ways:
            if port.is_up is not None and not port.is_up.value and other.is_up is not None and other.is_up.value:
                words = f"it is shut, and {other_device.name}/{other.name} at its other end is not"
                yield Hit(device.name, words, port.is_up.where, "both ends up, or both shut", (port.name,))


def _judge_length(source: LintSource) -> Iterator[Hit]:
    """A cable has one length; the end that believes the smaller one has too little headroom."""
    for link in source.links:
        for (device, port), (other_device, other) in link.ways:
            if port.length_m is None or other.length_m is None or port.length_m.value >= other.length_m.value:
                continue
            words = (
                f"its cable has {port.length_m.value:g} m, and {other.length_m.value:g} m by "
                f"{other_device.name}/{other.name} ({show_place(other.length_m.where)})"
            )
            yield Hit(device.name, words, port.length_m.where, "the real length at both ends", (port.name,))


def _judge_claims(source: LintSource) -> Iterator[Hit]:
    """Where two ports name one port, or a port names one that names another, a cable or a description is wrong."""
    for (device, port), (met_device, met), (third_device, third) in find_claims(source.devices):
        if port.peer is None:
            continue
        words = (
            f"it names {port.peer.value}, and {met_device.name}/{met.name} belongs to {third_device.name}/{third.name}"
        )
        yield Hit(device.name, words, port.peer.where, "the port at the other end of the cable", (port.name,))


def _judge_subnet(source: LintSource) -> Iterator[Hit]:
    for link in source.links:
        (device, port), (other_device, other) = link.a, link.b
        for version in (4, 6):
            mine, theirs = _list_addresses(port, version), _list_addresses(other, version)
            if mine and theirs and not any(a.network.overlaps(b.network) for a in mine for b in theirs):
                words = f"it has {mine[0]}, and {other_device.name}/{other.name} at its other end has {theirs[0]}"
                where = f" ({show_place(other.addresses[0].where)})"
                right = "addresses of one subnet at both ends"
                yield Hit(device.name, words + where, port.addresses[0].where, right, (port.name,))


def _judge_twice(source: LintSource) -> Iterator[Hit]:
    """One address at two plugs of one VRF; gateways of VLANs and loopbacks may be shared on purpose."""
    first: dict[tuple[str, str], End] = {}
    for device in source.devices:
        for port in device.ports:
            if not is_used(port) or (port.rate_gbps is None and port.lanes is None and port.nic is None):
                continue
            vrf = "" if port.vrf is None else port.vrf.value
            for said in port.addresses:
                address = said.value.partition("/")[0]
                other_device, other = first.setdefault((vrf, address), (device, port))
                if other is not port and not address.lower().startswith("fe80:"):
                    words = f"address {address} is that of {other_device.name}/{other.name} too"
                    yield Hit(device.name, words, said.where, "an address for each port", (port.name,))


def _judge_lanes(source: LintSource) -> Iterator[Hit]:
    """Of two ports with one lane the device brings up one at most."""
    for device in source.switches:
        taken: dict[int, ObservedPort] = {}
        for port in device.ports:
            if port.lanes is None or not is_used(port):
                continue
            other = next((taken[lane] for lane in port.lanes.value if lane in taken), None)
            if other is not None:
                words = f"it has lanes of {other.name}"
                yield Hit(device.name, words, port.lanes.where, "lanes of its own for each port", (port.name,))
            taken.update(dict.fromkeys(port.lanes.value, port))


def _list_addresses(port: ObservedPort, version: int) -> list[Interface]:
    found: list[Interface] = []
    for said in port.addresses:
        try:
            address = ipaddress.ip_interface(said.value)
        except ValueError:
            continue
        if address.version == version and "/" in said.value and not address.ip.is_link_local:
            found.append(address)
    return found


def list_networked(links: tuple[Link, ...]) -> Iterator[Link]:
    """List the links whose both ends are switches that route."""
    for link in links:
        if all(device.role == "switch" and device.routers for device, _ in (link.a, link.b)):
            yield link


RULES = (
    Rule("link.ends-differ", "critical", _judge_ends, "IEEE 802.3: one rate and one FEC at both ends of a link"),
    Rule("link.one-end-shut", "warning", _judge_shut, "a way less than declared, and the job waits for the slowest"),
    Rule("link.length-differs", "warning", _judge_length, "sonic-swss pull request 4004: headroom after recabling"),
    Rule("link.lanes-twice", "warning", _judge_lanes, "breakout of a cage that was changed for one port alone"),
    Rule("link.claims-differ", "warning", _judge_claims, "cables and descriptions drift apart; Meta, SIGCOMM 2024"),
    Rule("link.other-subnet", "critical", _judge_subnet, "the neighbour is never resolved"),
    Rule("link.address-twice", "warning", _judge_twice, "RFC 5227: which of two answers is chance"),
)
