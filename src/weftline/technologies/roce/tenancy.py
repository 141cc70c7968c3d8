"""Tenants on RoCE: a VRF each, a network number over VXLAN between leaves, and shared services as hub and spoke."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from weftline.formats.ipv4 import format_ipv4
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.spec import AUTO, SharedSpec
from weftline.model.tenancy import FilterIntent, TenancyIntent, VrfIntent

ADMINISTRATOR = 64_512
"""Of every route target: a number of two bytes leaves four for the network number. RFC 4360, 3.1; RFC 6996, 5."""
TUNNEL_PORT = 4789
"""UDP port of VXLAN. RFC 7348, 5."""
REST = "rest"
"""Owner of endpoints that are no tenant's and give no service."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,12}")
"""What can stand behind ``Vrf``: the kernel takes 15 characters, SONiC names that begin so."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner of endpoints: a tenant, a shared service, or nobody in particular."""

    key: str
    """``tenant:NAME``, ``service:NAME`` or ``rest``."""
    vrf: str
    vni: int
    vlan: int


@dataclass(frozen=True, slots=True)
class Tenancy:
    """Who owns what on the switches, and how that is kept apart; nothing where there is only one owner."""

    owners: dict[str, Owner]
    owner_of_node: dict[int, str]
    """Node of an endpoint to the key of its owner."""
    imports: dict[str, tuple[str, ...]]
    """Keys of the owners whose routes an owner takes."""

    @property
    def is_on(self) -> bool:
        """Whether there is anything to keep apart."""
        return bool(self.owners)

    def vrf_of(self, node: int) -> str | None:
        """Name the VRF of an endpoint's links."""
        key = self.owner_of_node.get(node)
        return None if key is None or not self.is_on else self.owners[key].vrf


def plan_tenancy(design: ResolvedSpec, fabric: Fabric) -> Tenancy:
    """Give each owner of endpoints a VRF and a network number."""
    owner_of_node = dict(_list_owners(design, fabric))
    keys = [f"tenant:{tenant.name}" for tenant in design.spec.tenants]
    keys += [f"service:{service.name}" for service in design.spec.shared]
    used = set(owner_of_node.values())
    present = [key for key in [*keys, REST] if key in used]
    kind = design.spec.roce.tenancy.kind
    if kind == "none" or (kind == AUTO and len(present) < 2):
        return Tenancy({}, {}, {})
    section = design.spec.roce.tenancy
    owners: dict[str, Owner] = {}
    taken: set[str] = set()
    for place, key in enumerate([*keys, REST]):
        vni = section.first_vni + place
        name = _name_vrf(key.partition(":")[2] or REST, vni, taken)
        owners[key] = Owner(key, name, vni, section.first_vlan + place)
    return Tenancy({key: owners[key] for key in present}, owner_of_node, _list_imports(design, present))


def _name_vrf(name: str, vni: int, taken: set[str]) -> str:
    chosen = f"Vrf{name}" if _PLAIN.fullmatch(name) else f"Vrf{vni}"
    if chosen in taken:
        chosen = f"Vrf-{vni}"
    taken.add(chosen)
    return chosen


def _list_owners(design: ResolvedSpec, fabric: Fabric) -> Iterator[tuple[int, str]]:
    """List the owner of every node with endpoints; of a node that gives several services, the first counts."""
    service_of = {name: service.name for service in reversed(design.spec.shared) for name in service.endpoints}
    for node in range(fabric.node_count):
        if fabric.node_kind[node] == NodeKind.SWITCH:
            continue
        tenant = int(fabric.node_tenant[node])
        service = service_of.get(fabric.node_name[node])
        if tenant != NIL:
            yield node, f"tenant:{fabric.tenant_name[tenant]}"
        else:
            yield node, REST if service is None else f"service:{service}"


def _list_imports(design: ResolvedSpec, present: list[str]) -> dict[str, tuple[str, ...]]:
    """List whose routes each owner takes: its own; a user those of the service, and the service those of its users."""
    imports = {key: [key] for key in present}
    for service in design.spec.shared:
        hub = f"service:{service.name}"
        for user in _list_users(design, service):
            if hub in imports and user in imports:
                imports[hub].append(user)
                imports[user].append(hub)
    return {key: tuple(found) for key, found in imports.items()}


def _list_users(design: ResolvedSpec, service: SharedSpec) -> list[str]:
    names = [tenant.name for tenant in design.spec.tenants] if service.tenants == "all" else service.tenants
    return [f"tenant:{name}" for name in dict.fromkeys(names)]


def route_target(owner: Owner) -> str:
    """Write the route target that an owner's routes carry."""
    return f"{ADMINISTRATOR}:{owner.vni}"


def make_tenancy(
    design: ResolvedSpec, fabric: Fabric, addresses: Addresses, tenancy: Tenancy, node: int
) -> TenancyIntent | None:
    """Make what a leaf does to keep owners apart; None for a switch without endpoints, which only carries them."""
    here = dict[str, list[int]]()
    for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])):
        peer = int(fabric.port_peer[port])
        key = None if peer == NIL else tenancy.owner_of_node.get(int(fabric.port_node[peer]))
        if key is not None and addresses.port_address[port] != NIL:
            here.setdefault(key, []).append(port)
    if not tenancy.is_on or not here:
        return None
    loopback = format_ipv4(int(addresses.node_address[node]))
    number = int(addresses.node_number[node])
    vrfs = [_make_vrf(tenancy, key, number, loopback) for key in tenancy.owners if key in here]
    return TenancyIntent(
        vrfs=tuple(vrfs),
        tunnel_source=loopback,
        filters=tuple(_make_filter(fabric, addresses, port) for port in sorted(chain(*here.values())))
        if design.spec.roce.tenancy.source_checks
        else (),
    )


def _make_vrf(tenancy: Tenancy, key: str, number: int, loopback: str) -> VrfIntent:
    owner = tenancy.owners[key]
    taken = sorted(tenancy.owners[other].vni for other in tenancy.imports[key] if other in tenancy.owners)
    return VrfIntent(
        key=owner.vrf,
        number=number,
        rd=f"{loopback}:{owner.vlan}",
        imports=tuple(f"{ADMINISTRATOR}:{vni}" for vni in taken),
        exports=(route_target(owner),),
        vni=owner.vni,
        vlan=owner.vlan,
    )


def _make_filter(fabric: Fabric, addresses: Addresses, port: int) -> FilterIntent:
    """Let one port's own endpoint in, and nobody else; and nothing that a tunnel end would unpack."""
    own = ipaddress.IPv4Address(int(addresses.port_address[fabric.port_peer[port]]))
    number = int(fabric.port_number[port])
    return FilterIntent(key=f"EDGE_{number}", ports=(number,), sources=(f"{own}/32",), tunnel_port=TUNNEL_PORT)
