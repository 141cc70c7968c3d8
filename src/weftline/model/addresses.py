"""Addresses: what a technology calls each node and port."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weftline.kernels.column import I64, U64, digest_parts, freeze


@dataclass(frozen=True, eq=False)
class Addresses:
    """Names of nodes and ports on the wire.

    InfiniBand: ``node_id`` is the node GUID, ``port_id`` the port GUID, ``node_address`` the LID of a switch,
    ``port_address`` the base LID of an endpoint. RoCE: MAC, MAC, IPv4 loopback, IPv4 of the port. NIL (-1) or 0
    where there is none.
    """

    fabric_digest: str
    scheme: str
    """``lid`` or ``ipv4``."""
    node_id: U64
    port_id: U64
    node_address: I64
    port_address: I64
    node_number: I64
    """Autonomous system number of a routing device, NIL where there is none."""
    multipath_bits: int = 0
    """LID mask control: an endpoint answers to 2**bits addresses from its base."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.node_id, self.port_id, self.node_address, self.port_address, self.node_number)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every column and the fabric."""
        return digest_parts(
            (
                self.fabric_digest,
                self.scheme,
                self.node_id,
                self.port_id,
                self.node_address,
                self.port_address,
                self.node_number,
                str(self.multipath_bits),
            )
        )
