"""The packet machine: events of ports, senders and receivers, one after the other, until a time or an end."""

from __future__ import annotations

from typing import NamedTuple

from weftline.kernels._jit import inlined, lean_kernel
from weftline.kernels.calendar import (
    FIRST,
    KIND,
    LAST,
    NOW,
    PENDING,
    PLACE,
    TIMERS,
    next_event,
    push_timer,
    put_event,
)
from weftline.kernels.column import F64, I32, I64, NIL, U8, U16, U64
from weftline.kernels.packet_ahead import fetch_next, fetch_ports
from weftline.kernels.packet_arriving import (
    add_kick,
    discard_packet,
    enter_switch,
    return_credit,
    take_answer,
    take_data,
)
from weftline.kernels.packet_lanes import as_int
from weftline.kernels.packet_sender import (
    drop_packet,
    end_flow,
    expire,
    join_ring,
    let_next,
    slow_down,
    step_on,
    take_slot,
)
from weftline.kernels.packet_sending import start_port
from weftline.kernels.packet_state import (
    ARRIVE,
    BEGIN,
    BY_DELAY,
    BY_RATE,
    CONTROL_AT,
    DATA,
    DEAD,
    EVENTS,
    EXPIRE,
    FIRST_STEP,
    FLOWLET,
    FLOWS_LEFT,
    FREE,
    HOPS,
    HOST,
    INSIDE,
    INSIDE_FS,
    INSIDE_PS,
    IS_SELECTIVE,
    KICK_FIRST,
    KICK_LAST,
    KIND_MASK,
    LANE_SHIFT,
    LANES,
    LIFE,
    LOST_HERE,
    MARK,
    MTU,
    NOTICE,
    OVERHEAD,
    OWED_LEFT,
    PACING_ON,
    PACKETS_LEFT,
    QUEUED,
    READY_FIRST,
    READY_LAST,
    RESTORING,
    SEED,
    SLOTS_LEFT,
    SPREAD,
    TAKEN,
    WAKE,
    WATCHING,
    WORK,
    Records,
)
from weftline.kernels.packet_timing import begin_watch, give_up_head, hold_lane, restore_lane
from weftline.kernels.tables import mix

DONE = 0
WAITING_UNTIL = 1
"""Nothing more happens up to the time that was asked for."""
STUCK = 2
"""No event is left although flows are."""
SHORT = 3
"""A pool is nearly empty: make it larger and go on."""
PAUSED = 4
"""The events that were asked for have been done."""

MARGIN = 64
BILLION = 1_000_000_000


class World(NamedTuple):
    """All state of a run; records as ``packet_state`` describes them."""

    number: I64
    port: Records
    link: Records
    lane: Records
    hold: Records
    profile: Records
    node: Records
    packet: Records
    owed: I64
    slot: Records
    pacing: F64
    seen: U8
    burst: I64
    flow: Records
    flow_bytes: I64
    earliest: I64
    delay: I64
    inside: I64
    start: I64
    finish: I64
    flow_slot: I32
    cause: I32
    longest: I64
    longest_at: I32
    waiting: I32
    successor: I32
    after_ptr: I64
    after_flow: I32
    ready: I32
    kick: I32
    forth: I32
    back: I32
    goal: I32
    path_port: I32
    path_lane: I32
    group: U8 | U16
    group_ptr: I32
    share_ptr: I32
    share_port: I32
    clock: I64
    bucket: I32
    chain: I32
    when: I64
    work: I32
    full: U64
    timer: I64


