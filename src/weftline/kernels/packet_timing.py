"""What time does to a lane: pauses that end or never end, packets that waited too long, ports that are cut off."""

from __future__ import annotations

from weftline.kernels._jit import lean_kernel
from weftline.kernels.calendar import KIND, TIMERS, push_timer
from weftline.kernels.column import I32, I64, NIL, U64
from weftline.kernels.packet_lanes import as_int
from weftline.kernels.packet_sender import drop_packet
from weftline.kernels.packet_sending import release_packet, take_head
from weftline.kernels.packet_state import (
    CALM,
    DISCARDED,
    HAS_DISCARDED,
    IS_TIMED,
    LANES,
    LIFE,
    OPEN,
    OWED_LEFT,
    RESTORING,
    STALLED,
    STORM,
    STORMS,
    WATCHING,
    Records,
)

SPARE = 8
"""Credits and timers that discarding one packet, and what follows it, may take from the pools."""
STALL_LIFETIMES = 8
"""A stalled lane discards everything for eight lifetimes; IBTA volume 1, 18.2.5.4."""


@lean_kernel
def hold_lane(
    at: int, turn: int, is_on: int, now: int, port: Records, lane: Records, hold: Records, profile: Records,
    number: I64, timer: I64, clock: I64,
) -> None:  # fmt: skip
    """A pause frame takes effect: the lane is held, or may go on; a lane that does not obey goes on all the time.

    One that a watchdog has told to forward goes on too, and is told when there was no pause for long enough.
    """
    of = at * number[LANES] + turn
    bit = as_int(1) << turn
    is_held = as_int(port[at].held) & bit != 0
    rule = lane[of].profile
    if is_on == 1 and not is_held and profile[rule].obeys == 1:
        hold[of].since = now
        if hold[of].shut != OPEN and profile[rule].watch_drops == 0:
            hold[of].shut = STORM
        else:
            port[at].held |= bit
            if profile[rule].watch > 0:
                push_timer(now + profile[rule].watch, (WATCHING << KIND) | of, now, timer, clock)
    elif is_on == 0 and is_held:
        port[at].held &= ~bit
        hold[of].time += now - hold[of].since
        if hold[of].shut == STORM:
            push_timer(now + profile[rule].restore, (RESTORING << KIND) | of, now, timer, clock)
    elif is_on == 0 and hold[of].shut == STORM and profile[rule].watch_drops == 0:
        hold[of].since = now
        hold[of].shut = CALM
        push_timer(now + profile[rule].restore, (RESTORING << KIND) | of, now, timer, clock)


@lean_kernel
def flush_lane(
    of: int, now: int, port: Records, link: Records, lane: Records, profile: Records, node: Records, packet: Records,
    owed: I64, number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64, timer: I64,
    most: int,
) -> int:  # fmt: skip
    """Discard the first packets of a queue, at most so many and as far as the pools have room; returns how many."""
    at = of // number[LANES]
    turn = of - at * number[LANES]
    count = as_int(0)
    while lane[of].head != NIL and count < most and number[OWED_LEFT] > SPARE and len(timer) - clock[TIMERS] > SPARE:
        item = take_head(of, at, turn, port, lane, profile, packet, number)
        release_packet(
            item, 0, now, port, link, lane, profile, node, packet, owed, number, clock, bucket, chain, when, work,
            full, timer,
        )  # fmt: skip
        drop_packet(item, packet, number)
        count += 1
    return count


