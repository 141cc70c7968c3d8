"""Tenants in the settings of NVUE: a VRF each over VXLAN, routes by EVPN, and sources checked at the edge."""

from __future__ import annotations

from weftline.formats.settings import Settings
from weftline.model.intent import RoutingIntent
from weftline.model.tenancy import FilterIntent, TenancyIntent, VrfIntent
from weftline.vendors.nvue.spelling import Spelling

LAST_RULE = "65535"


def name_filters(tenancy: TenancyIntent | None) -> dict[int, str]:
    """Name the filter of each port."""
    return {port: one.key for one in (() if tenancy is None else tenancy.filters) for port in one.ports}


def make_filters(tenancy: TenancyIntent, spelling: Spelling) -> Settings:
    """Make what may come in; the last rule drops the rest, which NVUE would let through."""
    return {one.key: {"type": "ipv4", "rule": _make_rules(one, spelling)} for one in tenancy.filters}


def _make_rules(one: FilterIntent, spelling: Spelling) -> Settings:
    matches: list[tuple[Settings, str]] = []
    if one.tunnel_port is not None:
        matches.append(({"protocol": "udp", **spelling.target_port(one.tunnel_port)}, "deny"))
    matches += [({"source-ip": network}, "permit") for network in one.sources]
    rules: dict[str, Settings] = {
        str(10 * (place + 1)): {"match": {"ip": match}, "action": {action: {}}}
        for place, (match, action) in enumerate(matches)
    }
    rules[LAST_RULE] = {"match": {"ip": {"source-ip": "ANY"}}, "action": {"deny": {}}}
    return rules


def make_tunnel(tenancy: TenancyIntent, spelling: Spelling) -> Settings:
    """Make the end of the tunnel; the DSCP is copied to the outside, and the inner one counts again."""
    source: Settings = {} if tenancy.tunnel_source is None else {"source": {"address": tenancy.tunnel_source}}
    return {
        "vxlan": {
            **spelling.on,
            **source,
            "encapsulation": {"dscp": {"action": "copy"}},
            "decapsulation": {"dscp": {"action": "preserve"}},
        }
    }


def make_vrfs(exchange: RoutingIntent, tenancy: TenancyIntent, spelling: Spelling) -> dict[str, Settings]:
    """Make the VRFs with their processes."""
    return {vrf.key: _make_vrf(exchange, vrf, spelling) for vrf in tenancy.vrfs}


def _make_vrf(exchange: RoutingIntent, vrf: VrfIntent, spelling: Spelling) -> Settings:
    evpn: dict[str, Settings | str | int] = {**spelling.on}
    if vrf.vni is not None:
        evpn["vni"] = {str(vrf.vni): {}}
    if vrf.vlan is not None:
        evpn["vlan"] = vrf.vlan
    bgp: dict[str, Settings | str | int] = {**spelling.on}
    if vrf.number is not None:
        bgp["autonomous-system"] = vrf.number
    bgp["router-id"] = exchange.router_address.partition("/")[0]
    if vrf.rd is not None:
        bgp["rd"] = vrf.rd
    bgp["address-family"] = {
        "ipv4-unicast": {
            **spelling.on,
            "redistribute": {"connected": {**spelling.on}},
            "route-export": {"to-evpn": {**spelling.on}},
        }
    }
    if vrf.exports:
        bgp["route-export"] = {"to-evpn": {"route-target": {target: {} for target in vrf.exports}}}
    if vrf.imports:
        bgp["route-import"] = {"from-evpn": {"route-target": {target: {} for target in vrf.imports}}}
    return {"evpn": evpn, "router": {"bgp": bgp}}
