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
class RootMarking:
    """When a queue behind credits marks packets: above ``threshold_bytes``, at the root of congestion.

    The root has credit and a long queue all the same; a queue without credit is a victim of congestion further on.
    IBTA volume 1, annex A10.
    """

    threshold_bytes: int
    least_bytes: int
    """Shorter packets are not marked; on the wire."""
    chance_ppm: int
    """Share of the packets that is marked, in millionths."""
    marks_victims: bool = False


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
    """What credits of the link can promise at most at one time; 0: all of the buffer."""
    is_strict: bool = False
    weight: int = 1
    """Share of the output among weighted lanes."""
    limit_bytes: int = 0
    """Length of the output queue above which packets are dropped; 0: none."""
    marking: Marking | RootMarking | None = None
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
    """``[P]``: from the arrival of a pause frame (or credit) at the port to its effect on what is on the wire."""
    latency_ps: I64
    """``[N]``: a switch, from the arrival of a packet until it can be sent on; a host before it sends."""
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
class DelayTable:
    """How a sender slows down for notices on InfiniBand: further in a table of delays for each, and back by a timer.

    IBTA volume 1, annex A10: CCT, CCTI, CCTI_Increase, CCTI_Timer and CCTI_Min.
    """

    name: str
    entries: tuple[tuple[int, int], ...]
    """Shift and multiplier each: a flow waits ``(time of the longest packet >> shift) * multiplier`` after a packet."""
    increase: int
    """Entries that a notice goes on by."""
    timer_ps: int
    """Time after which one entry is taken back."""
    least: int = 0
    """Entry at which a flow begins, and to which it comes back."""


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
    pacing: Pacing | DelayTable | None
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """Everything that packets meet on a fabric."""

    medium: Medium
    carriage: Carriage


@dataclass(frozen=True, slots=True)
class PacketOptions:
    """What a packet simulation is asked."""

    spread: Spread = "hash"
    seed: int = 0
    """For the hashes that pick paths and marks; 0 to 2**32 - 1."""
    until_ps: int | None = None
    """Simulated time at which it stops; None: when all has arrived, or nothing moves any more."""
    samples: int = 200
    """Moments of which the series of ports tell, about."""
    burst_ps: int = 500_000_000
    """Gap after which a flowlet may take another way."""
    inside_host_gbytes_per_s: float | None = None
    inside_latency_ps: int = 0
    max_hops: int = 64


@dataclass(frozen=True, slots=True)
class LaneCount:
    """What happened in each lane of each port, ``[P, L]`` each."""

    most_queued: I64
    """Largest queue at the output, in stored bytes."""
    most_held: I64
    """Largest use of the input group."""
    marks: I64
    drops: I64
    """At the input."""
    pauses: I64
    """XOFF frames that the port sent."""
    held_ps: I64
    """How long the output was paused."""
    starved_ps: I64
    """How long it had no credit for what it had."""
    discards: I64
    """Packets given up after they waited too long, or with a link that was lost."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(
            self.most_queued, self.most_held, self.marks, self.drops, self.pauses, self.held_ps, self.starved_ps,
            self.discards,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loss:
    """The first packet that a lane lost which must lose nothing."""

    at_ps: int
    port: int
    """Input port whose group was full."""
    lane: int
    flow: int
    count: int
    """Packets lost like this in all."""


@dataclass(frozen=True, slots=True)
class Series:
    """Ports over time: T moments."""

    at_ps: I64
    """``[T]``."""
    sent_bytes: I64
    """``[T, P]``: sent so far."""
    queued_bytes: I64
    """``[T, P]``."""
    held_lanes: I64
    """``[T, P]``: a bit for each lane that is paused."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.at_ps, self.sent_bytes, self.queued_bytes, self.held_lanes)


@dataclass(frozen=True, slots=True)
class Leg:
    """One message of the chain that took the whole time."""

    flow: int
    start_ps: int
    finish_ps: int
    """NIL where it did not arrive."""
    held_at: int
    """The port before which its last packet waited longest; NIL where it never waited."""
    held_ps: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A time that no schedule of some flows beats, and what binds it."""

    at_ps: int
    name: str


Ending = Literal["done", "deadlock", "stuck", "until"]


@dataclass(frozen=True, slots=True)
class PacketResult:
    """What packets came to; times in picoseconds, F flows, P ports."""

    ending: Ending
    end_ps: int
    bound: Bound
    start_ps: I64
    """``[F]``; NIL for a flow that never started."""
    finish_ps: I64
    """``[F]``: arrival of the last byte; NIL for a flow that did not arrive."""
    cause: I32
    """``[F]``: the flow that let it go last; NIL where nothing did."""
    longest_ps: I64
    """``[F]``: the longest wait of its last packet at one switch."""
    longest_at: I32
    """``[F]``: the output port where that was."""
    port_bytes: I64
    """``[P]``: sent on the wire, pauses included."""
    lanes: LaneCount
    series: Series
    loss: Loss | None
    cycle: tuple[tuple[int, int], ...]
    """Ports and lanes of which each waits for the next and the last for the first, where nothing moves any more."""
    hops: int
    """Packets of data received, link by link."""
    events: int
    again: int
    """Packets sent again."""
    notices: int
    dropped: int
    corrupted: int
    discarded: int
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.start_ps, self.finish_ps, self.cause, self.longest_ps, self.longest_at, self.port_bytes)
