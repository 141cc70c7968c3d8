"""Tenants in an ``frr.conf``: a VRF each with a network number, and a routing process that tells its routes by EVPN."""

from __future__ import annotations

from weftline.model.intent import RoutingIntent
from weftline.model.tenancy import TenancyIntent, VrfIntent


def write_vrfs(tenancy: TenancyIntent | None) -> list[str]:
    """Write the VRFs and the network number of each."""
    lines: list[str] = []
    for vrf in () if tenancy is None else tenancy.vrfs:
        number = [] if vrf.vni is None else [f" vni {vrf.vni}"]
        lines += [f"vrf {vrf.key}", *number, "exit-vrf", "!"]
    return lines


def write_family(exchange: RoutingIntent, tenancy: TenancyIntent | None, group: str) -> list[str]:
    """Write the family by which routes of tenants pass; a switch with tenants tells its network numbers too."""
    if not exchange.carries_tenants:
        return []
    own = [] if tenancy is None else ["  advertise-all-vni"]
    return [" !", " address-family l2vpn evpn", f"  neighbor {group} activate", *own, " exit-address-family"]


def write_processes(exchange: RoutingIntent, tenancy: TenancyIntent | None) -> list[str]:
    """Write the routing process of each VRF."""
    lines: list[str] = []
    for vrf in () if tenancy is None else tenancy.vrfs:
        lines += _write_process(exchange, vrf)
    return lines


def _write_process(exchange: RoutingIntent, vrf: VrfIntent) -> list[str]:
    targets = [*(("import", target) for target in vrf.imports), *(("export", target) for target in vrf.exports)]
    return [
        f"router bgp {exchange.number if vrf.number is None else vrf.number} vrf {vrf.key}",
        f" bgp router-id {exchange.router_address.partition('/')[0]}",
        " !",
        " address-family ipv4 unicast",
        "  redistribute connected",
        " exit-address-family",
        " !",
        " address-family l2vpn evpn",
        "  advertise ipv4 unicast",
        *([] if vrf.rd is None else [f"  rd {vrf.rd}"]),
        *(f"  route-target {way} {target}" for way, target in targets),
        " exit-address-family",
        "exit",
        "!",
    ]
