"""Partitions: one per tenant, one for who has no tenant, and one per shared service with its users as spokes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weftline.formats.eui import format_guid
from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.intent import IsolationIntent, PartitionIntent
from weftline.model.spec import AUTO, SharedSpec
from weftline.technologies.infiniband.managers import seat_managers

DEFAULT_PKEY = 0x7FFF


def isolate(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, plane: int) -> IsolationIntent:
    """Make the partitions of one plane.

    Every endpoint is a limited member of the default partition, in which only switches and the managers are full:
    so everybody reaches the managers, and nobody anybody else by it.
    """
    section = design.spec.infiniband
    members = _Members(fabric, addresses, plane, design.spec.shared)
    keys = number_partitions(design)
    found = [*_list_tenants(design, members, keys), *_list_shared(design, members, keys)]
    seats = [format_guid(int(addresses.port_id[port])) for port in _list_full(design, fabric, plane)]
    return IsolationIntent(
        default_key=DEFAULT_PKEY,
        default_membership=section.default_partition,
        enforcement=section.enforcement,
        partitions=tuple(sorted(found, key=lambda partition: partition.key)),
        default_full=tuple(sorted(seats)),
        allows_both=section.allow_both,
    )


def _list_full(design: ResolvedSpec, fabric: Fabric, plane: int) -> Iterator[int]:
    """List the managers that are full members wherever OpenSM runs; not the host of a tenant, unless it is declared."""
    for port in seat_managers(design, fabric, plane):
        if design.spec.infiniband.managers or fabric.node_tenant[fabric.port_node[port]] == NIL:
            yield port


def number_partitions(design: ResolvedSpec) -> dict[str, int]:
    """Number the partitions: as declared, else the next free number; tenants first, then the rest, then services.

    The partition of endpoints of no tenant has the empty name.
    """
    spec = design.spec
    declared: list[tuple[str, int | str]] = [(tenant.name, tenant.partition) for tenant in spec.tenants]
    declared.append(("", AUTO))
    declared += [(f"/{service.name}", service.partition) for service in spec.shared]
    taken = {number for _, number in declared if number != AUTO}
    keys: dict[str, int] = {}
    following = spec.infiniband.partition_first_key
    for name, number in declared:
        if isinstance(number, int):
            keys[name] = number
            continue
        while following in taken:
            following += 1
        keys[name] = following
        following += 1
    return keys


def name_rest(taken: tuple[str, ...]) -> str:
    """Name the partition of endpoints of no tenant."""
    name = "compute" if not taken else "unassigned"
    while name in taken:
        name += "-"
    return name


@dataclass(frozen=True, eq=False)
class _Members:
    """The endpoints of one plane, by tenant and by the services that they give."""

    fabric: Fabric
    addresses: Addresses
    plane: int
    shared: tuple[SharedSpec, ...]

    @property
    def ports(self) -> I32:
        """Endpoint ports of the plane, dark ones too."""
        ports = self.fabric.endpoint_port
        return ports[self.fabric.port_plane[ports] == self.plane]

    def ids(self, ports: I32) -> tuple[str, ...]:
        """Write port ids, ascending."""
        return tuple(sorted(format_guid(int(value)) for value in self.addresses.port_id[ports]))

    def of_tenant(self, index: int) -> I32:
        """List the ports of a tenant; NIL: of no tenant, those that give a service left out."""
        ports = self.ports
        node = self.fabric.port_node[ports]
        chosen = self.fabric.node_tenant[node] == index
        if index == NIL:
            hubs = {name for service in self.shared for name in service.endpoints}
            chosen &= ~np.isin(node, [place for place, name in self._extras() if name in hubs])
        return ports[chosen]

    def of_service(self, service: SharedSpec) -> I32:
        """List the ports that give a service."""
        ports = self.ports
        nodes = [place for place, name in self._extras() if name in service.endpoints]
        return ports[np.isin(self.fabric.port_node[ports], nodes)]

    def _extras(self) -> Iterator[tuple[int, str]]:
        for node in np.flatnonzero(self.fabric.node_kind == NodeKind.EXTRA).tolist():
            yield node, self.fabric.node_name[node]


def _list_tenants(design: ResolvedSpec, members: _Members, keys: dict[str, int]) -> Iterator[PartitionIntent]:
    """Make the partition of each tenant, and that of the endpoints of none; it stands first in their tables."""
    spec = design.spec
    taken = (*members.fabric.tenant_name, *(service.name for service in spec.shared))
    for index, name in [*enumerate(members.fabric.tenant_name), (NIL, "")]:
        ids = members.ids(members.of_tenant(index))
        if ids:
            membership = spec.tenants[index].membership if name else "full"
            yield PartitionIntent(
                key=keys[name],
                name=name or name_rest(taken if members.fabric.tenant_name else ()),
                is_first=membership != "limited",
                full=ids if membership == "full" else (),
                limited=ids if membership == "limited" else (),
                both=ids if membership == "both" else (),
                is_first_of_limited=membership == "limited",
            )


def _list_shared(design: ResolvedSpec, members: _Members, keys: dict[str, int]) -> Iterator[PartitionIntent]:
    """Make the partition of each service: who gives it is full, who uses it limited, so users meet only the givers."""
    hubs: set[str] = set()
    for service in design.spec.shared:
        full = members.ids(members.of_service(service))
        limited = [
            port_id
            for index, name in enumerate(members.fabric.tenant_name)
            if service.tenants == "all" or name in service.tenants
            for port_id in members.ids(members.of_tenant(index))
        ]
        if full or limited:
            yield PartitionIntent(
                key=keys[f"/{service.name}"],
                name=service.name,
                is_first=bool(full) and not hubs & set(full),
                full=full,
                limited=tuple(sorted(limited)),
            )
        hubs |= set(full)
