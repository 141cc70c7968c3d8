"""What a switch does with a packet: admission to its buffer, release, pauses and credits, and whose turn it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from weftline.kernels._jit import inlined, lean_kernel
from weftline.kernels.calendar import KIND, push_timer
from weftline.kernels.column import I64, NIL
from weftline.kernels.packet_state import (
    CONTROL_AT,
    DROPPING,
    MTU,
    OVERHEAD,
    OWED_FREE,
    OWED_LEFT,
    PAUSE_WIRE,
    UNSTORED,
    Records,
)


@inlined
def as_int(value: Any) -> int:
    """Widen a field of a record, so that shifts and differences keep their sign."""
    return int(np.int64(value))


@inlined
def send_time(at: int, wire: int, port: Records, link: Records) -> int:
    """Picoseconds that so many bytes take on a link; rounded up, so that nothing is faster than the line."""
    each = port[at].byte_ps
    if each > 0:
        return int(wire * each)
    rate = link[at].rate
    return int((wire * 8_000_000 + rate - 1) // rate)


@inlined
def stored_size(wire: int, kept: int, profile: Records, number: I64) -> int:
    """Bytes that a packet takes in a buffer, in whole cells."""
    if wire == number[MTU] + number[OVERHEAD]:
        return int(profile[kept].full_stored)
    cell = profile[kept].cell
    return int((wire - number[UNSTORED] + cell - 1) // cell * cell)


@inlined
def threshold(kept: int, free: int, profile: Records) -> int:
    """Bytes of the shared pool that a group may take now."""
    if profile[kept].is_dynamic == 0:
        return int(profile[kept].static)
    shift = profile[kept].shift
    return int(free << shift if shift >= 0 else free >> -shift)


@lean_kernel
def send_pause(
    at: int,
    turn: int,
    is_on: int,
    now: int,
    port: Records,
    link: Records,
    lane: Records,
    number: I64,
    timer: I64,
    clock: I64,
) -> None:
    """Ask the peer of port ``at`` to pause or resume a lane; the frame takes its time on the line.

    A switch takes a packet into its buffer, and asks for a pause, when it comes; here it comes once it can be sent on.
    The time between is therefore taken off, but no frame overtakes another.
    """
    begin = max(now, port[at].busy)
    end = begin + send_time(at, number[PAUSE_WIRE], port, link)
    port[at].busy = end
    port[at].bytes += number[PAUSE_WIRE]
    if is_on == 1:
        link[at].pauses += 1
    else:
        link[at].resumes += 1
    peer = port[at].peer
    lanes = number[0]
    if is_on == 1:
        lane[at * lanes + turn].pauses += 1
    code = (CONTROL_AT << KIND) | (peer * 16 + turn * 2 + is_on)
    effect = end + link[at].propagation + link[peer].response
    if is_on == 1:
        effect = max(now, effect - link[at].inner, link[at].told_at)
    link[at].told_at = effect
    push_timer(effect, code, 0, timer, clock)


@inlined
def admit(
    into: int, at: int, turn: int, size: int, now: int, port: Records, link: Records, lane: Records,
    profile: Records, node: Records, number: I64, timer: I64, clock: I64,
) -> bool:  # fmt: skip
    """Take a packet of ``size`` stored bytes into the group ``into``, a lane of the input port ``at``; or refuse."""
    kept = lane[into].profile
    if lane[into].reserved + size <= profile[kept].reserve:
        lane[into].reserved += size
    else:
        where = port[at].node
        free = node[where].pool - node[where].used
        shared = lane[into].shared + size
        if shared <= threshold(kept, free, profile) and size <= free:
            lane[into].shared = shared
            node[where].used += size
        elif profile[kept].control != DROPPING and lane[into].headroom + size <= profile[kept].headroom:
            lane[into].headroom += size
            if lane[into].xoff == 0:
                lane[into].xoff = 1
                send_pause(at, turn, 1, now, port, link, lane, number, timer, clock)
        else:
            return False
    held = lane[into].reserved + lane[into].shared + lane[into].headroom
    if held > lane[into].most_held:
        lane[into].most_held = held
    return True


@inlined
def give_back(
    into: int,
    size: int,
    now: int,
    port: Records,
    link: Records,
    lane: Records,
    profile: Records,
    node: Records,
    number: I64,
    timer: I64,
    clock: I64,
) -> None:
    """Release the buffer of a packet that leaves; the group may ask its peer to resume."""
    lanes = number[0]
    at = into // lanes
    where = port[at].node
    left = size
    part = min(left, lane[into].headroom)
    lane[into].headroom -= part
    left -= part
    part = min(left, lane[into].shared)
    lane[into].shared -= part
    node[where].used -= part
    lane[into].reserved -= left - part
    if lane[into].xoff == 1 and lane[into].headroom == 0:
        kept = lane[into].profile
        shared = lane[into].shared
        free = node[where].pool - node[where].used
        if shared == 0 or shared + profile[kept].offset <= threshold(kept, free, profile):
            lane[into].xoff = 0
            send_pause(at, into - at * lanes, 0, now, port, link, lane, number, timer, clock)


@lean_kernel
def owe_credit(into: int, time: int, blocks: int, lane: Records, owed: I64, number: I64) -> int:
    """Promise the blocks of a packet that leaves again, to be used from ``time`` on; returns that, in order."""
    item = number[OWED_FREE]
    number[OWED_FREE] = owed[item, 2]
    number[OWED_LEFT] -= 1
    last = lane[into].owed_last
    if lane[into].owed == NIL:
        lane[into].owed = item
    else:
        time = max(time, owed[last, 0])
        owed[last, 2] = item
    lane[into].owed_last = item
    owed[item, 0] = time
    owed[item, 1] = blocks
    owed[item, 2] = NIL
    return int(time)


@lean_kernel
def claim_credit(of: int, now: int, lane: Records, owed: I64, number: I64) -> None:
    """Count what has arrived by now as credit of a lane at its output."""
    item = lane[of].owed
    while item != NIL and owed[item, 0] <= now:
        lane[of].credit += owed[item, 1]
        after = owed[item, 2]
        owed[item, 2] = number[OWED_FREE]
        number[OWED_FREE] = item
        number[OWED_LEFT] += 1
        item = after
    lane[of].owed = item


@lean_kernel
def choose_lane(
    at: int, open_lanes: int, port: Records, lane: Records, profile: Records, packet: Records, number: I64
) -> int:
    """Choose among lanes that may all send: strict ones first, then by deficit round robin."""
    lanes = number[0]
    for turn in range(lanes - 1, -1, -1):
        if open_lanes >> turn & 1 and profile[lane[at * lanes + turn].profile].is_strict == 1:
            return turn
    # Shreedhar and Varghese, SIGCOMM 1995: a lane sends while its deficit covers the head of its queue.
    turn = port[at].turn
    while True:
        if open_lanes >> turn & 1:
            of = at * lanes + turn
            if lane[of].deficit >= packet[lane[of].head].wire:
                lane[of].deficit -= packet[lane[of].head].wire
                port[at].turn = turn
                return int(turn)
        turn = turn + 1 if turn + 1 < lanes else 0
        if open_lanes >> turn & 1:
            of = at * lanes + turn
            lane[of].deficit += profile[lane[of].profile].quantum


@inlined
def blocks_of(wire: int) -> int:
    """Credit that a packet takes, in blocks of 64 bytes; IBTA volume 1, 7.9."""
    return (wire + 63) >> 6
