"""What the LIDs of a subnet lead to: endpoint ports, switches, and the further LIDs of endpoint ports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weftline.formats.lid import MAX_LID
from weftline.kernels.column import I32, I64, NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Destinations, and which one each LID leads to."""

    column: I32
    """Per LID the destination, NIL where nobody has it."""
    node: I32
    port: I32
    path: I32 | None
    """As in ``Routes``."""

    @property
    def count(self) -> int:
        """Count the destinations."""
        return len(self.node)


def list_targets(fabric: Fabric, addresses: Addresses) -> Targets:
    """Map LIDs to destinations; where two claim one LID the first has it.

    With LMC above 0 an endpoint port answers to 2**LMC LIDs from its base, and each is a way of its own.
    """
    endpoints, switches = fabric.endpoint_port, fabric.switch_node
    base = addresses.port_address[endpoints].astype(np.int64)
    is_addressed = (base > 0) & (base < MAX_LID)
    many = endpoints[is_addressed]
    paths = 1 << addresses.multipath_bits
    port = np.concatenate([endpoints, np.full(len(switches), NIL), np.tile(many, paths - 1)]).astype(np.int32)
    node = np.concatenate([fabric.port_node[endpoints], switches, np.tile(fabric.port_node[many], paths - 1)])
    first = len(endpoints) + len(switches)
    path = np.concatenate([np.zeros(first), np.repeat(np.arange(1, paths), len(many))]).astype(np.int32)
    lid: I64 = np.concatenate(
        [base, addresses.node_address[switches].astype(np.int64), np.tile(base[is_addressed], paths - 1) + path[first:]]
    )
    column = np.full(MAX_LID + 1, NIL, dtype=np.int32)
    known = np.flatnonzero((lid > 0) & (lid < MAX_LID))[::-1]
    column[lid[known]] = known
    return Targets(column, node.astype(np.int32), port, path if paths > 1 else None)
