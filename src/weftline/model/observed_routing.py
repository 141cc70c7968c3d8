"""What files say of one device's routing and tenancy: VRFs, neighbours, tunnels, filters and mirrors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place
from weftline.model.said import Said

DEFAULT_VRF = "default"


@dataclass(frozen=True, slots=True)
class ObservedNeighbour:
    """One routing neighbour, by port or by address."""

    name: str
    """Interface, address, or the name of its group where the group stands for all."""
    where: Place
    number: Said[int] | None = None
    """Its autonomous system; None where it is only said to be another one."""
    is_external: Said[bool] | None = None
    has_bfd: Said[bool] | None = None
    families: tuple[Said[str], ...] = ()
    """``ipv4``, ``ipv6``, ``evpn``: what is exchanged with it."""
    filter_in: Said[str] | None = None
    filter_out: Said[str] | None = None
    allows_own_number: Said[bool] | None = None
    """Whether routes that passed this device's own number are taken back (allowas-in): a valley becomes possible."""


@dataclass(frozen=True, slots=True)
class ObservedRouter:
    """One routing process in one VRF."""

    vrf: str
    where: Place
    number: Said[int] | None = None
    router_id: Said[str] | None = None
    width: Said[int] | None = None
    """Most equal paths to one destination."""
    mixes_paths: Said[bool] | None = None
    """Whether equal paths through different numbers are used together; None: as the device does by itself."""
    neighbours: tuple[ObservedNeighbour, ...] = ()
    redistributed: tuple[Said[str], ...] = ()
    """``connected``, ``static`` ...; with `` via NAME`` where a route map sifts them."""
    networks: tuple[Said[str], ...] = ()
    """Announced, aggregates too."""
    aggregates: frozenset[str] = frozenset()
    """Those of ``networks`` that are told of only while something inside them is."""
    originates_default: Said[bool] | None = None
    imported_vrfs: tuple[Said[str], ...] = ()
    """VRFs whose routes are taken over (leaking)."""
    leaks: tuple[Said[str], ...] = ()
    """Other ways in which routes of another VRF are taken over, in the words of the file."""
    rd: Said[str] | None = None
    imports: tuple[Said[str], ...] = ()
    """Route targets, as ``65001:10001``; ``auto`` where the device derives them from its number and the VNI."""
    exports: tuple[Said[str], ...] = ()
    ignores_number: bool | None = None
    """Whether ``auto`` imports take every route target with the VNI, whatever its number (FRR); None: not known."""


@dataclass(frozen=True, slots=True)
class ObservedVrf:
    """One VRF."""

    name: str
    where: Place
    vni: Said[int] | None = None
    static_routes: tuple[Said[str], ...] = ()
    """``PREFIX via NEXTHOP [vrf OTHER]``."""


@dataclass(frozen=True, slots=True)
class ObservedTunnel:
    """The VXLAN end of a device."""

    where: Place
    source: Said[str] | None = None
    """Its address."""
    udp_port: Said[int] | None = None
    vni_of_vlan: tuple[tuple[int, Said[int]], ...] = ()
    dscp_out: Said[Literal["copy", "pipe"]] | None = None
    """Whether the outer packet carries the DSCP of the inner one; ``pipe``: a value of its own."""
    dscp_in: Said[Literal["preserve", "copy", "pipe"]] | None = None


@dataclass(frozen=True, slots=True)
class ObservedRule:
    """One rule of a filter; what it does not say matches everything."""

    where: Place
    order: int
    """The lower, the earlier."""
    action: Literal["permit", "deny", "mirror", "other"]
    source: str = ""
    target: str = ""
    protocol: str = ""
    target_port: str = ""
    unread: tuple[str, ...] = ()
    """Matches that nobody here understands: what it lets through is then not known."""
    in_ports: frozenset[str] = frozenset()
    """Interfaces at which it holds, of those that its filter is bound to; empty: all."""


@dataclass(frozen=True, slots=True)
class ObservedFilter:
    """One list of rules, and where it is bound."""

    name: str
    where: Place
    stage: Said[Literal["in", "out"]] | None = None
    ports: tuple[Said[str], ...] = ()
    rules: tuple[ObservedRule, ...] = ()
    otherwise: Said[Literal["permit", "deny"]] | None = None
    """What happens to packets that no rule matches, where the file or the form of it fixes that."""


@dataclass(frozen=True, slots=True)
class ObservedRouteMap:
    """What sifts routes as they are announced or taken."""

    name: str
    where: Place
    lists: tuple[Said[str], ...] = ()
    """Lists of prefixes (``prefix-list NAME`` among the filters) whose matches it permits."""
    is_plain: bool = True
    """Whether it does nothing else, so that what passes it is known."""
    passes_all: bool = False
    """Whether every route passes, with another bandwidth at most."""


@dataclass(frozen=True, slots=True)
class ObservedMirror:
    """A session that copies traffic: SPAN, ERSPAN, sFlow."""

    name: str
    where: Place
    kind: Said[str]
    target: Said[str] | None = None
    ports: tuple[Said[str], ...] = ()
    """Observed ports; empty: all, or not said."""
