"""The packet machine's records: ports, lanes, packets, slots of senders, profiles and nodes; totals by their place.

Hot rows fill a cache line (64 bytes) each: at a thousand hosts what an event touches must stay near the core.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Records: TypeAlias = Any
"""A ``np.recarray`` of one of the types below; numba reads and writes its fields by name."""

PORT = np.dtype(
    [
        ("busy", "i8"),  # ps: when it can send again
        ("bytes", "i8"),  # sent, on the wire
        ("delay", "i8"),  # ps: from the start of a transmission to the arrival of its head at the peer
        ("flight", "i4"),  # first packet on the link
        ("flight_last", "i4"),
        ("peer", "i4"),
        ("node", "i4"),
        ("peer_row", "i4"),  # switch row of the peer's node; NIL for a host
        ("ring", "i4"),  # the slot that may send next
        ("byte_ps", "i4"),  # time of a byte where that is whole, else 0
        ("queued", "i4"),  # stored bytes that wait to be sent on it
        ("ready", "u1"),  # a bit for each lane with something queued
        ("held", "u1"),  # a bit for each lane that the peer has paused
        ("starved", "u1"),  # a bit for each lane that waits for credit
        ("free_set", "i1"),  # whether its departure event is pending
        ("stored", "i1"),  # whether the peer waits for the whole packet
        ("kicked", "i1"),
        ("fault", "i1"),
        ("turn", "i1"),  # the lane whose turn it is
    ],
    align=True,
)
LINK = np.dtype(
    [
        ("rate", "i8"),  # Mb/s
        ("propagation", "i8"),
        ("response", "i8"),
        ("wake_at", "i8"),
        ("inner", "i8"),  # how long a packet is in the switch before it can be sent on
        ("told_at", "i8"),  # when the last pause frame that it sent takes effect
        ("loss_ppb", "i8"),  # packets of a thousand million that the link corrupts
        ("pauses", "i8"),
        ("resumes", "i8"),
        ("corrupted", "i8"),
        ("own", "i8"),  # whether a flow over this link sent last while others waited
    ],
    align=True,
)
"""What of a port is seldom touched."""

LANE = np.dtype(
    [
        ("head", "i4"),
        ("tail", "i4"),
        ("waiting", "i4"),  # stored bytes in the queue
        ("deficit", "i4"),
        ("credit", "i4"),  # blocks that may still be sent
        ("owed", "i4"),
        ("owed_last", "i4"),
        ("reserved", "i4"),
        ("shared", "i4"),
        ("headroom", "i4"),
        ("most", "i4"),  # largest queue so far
        ("most_held", "i4"),  # largest use of the input group so far
        ("marks", "i4"),
        ("drops", "i4"),
        ("pauses", "i4"),
        ("profile", "i2"),
        ("xoff", "i1"),
        ("life", "i1"),  # IS_TIMED and HAS_DISCARDED
    ],
    align=True,
)
HOLD = np.dtype(
    [
        ("since", "i8"),  # since when the lane is paused
        ("time", "i8"),  # how long it was paused
        ("starved_since", "i8"),
        ("starved_time", "i8"),  # how long it had no credit for what it had to send
        ("head_since", "i8"),  # since when the head of a timed lane lacks credit; NIL: it does not
        ("in_row", "i8"),  # discards of old heads without a packet sent between them, where the lane has discarded
        ("discards", "i8"),
        ("shut", "i8"),  # OPEN, or why not: STALLED, STORM or CALM
    ],
    align=True,
)
"""What of a lane is seldom touched."""

PACKET = np.dtype(
    [
        ("flow", "i4"),
        ("seq", "i4"),
        ("next", "i4"),
        ("hop", "i4"),
        ("holder", "i4"),  # lane of the input port that holds it; NIL where nothing does
        ("wire", "i2"),
        ("tag", "i1"),  # kind, a mark, and the lane that it travels in
        ("run", "i1"),  # how many packets a receiver asks for again
        ("due", "i8"),  # ps: its arrival
    ],
    align=True,
)

SLOT = np.dtype(
    [
        ("flow", "i4"),
        ("go", "i4"),  # next packet to send
        ("acked", "i4"),
        ("count", "i4"),
        ("port", "i4"),
        ("after", "i4"),
        ("before", "i4"),
        ("last_wire", "i4"),
        ("forth", "i4"),
        ("back", "i4"),
        ("goal", "i4"),
        ("again", "i4"),
        ("again_end", "i4"),
        ("expected", "i4"),
        ("arrived", "i4"),
        ("highest", "i4"),
        ("naked", "i4"),
        ("grow_bytes", "i4"),
        ("time_stage", "i4"),
        ("byte_stage", "i4"),
        ("not_before", "i8"),
        ("progress", "i8"),
        ("noticed", "i8"),
        ("decreased", "i8"),
        ("alpha_at", "i8"),
        ("grow_at", "i8"),
        ("rate", "f8"),  # Mb/s
        ("rate_goal", "f8"),
        ("alpha", "f8"),
        ("in_ring", "i1"),
        ("timer_set", "i1"),
        ("was_sent", "i1"),
        ("is_paced", "i1"),
    ],
    align=True,
)
"""One flow between its first packet and its last acknowledgement, both ends of it."""

PROFILE = np.dtype(
    [
        ("control", "i8"),
        ("cell", "i8"),
        ("reserve", "i8"),
        ("headroom", "i8"),
        ("is_dynamic", "i8"),
        ("shift", "i8"),
        ("static", "i8"),
        ("offset", "i8"),
        ("is_strict", "i8"),
        ("quantum", "i8"),
        ("limit", "i8"),
        ("marks", "i8"),
        ("mark_least", "i8"),
        ("mark_most", "i8"),
        ("mark_ppm", "i8"),
        ("lifetime", "i8"),
        ("stall_count", "i8"),
        ("full_stored", "i8"),
        ("watch", "i8"),
        ("restore", "i8"),
        ("watch_drops", "i8"),
        ("is_lossless", "i8"),
        ("obeys", "i8"),
    ],
    align=True,
)
NODE = np.dtype([("pool", "i8"), ("used", "i8")], align=True)
FLOW = np.dtype([("source", "i4"), ("target", "i4"), ("pair", "i4"), ("via", "i4")], align=True)


CACHE_LINE = 64


def make_records(count: int, kind: Any) -> Records:
    """Make rows of zeros, the first at the beginning of a cache line."""
    size = count * np.dtype(kind).itemsize
    room = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    begin = -room.ctypes.data % CACHE_LINE
    return room[begin : begin + size].view(kind).view(np.recarray)


DEAD = 1
LOSSY = 2

OPEN = 0
STALLED = 1
STORM = 2
CALM = 3
"""No pause any more for a lane that ignores them, but not for long enough."""

IS_TIMED = 1
"""A timer will look at the head of the lane's queue."""
HAS_DISCARDED = 2

