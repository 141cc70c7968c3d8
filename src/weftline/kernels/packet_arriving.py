"""A packet arrives: it is routed, admitted, marked and queued; or, where it goes to, taken and answered."""

from __future__ import annotations

from weftline.kernels._jit import inlined, lean_kernel
from weftline.kernels.column import I32, I64, NIL, U8, U16, U64
from weftline.kernels.packet_choice import choose_member
from weftline.kernels.packet_lanes import admit, as_int, blocks_of, claim_credit, owe_credit, stored_size
from weftline.kernels.packet_sender import (
    drop_packet,
    end_flow,
    free_slot,
    has_more,
    join_ring,
    leave_ring,
    make_control,
)
from weftline.kernels.packet_sending import wake_port
from weftline.kernels.packet_state import (
    ACK,
    ACK_EVERY,
    ACKS,
    AGAIN_SENT,
    AT_ROOT,
    BY_LENGTH,
    CREDITING,
    DATA,
    DEAD,
    DISCARDED,
    END,
    FIRST_FLOW,
    FIRST_LANE,
    FIRST_LOST,
    HASH,
    HOPS,
    IS_SELECTIVE,
    KICK_LAST,
    LANE_SHIFT,
    LANES,
    LOST,
    LOST_HERE,
    MARK,
    MOST_RUN,
    NAK,
    NOTICE,
    NOTICE_LANE,
    NOTICE_PS,
    NOTICES,
    OPEN,
    PACING_ON,
    QUEUED,
    REORDER,
    SEED,
    SPREAD,
    STALLED,
    TAKEN,
    UNLUCKY,
    WINDOW,
    Records,
)
from weftline.kernels.tables import mix

PPM = 1_000_000


@inlined
def add_kick(at: int, port: Records, kick: I32, number: I64) -> None:
    """Note that a port may have something to send now."""
    if port[at].kicked == 0:
        port[at].kicked = 1
        last = number[KICK_LAST]
        kick[last] = at
        number[KICK_LAST] = last + 1 if last + 1 < len(kick) else 0


@inlined
def queue_packet(
    item: int, of: int, at: int, turn: int, size: int, port: Records, lane: Records, packet: Records
) -> None:
    """Put a packet at the end of a lane's queue."""
    packet[item].next = NIL
    if lane[of].head == NIL:
        lane[of].head = item
        port[at].ready |= 1 << turn
    else:
        packet[lane[of].tail].next = item
    lane[of].tail = item
    lane[of].waiting += size
    port[at].queued += size
    if lane[of].waiting > lane[of].most:
        lane[of].most = lane[of].waiting


@inlined
def mark_packet(
    item: int, of: int, hop: int, now: int, lane: Records, profile: Records, packet: Records, owed: I64, number: I64
) -> None:  # fmt: skip
    """Mark a packet by the queue that it finds: never when short, always when long, else by a hash of the seed.

    At the root of congestion a long queue has credit for its head, besides what is being sent: one without is a victim
    of congestion further on, and marks nothing unless it is told to. A share of the packets is marked, but short ones.
    """
    rule = lane[of].profile
    queue = as_int(lane[of].waiting)
    how = profile[rule].marks
    if how == 0 or queue <= profile[rule].mark_least:
        return
    if how == BY_LENGTH:
        is_marked = queue > profile[rule].mark_most
        span = profile[rule].mark_most - profile[rule].mark_least
        chance = 0 if is_marked else profile[rule].mark_ppm * (queue - profile[rule].mark_least) // span
    else:
        if packet[item].wire < profile[rule].mark_most:
            return
        if how == AT_ROOT:
            need = blocks_of(as_int(packet[lane[of].head].wire)) if lane[of].head != NIL else as_int(0)
            if lane[of].credit < need:
                claim_credit(of, now, lane, owed, number)
            if lane[of].credit < need:
                return
        chance = profile[rule].mark_ppm
        is_marked = chance >= PPM
    if not is_marked:
        word = mix(mix(mix(int(number[SEED])) + int(packet[item].flow)) + int(packet[item].seq) * 64 + int(hop))
        is_marked = word % PPM < chance
    if is_marked:
        lane[of].marks += 1
        packet[item].tag |= MARK


@lean_kernel
def lose_packet(
    item: int, entry: int, came: int, now: int, lane: Records, profile: Records, packet: Records, number: I64
) -> None:
    """Drop a packet that a switch does not take; where its lane must lose nothing, the first one is remembered."""
    into = entry * number[LANES] + came
    rule = lane[into].profile
    number[LOST] += 1
    lane[into].drops += 1
    if profile[rule].is_lossless == 1:
        number[UNLUCKY] += 1
        if number[FIRST_LOST] == NIL:
            number[FIRST_LOST] = now
            number[FIRST_LANE] = into
            number[FIRST_FLOW] = packet[item].flow
    drop_packet(item, packet, number)


