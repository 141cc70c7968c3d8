"""What adapters do: flows in slots that take turns at a port, their pace, and control packets."""

from __future__ import annotations

from weftline.kernels._jit import inlined, lean_kernel
from weftline.kernels.calendar import KIND, push_timer
from weftline.kernels.column import F64, I32, I64, NIL
from weftline.kernels.packet_lanes import as_int
from weftline.kernels.packet_state import (
    ACK_WIRE,
    AGAIN_SENT,
    ALPHA_PS,
    DECREASE_PS,
    EXPIRE,
    FIRST_STEP,
    FLOWS_LEFT,
    INCREASE_BYTES,
    INCREASE_PS,
    IS_SELECTIVE,
    LANE_SHIFT,
    LAST_STEP,
    NOTICE,
    NOTICE_LANE,
    NOTICE_WIRE,
    PACKET_FREE,
    PACKETS_LEFT,
    READY_LAST,
    SLOT_FREE,
    SLOTS_LEFT,
    STAGES,
    STEP,
    STEP_PS,
    TIMEOUT,
    TIMEOUTS,
    Records,
)

# Floats of pacing.
GAIN = 0
ADDITIVE = 1
HYPER = 2
LEAST = 3
NEVER = -(1 << 60)
"""Time of the last notice where there was none."""


@inlined
def take_packet(packet: Records, number: I64) -> int:
    """Take a packet from the pool; there must be one."""
    item = number[PACKET_FREE]
    number[PACKET_FREE] = packet[item].next
    number[PACKETS_LEFT] -= 1
    return int(item)


@inlined
def drop_packet(item: int, packet: Records, number: I64) -> None:
    """Give a packet back to the pool."""
    packet[item].next = number[PACKET_FREE]
    number[PACKET_FREE] = item
    number[PACKETS_LEFT] += 1


@lean_kernel
def make_control(
    of: int, kind: int, seq: int, run: int, path_lane: I32, slot: Records, packet: Records, number: I64
) -> int:
    """Make a packet that goes back from the receiver of a slot to its sender."""
    item = take_packet(packet, number)
    hop = slot[of].back
    turn = path_lane[hop]
    wire = number[ACK_WIRE]
    if kind == NOTICE:
        wire = number[NOTICE_WIRE]
        if number[NOTICE_LANE] != NIL:
            turn = number[NOTICE_LANE]
    packet[item].flow = slot[of].flow
    packet[item].seq = seq
    packet[item].hop = hop
    packet[item].wire = wire
    packet[item].holder = NIL
    packet[item].tag = kind | turn << LANE_SHIFT
    packet[item].run = run
    return item


@lean_kernel
def join_ring(of: int, slot: Records, port: Records) -> None:
    """Let a slot take its turn at its port, after all others."""
    if slot[of].in_ring == 1:
        return
    slot[of].in_ring = 1
    at = slot[of].port
    first = port[at].ring
    if first == NIL:
        port[at].ring = of
        slot[of].after = of
        slot[of].before = of
        return
    last = slot[first].before
    slot[of].after = first
    slot[of].before = last
    slot[last].after = of
    slot[first].before = of


@lean_kernel
def leave_ring(of: int, slot: Records, port: Records) -> None:
    """Take a slot that has nothing to send out of the turns at its port."""
    if slot[of].in_ring == 0:
        return
    slot[of].in_ring = 0
    at = slot[of].port
    after = slot[of].after
    if after == of:
        port[at].ring = NIL
        return
    before = slot[of].before
    slot[before].after = after
    slot[after].before = before
    if port[at].ring == of:
        port[at].ring = after


@inlined
def has_more(of: int, slot: Records, window: int) -> bool:
    """Tell whether a slot has a packet that it may send, but for its pace."""
    if slot[of].again < slot[of].again_end:
        return True
    return bool(slot[of].go < slot[of].count and (window == 0 or slot[of].go < slot[of].acked + window))