@lean_kernel
def give_up_head(
    of: int, now: int, port: Records, link: Records, lane: Records, hold: Records, profile: Records, node: Records,
    packet: Records, owed: I64, number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64,
    timer: I64,
) -> None:  # fmt: skip
    """Discard the head of a queue that waited for credit longer than it may; many in a row stall the lane."""
    lane[of].life &= HAS_DISCARDED
    rule = lane[of].profile
    if hold[of].shut == STALLED:
        hold[of].shut = OPEN
        hold[of].in_row = 0
    if lane[of].head == NIL or hold[of].head_since == NIL:
        return
    life = profile[rule].lifetime
    if hold[of].head_since + life > now:
        lane[of].life |= IS_TIMED
        push_timer(hold[of].head_since + life, (LIFE << KIND) | of, 0, timer, clock)
        return
    hold[of].in_row += 1
    lane[of].life |= HAS_DISCARDED
    is_stalled = profile[rule].stall_count > 0 and hold[of].in_row >= profile[rule].stall_count
    most = as_int(1 << 40) if is_stalled else as_int(1)
    count = flush_lane(
        of, now, port, link, lane, profile, node, packet, owed, number, clock, bucket, chain, when, work, full,
        timer, most,
    )  # fmt: skip
    hold[of].discards += count
    number[DISCARDED] += count
    if is_stalled and lane[of].head != NIL:
        # The pools are short: the rest is discarded as soon as they are larger, at the same time.
        hold[of].in_row -= 1
        lane[of].life |= IS_TIMED
        push_timer(now, (LIFE << KIND) | of, 0, timer, clock)
        return
    # The life of the next one begins when its port looks and has no credit for it.
    hold[of].head_since = NIL
    if is_stalled:
        hold[of].shut = STALLED
        lane[of].life |= IS_TIMED
        push_timer(now + STALL_LIFETIMES * life, (LIFE << KIND) | of, 0, timer, clock)


@lean_kernel
def begin_watch(
    of: int, since: int, now: int, port: Records, link: Records, lane: Records, hold: Records, profile: Records,
    node: Records, packet: Records, owed: I64, number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32,
    full: U64, timer: I64,
) -> None:  # fmt: skip
    """A pause has lasted too long: the lane drops what it has and gets, or ignores the pause."""
    at = of // number[LANES]
    bit = as_int(1) << (of - at * number[LANES])
    if as_int(port[at].held) & bit == 0 or hold[of].since != since:
        return
    if hold[of].shut != STORM:
        number[STORMS] += 1
        hold[of].shut = STORM
    rule = lane[of].profile
    if profile[rule].watch_drops == 1:
        count = flush_lane(
            of, now, port, link, lane, profile, node, packet, owed, number, clock, bucket, chain, when, work, full,
            timer, as_int(1 << 40),
        )  # fmt: skip
        hold[of].discards += count
        number[DISCARDED] += count
        if lane[of].head != NIL:
            # The pools are short: the rest is dropped as soon as they are larger, at the same time.
            push_timer(now, (WATCHING << KIND) | of, since, timer, clock)
    else:
        port[at].held &= ~bit
        hold[of].time += now - hold[of].since


@lean_kernel
def restore_lane(
    of: int, since: int, port: Records, lane: Records, hold: Records, profile: Records, number: I64
) -> None:  # fmt: skip
    """No pause for long enough since the last one ended: the lane is as before."""
    at = of // number[LANES]
    bit = as_int(1) << (of - at * number[LANES])
    if profile[lane[of].profile].watch_drops == 0:
        # A pause since then has ended that, and its own end has a look of its own.
        if hold[of].shut == CALM and hold[of].since == since:
            hold[of].shut = OPEN
    elif hold[of].shut == STORM and hold[of].since <= since and as_int(port[at].held) & bit == 0:
        hold[of].shut = OPEN


@lean_kernel
def flush_port(
    at: int, now: int, port: Records, link: Records, lane: Records, hold: Records, profile: Records, node: Records,
    packet: Records, owed: I64, number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64,
    timer: I64,
) -> int:  # fmt: skip
    """Discard everything that waits at a port that lost its link; nobody there is paused any more."""
    count = as_int(0)
    for turn in range(number[LANES]):
        of = at * number[LANES] + turn
        lost = flush_lane(
            of, now, port, link, lane, profile, node, packet, owed, number, clock, bucket, chain, when, work, full,
            timer, as_int(1 << 40),
        )  # fmt: skip
        hold[of].discards += lost
        hold[of].head_since = NIL
        count += lost
        if as_int(port[at].held) >> turn & 1:
            hold[of].time += now - hold[of].since
    port[at].held = 0
    number[DISCARDED] += count
    return count
