"""A switch chooses among equal ports: packet by packet in turn, by the length of queues, or burst by burst."""

from __future__ import annotations

from weftline.kernels._jit import lean_kernel
from weftline.kernels.column import I32, I64, NIL, U8, U16
from weftline.kernels.packet_lanes import as_int
from weftline.kernels.packet_state import ADAPTIVE, BURST_HOPS, BURST_PS, DEAD, SEED, SPRAY, SPREAD, Records
from weftline.kernels.tables import mix


@lean_kernel
def least_queued(first: int, members: int, offset: int, share_port: I32, port: Records) -> int:
    """Find the port with the shortest queue among equal ones, the first from an offset on; NIL where all are dead."""
    best = NIL
    least = as_int(0)
    for step in range(members):
        turn = offset + step
        if turn >= members:
            turn -= members
        at = share_port[first + turn]
        if at == NIL or port[at].fault & DEAD:
            continue
        if best == NIL or port[at].queued < least:
            best = at
            least = port[at].queued
    return best


@lean_kernel
def spray_offset(row: int, hop: int, one: int, seq: int, members: int, seed: int) -> int:
    """Take turns packet by packet, each flow for itself, at the first switch of its way or a later one.

    A flow visits each of m members once in m packets, from a place that is drawn anew each time, and each of m * m
    pairs of members of two switches in a row once in m * m packets. Were all flows of a switch to share one turn, two
    that take turns on it would each stay on every other member; were nothing drawn anew, all that one member brings
    to the next switch could go one way.
    """
    rest = as_int(seq)
    for _ in range(hop - 1):
        rest //= members
    word = mix(mix(mix(int(seed + one)) + int(row)) + int(rest // members))
    return int((rest % members + word) % members)


@lean_kernel
def choose_member(  # noqa: PLR0911
    row: int, aim: int, hop: int, of_slot: int, one: int, seq: int, now: int, group: U8 | U16, group_ptr: I32,
    share_ptr: I32, share_port: I32, burst: I64, port: Records, number: I64,
) -> int:  # fmt: skip
    """Choose the port of a packet among those that a table allows; NIL where there is none."""
    if aim == NIL:
        return NIL
    entry = as_int(group[row, aim])
    at = group_ptr[row] + entry
    if at >= group_ptr[row + 1]:
        return NIL
    first = as_int(share_ptr[at])
    members = as_int(share_ptr[at + 1]) - first
    if members <= 0:
        return NIL
    if members == 1:
        return as_int(share_port[first])
    if number[SPREAD] == SPRAY:
        offset = spray_offset(row, hop, one, seq, members, number[SEED])
        for step in range(members):
            spot = offset + step
            if spot >= members:
                spot -= members
            if port[share_port[first + spot]].fault & DEAD == 0:
                return as_int(share_port[first + spot])
        return NIL
    offset = as_int(mix(mix(int(number[SEED] + one)) + int(seq)) % members)
    if number[SPREAD] == ADAPTIVE or of_slot == NIL:
        return as_int(least_queued(first, members, offset, share_port, port))
    spot = 2 * min(hop, BURST_HOPS - 1)
    known = burst[of_slot, spot + 1]
    # The packet before may have been at another switch, or the switch may have new routes since.
    is_known = known != NIL and number[BURST_PS] >= now - burst[of_slot, spot] and port[known].fault & DEAD == 0
    if not is_known or known not in share_port[first : first + members]:
        known = as_int(least_queued(first, members, offset, share_port, port))
        burst[of_slot, spot + 1] = known
    burst[of_slot, spot] = now
    return known