@lean_kernel
def grow_rate(of: int, line: int, slot: Records, pacing: F64, number: I64) -> None:
    """One period of increase: fast recovery, then additive, then hyper increase; Zhu et al., SIGCOMM 2015, 3.3."""
    times = slot[of].time_stage
    sizes = slot[of].byte_stage if number[INCREASE_BYTES] > 0 else times
    stages = number[STAGES]
    if max(times, sizes) >= stages:
        goal = slot[of].rate_goal + (
            pacing[ADDITIVE] if min(times, sizes) <= stages else (min(times, sizes) - stages) * pacing[HYPER]
        )
        slot[of].rate_goal = min(goal, float(line))
    slot[of].rate = (slot[of].rate_goal + slot[of].rate) / 2.0
    if slot[of].rate >= line * 0.999999:
        slot[of].rate = line


@lean_kernel
def pass_time(of: int, now: int, line: int, slot: Records, pacing: F64, number: I64) -> None:
    """Let the timers of a paced slot run until now, one period after the other."""
    while slot[of].alpha_at <= now:
        slot[of].alpha_at += number[ALPHA_PS]
        slot[of].alpha *= 1.0 - pacing[GAIN]
    while slot[of].is_paced == 1 and slot[of].grow_at <= now:
        slot[of].grow_at += number[INCREASE_PS]
        slot[of].time_stage += 1
        grow_rate(of, line, slot, pacing, number)
    if slot[of].rate >= line and slot[of].rate_goal >= line:
        slot[of].is_paced = 0
        slot[of].not_before = 0


@lean_kernel
def count_bytes(of: int, wire: int, line: int, slot: Records, pacing: F64, number: I64) -> None:
    """Count the bytes that a paced slot has sent towards its next increase."""
    if number[INCREASE_BYTES] == 0:
        return
    slot[of].grow_bytes += wire
    while slot[of].grow_bytes >= number[INCREASE_BYTES]:
        slot[of].grow_bytes -= number[INCREASE_BYTES]
        slot[of].byte_stage += 1
        grow_rate(of, line, slot, pacing, number)


@lean_kernel
def slow_down(of: int, now: int, line: int, slot: Records, pacing: F64, number: I64) -> None:
    """A notice arrived: cut the rate by half the estimate of congestion."""
    if slot[of].decreased != NIL and now - slot[of].decreased < number[DECREASE_PS]:
        return
    if slot[of].decreased == NIL:
        slot[of].alpha = 1.0
        slot[of].rate = line
        slot[of].rate_goal = line
    else:
        pass_time(of, now, line, slot, pacing, number)
    slot[of].is_paced = 1
    slot[of].decreased = now
    slot[of].rate_goal = slot[of].rate
    slot[of].rate = max(pacing[LEAST], slot[of].rate * (1.0 - slot[of].alpha / 2.0))
    slot[of].alpha = (1.0 - pacing[GAIN]) * slot[of].alpha + pacing[GAIN]
    slot[of].alpha_at = now + number[ALPHA_PS]
    slot[of].grow_at = now + number[INCREASE_PS]
    slot[of].grow_bytes = 0
    slot[of].time_stage = 0
    slot[of].byte_stage = 0


@lean_kernel
def step_on(of: int, now: int, slot: Records, number: I64) -> None:
    """A notice arrived: go on in the table of delays; IBTA volume 1, annex A10, CCTI_Increase and CCTI_Limit.

    The timer that takes steps back runs while there are any, and is not begun anew by a notice.
    """
    step_back(of, now, slot, number)
    if slot[of].time_stage == number[FIRST_STEP]:
        slot[of].grow_at = now + number[STEP_PS]
    slot[of].time_stage = min(slot[of].time_stage + number[STEP], number[LAST_STEP])


