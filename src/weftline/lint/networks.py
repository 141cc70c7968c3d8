"""Rules on VRFs and network numbers: maps of one switch that contradict each other, and ports that are in no VRF."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weftline.admit.prefix import is_inside, parse_prefix
from weftline.errors import Place
from weftline.lint.edges import VIRTUAL, is_tenant, list_edges
from weftline.lint.pairing import End
from weftline.lint.rule import Hit, LintSource, Rule, is_used
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.said import Said

RIGHT = "one VNI for a VRF, in every table and on every switch"
_VLAN = re.compile(r"vlan[-_ ]?(\d{1,4})", re.IGNORECASE | re.ASCII)
_APART = re.compile(r"(?:mgmt|management|eth\d|ma\d)", re.IGNORECASE | re.ASCII)
"""Ports of the switch's own management."""


def _judge_maps(source: LintSource) -> Iterator[Hit]:
    """Name VRFs, VLANs and VNIs that one switch maps in two ways: its packets reach another's network, or nobody's."""
    for device in source.switches:
        yield from _judge_twice(device)
        gates = {vlan: port for port in device.ports if (vlan := _find_vlan(port)) is not None}
        vrf_of = {vrf.vni.value: vrf.name for vrf in device.vrfs if vrf.vni is not None}
        mapped = () if device.tunnel is None else device.tunnel.vni_of_vlan
        for vlan, vni in mapped:
            gate = gates.get(vlan)
            vrf = None if gate is None else gate.vrf
            owner = vrf_of.get(vni.value)
            if vrf is None or not is_tenant(vrf.value) or gate is None:
                continue
            if owner is not None and owner != vrf.value:
                words = f"VLAN {vlan} has VNI {vni.value} of VRF {owner}, and its interface is in VRF {vrf.value}"
                yield Hit(device.name, words, vrf.where, RIGHT)
            elif owner is None and not gate.addresses and (own := _find_number(device, vrf.value)) is not None:
                words = f"VLAN {vlan} joins VRF {vrf.value} to VNI {vni.value}, and the VRF has VNI {own.value}"
                yield Hit(device.name, words, vni.where, RIGHT)


def _judge_twice(device: ObservedDevice) -> Iterator[Hit]:
    first: dict[str, Said[int]] = {}
    for vrf in device.vrfs:
        known = None if vrf.vni is None else first.setdefault(vrf.name, vrf.vni)
        if known is not None and vrf.vni is not None and known.value != vrf.vni.value:
            words = f"VRF {vrf.name} has VNI {known.value} here and VNI {vrf.vni.value} in {_show(vrf.vni.where)}"
            yield Hit(device.name, words, known.where, RIGHT)


def _show(where: Place) -> str:
    return where.file.replace("\\", "/").rpartition("/")[2]


def _find_number(device: ObservedDevice, vrf: str) -> Said[int] | None:
    """Find the VNI of a VRF."""
    return next((one.vni for one in device.vrfs if one.name == vrf and one.vni is not None), None)


def _find_vlan(port: ObservedPort) -> int | None:
    if port.routes_vlan is not None:
        return port.routes_vlan.value
    found = _VLAN.fullmatch(port.name)
    return int(found[1]) if found else None


def _judge_ports(source: LintSource) -> Iterator[Hit]:
    """Name ports with hosts that are in the default VRF of a switch whose other hosts are in VRFs."""
    switched = {(here[0].name, here[1].name) for link in source.links for here, far in link.ways if _is_switch(far)}
    right = "the VRF of its host: in the default one are switches and the ends of tunnels"
    for device in source.switches:
        if next(list_edges(device), None) is None:
            continue
        spoken = {peer.name for router in device.routers for peer in router.neighbours}
        for port in device.ports:
            if _is_loose(port, spoken) and (device.name, port.name) not in switched:
                words = "is in the default VRF, and ports of other hosts here are in VRFs of their own"
                yield Hit(device.name, words, port.addresses[0].where, right, (port.name,))


def _is_switch(end: End) -> bool:
    return end[0].role == "switch"


def _is_loose(port: ObservedPort, spoken: set[str]) -> bool:
    """Tell whether a port has an address in the default VRF, and no router speaks by it."""
    if port.vrf is not None and port.vrf.value not in {"", "default"}:
        return False
    is_plug = _find_vlan(port) is None and not port.name.lower().startswith(VIRTUAL) and not _APART.match(port.name)
    if not (is_plug and port.addresses and is_used(port)) or port.name in spoken:
        return False
    peers = [prefix for name in spoken if (prefix := parse_prefix(name)) is not None]
    subnets = [prefix for said in port.addresses if (prefix := parse_prefix(said.value)) is not None]
    return bool(subnets) and not any(is_inside(peer, subnet) for peer in peers for subnet in subnets)


RULES = (
    Rule("tenancy.vni-differs", "warning", _judge_maps, "RFC 7348, 4: the VNI alone separates", ("TEN-08",)),
    Rule("tenancy.port-in-no-vrf", "warning", _judge_ports, "RFC 4364, 3: the port decides the table", ("TEN-07",)),
)