@inlined
def begin_flow(
    one: int, now: int, port: Records, slot: Records, seen: U8, burst: I64, flow: Records, flow_bytes: I64,
    earliest: I64, delay: I64, inside: I64, start: I64, finish: I64, flow_slot: I32, cause: I32, waiting: I32,
    successor: I32, after_ptr: I64, after_flow: I32, ready: I32, kick: I32, forth: I32, back: I32, goal: I32,
    number: I64, timer: I64, clock: I64,
) -> None:  # fmt: skip
    """Let a flow go that waits for nothing, or see to it that it goes at its time."""
    if len(earliest) > 0 or len(delay) > 0:
        time = now
        if len(earliest) > 0:
            time = max(time, earliest[one])
            earliest[one] = 0
        if len(delay) > 0:
            time += delay[one]
            delay[one] = 0
        if time > now:
            push_timer(time, (BEGIN << KIND) | one, 0, timer, clock)
            return
    start[one] = now
    via = flow[one].via
    pair = flow[one].pair
    if via == HOST:
        # Inside a host a GPU sends one message at a time, and takes one at a time.
        source, target = 2 * flow[one].source, 2 * flow[one].target + 1
        begin = max(now, inside[source], inside[target])
        end = begin + flow_bytes[one] * number[INSIDE_FS] // 1000
        inside[source] = end
        inside[target] = end
        let_next(one, successor, waiting, cause, ready, number)
        push_timer(end + number[INSIDE_PS], (INSIDE << KIND) | one, 0, timer, clock)
        return
    if via == WORK or flow_bytes[one] <= 0 or forth[pair] == NIL:
        let_next(one, successor, waiting, cause, ready, number)
        end_flow(one, now, finish, cause, waiting, after_ptr, after_flow, ready, number)
        return
    of = take_slot(number, slot)
    flow_slot[one] = of
    slot[of].flow = one
    count = (flow_bytes[one] + number[MTU] - 1) // number[MTU]
    slot[of].count = count
    slot[of].last_wire = flow_bytes[one] - (count - 1) * number[MTU] + number[OVERHEAD]
    slot[of].port = flow[one].source
    slot[of].forth = forth[pair]
    slot[of].back = back[pair]
    slot[of].goal = goal[pair]
    slot[of].progress = now
    slot[of].time_stage = number[FIRST_STEP]
    slot[of].is_paced = 1 if number[PACING_ON] == BY_DELAY else 0
    if number[IS_SELECTIVE] == 1:
        for spot in range(seen.shape[1]):
            seen[of, spot] = 0
    if number[SPREAD] == FLOWLET:
        for spot in range(burst.shape[1]):
            burst[of, spot] = NIL
    join_ring(of, slot, port)
    add_kick(slot[of].port, port, kick, number)


@lean_kernel
def is_corrupted(item: int, at: int, now: int, link: Records, packet: Records, number: I64) -> bool:
    """Tell whether a link with bit errors spoils a packet; by a hash, so that the same seed loses the same ones."""
    word = mix(
        mix(mix(int(number[SEED]) + int(packet[item].flow)) + int(packet[item].seq)) + int(at) + int(now & 0xFFFFFF)
    )
    # The loss is that of a full packet; a short one has as much less to be hit.
    share = link[at].loss_ppb * packet[item].wire // (number[MTU] + number[OVERHEAD])
    return (word * BILLION) >> 32 < share


