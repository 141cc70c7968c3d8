"""The largest frames of hosts and switches."""

from __future__ import annotations

from weftline.model.design import ResolvedSpec
from weftline.model.spec import AUTO

SWITCH_MTU = 9216
HOST_MTU = 4200
"""Largest frame of a host whose RDMA MTU is 4096, with room for headers."""
RDMA_HEADERS = 96
"""What Linux keeps back of a port's MTU before it rounds down (rdma/ib_addr.h, iboe_get_mtu)."""
LEAST_MTU = 256 + RDMA_HEADERS
"""With less a port carries no RDMA: the smallest payload of a packet is 256 bytes (rdma/ib_verbs.h, enum ib_mtu)."""


def host_mtu(design: ResolvedSpec) -> int:
    """Resolve the MTU of host ports."""
    declared = design.spec.lossless.mtu
    return HOST_MTU if declared == AUTO else int(declared)