LAST_ONE = 64
"""Bit of a tag: the last packet of its flow."""
BURST_HOPS = 8

FABRIC = 0
HOST = 1
WORK = 2
OVER_LINK = 3
"""Over one link, whatever stands at its end: also from and to a switch."""

END = -2
"""In the place of a next hop, or of a destination: the packet is taken here, at a switch too."""
LOST_HERE = 0
QUEUED = 1
TAKEN = 2
"""What becomes of a packet that comes to a switch."""

DATA = 0
ACK = 1
NAK = 2
NOTICE = 3
KIND_MASK = 3
MARK = 4
LANE_SHIFT = 3
MOST_RUN = 127

DROPPING = 0
PAUSING = 1
CREDITING = 2

# Totals and settings.
LANES = 0
MTU = 1
OVERHEAD = 2
UNSTORED = 3
ACK_WIRE = 4
NOTICE_WIRE = 5
PAUSE_WIRE = 6
ACK_EVERY = 7
TIMEOUT = 8
WINDOW = 9
REORDER = 10
IS_SELECTIVE = 11
SPREAD = 12
SEED = 13
NOTICE_LANE = 14
PACKET_FREE = 15
PACKETS_LEFT = 16
SLOT_FREE = 17
SLOTS_LEFT = 18
OWED_FREE = 19
OWED_LEFT = 20
READY_FIRST = 21
READY_LAST = 22
KICK_FIRST = 23
KICK_LAST = 24
FLOWS_LEFT = 25
EVENTS = 26
HOPS = 27
LOST = 28
FIRST_LOST = 29
"""Time of the first drop in a lane that must lose nothing."""
FIRST_LANE = 30
FIRST_FLOW = 31
ACKS = 32
AGAIN_SENT = 33
NOTICES = 34
NOTICE_PS = 35
PACING_ON = 36
ALPHA_PS = 38
DECREASE_PS = 39
INCREASE_PS = 40
INCREASE_BYTES = 41
STAGES = 42
MOVED = 43
"""When a packet last moved."""
TIMEOUTS = 44
DISCARDED = 46
INSIDE_FS = 47
"""Femtoseconds of a byte on the network inside a host."""
INSIDE_PS = 48
BURST_PS = 49
STORMS = 50
UNLUCKY = 51
"""Drops in lanes that must lose nothing."""
STEP = 52
"""Entries of the table of delays that a notice goes on by."""
FIRST_STEP = 53
LAST_STEP = 54
STEP_PS = 55
"""Time after which one entry is taken back."""
NUMBERS = 64

BY_LENGTH = 1
AT_ROOT = 2
AT_ROOT_AND_VICTIM = 3
"""How a queue marks packets; 0: not."""
BY_RATE = 1
BY_DELAY = 2
"""How senders slow down; 0: not."""

HASH = 0
SPRAY = 1
ADAPTIVE = 2
FLOWLET = 3

# Codes of timers; ARRIVE and FREE are 0 and 1.
ARRIVE = 0
FREE = 1
CONTROL_AT = 2
WAKE = 3
EXPIRE = 4
BEGIN = 5
INSIDE = 6
LIFE = 7
WATCHING = 8
RESTORING = 9
