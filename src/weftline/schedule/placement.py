"""Where the ranks of a collective stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.traffic import Placement


def place_ranks(
    fabric: Fabric,
    ranks: int | None = None,
    order: Literal["order", "random"] = "order",
    seed: int = 0,
    hosts: Sequence[int] | None = None,
) -> Placement:
    """Put ranks on the NICs of hosts, one rank per NIC: by host then rail, or by a seeded shuffle of all NICs.

    ``hosts`` are node indices to choose from (all when None); ``ranks`` None takes every NIC. A NIC with a dark port
    is passed over.

    Raises:
        SpecError: ``spec.too-many-ranks`` with the arithmetic, ``spec.placement``.
    """
    if order not in {"order", "random"} or not 0 <= seed < 2**32:
        raise SpecError(
            "spec.placement",
            f"placement {order!r} with seed {seed} is not known",
            "choose order or random, and a seed from 0 to 4294967295",
        )
    slots = _rank_slots(fabric, hosts)
    wanted = len(slots) if ranks is None else ranks
    if not 1 <= wanted <= len(slots):
        count = len(np.unique(fabric.port_node[slots[:, 0]])) if len(slots) else 0
        raise SpecError(
            "spec.too-many-ranks",
            f"{wanted} ranks do not fit: {count} hosts have {len(slots)} connected NICs, one rank each",
            f"choose 1 to {len(slots)} ranks" if len(slots) else "connect the hosts first",
        )
    if order == "random":
        slots = slots[np.random.Generator(np.random.PCG64(seed)).permutation(len(slots))]
    chosen = np.ascontiguousarray(slots[:wanted])
    host = fabric.port_node[chosen[:, 0]]
    rail = (chosen[:, 0] - fabric.port_ptr[host]) // fabric.planes
    return Placement(chosen, host.astype(np.int32), rail.astype(np.int32), order, seed)


def _rank_slots(fabric: Fabric, hosts: Sequence[int] | None) -> I32:
    """List the ports of each NIC, ``[NICs, planes]``, by host then rail."""
    ports = fabric.endpoint_port
    node = fabric.port_node[ports]
    use = fabric.node_kind[node] == NodeKind.HOST
    if hosts is not None:
        use &= np.isin(node, np.asarray(hosts, dtype=np.int32))
    ports = ports[use]
    # A host whose ports do not fill its last NIC keeps the whole NICs.
    place = ports - fabric.port_ptr[fabric.port_node[ports]]
    size = np.diff(fabric.port_ptr)[fabric.port_node[ports]]
    ports = ports[place < size - size % fabric.planes]
    slots = ports.reshape(-1, fabric.planes)
    return slots[(fabric.port_peer[slots] != NIL).all(axis=1)].astype(np.int32)