@lean_kernel
def discard_packet(item: int, at: int, came: int, hold: Records, packet: Records, number: I64) -> None:
    """Give up a packet that came over link ``at``, which is dead, or that has no way on."""
    number[DISCARDED] += 1
    hold[at * number[LANES] + came].discards += 1
    drop_packet(item, packet, number)


@inlined
def enter_switch(
    item: int, at: int, came: int, now: int, port: Records, link: Records, lane: Records, hold: Records,
    profile: Records, node: Records, packet: Records, flow: Records, flow_slot: I32, forth: I32, goal: I32,
    path_port: I32, path_lane: I32, group: U8 | U16, group_ptr: I32, share_ptr: I32, share_port: I32, burst: I64,
    kick: I32, owed: I64, number: I64, clock: I64, timer: I64,
) -> int:  # fmt: skip
    """Take a packet into a switch and queue it at its output, or lose it; or find that this is where it goes."""
    entry = as_int(port[at].peer)
    what = packet[item].tag & 3
    wire = as_int(packet[item].wire)
    one = as_int(packet[item].flow)
    hop = as_int(packet[item].hop) + 1
    packet[item].hop = hop
    turn = came
    if what == DATA and number[SPREAD] != HASH:
        of_slot = flow_slot[one]
        pair = flow[one].pair
        to = as_int(goal[pair])
        if to != END:
            to = choose_member(
                port[at].peer_row, to, hop - as_int(forth[pair]), of_slot, one, packet[item].seq, now, group,
                group_ptr, share_ptr, share_port, burst, port, number,
            )  # fmt: skip
    else:
        to = as_int(path_port[hop])
        turn = as_int(path_lane[hop])
        if what == NOTICE and number[NOTICE_LANE] != NIL:
            turn = number[NOTICE_LANE]
    if to == END:
        return TAKEN
    if what == DATA:
        number[HOPS] += 1
    if to == NIL or port[to].fault & DEAD:
        discard_packet(item, at, came, hold, packet, number)
        return LOST_HERE
    into = entry * number[LANES] + came
    of = to * number[LANES] + turn
    kept, rule = lane[into].profile, lane[of].profile
    size = stored_size(wire, rule, profile, number)
    is_taken = True
    if profile[rule].watch + profile[rule].stall_count > 0 and hold[of].shut != OPEN:
        is_taken = hold[of].shut != STALLED and profile[rule].watch_drops == 0
    if profile[rule].limit > 0 and lane[of].waiting + size > profile[rule].limit:
        is_taken = False
    if is_taken and profile[kept].control != CREDITING:
        held = size if rule == kept else stored_size(wire, kept, profile, number)
        is_taken = admit(into, entry, came, held, now, port, link, lane, profile, node, number, timer, clock)
    if not is_taken:
        lose_packet(item, entry, came, now, lane, profile, packet, number)
        return LOST_HERE
    if what == DATA:
        mark_packet(item, of, hop - as_int(forth[flow[one].pair]), now, lane, profile, packet, owed, number)
    packet[item].holder = into
    packet[item].due = now
    queue_packet(item, of, to, turn, size, port, lane, packet)
    add_kick(to, port, kick, number)
    return QUEUED


@lean_kernel
def send_control(
    of_slot: int, entry: int, kind: int, seq: int, run: int, port: Records, lane: Records, profile: Records,
    packet: Records, slot: Records, path_lane: I32, kick: I32, number: I64,
) -> None:  # fmt: skip
    """Queue a packet that goes back to the sender, at the receiver's own port."""
    item = make_control(of_slot, kind, seq, run, path_lane, slot, packet, number)
    turn = as_int(packet[item].tag) >> LANE_SHIFT & 7
    of = entry * number[LANES] + turn
    size = stored_size(as_int(packet[item].wire), lane[of].profile, profile, number)
    queue_packet(item, of, entry, turn, size, port, lane, packet)
    add_kick(entry, port, kick, number)


@lean_kernel
def take_any_order(of_slot: int, seq: int, slot: Records, seen: U8, number: I64) -> tuple[int, int]:
    """A receiver that keeps packets out of order takes one; returns what it answers, and how much it asks for again."""
    window = number[WINDOW]
    spot = seq % window
    if seq < slot[of_slot].expected or as_int(seen[of_slot, spot >> 3]) >> (spot & 7) & 1:
        return ACK, 0
    seen[of_slot, spot >> 3] |= 1 << (spot & 7)
    slot[of_slot].arrived += 1
    slot[of_slot].highest = max(slot[of_slot].highest, seq)
    before = as_int(slot[of_slot].expected)
    expected = before
    count = slot[of_slot].count
    while expected < count:
        spot = expected % window
        if as_int(seen[of_slot, spot >> 3]) >> (spot & 7) & 1 == 0:
            break
        seen[of_slot, spot >> 3] &= ~(1 << (spot & 7))
        expected += 1
    slot[of_slot].expected = expected
    if expected == count:
        return ACK, 0
    if slot[of_slot].highest - expected >= max(1, number[REORDER]) and expected >= slot[of_slot].naked:
        upto = expected + 1
        while upto < slot[of_slot].highest and upto - expected < MOST_RUN:
            spot = upto % window
            if as_int(seen[of_slot, spot >> 3]) >> (spot & 7) & 1:
                break
            upto += 1
        slot[of_slot].naked = upto
        return NAK, upto - expected
    # Progress is what is answered, not arrivals: an answer while a packet is missing would open no window.
    every = number[ACK_EVERY]
    is_due = before // every < expected // every or before < slot[of_slot].naked <= expected
    return (ACK if is_due else NIL), 0


