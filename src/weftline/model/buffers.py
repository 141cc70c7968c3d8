"""Buffer intents: pools that ports share, what groups and queues may take of them, and the headroom of each port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class PoolIntent:
    """One pool of packet buffers."""

    key: str
    direction: Literal["ingress", "egress"]
    mode: Literal["dynamic", "static"]
    size_bytes: int | None = None
    """None where the device computes it."""
    headroom_bytes: int | None = None
    """Headroom that all ports share; None where each group has its own."""


@dataclass(frozen=True, slots=True)
class ShareIntent:
    """What one group or queue of every port may take of a pool; a profile without headroom."""

    key: str
    pool: str
    size_bytes: int
    """Reserved for each."""
    dynamic_th: int | None = None
    """Share of the free pool, as a power of two."""
    static_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GroupBufferIntent:
    """The buffer of one ingress priority group of a port: a share, or headroom of its own."""

    key: int
    share: str | None = None
    """The share that it has where it may lose packets."""
    is_computed: bool | None = None
    """Whether the device computes the headroom; its size is then not said."""
    pool: str | None = None
    size_bytes: int | None = None
    """Reserved for it alone; with a shared headroom pool without the headroom."""
    xon_bytes: int | None = None
    xon_offset_bytes: int | None = None
    xoff_bytes: int | None = None
    """What it can take after it asked for a pause."""
    dynamic_th: int | None = None


@dataclass(frozen=True, slots=True)
class BufferIntent:
    """How the packet buffer of a device is divided."""

    model: Literal["dynamic", "traditional"]
    pools: tuple[PoolIntent, ...] = ()
    shares: tuple[ShareIntent, ...] = ()
    over_subscribe_ratio: int | None = None
    lossless_mtu: int | None = None
    small_packet_percent: int | None = None
    dynamic_th: int | None = None
    """Of the headroom that the device computes."""
