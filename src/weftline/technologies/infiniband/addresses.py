"""LIDs and GUIDs: a number space per plane, endpoints first."""

from __future__ import annotations

import numpy as np

from weftline.errors import CapabilityError
from weftline.formats.eui import derive_ids
from weftline.formats.lid import MAX_UNICAST
from weftline.kernels.column import NIL, U64
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind
from weftline.technologies.infiniband.inventory import bind

_HASH_BYTES = 5
_TAIL_BYTES = 2
"""Room for the ports of an adapter, whose GUIDs follow its own."""


def assign(design: ResolvedSpec, fabric: Fabric) -> Addresses:
    """Assign LIDs and placeholder GUIDs; each plane is a subnet with LIDs of its own.

    Endpoints take LIDs aligned to 2**LMC in the order of ``fabric.endpoint_port``, dark ones too, so that a NIC that
    is plugged in later moves no LID; switches take the LIDs that are left, lowest first. GUIDs derive from the names
    of the devices and are locally administered; a declared inventory puts the real ones in their place.

    Raises:
        CapabilityError: ``capability.too-many-lids`` when a plane has more than a subnet can address.
        SpecError: when an inventory does not fit the fabric.
    """
    addresses = number(fabric, design.spec.routing.lmc)
    return addresses if design.inventory is None else bind(fabric, addresses, design.inventory)


def number(fabric: Fabric, lmc: int = 0) -> Addresses:
    """Assign LIDs and placeholder GUIDs to a fabric that has none, as ``assign`` does."""
    node_address = np.full(fabric.node_count, NIL, dtype=np.int64)
    port_address = np.full(fabric.port_count, NIL, dtype=np.int64)
    endpoint_plane = fabric.port_plane[fabric.endpoint_port]
    for plane in range(max(fabric.planes, 1)):
        ports = fabric.endpoint_port[endpoint_plane == plane]
        switches = fabric.switch_node[fabric.node_plane[fabric.switch_node] == plane]
        lids = len(ports) * 2**lmc + len(switches)
        if lids > MAX_UNICAST:
            raise CapabilityError(
                "capability.too-many-lids",
                f"a subnet has {MAX_UNICAST:,} unicast LIDs, and plane {plane + 1} needs {len(ports):,} endpoints * "
                f"2^{lmc} + {len(switches):,} switches = {lids:,}",
                "split the fabric into planes or several subnets",
            )
        port_address[ports] = np.arange(1, len(ports) + 1, dtype=np.int64) << lmc
        above = np.arange((len(ports) + 1) * 2**lmc, MAX_UNICAST + 1, dtype=np.int64)
        free = np.concatenate((np.arange(1, 2**lmc, dtype=np.int64), above))
        node_address[switches] = free[: len(switches)]
    node_id, port_id = _derive_guids(fabric)
    return Addresses(
        fabric_digest=fabric.digest,
        scheme="lid",
        node_id=node_id,
        port_id=port_id,
        node_address=node_address,
        port_address=port_address,
        node_number=np.full(fabric.node_count, NIL, dtype=np.int64),
        multipath_bits=lmc,
    )


def _derive_guids(fabric: Fabric) -> tuple[U64, U64]:
    """Derive a GUID per node and per adapter; a port has the GUID of its adapter plus its number there.

    Each NIC port of a host is an adapter of one port; an extra endpoint is one adapter.
    """
    endpoints = fabric.endpoint_port
    names = [f"{fabric.name}:{name}" for name in fabric.node_name]
    names += [f"{fabric.name}:{fabric.port_name(int(port))}" for port in endpoints]
    ids = derive_ids(names, _HASH_BYTES, _TAIL_BYTES)
    node_id = ids[: fabric.node_count].copy()
    port_id: U64 = np.zeros(fabric.port_count, dtype=np.uint64)
    node = fabric.port_node[endpoints]
    is_extra = fabric.node_kind[node] == NodeKind.EXTRA
    number = np.where(is_extra, fabric.port_number[endpoints], 1).astype(np.uint64)
    port_id[endpoints] = np.where(is_extra, node_id[node], ids[fabric.node_count :]) + number
    return node_id, port_id
