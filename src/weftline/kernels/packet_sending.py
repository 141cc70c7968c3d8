"""A port sends: which lane or flow has its turn, what that frees, and when the packet arrives."""

from __future__ import annotations

from weftline.kernels._jit import fetch_row, inlined, lean_kernel
from weftline.kernels.calendar import KIND, push_timer, put_event
from weftline.kernels.column import F64, I32, I64, NIL, U64
from weftline.kernels.packet_lanes import (
    as_int,
    blocks_of,
    choose_lane,
    claim_credit,
    give_back,
    owe_credit,
    send_time,
    stored_size,
)
from weftline.kernels.packet_sender import (
    arm_timeout,
    count_bytes,
    has_more,
    leave_ring,
    let_next,
    pass_time,
    step_back,
    table_delay,
    take_packet,
)
from weftline.kernels.packet_state import (
    AGAIN_SENT,
    BY_DELAY,
    CREDITING,
    DATA,
    END,
    HAS_DISCARDED,
    IS_SELECTIVE,
    IS_TIMED,
    LANE_SHIFT,
    LANES,
    LAST_ONE,
    LIFE,
    MOVED,
    MTU,
    OVERHEAD,
    PACING_ON,
    WAKE,
    WINDOW,
    Records,
)

SENT_TAG = 7 | LAST_ONE
"""What of a tag stays when a packet changes its lane."""


@lean_kernel
def wake_port(
    at: int, time: int, port: Records, link: Records, clock: I64, bucket: I32, chain: I32, when: I64, work: I32,
    full: U64, timer: I64,
) -> None:  # fmt: skip
    """See to it that a port looks again at a time, if it does not do so earlier anyway."""
    departure = len(port) + at
    if port[at].free_set == 0:
        port[at].free_set = 1
        put_event(max(time, port[at].busy), departure, clock, bucket, chain, when, work, full, timer)
    elif when[departure] > time and link[at].wake_at != time:
        link[at].wake_at = time
        push_timer(time, (WAKE << KIND) | at, 0, timer, clock)


@inlined
def look_when_free(
    at: int, port: Records, link: Records, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64,
    timer: I64,
) -> None:  # fmt: skip
    """See to it that a port looks again when it is free; the look that is pending may be a later one."""
    departure = len(port) + at
    if port[at].free_set == 0:
        port[at].free_set = 1
        put_event(port[at].busy, departure, clock, bucket, chain, when, work, full, timer)
    elif when[departure] > port[at].busy:
        wake_port(at, port[at].busy, port, link, clock, bucket, chain, when, work, full, timer)


@inlined
def has_credit(
    of: int,
    at: int,
    turn: int,
    wire: int,
    now: int,
    port: Records,
    lane: Records,
    hold: Records,
    owed: I64,
    number: I64,
) -> bool:
    """Tell whether a lane may send so many bytes; one that may not starves until credit comes."""
    need = blocks_of(wire)
    if lane[of].credit < need:
        claim_credit(of, now, lane, owed, number)
    is_starved = as_int(port[at].starved) >> turn & 1
    if lane[of].credit < need:
        if is_starved == 0:
            port[at].starved |= 1 << turn
            hold[of].starved_since = now
        return False
    if is_starved == 1:
        port[at].starved &= ~(1 << turn)
        hold[of].starved_time += now - hold[of].starved_since
    return True


@inlined
def find_open(
    at: int, now: int, port: Records, lane: Records, hold: Records, profile: Records, packet: Records, owed: I64,
    number: I64, timer: I64, clock: I64,
) -> tuple[int, int]:  # fmt: skip
    """Find the lanes with something queued that may be sent now, as bits; and when credit comes for others, 0: never.

    A head of a queue that waits for credit is given its lifetime.
    """
    wake = as_int(0)
    open_lanes = as_int(port[at].ready) & ~as_int(port[at].held)
    bits = open_lanes
    turn = 0
    while bits != 0:
        if bits & 1:
            of = at * number[LANES] + turn
            rule = lane[of].profile
            if profile[rule].control == CREDITING:
                wire = as_int(packet[lane[of].head].wire)
                if not has_credit(of, at, turn, wire, now, port, lane, hold, owed, number):
                    open_lanes &= ~(1 << turn)
                    if lane[of].owed != NIL and (wake == 0 or owed[lane[of].owed, 0] < wake):
                        wake = owed[lane[of].owed, 0]
                    if profile[rule].lifetime > 0:
                        if lane[of].life & IS_TIMED == 0:
                            lane[of].life |= IS_TIMED
                            hold[of].head_since = now
                            push_timer(now + profile[rule].lifetime, (LIFE << KIND) | of, 0, timer, clock)
                        elif hold[of].head_since == NIL:
                            hold[of].head_since = now
        bits >>= 1
        turn += 1
    return open_lanes, wake


