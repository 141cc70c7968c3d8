"""Ports, bundles and interfaces out of a switch's tables: the link, the address, the VLAN and the VRF of each."""

from __future__ import annotations

import ipaddress
import re
from typing import Literal

from weftline.errors import Place
from weftline.formats.config_db_keys import read_length, read_numbers
from weftline.model.said import Said
from weftline.vendors.sonic.held import SHOWN, Held, Switch
from weftline.vendors.sonic.ports import PortDraft, Ports

MAX_MBPS = 1_600_000
"""The fastest that sonic-port.yang takes."""
MIN_MTU, MAX_MTU = 68, 9216
MAX_LANES = 16
UNPLUGGED = ("PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE", "VLAN_SUB_INTERFACE")
_UP = {"up": True, "down": False}
_ON: dict[str, bool] = {"on": True, "off": False}
_FEC: dict[str, str] = {"rs": "rs", "fc": "fc", "none": "none", "auto": "auto"}
_ALIAS = re.compile(r"etp([1-9][0-9]{0,3})([a-h]?)")
_VLAN = re.compile(r"Vlan([1-9][0-9]{0,3})")


def read_ports(switch: Switch) -> Ports:
    """Read every port and interface by name, plugs first."""
    ports: Ports = {}
    for name, row in switch.rows("PORT").items():
        ports[name] = _read_port(switch, name, row)
    _number(switch, ports)
    for name, row in switch.rows("PORTCHANNEL").items():
        ports[name] = PortDraft(
            name, row.place(), is_up=switch.choice(row, "admin_status", _UP), mtu=_read_mtu(switch, row)
        )
    _read_lengths(switch, ports)
    _read_peers(switch, ports)
    _read_members(switch, ports)
    _read_interfaces(switch, ports)
    return ports


def _read_port(switch: Switch, name: str, row: Held) -> PortDraft:
    speed = switch.number(row, "speed", 1, MAX_MBPS)
    return PortDraft(
        name,
        row.place(),
        is_up=switch.choice(row, "admin_status", _UP),
        peer=row.say("description"),
        rate_gbps=None if speed is None else Said(speed.value / 1000, speed.where),
        lanes=_read_lanes(switch, row),
        fec=switch.choice(row, "fec", _FEC),
        is_negotiating=switch.choice(row, "autoneg", _ON),
        mtu=_read_mtu(switch, row),
        is_asymmetric=switch.choice(row, "pfc_asym", _ON),
    )


def _read_mtu(switch: Switch, row: Held) -> Said[int] | None:
    return switch.number(row, "mtu", MIN_MTU, MAX_MTU)


def _read_lanes(switch: Switch, row: Held) -> Said[tuple[int, ...]] | None:
    text = row.text("lanes")
    if not text:
        return None
    lanes = read_numbers(text)
    if lanes is None or len(lanes) > MAX_LANES:
        switch.blame("artifact.out-of-range", f"{text[:SHOWN]!r} is no list of lanes", row.place("lanes"))
        return None
    return Said(lanes, row.place("lanes"))


def _number(switch: Switch, ports: Ports) -> None:
    """Number the ports as the switch's front does, where aliases of one form say it: etp1, or etp1a and etp1b."""
    found = {name: _ALIAS.fullmatch(switch.rows("PORT")[name].text("alias") or "") for name in ports}
    letters = {bool(match[2]) for match in found.values() if match is not None}
    if len(letters) != 1 or None in found.values():
        return
    per_cage = max((ord(match[2] or "a") - ord("a") + 1 for match in found.values() if match is not None), default=1)
    taken: dict[int, str] = {}
    for name, match in found.items():
        if match is None:
            continue
        number = (int(match[1]) - 1) * per_cage + ord(match[2] or "a") - ord("a") + 1
        where = switch.rows("PORT")[name].place("alias")
        if number in taken:
            switch.blame("artifact.said-twice", f"alias {match[0]} is that of {taken[number]} too", where)
        taken[number] = name
        ports[name].number = Said(number, where)


def find_port(switch: Switch, ports: Ports, name: str, where: Place) -> PortDraft | None:
    """Return a port; one that no file defines is made where only a part of the tables was given, else blamed."""
    if name in ports:
        return ports[name]
    if not switch.knows("PORT"):
        ports[name] = PortDraft(name, where)
        return ports[name]
    switch.blame("artifact.dangling", f"there is no port {name[:SHOWN]!r}", where, severity="warning")
    return None