@inlined
def take_in_order(of_slot: int, seq: int, slot: Records, number: I64) -> int:
    """A receiver that takes packets only in order takes or discards one; returns what it answers."""
    expected = as_int(slot[of_slot].expected)
    if seq < expected:
        return ACK
    if seq > expected:
        if slot[of_slot].naked == 1:
            return NIL
        slot[of_slot].naked = 1
        return NAK
    expected += 1
    slot[of_slot].expected = expected
    slot[of_slot].naked = 0
    return ACK if expected == slot[of_slot].count or expected % number[ACK_EVERY] == 0 else NIL


@inlined
def take_data(
    of_slot: int, one: int, entry: int, seq: int, is_marked: int, now: int, port: Records, lane: Records,
    profile: Records, packet: Records, slot: Records, seen: U8, path_lane: I32, finish: I64, cause: I32, waiting: I32,
    after_ptr: I64, after_flow: I32, ready: I32, kick: I32, number: I64,
) -> None:  # fmt: skip
    """A receiver takes a packet of data, answers, and notices when the message is whole."""
    if is_marked != 0 and number[PACING_ON] != 0 and now - slot[of_slot].noticed >= number[NOTICE_PS]:
        slot[of_slot].noticed = now
        number[NOTICES] += 1
        send_control(of_slot, entry, NOTICE, 0, 0, port, lane, profile, packet, slot, path_lane, kick, number)
    run = as_int(0)
    if number[IS_SELECTIVE] == 1:
        answer, run = take_any_order(of_slot, seq, slot, seen, number)
    else:
        answer = take_in_order(of_slot, seq, slot, number)
    if answer != NIL:
        expected = slot[of_slot].expected
        send_control(of_slot, entry, answer, expected, run, port, lane, profile, packet, slot, path_lane, kick, number)
    if slot[of_slot].expected == slot[of_slot].count and finish[one] == NIL:
        end_flow(one, now, finish, cause, waiting, after_ptr, after_flow, ready, number)


@lean_kernel
def take_answer(
    of_slot: int, one: int, what: int, seq: int, run: int, now: int, port: Records, slot: Records, flow_slot: I32,
    kick: I32, number: I64,
) -> None:  # fmt: skip
    """A sender hears what has arrived, or what it must send again."""
    number[ACKS] += 1
    if seq > slot[of_slot].acked:
        slot[of_slot].acked = seq
        slot[of_slot].progress = now
        slot[of_slot].again = max(slot[of_slot].again, seq)
        slot[of_slot].go = max(slot[of_slot].go, seq)
    if slot[of_slot].acked == slot[of_slot].count:
        leave_ring(of_slot, slot, port)
        flow_slot[one] = NIL
        free_slot(of_slot, slot, number)
        return
    window = number[WINDOW] if number[IS_SELECTIVE] == 1 else 0
    if what == NAK:
        if window > 0:
            slot[of_slot].again = max(seq, slot[of_slot].acked)
            slot[of_slot].again_end = seq + run
        else:
            number[AGAIN_SENT] += slot[of_slot].go - slot[of_slot].acked
            slot[of_slot].go = slot[of_slot].acked
    if has_more(of_slot, slot, window):
        join_ring(of_slot, slot, port)
        add_kick(slot[of_slot].port, port, kick, number)
    else:
        leave_ring(of_slot, slot, port)


@inlined
def return_credit(
    at: int, came: int, wire: int, now: int, port: Records, link: Records, lane: Records, profile: Records, owed: I64,
    number: I64, clock: I64, bucket: I32, chain: I32, when: I64, work: I32, full: U64, timer: I64,
) -> None:  # fmt: skip
    """A packet is taken, or lost: its credit goes back at once."""
    of = at * number[LANES] + came
    if profile[lane[of].profile].control == CREDITING:
        comes = now + link[port[at].peer].propagation + link[at].response
        time = owe_credit(of, comes, blocks_of(wire), lane, owed, number)
        if as_int(port[at].starved) >> came & 1:
            wake_port(at, time, port, link, clock, bucket, chain, when, work, full, timer)
