"""Where packets, bytes of buffers and credits are: all of them are somewhere, or it is our bug."""

from __future__ import annotations

import numpy as np

from weftline.errors import InternalError
from weftline.kernels import packet_state as st
from weftline.kernels.calendar import NOW
from weftline.kernels.column import F64, I64, NIL
from weftline.kernels.packet_run import World

PS_PER_BYTE = 8e6
"""Of one Mb/s."""


def check_world(world: World, most_bytes: F64 | None = None) -> None:
    """Hold a world against what must be true of it at every moment.

    ``most_bytes[p]`` is what fits through the link of each port by now; None where no rate has changed.

    Raises:
        InternalError: ``internal.packets-lost``, ``internal.beats-line``.
    """
    number, port = world.number, world.port
    queued, _ = list_packets(world, world.lane.head)
    flying, _ = list_packets(world, port.flight)
    used = len(world.packet) - int(number[st.PACKETS_LEFT])
    if len(queued) + len(flying) != used:
        words = f"{used} packets are in use, {len(queued)} in queues and {len(flying)} on links"
        raise InternalError("internal.packets-lost", words)
    most = most_bytes
    if most is None:
        # A port may just have begun a packet: it is busy for longer than it has run.
        run = np.maximum(port.busy, int(world.clock[NOW]))
        most = run.astype(np.float64) * world.link.rate / PS_PER_BYTE
    if (port.bytes > most + 1).any():
        at = int(np.argmax(port.bytes - most))
        raise InternalError("internal.beats-line", f"port {at} sent {port.bytes[at]} bytes where {most[at]:.0f} fit")


def check_buffers(world: World, room: I64) -> None:
    """Hold what queues, groups, pools and credits say they have against the packets that are there; O(packets).

    ``room[P * L]`` is the credit of each lane when nothing is on its way.

    Raises:
        InternalError: ``internal.packets-lost``.
    """
    port, lane, packet = world.port, world.lane, world.packet
    lanes, count = int(world.number[st.LANES]), len(world.lane)
    queued, of = list_packets(world, lane.head)
    waiting = np.bincount(of, weights=_stored(world, queued, of), minlength=count)
    _compare("the queue of lane", waiting, lane.waiting)
    _compare("the queues of port", waiting.reshape(-1, lanes).sum(axis=1), port.queued)
    held = queued[packet.holder[queued] != NIL]
    into = packet.holder[held]
    is_credit = world.profile.control[lane.profile] == st.CREDITING
    size = np.where(is_credit[into], 0, _stored(world, held, into))
    groups = lane.reserved.astype(np.int64) + lane.shared + lane.headroom
    _compare("the input group of lane", np.bincount(into, weights=size, minlength=count), groups)
    node = np.repeat(port.node, lanes)
    _compare("the pool of node", np.bincount(node, weights=lane.shared, minlength=len(world.node)), world.node.used)
    # A lane's credit is what the far end of its link has promised.
    far = np.where(port.peer[:, None] == NIL, NIL, port.peer[:, None] * lanes + np.arange(lanes)).ravel()
    counts = is_credit & (far != NIL) & is_credit[far]
    flying, line = list_packets(world, port.flight)
    over = line * lanes + (packet.tag[flying].astype(np.int64) >> st.LANE_SHIFT & 7)
    blocks = -(-packet.wire.astype(np.int64) // 64)
    away = np.bincount(over, weights=blocks[flying], minlength=count)
    away = away + np.bincount(far[into], weights=np.where(is_credit[into], blocks[held], 0), minlength=count)
    away = away + _owed(world)  # not in place: what counts nothing counts in integers
    _compare("the credit of lane", np.where(counts, room - away, 0), np.where(counts, lane.credit, 0))


def list_packets(world: World, head: I64) -> tuple[I64, I64]:
    """List the packets of lists that begin at ``head``, and in which list each stands."""
    item: list[int] = []
    place: list[int] = []
    following = world.packet.next
    for at in np.flatnonzero(head != NIL).tolist():
        one = int(head[at])
        while one != NIL:
            item.append(one)
            place.append(at)
            one = int(following[one])
    return np.array(item, dtype=np.int64), np.array(place, dtype=np.int64)


def _stored(world: World, item: I64, of: I64) -> I64:
    """Bytes that packets take in whole cells of the profile of a lane."""
    cell = world.profile.cell[world.lane.profile[of]]
    return -(-(world.packet.wire[item] - world.number[st.UNSTORED]) // cell) * cell


def _owed(world: World) -> I64:
    """Credit of each lane that is still on its way."""
    owed = np.zeros(len(world.lane), dtype=np.int64)
    for of in np.flatnonzero(world.lane.owed != NIL).tolist():
        item = int(world.lane.owed[of])
        while item != NIL:
            owed[of] += world.owed[item, 1]
            item = int(world.owed[item, 2])
    return owed


def _compare(what: str, there: F64 | I64, said: I64) -> None:
    wrong = np.flatnonzero(there != said)
    if len(wrong):
        at = int(wrong[0])
        raise InternalError("internal.packets-lost", f"{what} {at} counts {said[at]} where {there[at]:.0f} are")