def _read_lengths(switch: Switch, ports: Ports) -> None:
    for row in switch.rows("CABLE_LENGTH").values():
        for name in row.fields:
            where = row.place(name)
            port = find_port(switch, ports, name, where)
            length = read_length(row.text(name) or "")
            if length is None:
                text = (row.text(name) or "")[:SHOWN]
                switch.blame("artifact.out-of-range", f"{text!r} is no length in metres, as 40m", where)
            elif port is not None:
                port.length_m = Said(float(length), where)


def _read_peers(switch: Switch, ports: Ports) -> None:
    for key, row in switch.rows("DEVICE_NEIGHBOR").items():
        # The key is the port; in releases before 2018 it was the neighbour, and a field named the port.
        name = row.text("local_port") or key
        port = find_port(switch, ports, name, row.place())
        device, far = row.text("name"), row.text("port")
        if port is not None and device:
            port.peer = Said(f"{device}/{far}" if far else device, row.place("name"))


Member = tuple[str, str, Place]
"""A bundle or VLAN, a port in it, and where that is said."""


def _list_members(switch: Switch, table: Literal["PORTCHANNEL", "VLAN"]) -> list[Member]:
    """List members from the table of members and from the lists that older releases had."""
    found: list[Member] = []
    held = switch.rows(f"{table}_MEMBER")
    for key, row in held.items():
        group, bar, name = key.partition("|")
        if bar:
            found.append((group, name, row.place()))
        else:
            switch.blame("artifact.out-of-range", f"key {key[:SHOWN]!r} names no member", row.place())
    for group, row in switch.rows(table).items():
        where = row.place("members")
        found += [(group, name, where) for name in row.items("members") if f"{group}|{name}" not in held]
    for group, _, where in found:
        if group not in switch.rows(table):
            switch.blame_absent(table, group, where)
    return found


def _read_members(switch: Switch, ports: Ports) -> None:
    """Say which bundle a port is in, and which VLANs."""
    for group, name, where in _list_members(switch, "PORTCHANNEL"):
        port = find_port(switch, ports, name, where)
        if port is None:
            continue
        if port.bundle is not None and port.bundle.value != group:
            switch.blame("artifact.said-twice", f"{name} is in {port.bundle.value} too", where)
        port.bundle = Said(group, where)
    for group, name, where in _list_members(switch, "VLAN"):
        port, match = find_port(switch, ports, name, where), _VLAN.fullmatch(group)
        if port is not None and match:
            port.vlans = (*port.vlans, Said(int(match[1]), where))


def _read_interfaces(switch: Switch, ports: Ports) -> None:
    for table in ("INTERFACE", *UNPLUGGED):
        for key, row in switch.rows(table).items():
            name, bar, address = key.partition("|")
            where = row.place()
            port = _find_interface(switch, ports, table, name, where)
            if port is None:
                continue
            if bar:
                _check_address(switch, address, where)
                port.addresses = (*port.addresses, Said(address, where))
                continue
            vrf = row.say("vrf_name")
            if vrf is not None and vrf.value not in {"default", *switch.rows("VRF")}:
                switch.blame_absent("VRF", vrf.value, vrf.where)
            port.vrf = vrf or port.vrf


def _find_interface(switch: Switch, ports: Ports, table: str, name: str, where: Place) -> PortDraft | None:
    """Return an interface; loopbacks and subinterfaces are defined by these very rows."""
    if name in ports or table == "INTERFACE":
        return find_port(switch, ports, name, where)
    if table in {"PORTCHANNEL_INTERFACE", "VLAN_INTERFACE"} and name not in switch.rows(table[:-10]):
        switch.blame_absent(table[:-10], name, where)
    match, vlan = _VLAN.fullmatch(name), switch.row("VLAN", name)
    ports[name] = PortDraft(
        name,
        where,
        mtu=None if vlan is None else _read_mtu(switch, vlan),
        routes_vlan=Said(int(match[1]), where) if match else None,
    )
    return ports[name]


def _check_address(switch: Switch, text: str, where: Place) -> None:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        message = f"{text[:SHOWN]!r} is no address with its prefix length"
        switch.blame("artifact.out-of-range", message, where)
