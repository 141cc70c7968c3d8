"""Subnet managers of each subnet: where they run, in which order, and which keys they hold."""

from __future__ import annotations

from typing import Final

import numpy as np

from weftline.errors import SpecError
from weftline.formats.eui import format_guid
from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.seats import ManagerIntent, SeatIntent
from weftline.model.subnet import KeysSection

HIGHEST: Final = 15
"""Priority of the master. IBTA vol 1, 14.4.1: 0 to 15."""
SECRETS: Final = ("m_key", "sa_key", "sm_key")
"""Keys that upstream OpenSM knows."""


def find_managers(design: ResolvedSpec, fabric: Fabric) -> tuple[int, ...]:
    """Find the ports of the declared managers, in their order.

    Raises:
        SpecError: ``spec.unknown-manager`` when a name is no port with a cable, or stands twice.
    """
    names = design.spec.infiniband.managers
    if not names:
        return ()
    by_name = {fabric.port_name(int(port)): int(port) for port in fabric.endpoint_port}
    found: list[int] = []
    for index, name in enumerate(names):
        port = by_name.get(name, NIL)
        why = ""
        if port == NIL:
            why = f"{name!r} is no port of a host or an extra endpoint"
        elif int(fabric.port_peer[port]) == NIL:
            why = f"{name!r} has no cable"
        elif port in found:
            why = f"{name!r} stands twice"
        if why:
            places = design.places
            where = places.get(f"infiniband.managers[{index}]") or places.get("infiniband.managers")
            hint = f"write the name of a port, as {next(iter(by_name), 'host-0001/nic1')}"
            raise SpecError("spec.unknown-manager", f"infiniband.managers[{index}]: {why}", hint, where)
        found.append(port)
    return tuple(found)


def seat_managers(design: ResolvedSpec, fabric: Fabric, plane: int) -> tuple[int, ...]:
    """List the ports at which managers of a plane run, masters first.

    A part of the plane that no declared manager reaches has one of its own at its first extra endpoint, else host.
    """
    ports: I32 = fabric.endpoint_port
    own = ports[(fabric.port_plane[ports] == plane) & (fabric.port_peer[ports] != NIL)]
    seats = [port for port in find_managers(design, fabric) if port in own]
    covered = {int(fabric.port_component[port]) for port in seats}
    is_extra = fabric.node_kind[fabric.port_node[own]] == NodeKind.EXTRA
    for component in np.unique(fabric.port_component[own]).tolist():
        if component not in covered:
            inside = fabric.port_component[own] == component
            seats.append(int(own[inside][np.argmax(is_extra[inside])]))
    return tuple(seats)


def list_managers(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, plane: int) -> ManagerIntent:
    """Say how the managers of a plane work."""
    section = design.spec.infiniband
    secrets = list_secrets(section.keys)
    has_key = "m_key" in secrets
    seats: list[SeatIntent] = []
    ranks: dict[int, int] = {}
    for port in seat_managers(design, fabric, plane):
        component = int(fabric.port_component[port])
        rank = ranks[component] = ranks.get(component, -1) + 1
        key = format_guid(int(addresses.port_id[port]))
        seats.append(SeatIntent(key, fabric.port_name(port), HIGHEST - rank))
    return ManagerIntent(
        sweep_interval_s=section.sweep_interval_s,
        seats=tuple(seats),
        secrets=secrets,
        lease_s=section.keys.lease_s if has_key else None,
        protection=section.keys.protection if has_key else None,
    )


def list_secrets(keys: KeysSection) -> tuple[str, ...]:
    """Name the keys that a file is declared for."""
    return tuple(name for name in SECRETS if getattr(keys, f"{name}_file") is not None)
