"""Service levels of a subnet, from the declared classes: lanes, weights, and the level of each pair of endpoints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weftline.errors import SpecError
from weftline.formats.eui import format_guid
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.levels import (
    DEFAULT_LEVEL,
    LEVELS,
    GroupIntent,
    LevelIntent,
    MatchIntent,
    ServiceIntent,
    WeightIntent,
)

DEFAULT_WEIGHT = 32
IDLE_WEIGHT = 1
"""Weight of a lane that no class names, so that what strays into it still moves."""


def make_service(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, plane: int) -> ServiceIntent | None:
    """Turn the declared classes into levels; None where there are none, so that devices keep their own.

    Levels that no class names use the lane of level 0, and that is lane 0 unless a class says otherwise. The packets
    of one connection have the same level both ways, so a class by ports is for what goes there and comes from there.

    Raises:
        SpecError: ``spec.unknown-member`` when a class is for a port of nobody.
    """
    section = design.spec.infiniband.qos
    if not section.classes:
        return None
    by_level = {one.sl: one.vl for one in section.classes}
    first = by_level.get(0, 0)
    shares = {one.vl: one for one in section.classes}
    lanes = max(*shares, first) + 1
    weights: list[WeightIntent] = []
    for lane in range(lanes):
        one = shares.get(lane)
        low = IDLE_WEIGHT if lane != first else DEFAULT_WEIGHT
        if one is not None:
            low = 0 if one.high else one.weight
        weights.append(WeightIntent(lane, one.weight if one is not None and one.high else 0, low))
    groups, matches = _list_matches(design, fabric, addresses, plane)
    named = {one.name: one.sl for one in section.classes}
    levels = (LevelIntent(DEFAULT_LEVEL, 0), *(LevelIntent(name, level) for name, level in named.items()))
    return ServiceIntent(
        lanes=lanes,
        lane_of_level=tuple(by_level.get(level, first) for level in range(LEVELS)),
        high_limit=section.high_limit,
        weights=tuple(weights),
        levels=levels if matches else (),
        groups=groups if matches else (),
        matches=matches,
    )


def find_level(design: ResolvedSpec, fabric: Fabric, node: int) -> int:
    """Find the level of what a host sends to hosts of its own tenant; programs that ask no manager need it told."""
    tenant = int(fabric.node_tenant[node])
    name = fabric.tenant_name[tenant] if tenant >= 0 else None
    return next((one.sl for one in design.spec.infiniband.qos.classes if name in one.tenants), 0)


def _list_matches(
    design: ResolvedSpec, fabric: Fabric, addresses: Addresses, plane: int
) -> tuple[tuple[GroupIntent, ...], tuple[MatchIntent, ...]]:
    """List groups and matches: those by ports first, then those by tenants."""
    groups: list[GroupIntent] = []
    wanted: list[tuple[str, str | None, str | None]] = []
    for index, one in enumerate(design.spec.infiniband.qos.classes):
        members = _list_ids(addresses, _find_ports(design, fabric, plane, index))
        if members:
            groups.append(GroupIntent(f"ports-{one.name}", members))
            wanted += [(one.name, None, f"ports-{one.name}"), (one.name, f"ports-{one.name}", None)]
    for one in design.spec.infiniband.qos.classes:
        for tenant in one.tenants:
            members = _list_ids(addresses, _find_tenant(fabric, plane, tenant))
            if members:
                groups.append(GroupIntent(f"tenant-{tenant}", members))
                wanted.append((one.name, f"tenant-{tenant}", f"tenant-{tenant}"))
    matches = [MatchIntent(place, *words) for place, words in enumerate(wanted, start=1)]
    unique = {group.key: group for group in groups}
    return tuple(unique.values()), tuple(matches)


def _find_ports(design: ResolvedSpec, fabric: Fabric, plane: int, index: int) -> Iterator[int]:
    """Find the ports of a plane that a class is for."""
    nodes = {name: node for node, name in enumerate(fabric.node_name) if fabric.node_kind[node] != NodeKind.SWITCH}
    for name in design.spec.infiniband.qos.classes[index].ports:
        node = nodes.get(name)
        if node is None:
            where = design.places.get(f"infiniband.qos.classes[{index}].ports")
            message = f"infiniband.qos.classes[{index}].ports: {name!r} is no host and no extra endpoint"
            raise SpecError("spec.unknown-member", message, "write names as host-0001, or of an extra endpoint", where)
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])):
            if int(fabric.port_plane[port]) == plane:
                yield port


def _find_tenant(fabric: Fabric, plane: int, tenant: str) -> Iterator[int]:
    if tenant not in fabric.tenant_name:
        return
    index = fabric.tenant_name.index(tenant)
    ports = fabric.endpoint_port
    chosen = (fabric.node_tenant[fabric.port_node[ports]] == index) & (fabric.port_plane[ports] == plane)
    yield from (int(port) for port in ports[np.flatnonzero(chosen)])


def _list_ids(addresses: Addresses, ports: Iterator[int]) -> tuple[str, ...]:
    return tuple(sorted({format_guid(int(addresses.port_id[port])) for port in ports}))
