"""IPv4 addresses, MACs and autonomous system numbers, all by arithmetic."""

from __future__ import annotations

import numpy as np

from weftline.errors import CapabilityError
from weftline.formats.eui import derive_ids
from weftline.kernels.column import I64, NIL, U64
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, Tier
from weftline.technologies.roce.limits import FIRST_NUMBER, LAST_NUMBER, LINKS, LOOPBACKS

_HASH_BYTES = 5


def assign(_design: ResolvedSpec, fabric: Fabric) -> Addresses:
    """Assign addresses, numbers and placeholder MACs.

    Switch r (from 0) has loopback 10.0.0.1 + r. Each switch with endpoints has a block of LINKS, sized for the one
    that has most; its k-th endpoint has the pair 2k (switch) and 2k + 1 (endpoint) of the block, so that one prefix
    covers all endpoints of a switch. A leaf has a number of its own, and spines of one pod and cores of one plane
    share one, so that no route goes up twice (RFC 7938, 5.2.1).

    Raises:
        CapabilityError: ``capability.too-many-addresses`` when the plan does not hold the fabric.
    """
    switches = fabric.switch_node
    node_address = np.full(fabric.node_count, NIL, dtype=np.int64)
    node_address[switches] = int(LOOPBACKS.network_address) + 1 + np.arange(len(switches), dtype=np.int64)
    node_number = _number(fabric)
    if len(switches) >= LOOPBACKS.num_addresses or int(node_number.max(initial=0)) > LAST_NUMBER:
        raise CapabilityError(
            "capability.too-many-addresses",
            f"{LOOPBACKS} holds {LOOPBACKS.num_addresses - 1:,} switches, and there are {len(switches):,}",
            "declare several fabrics",
        )
    node_id, port_id = _derive_macs(fabric)
    return Addresses(
        fabric_digest=fabric.digest,
        scheme="ipv4",
        node_id=node_id,
        port_id=port_id,
        node_address=node_address,
        port_address=_address_links(fabric),
        node_number=node_number,
    )


def block_size(fabric: Fabric) -> int:
    """Size the block of each switch with endpoints: two addresses per endpoint of the fullest, a power of two."""
    most = int(np.bincount(fabric.port_node[_links(fabric)[1]], minlength=1).max(initial=0))
    return 2 * (1 << max(most - 1, 0).bit_length())


def _links(fabric: Fabric) -> tuple[I64, I64]:
    """List the endpoint ports that are linked to a switch, and the switch ports they are linked to."""
    ports = fabric.endpoint_port.astype(np.int64)
    peers = fabric.port_peer[ports].astype(np.int64)
    linked = peers != NIL
    linked[linked] = fabric.switch_row[fabric.port_node[peers[linked]]] != NIL
    order = np.argsort(peers[linked], kind="stable")
    return ports[linked][order], peers[linked][order]


def _address_links(fabric: Fabric) -> I64:
    address = np.full(fabric.port_count, NIL, dtype=np.int64)
    ports, peers = _links(fabric)
    nodes, first, block = np.unique(fabric.port_node[peers], return_index=True, return_inverse=True)
    size = block_size(fabric)
    if len(nodes) * size > LINKS.num_addresses:
        raise CapabilityError(
            "capability.too-many-addresses",
            f"{len(nodes):,} switches with endpoints * {size} addresses = {len(nodes) * size:,}, and {LINKS} holds "
            f"{LINKS.num_addresses:,}",
            "declare several fabrics",
        )
    place = np.arange(len(ports), dtype=np.int64) - first[block]
    address[peers] = int(LINKS.network_address) + block * size + 2 * place
    address[ports] = address[peers] + 1
    return address


def _number(fabric: Fabric) -> I64:
    """Number routing devices: leaves one each, then spines one per pod, then cores one per part of the fabric."""
    number = np.full(fabric.node_count, NIL, dtype=np.int64)
    used = FIRST_NUMBER
    leaves = np.flatnonzero(fabric.node_tier == Tier.LEAF)
    number[leaves] = used + np.arange(len(leaves))
    used += len(leaves)
    for tier in (Tier.SPINE, Tier.CORE):
        nodes = np.flatnonzero(fabric.node_tier == tier)
        pods = np.stack(
            [
                column[nodes]
                for column in (fabric.node_plane, fabric.node_component, fabric.node_rail, fabric.node_group)
            ]
        )
        if tier is Tier.CORE:
            pods = pods[:2]
        distinct, pod = np.unique(pods, axis=1, return_inverse=True)
        number[nodes] = used + pod.reshape(-1)
        used += distinct.shape[1]
    return number


def _derive_macs(fabric: Fabric) -> tuple[U64, U64]:
    endpoints = [int(port) for port in fabric.endpoint_port]
    names = [f"{fabric.name}:{name}" for name in fabric.node_name]
    names += [f"{fabric.name}:{fabric.port_name(port)}" for port in endpoints]
    ids = derive_ids(names, _HASH_BYTES, 0)
    port_id: U64 = np.zeros(fabric.port_count, dtype=np.uint64)
    port_id[endpoints] = ids[fabric.node_count :]
    return ids[: fabric.node_count].copy(), port_id
