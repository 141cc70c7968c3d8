"""Tenants in a running configuration: a VRF each over VXLAN, routes by EVPN, and sources checked at the edge."""

from __future__ import annotations

from weftline.model.intent import RoutingIntent
from weftline.model.tenancy import FilterIntent, TenancyIntent, VrfIntent

UDP_PORT = 4789
"""RFC 7348, 5."""


def write_vrfs(tenancy: TenancyIntent | None) -> list[str]:
    """Write the VRFs and their routing."""
    lines: list[str] = []
    for vrf in () if tenancy is None else tenancy.vrfs:
        lines += [f"vrf instance {vrf.key}", "!", f"ip routing vrf {vrf.key}", "!"]
    return lines


def name_filters(tenancy: TenancyIntent | None) -> dict[int, str]:
    """Name the filter of each port."""
    return {port: one.key for one in (() if tenancy is None else tenancy.filters) for port in one.ports}


def write_tunnel(tenancy: TenancyIntent | None, router_address: str) -> list[str]:
    """Write the end of the tunnel: DSCP and marks are copied to the outside, and the inner DSCP counts again."""
    if tenancy is None:
        return []
    lines: list[str] = []
    source = "Loopback0"
    if tenancy.tunnel_source is not None and tenancy.tunnel_source != router_address.partition("/")[0]:
        source = "Loopback1"
        lines += [f"interface {source}", f"   ip address {tenancy.tunnel_source}/32", "!"]
    lines.append("interface Vxlan1")
    if tenancy.tunnel_source is not None:
        lines.append(f"   vxlan source-interface {source}")
    lines.append(f"   vxlan udp-port {UDP_PORT}")
    lines += [f"   vxlan vrf {vrf.key} vni {vrf.vni}" for vrf in tenancy.vrfs if vrf.vni is not None]
    return [
        *lines,
        "   vxlan qos ecn propagation",
        "   vxlan qos dscp propagation encapsulation",
        "   vxlan qos map dscp to traffic-class decapsulation",
        "!",
    ]


def write_filters(tenancy: TenancyIntent | None) -> list[str]:
    """Write what may come in: what no rule permits is dropped."""
    lines: list[str] = []
    for one in () if tenancy is None else tenancy.filters:
        lines += [*_write_filter(one), "!"]
    return lines


def _write_filter(one: FilterIntent) -> list[str]:
    rules = [] if one.tunnel_port is None else [f"deny udp any any eq {one.tunnel_port}"]
    rules += [f"permit ip {_write_source(network)} any" for network in one.sources]
    return [f"ip access-list {one.key}", *(f"   {10 * (place + 1)} {rule}" for place, rule in enumerate(rules))]


def _write_source(network: str) -> str:
    """Write a network; a lone address as the switch itself shows it."""
    address, _, length = network.partition("/")
    return f"host {address}" if length == "32" else network


def write_family(exchange: RoutingIntent, tenancy: TenancyIntent | None, group: str) -> list[str]:
    """Write the family by which routes of tenants pass; a switch that only passes them on keeps their next hop."""
    if not exchange.carries_tenants:
        return []
    keeps = ["      bgp next-hop-unchanged"] if tenancy is None else []
    return ["   !", "   address-family evpn", f"      neighbor {group} activate", *keeps]


def write_processes(exchange: RoutingIntent, tenancy: TenancyIntent | None) -> list[str]:
    """Write the part of the routing process in each VRF."""
    lines: list[str] = []
    for vrf in () if tenancy is None else tenancy.vrfs:
        lines += _write_process(exchange, vrf)
    return lines


def _write_process(exchange: RoutingIntent, vrf: VrfIntent) -> list[str]:
    return [
        "   !",
        f"   vrf {vrf.key}",
        *([] if vrf.rd is None else [f"      rd {vrf.rd}"]),
        *(f"      route-target import evpn {target}" for target in vrf.imports),
        *(f"      route-target export evpn {target}" for target in vrf.exports),
        f"      router-id {exchange.router_address.partition('/')[0]}",
        "      redistribute connected",
    ]
