"""An integrated ``frr.conf`` for one switch: BGP over every link to another switch."""

from __future__ import annotations

from weftline.formats.config_db import interface_name
from weftline.model.artifact import Artifact
from weftline.model.intent import DeviceIntent, PortIntent, RoutingIntent
from weftline.model.tenancy import TenancyIntent
from weftline.vendors.frr.tenants import write_family, write_processes, write_vrfs

NAME = "frr"
GROUP = "FABRIC"
OWN = "OWN"
TELL = "TELL-"
"""Route maps that tell own networks with the rate of a link, by its units."""
BFD = (
    "bfd",
    f" profile {GROUP}",
    "  detect-multiplier 3",
    "  receive-interval 300",
    "  transmit-interval 300",
    " exit",
    "exit",
    "!",
)
"""A link that loses everything and looks up is noticed after 0.9 s, and not after the hold time. RFC 5880, 6.8.4."""


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the file of each switch that exchanges routes."""
    return tuple(
        Artifact(
            path=f"switches/{intent.device}/frr.conf",
            content=_write_file(intent, intent.forwarding.exchange).encode(),
            device=intent.device,
            vendor=NAME,
        )
        for intent in intents
        if intent.role == "switch" and intent.forwarding is not None and intent.forwarding.exchange is not None
    )


def _write_file(intent: DeviceIntent, exchange: RoutingIntent) -> str:
    cage = 1 if intent.platform is None else intent.platform.ports_per_cage
    peers = [(interface_name(port.key, cage), port) for port in intent.ports if port.neighbour_number is not None]
    lines = [
        f"! Routing of {intent.device} of fabric {intent.fabric}; install as /etc/sonic/frr/frr.conf",
        "frr defaults datacenter",
        f"hostname {intent.device}",
        "log syslog informational",
        "service integrated-vtysh-config",
        "!",
        "! Next-hop groups in the kernel keep one member after a link flap (FRR issues 12239, 14481)",
        "no zebra nexthop kernel enable",
        "!",
    ]
    lines += write_vrfs(intent.tenancy)
    for name, port in peers:
        lines += _write_interface(name, port)
    lines += ["! Notices within 0.9 s a link that loses everything and still looks up", *BFD]
    lines += _write_own(exchange)
    lines += _write_told(sorted({port.told_units for _, port in peers if port.told_units is not None}))
    lines += _write_bgp(exchange, peers, intent.tenancy)
    lines += write_processes(exchange, intent.tenancy)
    return "\n".join(lines) + "\n"


def _write_interface(name: str, port: PortIntent) -> list[str]:
    return [
        f"interface {name}",
        f" description port {port.key} to {port.peer}",
        " ipv6 nd ra-interval 1",
        " no ipv6 nd suppress-ra",
        "exit",
        "!",
    ]


def _write_own(exchange: RoutingIntent) -> list[str]:
    lines = [
        f"ip prefix-list {OWN} seq {5 * (place + 1)} permit {network}{'' if network.endswith('/32') else ' le 32'}"
        for place, network in enumerate(exchange.announced)
    ]
    return [*lines, "!", f"route-map {OWN} permit 10", f" match ip address prefix-list {OWN}", "exit", "!"]


def _write_told(units: list[int]) -> list[str]:
    """Write a route map per rate: own networks are told with it, and others as they were heard.

    What a switch tells on has the sum of all that it heard by itself, where every path has a bandwidth. FRR user
    guide, 'Weighted ECMP using BGP link bandwidth'; draft-ietf-idr-link-bandwidth.
    """
    lines: list[str] = []
    for one in units:
        lines += [
            f"route-map {TELL}{one} permit 10",
            f" match ip address prefix-list {OWN}",
            f" set extcommunity bandwidth {one}",
            "exit",
            "!",
            f"route-map {TELL}{one} permit 20",
            "exit",
            "!",
        ]
    return lines


def _write_bgp(
    exchange: RoutingIntent, peers: list[tuple[str, PortIntent]], tenancy: TenancyIntent | None
) -> list[str]:
    lines = [
        f"router bgp {exchange.number}",
        f" bgp router-id {exchange.router_address.partition('/')[0]}",
        " no bgp ebgp-requires-policy",
        " bgp bestpath as-path multipath-relax",
        " timers bgp 3 9",
        f" neighbor {GROUP} peer-group",
        f" neighbor {GROUP} timers connect 1",
        f" neighbor {GROUP} bfd",
        f" neighbor {GROUP} bfd profile {GROUP}",
    ]
    for name, port in peers:
        lines.append(f" neighbor {name} interface remote-as {port.neighbour_number}")
        lines.append(f" neighbor {name} peer-group {GROUP}")
    lines += [" !", " address-family ipv4 unicast"]
    lines += [f"  aggregate-address {network} summary-only" for network in exchange.announced if "/32" not in network]
    lines += [
        f"  redistribute connected route-map {OWN}",
        f"  neighbor {GROUP} activate",
        *(f"  neighbor {name} route-map {TELL}{port.told_units} out" for name, port in peers if port.told_units),
        f"  maximum-paths {exchange.width}",
        " exit-address-family",
        *write_family(exchange, tenancy, GROUP),
        "exit",
        "!",
    ]
    return lines