@inlined
def release_packet(
    item: int, length: int, now: int, port: Records, link: Records, lane: Records, profile: Records, node: Records,
    packet: Records, owed: I64, number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64,
    timer: I64,
) -> None:  # fmt: skip
    """Give back the input buffer of a packet that leaves, and its credit once its last byte has left."""
    into = packet[item].holder
    if into == NIL:
        return
    wire = as_int(packet[item].wire)
    rule = lane[into].profile
    if profile[rule].control == CREDITING:
        entry = into // number[LANES]
        turn = into - entry * number[LANES]
        upper = port[entry].peer
        comes = now + length + link[entry].propagation + link[upper].response
        time = owe_credit(upper * number[LANES] + turn, comes, blocks_of(wire), lane, owed, number)
        if as_int(port[upper].starved) >> turn & 1:
            wake_port(upper, time, port, link, clock, bucket, chain, when, work, full, timer)
    else:
        size = stored_size(wire, rule, profile, number)
        give_back(into, size, now, port, link, lane, profile, node, number, timer, clock)


@inlined
def take_head(
    of: int, at: int, turn: int, port: Records, lane: Records, profile: Records, packet: Records, number: I64
) -> int:
    """Take the first packet off a queue."""
    item = lane[of].head
    after = packet[item].next
    lane[of].head = after
    fetch_row(packet, after)
    size = stored_size(as_int(packet[item].wire), lane[of].profile, profile, number)
    lane[of].waiting -= size
    port[at].queued -= size
    if after == NIL:
        port[at].ready &= ~(1 << turn)
        lane[of].deficit = 0
    return item


@inlined
def find_sender(
    at: int, wake: int, now: int, port: Records, link: Records, lane: Records, hold: Records, profile: Records,
    slot: Records, path_lane: I32, pacing: F64, owed: I64, number: I64,
) -> tuple[int, int]:  # fmt: skip
    """Find the flow whose turn it is at a host's port, NIL where none may send, and when one may."""
    first = port[at].ring
    of_slot = first
    while of_slot != NIL:
        turn = as_int(path_lane[slot[of_slot].forth])
        of = at * number[LANES] + turn
        may = as_int(port[at].held) >> turn & 1 == 0
        if may and slot[of_slot].is_paced == 1:
            if number[PACING_ON] == BY_DELAY:
                step_back(of_slot, now, slot, number)
            else:
                pass_time(of_slot, now, link[at].rate, slot, pacing, number)
            if slot[of_slot].is_paced == 1 and slot[of_slot].not_before > now:
                may = False
                if wake == 0 or slot[of_slot].not_before < wake:
                    wake = slot[of_slot].not_before
        if may and profile[lane[of].profile].control == CREDITING:
            again = slot[of_slot].again < slot[of_slot].again_end
            seq = slot[of_slot].again if again else slot[of_slot].go
            wire = slot[of_slot].last_wire if seq + 1 == slot[of_slot].count else number[MTU] + number[OVERHEAD]
            may = has_credit(of, at, turn, wire, now, port, lane, hold, owed, number)
            if not may and lane[of].owed != NIL and (wake == 0 or owed[lane[of].owed, 0] < wake):
                wake = owed[lane[of].owed, 0]
        if may:
            break
        of_slot = slot[of_slot].after
        if of_slot == first:
            of_slot = NIL
    return of_slot, wake


@inlined
def make_data(
    of_slot: int, at: int, now: int, port: Records, link: Records, slot: Records, packet: Records, pacing: F64,
    successor: I32, waiting: I32, cause: I32, ready: I32, number: I64, timer: I64, clock: I64,
) -> int:  # fmt: skip
    """Make the next packet of a flow; the turn goes to the next flow of the port."""
    window = number[WINDOW] if number[IS_SELECTIVE] == 1 else 0
    again = slot[of_slot].again < slot[of_slot].again_end
    seq = slot[of_slot].again if again else slot[of_slot].go
    is_last = seq + 1 == slot[of_slot].count
    wire = slot[of_slot].last_wire if is_last else number[MTU] + number[OVERHEAD]
    one = slot[of_slot].flow
    item = take_packet(packet, number)
    packet[item].flow = one
    packet[item].seq = seq
    packet[item].hop = slot[of_slot].forth
    packet[item].wire = wire
    packet[item].holder = NIL
    packet[item].tag = DATA | LAST_ONE if is_last else DATA
    if slot[of_slot].is_paced == 1 and number[PACING_ON] == BY_DELAY:
        longest = send_time(at, number[MTU] + number[OVERHEAD], port, link)
        slot[of_slot].not_before = now + send_time(at, wire, port, link) + table_delay(of_slot, longest, slot, pacing)
    elif slot[of_slot].is_paced == 1:
        count_bytes(of_slot, wire, link[at].rate, slot, pacing, number)
        slot[of_slot].not_before = now + as_int(wire * 8_000_000 / slot[of_slot].rate)
    if again:
        slot[of_slot].again = seq + 1
        number[AGAIN_SENT] += 1
    else:
        if seq == slot[of_slot].acked:
            slot[of_slot].progress = now
        slot[of_slot].go = seq + 1
        if is_last and slot[of_slot].was_sent == 0:
            slot[of_slot].was_sent = 1
            let_next(one, successor, waiting, cause, ready, number)
    arm_timeout(of_slot, slot, number, timer, clock)
    port[at].ring = slot[of_slot].after
    if not has_more(of_slot, slot, window):
        leave_ring(of_slot, slot, port)
    return item


