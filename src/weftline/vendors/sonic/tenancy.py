"""Routing and tenancy out of a switch's tables: VRFs, neighbours, the VXLAN end, filters and mirrors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from weftline.formats.config_db_keys import read_number
from weftline.model.observed_routing import (
    DEFAULT_VRF,
    ObservedFilter,
    ObservedMirror,
    ObservedNeighbour,
    ObservedRouter,
    ObservedRule,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.said import Said
from weftline.vendors.sonic.held import SHOWN, Held, Switch
from weftline.vendors.sonic.links import find_port
from weftline.vendors.sonic.ports import Ports

MAX_AS = 4_294_967_295
MAX_VNI = 16_777_215
_TRUE = {"true": True, "false": False}
_VLAN = re.compile(r"(?:Vlan)?([1-9][0-9]{0,3})")
_STAGES: dict[str, Literal["in", "out"]] = {"ingress": "in", "INGRESS": "in", "egress": "out", "EGRESS": "out"}
_ACTIONS: dict[str, Literal["permit", "deny"]] = {
    "FORWARD": "permit",
    "ACCEPT": "permit",
    "DROP": "deny",
}
_MATCHES = (
    ("SRC_IP", "SRC_IPV6"),
    ("DST_IP", "DST_IPV6"),
    ("IP_PROTOCOL", "NEXT_HEADER"),
    ("L4_DST_PORT", "L4_DST_PORT_RANGE"),
)
_SILENT = frozenset({"PRIORITY", "PACKET_ACTION", "PRIORITY_DESC"})
_PLAIN = frozenset(name for names in _MATCHES for name in names) | {"IN_PORTS"} | _SILENT
_ANY = {"IP_TYPE": {"ANY", "IP", "IPV4ANY", "IPV4"}, "ETHER_TYPE": {"2048", "0X800", "0X0800"}}
"""Matches that every IPv4 packet fits."""
_CONTROL = ("CTRLPLANE",)
"""Types of tables that guard the switch itself, not what it forwards."""


def read_vrfs(switch: Switch) -> tuple[ObservedVrf, ...]:
    """Read the VRFs, and the static routes of each; the default one is there where it has routes."""
    routes: dict[str, list[Said[str]]] = {}
    for key, row in switch.rows("STATIC_ROUTE").items():
        vrf, bar, prefix = key.partition("|")
        name, prefix = (vrf, prefix) if bar else (DEFAULT_VRF, vrf)
        routes.setdefault(name, []).extend(Said(f"{prefix} via {hop}", row.place()) for hop in _list_hops(row))
    found = [
        ObservedVrf(name, row.place(), switch.number(row, "vni", 0, MAX_VNI), tuple(routes.pop(name, ())))
        for name, row in switch.rows("VRF").items()
    ]
    for name, held in routes.items():
        if name != DEFAULT_VRF:
            switch.blame_absent("VRF", name, held[0].where)
        found.append(ObservedVrf(name, held[0].where, static_routes=tuple(held)))
    return tuple(found)


def _list_hops(row: Held) -> list[str]:
    """List the next hops of a static route, in whose VRF they are where that is another one."""
    if (row.text("blackhole") or "").startswith("true"):
        return ["blackhole"]
    hops, ports, vrfs = row.items("nexthop"), row.items("ifname"), row.items("nexthop-vrf")
    count = max(len(hops), len(ports), 1)
    found: list[str] = []
    for place in range(count):
        hop = hops[place] if place < len(hops) else ports[place] if place < len(ports) else "?"
        vrf = vrfs[place] if place < len(vrfs) else ""
        found.append(f"{hop} vrf {vrf}" if vrf else hop)
    return found


def read_routers(switch: Switch) -> tuple[ObservedRouter, ...]:
    """Read the routing processes that CONFIG_DB says; where FRR has its own file, that says more."""
    metadata = switch.row("DEVICE_METADATA", "localhost")
    own = None if metadata is None else switch.number(metadata, "bgp_asn", 1, MAX_AS)
    found: dict[str, ObservedRouter] = {}
    if metadata is not None and own is not None:
        found[DEFAULT_VRF] = ObservedRouter(DEFAULT_VRF, own.where, own, metadata.say("bgp_router_id"))
    for name, row in switch.rows("BGP_GLOBALS").items():
        number = switch.number(row, "local_asn", 1, MAX_AS) or own
        found[name] = ObservedRouter(name, row.place(), number, row.say("router_id"))
    for key, row in switch.rows("BGP_GLOBALS_AF").items():
        name, _, family = key.partition("|")
        width = switch.number(row, "max_ebgp_paths", 1, 256) if family == "ipv4_unicast" else None
        if width is not None and name in found:
            found[name] = replace(found[name], width=width)
    for key, row in switch.rows("BGP_NEIGHBOR").items():
        vrf, bar, address = key.partition("|")
        name, address = (vrf, address) if bar else (DEFAULT_VRF, vrf)
        router = found.setdefault(name, ObservedRouter(name, row.place()))
        neighbour = _read_neighbour(switch, row, address, router)
        found[name] = replace(router, neighbours=(*router.neighbours, neighbour))
    return tuple(found.values())


def _read_neighbour(switch: Switch, row: Held, address: str, router: ObservedRouter) -> ObservedNeighbour:
    number = switch.number(row, "asn", 0, MAX_AS)
    is_external = switch.choice(row, "peer_type", {"external": True, "internal": False})
    if is_external is None and number is not None and router.number is not None:
        is_external = Said(number.value != router.number.value, number.where)
    return ObservedNeighbour(address, row.place(), number, is_external, switch.choice(row, "bfd", _TRUE))


def read_tunnel(switch: Switch) -> ObservedTunnel | None:
    """Read the VXLAN end: the first tunnel with a source, and the VNI of each VLAN."""
    pairs: list[tuple[int, Said[int]]] = []
    for key, row in switch.rows("VXLAN_TUNNEL_MAP").items():
        tunnel = key.partition("|")[0]
        if switch.row("VXLAN_TUNNEL", tunnel) is None:
            switch.blame_absent("VXLAN_TUNNEL", tunnel, row.place())
        vni, match = switch.number(row, "vni", 1, MAX_VNI), _VLAN.fullmatch(row.text("vlan") or "")
        if match is None:
            switch.blame("artifact.out-of-range", f"{(row.text('vlan') or '')[:SHOWN]!r} is no VLAN", row.place("vlan"))
        elif vni is not None:
            name = f"Vlan{match[1]}"
            if switch.row("VLAN", name) is None:
                switch.blame_absent("VLAN", name, row.place("vlan"))
            pairs.append((int(match[1]), vni))
    for row in switch.rows("VXLAN_EVPN_NVO").values():
        switch.follow(row, "source_vtep", "VXLAN_TUNNEL")
    tunnels = list(switch.rows("VXLAN_TUNNEL").values())
    if not tunnels:
        return None if not pairs else ObservedTunnel(pairs[0][1].where, vni_of_vlan=tuple(pairs))
    best = next((row for row in tunnels if row.text("src_ip")), tunnels[0])
    return ObservedTunnel(best.place(), best.say("src_ip"), vni_of_vlan=tuple(pairs))


def read_filters(switch: Switch, ports: Ports) -> tuple[ObservedFilter, ...]:
    """Read the filters of forwarded packets and bind them to their ports.

    A packet that no rule matches is forwarded: the chip's tables have no rule at their end unless one is written.
    """
    rules: dict[str, list[tuple[int, ObservedRule]]] = {}
    for key, row in switch.rows("ACL_RULE").items():
        table, _, _ = key.partition("|")
        if switch.row("ACL_TABLE", table) is None:
            switch.blame_absent("ACL_TABLE", table, row.place())
        priority = read_number(row.text("PRIORITY") or "")
        if priority is None:
            switch.blame("artifact.out-of-range", "rule has no PRIORITY that is a number", row.place("PRIORITY"))
        rules.setdefault(table, []).append((-(priority or 0), _read_rule(switch, row, table)))
    found: list[ObservedFilter] = []
    for name, row in switch.rows("ACL_TABLE").items():
        if (row.text("type") or "").upper() in _CONTROL:
            continue
        ordered = sorted(rules.get(name, ()), key=lambda pair: pair[0])
        stage = switch.choice(row, "stage", _STAGES) or _say_stage(row)
        bound = tuple(Said(port, row.place("ports")) for port in row.items("ports"))
        listed = tuple(replace(rule, order=place) for place, (_, rule) in enumerate(ordered))
        found.append(ObservedFilter(name, row.place(), stage, bound, listed, Said("permit", row.place())))
        for port in bound:
            _bind(switch, ports, port, name, stage)
    return tuple(found)


def _say_stage(row: Held) -> Said[Literal["in", "out"]] | None:
    """Say the stage of a table that does not say it, which is ingress. sonic-acl.yang."""
    return Said("in", row.place()) if row.text("stage") is None else None


def _bind(switch: Switch, ports: Ports, said: Said[str], name: str, stage: Said[Literal["in", "out"]] | None) -> None:
    # A VLAN is a place for a filter too, and may have no interface.
    if said.value in switch.rows("VLAN") and said.value not in ports:
        return
    port = find_port(switch, ports, said.value, said.where)
    if port is None:
        return
    bound = Said(name, said.where)
    if stage is not None and stage.value == "out":
        port.filters_out = (*port.filters_out, bound)
    else:
        port.filters_in = (*port.filters_in, bound)


def _read_rule(switch: Switch, row: Held, table: str) -> ObservedRule:
    mirrors = [name for name in row.fields if name.startswith("MIRROR")]
    action = (row.text("PACKET_ACTION") or "").upper()
    read: Literal["permit", "deny", "mirror", "other"] = "mirror" if mirrors else "other"
    if action in _ACTIONS:
        read = _ACTIONS[action]
    source, target, protocol, port = (
        next((text for name in names if (text := row.text(name))), "") for names in _MATCHES
    )
    unread = tuple(
        name
        for name in row.fields
        if name not in _PLAIN and name not in mirrors and (row.text(name) or "").upper() not in _ANY.get(name, ())
    )
    unread += _list_refused(switch, row, table)
    ports = frozenset(row.items("IN_PORTS"))
    return ObservedRule(row.place(), 0, read, source, target, protocol, port, unread, ports)


def _list_refused(switch: Switch, row: Held, table: str) -> tuple[str, ...]:
    """List what a rule matches and its table cannot: the switch does not take such a rule.

    A type of one's own says what it matches. Of the built-in ones for routed packets none lists IN_PORTS in the
    sources that were read (aclorch.cpp), so whether they take it is not known.
    """
    kind = None if (head := switch.row("ACL_TABLE", table)) is None else head.text("type")
    own = None if kind is None else switch.row("ACL_TABLE_TYPE", kind)
    if own is None:
        return ("IN_PORTS",) if "IN_PORTS" in row.fields else ()
    known = {name.upper() for name in own.items("MATCHES")}
    refused = tuple(name for name in row.fields if name not in _SILENT | known and not name.endswith("_ACTION"))
    if refused:
        message = f"a table of type {kind} does not match {refused[0]}, so the switch does not take this rule"
        switch.blame("artifact.unexpected", message, row.place(refused[0]))
    return refused


def read_mirrors(switch: Switch) -> tuple[ObservedMirror, ...]:
    """Read sessions that copy packets, sFlow among them."""
    found: list[ObservedMirror] = []
    for name, row in switch.rows("MIRROR_SESSION").items():
        # Sessions without a type are of releases that knew only the remote one.
        kind = row.say("type") or Said("ERSPAN", row.place())
        target = row.say("dst_port") or row.say("dst_ip")
        ports = tuple(Said(port, row.place("src_port")) for port in row.items("src_port"))
        found.append(ObservedMirror(name, row.place(), kind, target, ports))
    whole = switch.row("SFLOW", "global")
    collectors = [row.say("collector_ip") for row in switch.rows("SFLOW_COLLECTOR").values()]
    sessions = switch.rows("SFLOW_SESSION")
    if whole is not None and whole.text("admin_state") == "up":
        where = whole.place("admin_state")
        named = tuple(Said(key, row.place()) for key, row in sessions.items() if row.text("admin_state") != "down")
        target = next((said for said in collectors if said is not None), None)
        found.append(ObservedMirror("sflow", where, Said("sFlow", where), target, named))
    return tuple(found)
