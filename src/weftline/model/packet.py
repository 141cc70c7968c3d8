"""Packets: how ports queue, hold, mark and lose them, how senders and receivers treat them, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from weftline.kernels.column import I32, I64, freeze

Spread = Literal["hash", "spray", "adaptive", "flowlet"]
"""How a switch chooses among equal ports: per flow, per packet in turn, per packet by queue, per burst."""
Recovery = Literal["go-back-n", "selective"]


class FlowControl(IntEnum):
    """What a lane does when the buffer behind a link is full."""

    NONE = 0
    """It drops."""
    PAUSE = 1
    """The receiver asks the sender to pause: IEEE 802.1Qbb."""
    CREDIT = 2
    """The sender may send what the receiver has promised room for: IBTA volume 1, 7.9."""


@dataclass(frozen=True, slots=True)
class Marking:
    """When a queue marks packets: never up to ``min_bytes``, always above ``max_bytes``, by chance between them."""

    min_bytes: int
    max_bytes: int
    chance_ppm: int
    """Chance of a mark just below ``max_bytes``, in millionths."""


@dataclass(frozen=True, slots=True)
class Watchdog:
    """What ends a pause that never ends."""

    detect_ps: int
    restore_ps: int
    action: Literal["drop", "forward"]


@dataclass(frozen=True, slots=True)
class LaneProfile:
    """How a port treats one lane: its input buffer, and the queue at its output."""

    control: FlowControl
    is_lossless: bool
    """Whether it is declared that it loses nothing; then a drop is a finding."""
    cell_bytes: int
    """What a stored packet is rounded up to."""
    reserve_bytes: int = 0
    """Input buffer of its own, used first; not with credits."""
    headroom_bytes: int = 0
    """What it takes after it asked for a pause."""
    dynamic_th: int | None = None
    """Share of the free pool that it may take, as a power of two; None: ``static_bytes`` of it."""
    static_bytes: int = 0
    resume_offset_bytes: int = 0
    """How far below its threshold it asks to resume."""
    buffer_bytes: int = 0
    """Input buffer of the lane that credits promise."""
    window_bytes: int = 0
    """What credits of the link can promise at most at one time."""
    is_strict: bool = False
    weight: int = 1
    """Share of the output among weighted lanes."""
    limit_bytes: int = 0
    """Length of the output queue above which packets are dropped; 0: none."""
    marking: Marking | None = None
    lifetime_ps: int = 0
    """Wait at the head of the queue after which a packet is discarded; 0: never."""
    stall_count: int = 0
    """Discards in a row after which the lane discards everything for eight lifetimes; 0: never."""
    watchdog: Watchdog | None = None
    obeys: bool = True
    """Whether its output stops when the far end asks for a pause; False where the two do not agree on a priority."""


@dataclass(frozen=True, slots=True)
class Medium:
    """Every port and node as packets meet them; P ports, N nodes, L lanes."""

    lanes: int
    """At most 8."""
    profiles: tuple[LaneProfile, ...]
    profile: I32
    """``[P, L]``: which profile each lane of each port has."""
    rate_mbps: I64
    """``[P]``."""
    propagation_ps: I64
    """``[P]``: along the cable."""
    response_ps: I64
    """``[P]``: from the arrival of a pause frame (or credit) at the port to its effect."""
    latency_ps: I64
    """``[N]``: a switch from port to port; a host from its memory to the wire."""
    receive_ps: I64
    """``[N]``: a host from the wire to its memory; 0 for switches."""
    pool_bytes: I64
    """``[N]``: shared buffer of a switch."""
    is_cut_through: I64
    """``[N]``: 1 where a switch sends a packet on before it has all of it."""
    data_lane: int
    ack_lane: int
    notice_lane: int
    assumptions: tuple[str, ...]
    """What was not read from files but assumed, each with its source."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(
            self.profile, self.rate_mbps, self.propagation_ps, self.response_ps, self.latency_ps, self.receive_ps,
            self.pool_bytes, self.is_cut_through,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pacing:
    """How a sender slows down for notices: DCQCN (Zhu et al., SIGCOMM 2015)."""

    name: str
    gain: float
    """g: weight of a new estimate of congestion."""
    alpha_ps: int
    """Period without a notice after which the estimate falls."""
    decrease_ps: int
    """At most one decrease in this time."""
    increase_ps: int
    increase_bytes: int
    """Bytes that count as a period of increase; 0: only time counts."""
    stages: int
    """F: periods of fast recovery."""
    additive_mbps: float
    hyper_mbps: float
    least_mbps: float
    notice_ps: int
    """A receiver sends at most one notice of a flow in this time."""


@dataclass(frozen=True, slots=True)
class Carriage:
    """What the adapters do: how messages become packets, what acknowledges them, and what is sent again."""

    mtu_bytes: int
    """Payload of a full packet."""
    overhead_bytes: int
    """On the wire around the payload."""
    unstored_bytes: int
    """Of these, what no buffer holds (preamble and gap)."""
    ack_bytes: int
    notice_bytes: int
    pause_bytes: int
    recovery: Recovery
    ack_every: int
    """Packets that one acknowledgement stands for."""
    timeout_ps: int
    window_packets: int
    """Packets that a selective receiver can keep out of order; a sender sends no further."""
    reorder_packets: int
    """Packets after a missing one until it counts as lost."""
    pacing: Pacing | None
    assumptions: tuple[str, ...]
