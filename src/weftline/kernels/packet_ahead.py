"""Ask for the rows of the events that come next, while this one is being done."""

from __future__ import annotations

from weftline.kernels._jit import fetch_row, inlined
from weftline.kernels.calendar import FIRST, LAST
from weftline.kernels.column import I32, I64, NIL
from weftline.kernels.packet_lanes import as_int
from weftline.kernels.packet_state import LANE_SHIFT, LANES, Records


@inlined
def fetch_ports(port: Records, clock: I64, work: I32) -> None:
    """Ask for the ports of the events of a bucket, all at once."""
    for turn in range(clock[FIRST], clock[LAST]):
        event = as_int(work[turn])
        fetch_row(port, event if event < len(port) else event - len(port))


@inlined
def first_ready(at: int, port: Records) -> int:
    """Find the lowest lane of a port with something queued; there must be one."""
    bits = as_int(port[at].ready)
    turn = as_int(0)
    while bits >> turn & 1 == 0:
        turn += 1
    return turn


@inlined
def fetch_next(
    port: Records, lane: Records, packet: Records, path_port: I32, number: I64, clock: I64, work: I32
) -> None:
    """Ask for what the next two events read; of the nearer one what stands behind the rows that are here by now.

    In a large fabric every event finds its rows in far memory: without this a hop takes a fifth longer.
    """
    turn = clock[FIRST] + 2
    if turn < clock[LAST]:
        event = as_int(work[turn])
        if event < len(port):
            fetch_row(packet, as_int(port[event].flight))
        elif port[event - len(port)].ready != 0:
            at = event - len(port)
            fetch_row(lane, at * number[LANES] + first_ready(at, port))
            fetch_row(packet, as_int(port[at].flight_last))
    turn = clock[FIRST] + 1
    if turn < clock[LAST]:
        event = as_int(work[turn])
        if event < len(port):
            item = as_int(port[event].flight)
            fetch_row(packet, as_int(packet[item].next))
            if port[event].peer_row != NIL:
                fetch_row(port, as_int(path_port[as_int(packet[item].hop) + 1]))
            came = as_int(packet[item].tag) >> LANE_SHIFT & 7
            fetch_row(lane, as_int(port[event].peer) * number[LANES] + came)
        elif port[event - len(port)].ready != 0:
            at = event - len(port)
            fetch_row(packet, as_int(lane[at * number[LANES] + first_ready(at, port)].head))
