"""Headroom: what a port, a chip and its traffic say about it, and how many bytes came out, term by term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Problem


@dataclass(frozen=True, slots=True)
class Term:
    """One addend of an arithmetic, so that a report can print the sum and not only its result."""

    name: str
    amount: float
    """In the unit of the sum: bytes, or microseconds of a pause."""
    how: str = ""
    """How the addend came about, as ``2 * 40 m * 400 Gb/s / 198,000 km/s``."""


@dataclass(frozen=True, slots=True)
class HeadroomPort:
    """What the headroom of a port depends on."""

    speed_mbps: int
    cable_m: float
    mtu: int
    """The largest frame that the port accepts; SONiC's own tables are made for 9216."""
    lanes: int
    gearbox_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class HeadroomAsic:
    """What the headroom of a port depends on in the switching chip."""

    cell_bytes: int
    pipeline_kib: float
    mac_phy_kib: float
    is_tiled: bool = False
    """Whether ports sit on tiles of their own, whose way to the pause logic holds bytes too (Spectrum-4 and -5)."""
    extra_kib: float = 0.0
    pause_quanta: tuple[tuple[int, int], ...] = ()
    """Speed in Mb/s and quanta that take the place of the standard's."""


@dataclass(frozen=True, slots=True)
class LosslessTraffic:
    """What headroom is sized for: the largest lossless frame, and how many of the packets are of 64 bytes."""

    mtu: int
    small_percent: float


@dataclass(frozen=True, slots=True)
class SwitchHeadroom:
    """The headroom of one lossless priority group of a switch port, in bytes."""

    xoff: int
    """Bytes that still fit after the group asked for a pause."""
    xon: int
    """Bytes below which the group lets the sender go on."""
    size: int
    """Bytes that the group has for itself; without the part above xon where a shared pool holds it."""
    terms: tuple[Term, ...]
    """What is in flight when a pause is asked for, before it is spread over cells."""
    in_flight: float
    small_share: float
    """Share of the bytes that is taken to arrive in packets of 64 bytes, from 0 to 1."""
    cells_per_small: float
    """How many times its own bytes a packet of 64 bytes takes in cells."""
    occupancy: float
    """Bytes of buffer for each byte in flight."""
    lossless_mtu: int
    rounded_from: float
    """xoff before it was rounded up to a KiB."""


@dataclass(frozen=True, slots=True)
class HeadroomFloor:
    """What no headroom can be below, however the chip is built."""

    cable: float
    """Bytes on their way there and back."""
    frame: int
    """The frame that the sender had begun."""
    response: int | None
    """Bytes that the sender may send before it obeys; None where the standard has no time for the speed."""

    @property
    def certain(self) -> float:
        """Bytes that arrive after a pause was sent, even if the sender obeys at once."""
        return self.cable + self.frame

    @property
    def standard(self) -> float | None:
        """Bytes that arrive from a sender that takes the whole time that the standard allows; None when unknown."""
        return None if self.response is None else self.certain + self.response


@dataclass(frozen=True, slots=True)
class HeadroomRow:
    """One row of a vendor's table."""

    speed_mbps: int
    cable_m: float
    xoff: int


@dataclass(frozen=True, slots=True)
class TableDoubt:
    """A row of a vendor's table that is hard to believe, and the row or floor that it is held against."""

    kind: Literal["falls-with-length", "falls-with-speed", "below-floor", "said-twice"]
    row: HeadroomRow
    against: HeadroomRow | HeadroomFloor


@dataclass(frozen=True, slots=True)
class NicHeadroom:
    """The headroom of a NIC's receive buffer by the formula of its driver, in bytes."""

    xoff: float
    """Bytes that still fit after the NIC asked for a pause, by the formula."""
    driver_xoff: int
    """The same as the driver computes it, in integers; a little less."""
    buffer: int
    """The smallest size of a lossless receive buffer that the driver accepts."""
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class PauseLimit:
    """When a group asks for a pause: at a fixed number of bytes, or at a share of what is free in its pool."""

    static_bytes: int | None = None
    pool_bytes: int | None = None
    """The shared pool, without reservations and without headroom."""
    alpha: float | None = None
    """Share of the free pool that a group may take."""
    classes: int = 1
    """Lossless classes that share the pool."""


@dataclass(frozen=True, slots=True)
class MarkVerdict:
    """Whether a queue marks before the groups that fill it are paused, and the arithmetic of it."""

    case: Literal["incast", "worst"]
    """``incast``: n groups to one queue; ``worst``: one group to n queues."""
    holds: bool
    min_bytes: int
    below_bytes: float
    """What ``min_bytes`` must be below."""
    fan: int
    how: str


@dataclass(frozen=True, slots=True)
class HopLoad:
    """What one hop may hold of a class, and how fast it can be rid of it."""

    held_bytes: int
    """Most bytes that a group holds: its pause threshold and its headroom."""
    senders: int
    """Groups that take turns on the queue they all leave through."""
    rate_gbps: float
    share: float = 1.0
    """Share of the rate that the class has when all others want theirs, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class PauseBound:
    """The longest pause that a fabric without a fault can cause, hop by hop, in microseconds."""

    us: float
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class WatchdogVerdict:
    """Whether a watchdog leaves pauses alone that are no fault."""

    holds: bool
    detect_ms: int
    longest_us: float


@dataclass(frozen=True, slots=True)
class BufferGroup:
    """Lossless priority groups of one chip that are alike."""

    count: int
    size: int
    """Bytes that each has for itself."""
    xon: int
    xoff: int
    per_port: int = 1
    """How many of them a port has: they share the headroom that the port has for itself."""


@dataclass(frozen=True, slots=True)
class PoolDemand:
    """What is asked of the buffer of one chip, in bytes."""

    total_bytes: int
    groups: tuple[BufferGroup, ...]
    reserved: tuple[Term, ...] = ()
    """What else is reserved: lossy groups, queues, management, mirrors."""
    cell_bytes: int | None = None
    shared_headroom: int | None = None
    """The shared headroom pool, where its size is given."""
    port_headroom: int = 0
    """Headroom that each port with lossless groups has for itself beside the shared pool; 10 KiB on NVIDIA's chips."""
    over_subscribe_ratio: float | None = None
    """All headroom divided by the shared headroom pool, where that gives its size."""
    pool_bytes: int | None = None
    """The ingress lossless pool, where its size is given."""
    egress_bytes: int | None = None
    """The egress lossless pool, where its size is given."""


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """How the buffer of one chip is divided, and whether that adds up."""

    shared_pool: int
    """What is left to share; below zero when the chip has not enough."""
    shared_headroom: int
    asked_headroom: int
    """What all groups would take from the shared headroom pool at once."""
    group_count: int
    paused_at_once: int
    """Groups that may pause at once without loss, whichever they are; ``group_count`` means all."""
    most_held: int
    """Most bytes that lossless groups can hold."""
    terms: tuple[Term, ...]
    problems: tuple[Problem, ...] = ()
