"""What the packet machine is given, and what it tells: columns that the kernel and its twin both read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from weftline.kernels.column import I32, I64
from weftline.model.packet import Carriage, Medium

NIL = -1
Spread: TypeAlias = Literal["spray", "adaptive", "flowlet"]


@dataclass(frozen=True, slots=True)
class Inside:
    """The network inside hosts."""

    fs_per_byte: int = 0
    latency_ps: int = 0


@dataclass(frozen=True, slots=True)
class Tables:
    """Groups of equal ports from which a switch chooses for each packet; as in ``walk_pairs``."""

    spread: Spread
    switch_row: I32
    """``[N]``: row of a switch; NIL for hosts."""
    column: I32
    """``[P]``: column of a target port; NIL elsewhere."""
    group: I32
    """``[rows, columns]``: number of a group within its row."""
    group_ptr: I32
    """``[rows + 1]``: groups of all rows in one sequence."""
    member_ptr: I32
    """``[groups + 1]``."""
    member_port: I32


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to a link at a time: it goes down or comes up, or has another rate than before."""

    at_ps: int
    port: int
    is_up: bool = False
    rate_mbps: int = 0
    """Not more than it was made for; 0: that is not what changes."""


@dataclass(frozen=True, slots=True)
class World:
    """A fabric of P ports and N nodes with F flows over it."""

    medium: Medium
    carriage: Carriage
    port_peer: I32
    """``[P]``: the port at the other end; NIL where nothing is plugged in."""
    port_node: I32
    """``[P]``."""
    is_switch: I64
    """``[N]``: 1 for switches."""
    path_ptr: I64
    """``[paths + 1]``."""
    path_port: I32
    """The transmitting ports of each path, that of the source first."""
    path_lane: I32
    """The lane of data on each hop."""
    back_lane: I32
    """The lane of acknowledgements over the link of each hop, backwards."""
    flow_source: I32
    flow_target: I32
    flow_bytes: I64
    flow_earliest: I64
    """Before this no flow starts."""
    flow_delay: I64
    """From when nothing else holds it to its start."""
    flow_queue: I32
    """An in-order channel of its sender; NIL: none."""
    flow_path: I32
    need_ptr: I64
    """``[F + 1]``."""
    need_flow: I32
    """Flows that must have arrived before."""
    tables: Tables | None
    seed: int
    is_inside: I64
    """``[F]``: 1 for a flow that does not leave its host."""
    inside: Inside
    loss_ppb: I64
    """``[P]``: full packets of a thousand million that a link corrupts."""
    is_dead: I64
    """``[P]``: 1 for a port whose link is down from the beginning to the end."""
    burst_ps: int
    """Gap after which a flowlet may go another way."""
    changes: tuple[Change, ...] = ()
    """By time."""


@dataclass(frozen=True, slots=True)
class PortCount:
    """What one port sent, and what happened to it."""

    wire_bytes: int
    """Packets and pause frames."""
    packets: int
    pauses: int
    """Frames that ask the peer to stop; those that ask it to go on are not counted."""
    marks: int
    drops: int
    """Packets that came in here and found no room."""
    peak: list[int]
    """Most stored bytes that waited here at one time, by lane."""
    corrupted: int
    """Packets that its link spoiled."""
    discards: int
    """Packets that came by its link and had no way to go on."""
    held_ps: int
    """Time for which the peer held it, summed over lanes."""
    starved_ps: int
    """Time for which it had no credits for what it had, summed over lanes, as far as that has ended."""

    @property
    def peak_queue(self) -> int:
        """Most in one lane."""
        return max(self.peak)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    start_ps: list[int]
    """NIL where a flow never started."""
    finish_ps: list[int]
    ports: list[PortCount]
    events: int
    end_ps: int
    """When the last event was."""
    loss: tuple[int, int, int] | None
    """Time, input port and lane of the first drop in a lane that should lose nothing."""
    blocked: list[tuple[int, int]]
    """At a standstill: every port and lane that could not send what it had."""
    cycle: list[tuple[int, int]]
    """At a standstill: ports and lanes of which each waits for the next, and the last for the first."""
