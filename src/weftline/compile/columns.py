"""Columns in the making: nodes and links as arrays, and the fabric put together from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.compile.parts import uniform_value
from weftline.kernels.column import F64, I8, I32, NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind, Tier

PREFIXES = {Tier.HOST: ("host", 4), Tier.LEAF: ("leaf", 3), Tier.SPINE: ("spine", 2), Tier.CORE: ("core", 2)}


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """Nodes in their final order; the columns are those of ``Fabric``, and ``ports`` counts the ports of each."""

    name: tuple[str, ...]
    kind: I8
    tier: I8
    plane: I32
    rail: I32
    unit: I32
    group: I32
    component: I32
    ports: I32


@dataclass(frozen=True, slots=True)
class LinkColumns:
    """Links by node and port number (from 1) of both ends; ``a`` is the end nearer to the hosts."""

    a_node: I32
    a_number: I32
    b_node: I32
    b_number: I32
    cable: I32
    rate_gbps: F64


@dataclass(frozen=True, slots=True)
class CableColumns:
    """Part and length of each cable."""

    part: tuple[str, ...]
    length_m: F64


def name_nodes(tier: Tier, count: int) -> list[str]:
    """Name the nodes of one tier, as ``leaf-003``; the width grows with the count."""
    prefix, width = PREFIXES[tier]
    width = max(width, len(str(count)))
    return [f"{prefix}-{i:0{width}d}" for i in range(1, count + 1)]


def fill(count: int, value: int) -> I32:
    """Make a column of one value."""
    return np.full(count, value, dtype=np.int32)


def concat_links(runs: Sequence[LinkColumns]) -> LinkColumns:
    """Join links; their cables must already be numbered across all of them."""
    return LinkColumns(
        *(np.concatenate([getattr(run, field) for run in runs]) for field in LinkColumns.__slots__)  # pyright: ignore[reportArgumentType]
    )


def tenant_column(design: ResolvedSpec, nodes: int, hosts: int) -> I32:
    """Make the tenant column; a host that two tenants claim goes to the later one (declaring refuses that)."""
    tenant = fill(nodes, NIL)
    for index, members in enumerate(design.tenant_hosts):
        chosen = np.array([m for m in members if 0 <= m < hosts], dtype=np.int64)
        tenant[chosen] = index
    return tenant


def assemble(design: ResolvedSpec, shape: str, nodes: NodeColumns, links: LinkColumns, cables: CableColumns) -> Fabric:
    """Put a fabric together; linked ports get the rate of their link, dark ones that of their device."""
    ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(nodes.ports, dtype=np.int64))).astype(np.int32)
    node = np.repeat(np.arange(len(nodes.ports), dtype=np.int32), nodes.ports)
    number = np.arange(len(node), dtype=np.int32) - ptr[node] + 1
    a_port = ptr[links.a_node] + links.a_number - 1
    b_port = ptr[links.b_node] + links.b_number - 1
    peer, cable = fill(len(node), NIL), fill(len(node), NIL)
    peer[a_port], peer[b_port] = b_port, a_port
    cable[a_port] = cable[b_port] = links.cable
    rate = _device_rates(design)[nodes.tier[node]]
    rate[a_port] = rate[b_port] = links.rate_gbps
    planes = design.spec.topology.planes
    kind = nodes.kind[node]
    is_host = kind == NodeKind.HOST
    is_end = kind != NodeKind.SWITCH
    component = nodes.component[node]
    plane = np.where(is_host, (number - 1) % planes, nodes.plane[node]).astype(np.int32)
    rail = np.where(is_host, (number - 1) // planes, NIL).astype(np.int32)
    linked = np.flatnonzero(is_end & (peer != NIL))
    far = node[peer[linked]]
    component[linked] = nodes.component[far]
    component[is_end & (peer == NIL)] = NIL
    extras = linked[kind[linked] == NodeKind.EXTRA]
    plane[extras] = nodes.plane[node[peer[extras]]]
    rail[extras] = nodes.rail[node[peer[extras]]]
    hosts = int(np.count_nonzero(nodes.kind == NodeKind.HOST))
    part_name = (design.host_name, design.leaf.name, design.spine.name, design.core.name)
    return Fabric(
        name=design.spec.fabric.name,
        shape=shape,
        source_digest=design.digest,
        node_name=nodes.name,
        node_kind=nodes.kind,
        node_tier=nodes.tier,
        node_plane=nodes.plane,
        node_rail=nodes.rail,
        node_unit=nodes.unit,
        node_group=nodes.group,
        node_component=_end_components(nodes, node, component, is_end),
        node_tenant=tenant_column(design, len(nodes.name), hosts),
        node_part=np.where(nodes.kind == NodeKind.EXTRA, NIL, nodes.tier).astype(np.int32),
        part_name=part_name,
        tenant_name=tuple(tenant.name for tenant in design.spec.tenants),
        port_ptr=ptr,
        port_number=number,
        port_peer=peer,
        port_rate_gbps=rate,
        port_rail=rail,
        port_plane=plane,
        port_component=component,
        port_cable=cable,
        cable_part=cables.part,
        cable_length_m=cables.length_m,
        planes=planes,
    )


def _device_rates(design: ResolvedSpec) -> F64:
    return np.array([design.rate_gbps, design.leaf.rate_gbps, design.spine.rate_gbps, design.core.rate_gbps])


def _end_components(nodes: NodeColumns, node: I32, component: I32, is_end: NDArray[np.bool_]) -> I32:
    """Give hosts and extra endpoints the component of all their ports, NIL where these differ."""
    ports = np.flatnonzero(is_end & (component != NIL))
    shared = uniform_value(len(nodes.component), node[ports], component[ports])
    return np.where(nodes.kind == NodeKind.SWITCH, nodes.component, shared).astype(np.int32)