@lean_kernel
def run(world: World, until: int, limit: int) -> int:
    """Do events up to a time, at most ``limit`` of them; all state is in the arrays, so that it can go on later.

    After each event all flows that may begin do so, in the order in which they became ready, and then all ports that
    may have something to send look, in the order in which they were noted. An event costs O(lanes + log timers), and
    an adaptive choice O(members).
    """
    (
        number, port, link, lane, hold, profile, node, packet, owed, slot, pacing, seen, burst, flow, flow_bytes,
        earliest, delay, inside, start, finish, flow_slot, cause, longest, longest_at, waiting, successor, after_ptr,
        after_flow, ready, kick, forth, back, goal, path_port, path_lane, group, group_ptr, share_ptr, share_port,
        clock, bucket, chain, when, work, full, timer,
    ) = world  # fmt: skip
    lanes = number[LANES]
    events = 0
    place = NIL
    while True:
        now = clock[NOW]
        while number[READY_FIRST] < number[READY_LAST]:
            if number[SLOTS_LEFT] < 1 or len(timer) - clock[TIMERS] < MARGIN:
                return SHORT
            one = as_int(ready[number[READY_FIRST]])
            number[READY_FIRST] += 1
            begin_flow(
                one, now, port, slot, seen, burst, flow, flow_bytes, earliest, delay, inside, start, finish,
                flow_slot, cause, waiting, successor, after_ptr, after_flow, ready, kick, forth, back, goal, number,
                timer, clock,
            )  # fmt: skip
        while number[KICK_FIRST] != number[KICK_LAST]:
            if number[PACKETS_LEFT] < MARGIN or number[OWED_LEFT] < MARGIN or len(timer) - clock[TIMERS] < MARGIN:
                return SHORT
            at = as_int(kick[number[KICK_FIRST]])
            number[KICK_FIRST] = number[KICK_FIRST] + 1 if number[KICK_FIRST] + 1 < len(kick) else 0
            port[at].kicked = 0
            if port[at].fault & DEAD == 0:
                start_port(
                    at, now, port, link, lane, hold, profile, node, packet, owed, slot, pacing, path_lane, successor,
                    waiting, cause, ready, longest, longest_at, number, clock, bucket, chain, when, work, full, timer,
                )  # fmt: skip
        if number[READY_FIRST] < number[READY_LAST]:
            continue
        if number[FLOWS_LEFT] == 0:
            return DONE
        if events >= limit:
            return PAUSED
        if number[PACKETS_LEFT] < MARGIN or number[OWED_LEFT] < MARGIN or len(timer) - clock[TIMERS] < MARGIN:
            return SHORT
        code, extra = next_event(until, clock, bucket, chain, when, work, full, timer)
        if code == NIL:
            is_left = clock[TIMERS] > 0 or clock[PENDING] > 0 or clock[FIRST] < clock[LAST]
            return WAITING_UNTIL if is_left else STUCK
        events += 1
        number[EVENTS] += 1
        now = clock[NOW]
        if clock[PLACE] != place:
            place = clock[PLACE]
            fetch_ports(port, clock, work)
        fetch_next(port, lane, packet, path_port, number, clock, work)
        kind = code >> KIND
        at = as_int(code & ((1 << KIND) - 1))
        if kind == ARRIVE:
            item = as_int(port[at].flight)
            after = packet[item].next
            port[at].flight = after
            if after != NIL:
                put_event(packet[after].due, at, clock, bucket, chain, when, work, full, timer)
            came = as_int(packet[item].tag) >> LANE_SHIFT & 7
            wire = as_int(packet[item].wire)
            if port[at].fault != 0:
                is_dead = port[at].fault & DEAD != 0
                if is_dead or is_corrupted(item, at, now, link, packet, number):
                    return_credit(
                        at, came, wire, now, port, link, lane, profile, owed, number, clock, bucket, chain, when,
                        work, full, timer,
                    )  # fmt: skip
                    if is_dead:
                        discard_packet(item, at, came, hold, packet, number)
                    else:
                        link[at].corrupted += 1
                        drop_packet(item, packet, number)
                    continue
            fate = TAKEN
            if port[at].peer_row != NIL:
                fate = enter_switch(
                    item, at, came, now, port, link, lane, hold, profile, node, packet, flow, flow_slot, forth, goal,
                    path_port, path_lane, group, group_ptr, share_ptr, share_port, burst, kick, owed, number, clock,
                    timer,
                )  # fmt: skip
                if fate == QUEUED:
                    continue
            return_credit(
                at, came, wire, now, port, link, lane, profile, owed, number, clock, bucket, chain, when, work, full,
                timer,
            )  # fmt: skip
            if fate == LOST_HERE:
                continue
            one, seq = as_int(packet[item].flow), as_int(packet[item].seq)
            tag, run_of = as_int(packet[item].tag), as_int(packet[item].run)
            drop_packet(item, packet, number)
            what = tag & KIND_MASK
            entry = as_int(port[at].peer)
            of_slot = as_int(flow_slot[one])
            if what == DATA:
                number[HOPS] += 1
            if of_slot == NIL:
                continue
            if what == DATA:
                take_data(
                    of_slot, one, entry, seq, tag & MARK, now, port, lane, profile, packet, slot, seen, path_lane,
                    finish, cause, waiting, after_ptr, after_flow, ready, kick, number,
                )  # fmt: skip
            elif what == NOTICE:
                if number[PACING_ON] == BY_RATE:
                    slow_down(of_slot, now, link[entry].rate, slot, pacing, number)
                elif number[PACING_ON] == BY_DELAY:
                    step_on(of_slot, now, slot, number)
            else:
                take_answer(of_slot, one, what, seq, run_of, now, port, slot, flow_slot, kick, number)
        elif kind == FREE:
            port[at].free_set = 0
            add_kick(at, port, kick, number)
        elif kind == CONTROL_AT:
            to, turn, is_on = at >> 4, at >> 1 & 7, at & 1
            hold_lane(to, turn, is_on, now, port, lane, hold, profile, number, timer, clock)
            if is_on == 0:
                add_kick(to, port, kick, number)
        elif kind == WAKE:
            link[at].wake_at = 0
            add_kick(at, port, kick, number)
        elif kind == EXPIRE:
            if expire(at, now, slot, number, timer, clock):
                join_ring(at, slot, port)
                add_kick(slot[at].port, port, kick, number)
        elif kind == BEGIN:
            ready[number[READY_LAST]] = at
            number[READY_LAST] += 1
        elif kind == INSIDE:
            end_flow(at, now, finish, cause, waiting, after_ptr, after_flow, ready, number)
        elif kind == LIFE:
            give_up_head(
                at, now, port, link, lane, hold, profile, node, packet, owed, number, clock, bucket, chain, when,
                work, full, timer,
            )  # fmt: skip
            add_kick(at // lanes, port, kick, number)
        elif kind == WATCHING:
            begin_watch(
                at, extra, now, port, link, lane, hold, profile, node, packet, owed, number, clock, bucket, chain,
                when, work, full, timer,
            )  # fmt: skip
            add_kick(at // lanes, port, kick, number)
        elif kind == RESTORING:
            restore_lane(at, extra, port, lane, hold, profile, number)
            add_kick(at // lanes, port, kick, number)
