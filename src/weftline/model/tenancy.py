"""Tenancy intents: the tables that keep tenants apart, the tunnel end that carries them, and checks at the edge."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VrfIntent:
    """One routing table of its own, and what it takes from and tells others."""

    key: str
    number: int | None = None
    """Of the routing process in it."""
    rd: str | None = None
    """Route distinguisher."""
    imports: tuple[str, ...] = ()
    """Route targets, as ``64512:10001``, ascending."""
    exports: tuple[str, ...] = ()
    vni: int | None = None
    """Network number by which other devices reach it."""
    vlan: int | None = None
    """VLAN by which the device joins it to that number."""


@dataclass(frozen=True, slots=True)
class FilterIntent:
    """What may come in at some ports: IPv4 packets of these sources, but not to tunnels, and nothing else."""

    key: str
    ports: tuple[int, ...]
    sources: tuple[str, ...]
    """Networks, ascending."""
    tunnel_port: int | None = None
    """UDP port to which nothing may come in: a host could write what looks like another tenant's packet."""


@dataclass(frozen=True, slots=True)
class TenancyIntent:
    """How one device keeps tenants apart."""

    vrfs: tuple[VrfIntent, ...] = ()
    tunnel_source: str | None = None
    """Address from which it sends what it carries for them."""
    filters: tuple[FilterIntent, ...] = ()