@inlined
def send_packet(
    item: int, of: int, at: int, turn: int, length: int, now: int, port: Records, link: Records, lane: Records,
    hold: Records, profile: Records, packet: Records, number: I64, clock: I64, bucket: I32, chain: I32, when: I64,
    work: I32, full: U64, timer: I64,
) -> None:  # fmt: skip
    """Put a packet on the link; the port is free again after ``length`` picoseconds."""
    wire = as_int(packet[item].wire)
    if profile[lane[of].profile].control == CREDITING:
        lane[of].credit -= blocks_of(wire)
    if lane[of].life & HAS_DISCARDED:
        lane[of].life &= IS_TIMED
        hold[of].in_row = 0
    packet[item].tag = (packet[item].tag & SENT_TAG) | turn << LANE_SHIFT
    packet[item].next = NIL
    arrival = now + port[at].delay + (length if port[at].stored == 1 else 0)
    packet[item].due = arrival
    port[at].busy = now + length
    port[at].bytes += wire
    number[MOVED] = now
    if port[at].flight == NIL:
        port[at].flight = item
        put_event(arrival, at, clock, bucket, chain, when, work, full, timer)
    else:
        packet[port[at].flight_last].next = item
    port[at].flight_last = item
    if port[at].ready != 0 or port[at].ring != NIL:
        look_when_free(at, port, link, clock, bucket, chain, when, work, full, timer)


@inlined
def note_wait(item: int, at: int, now: int, packet: Records, longest: I64, longest_at: I32) -> None:
    """Keep where the last packet of a flow waited longest; its arrival at the switch stands in ``due``."""
    if packet[item].tag & LAST_ONE and packet[item].tag & 3 == DATA:
        one = packet[item].flow
        wait = now - packet[item].due
        if wait > longest[one]:
            longest[one] = wait
            longest_at[one] = at


@inlined
def start_port(
    at: int, now: int, port: Records, link: Records, lane: Records, hold: Records, profile: Records, node: Records,
    packet: Records, owed: I64, slot: Records, pacing: F64, path_lane: I32, successor: I32, waiting: I32, cause: I32,
    ready: I32, longest: I64, longest_at: I32, number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32,
    full: U64, timer: I64,
) -> None:  # fmt: skip
    """Send the packet whose turn it is, if the port is free and one may go; else see when to look again."""
    if port[at].busy > now:
        look_when_free(at, port, link, clock, bucket, chain, when, work, full, timer)
        return
    open_lanes, wake = find_open(at, now, port, lane, hold, profile, packet, owed, number, timer, clock)
    item = NIL
    of_slot = NIL
    turn = as_int(0)
    length = as_int(0)
    first = port[at].ring
    if first != NIL and (open_lanes == 0 or (slot[first].goal == END and link[at].own == 0)):
        # A flow over one link takes turns with what waits here, at a switch packets that pass; others let answers go.
        of_slot, wake = find_sender(
            at, wake, now, port, link, lane, hold, profile, slot, path_lane, pacing, owed, number
        )
    if of_slot != NIL:
        if open_lanes != 0:
            link[at].own = 1
        turn = as_int(path_lane[slot[of_slot].forth])
        item = make_data(
            of_slot, at, now, port, link, slot, packet, pacing, successor, waiting, cause, ready, number, timer, clock
        )
        length = send_time(at, as_int(packet[item].wire), port, link)
    elif open_lanes != 0:
        if first != NIL and slot[first].goal == END:
            link[at].own = 0
        if open_lanes & (open_lanes - 1) == 0:
            while open_lanes >> turn & 1 == 0:
                turn += 1
        else:
            turn = as_int(choose_lane(at, open_lanes, port, lane, profile, packet, number))
        of = at * number[LANES] + turn
        item = take_head(of, at, turn, port, lane, profile, packet, number)
        if lane[of].life & IS_TIMED:
            hold[of].head_since = NIL
        length = send_time(at, as_int(packet[item].wire), port, link)
        note_wait(item, at, now, packet, longest, longest_at)
        release_packet(
            item, length, now, port, link, lane, profile, node, packet, owed, number, clock, bucket, chain, when,
            work, full, timer,
        )  # fmt: skip
    if item != NIL:
        send_packet(
            item, at * number[LANES] + turn, at, turn, length, now, port, link, lane, hold, profile, packet, number,
            clock, bucket, chain, when, work, full, timer,
        )  # fmt: skip
    elif wake > now:
        wake_port(at, wake, port, link, clock, bucket, chain, when, work, full, timer)