@lean_kernel
def step_back(of: int, now: int, slot: Records, number: I64) -> None:
    """Take back one step for each time that the timer has run out by now; a delay that has begun is kept."""
    stage = as_int(slot[of].time_stage)
    if stage > number[FIRST_STEP] and slot[of].grow_at <= now:
        times = min((now - slot[of].grow_at) // number[STEP_PS] + 1, stage - number[FIRST_STEP])
        stage -= times
        slot[of].time_stage = stage
        slot[of].grow_at += times * number[STEP_PS]


@inlined
def table_delay(of: int, longest: int, slot: Records, pacing: F64) -> int:
    """Picoseconds that a flow waits after a packet: shares of what the longest packet takes.

    An entry of the table is a shift and a multiplier; as hfi1 of Linux applies them (set_link_ipg).
    """
    spot = 2 * slot[of].time_stage
    return int((longest >> as_int(pacing[spot])) * as_int(pacing[spot + 1]))


@lean_kernel
def arm_timeout(of: int, slot: Records, number: I64, timer: I64, clock: I64) -> None:
    """See to it that somebody looks whether a slot still makes progress; one look at a time."""
    if slot[of].timer_set == 0 and number[TIMEOUT] > 0:
        slot[of].timer_set = 1
        push_timer(slot[of].progress + number[TIMEOUT], (EXPIRE << KIND) | of, 0, timer, clock)


@lean_kernel
def clear_slot(of: int, slot: Records) -> None:
    """Make a slot as new; a look at its progress that is pending stays so."""
    slot[of].go = 0
    slot[of].acked = 0
    slot[of].again = 0
    slot[of].again_end = 0
    slot[of].expected = 0
    slot[of].arrived = 0
    slot[of].highest = 0
    slot[of].naked = 0
    slot[of].in_ring = 0
    slot[of].was_sent = 0
    slot[of].is_paced = 0
    slot[of].not_before = 0
    slot[of].noticed = NEVER
    slot[of].decreased = NIL


@inlined
def take_slot(number: I64, slot: Records) -> int:
    """Take a slot from the pool; there must be one."""
    of = number[SLOT_FREE]
    number[SLOT_FREE] = slot[of].after
    number[SLOTS_LEFT] -= 1
    clear_slot(of, slot)
    return of


@inlined
def free_slot(of: int, slot: Records, number: I64) -> None:
    """Give a slot back to the pool."""
    slot[of].flow = NIL
    slot[of].after = number[SLOT_FREE]
    number[SLOT_FREE] = of
    number[SLOTS_LEFT] += 1


@lean_kernel
def make_ready(flow: int, by: int, waiting: I32, cause: I32, ready: I32, number: I64) -> None:
    """One thing less that a flow waits for; the last one lets it go."""
    waiting[flow] -= 1
    if waiting[flow] == 0:
        cause[flow] = by
        ready[number[READY_LAST]] = flow
        number[READY_LAST] += 1


@lean_kernel
def end_flow(
    flow: int, now: int, finish: I64, cause: I32, waiting: I32, after_ptr: I64, after_flow: I32, ready: I32,
    number: I64,
) -> None:  # fmt: skip
    """A flow has arrived: those that waited for nothing else may go."""
    finish[flow] = now
    number[FLOWS_LEFT] -= 1
    for turn in range(after_ptr[flow], after_ptr[flow + 1]):
        make_ready(after_flow[turn], flow, waiting, cause, ready, number)


@lean_kernel
def let_next(flow: int, successor: I32, waiting: I32, cause: I32, ready: I32, number: I64) -> None:
    """The last packet of a flow goes out: the next of its queue may."""
    other = successor[flow]
    if other != NIL:
        make_ready(other, flow, waiting, cause, ready, number)


@lean_kernel
def expire(of: int, now: int, slot: Records, number: I64, timer: I64, clock: I64) -> bool:
    """Look whether a slot still makes progress; one that does not sends again what nobody confirmed: True."""
    slot[of].timer_set = 0
    if slot[of].flow == NIL or slot[of].go == slot[of].acked:
        return False
    if now < slot[of].progress + number[TIMEOUT]:
        arm_timeout(of, slot, number, timer, clock)
        return False
    number[TIMEOUTS] += 1
    slot[of].progress = now
    if number[IS_SELECTIVE] == 1:
        slot[of].again = slot[of].acked
        slot[of].again_end = slot[of].go
        slot[of].naked = 0
    else:
        number[AGAIN_SENT] += slot[of].go - slot[of].acked
        slot[of].go = slot[of].acked
    arm_timeout(of, slot, number, timer, clock)
    return True
