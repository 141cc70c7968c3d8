"""What happens to a fabric while packets are on it: applied between two events of the machine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weftline.errors import InternalError, UsageError
from weftline.kernels import packet_state as st
from weftline.kernels.calendar import KIND, NOW, TIMERS
from weftline.kernels.column import F64, I64, NIL, freeze
from weftline.kernels.packet_lanes import send_pause
from weftline.kernels.packet_run import World
from weftline.kernels.packet_timing import flush_port, hold_lane
from weftline.model.fabric import Fabric
from weftline.model.happening import (
    BitErrors,
    Happening,
    LinkChange,
    NewRoutes,
    PauseAsked,
    RateChange,
    SwitchChange,
)
from weftline.model.packet import Medium
from weftline.model.result import SimOptions
from weftline.model.traffic import Flows
from weftline.simulate.packet.account import PS_PER_BYTE, check_buffers, check_world
from weftline.simulate.packet.drive import make_room
from weftline.simulate.packet.ways import renew_ways
from weftline.simulate.packet.world import wire

BILLION = 1_000_000_000
MBPS_PER_GBPS = 1000


@dataclass(frozen=True, slots=True)
class Plant:
    """What a fabric was before anything happened to it, and what has: the columns change in place."""

    flows: Flows
    fabric: Fabric
    medium: Medium
    walk: SimOptions
    rate: I64
    """``[P]``: Mb/s that each link was made for."""
    stored: NDArray[np.int8]
    room: I64
    """``[P * L]``: credit of a lane when nothing is on its way."""
    is_down: NDArray[np.bool_]
    """``[P]``: by itself."""
    is_off: NDArray[np.bool_]
    """``[N]``: switches that are down."""
    limit: I64
    """``[P]``: Mb/s to which a link is degraded."""
    repeated: I64
    """``[P]``: packets of a thousand million that the link sends again."""
    since: I64
    """``[P]``: picoseconds from which the link has had its rate."""
    fitted: F64
    """``[P]``: bytes that fitted through before that."""


def make_plant(world: World, flows: Flows, fabric: Fabric, medium: Medium, walk: SimOptions) -> Plant:
    """Note what a world is like before its first event."""
    ports = len(world.port)
    return Plant(
        flows, fabric, medium, walk,
        rate=world.link.rate.copy(),
        stored=world.port.stored.copy(),
        room=world.lane.credit.astype(np.int64),
        is_down=np.zeros(ports, dtype=bool),
        is_off=np.zeros(len(world.node), dtype=bool),
        limit=world.link.rate.copy(),
        repeated=np.zeros(ports, dtype=np.int64),
        since=np.zeros(ports, dtype=np.int64),
        fitted=np.zeros(ports),
    )  # fmt: skip


def check_happenings(happenings: Iterable[Happening], fabric: Fabric) -> None:
    """Refuse what cannot happen to a fabric.

    Raises:
        UsageError: ``usage.fault-words``.
    """
    for one in happenings:
        wrong = _tell_wrong(one, fabric)
        if wrong:
            kind = type(one).__name__
            raise UsageError("usage.fault-words", f"{kind} after {one.at_ps:,} ps: {wrong}", "give what the fabric has")


def _tell_wrong(happening: Happening, fabric: Fabric) -> str:
    if happening.at_ps < 0:
        return "nothing happens before the start"
    if isinstance(happening, NewRoutes):
        return ""
    if isinstance(happening, SwitchChange):
        is_node = 0 <= happening.node < len(fabric.node_name)
        return "" if is_node and fabric.switch_row[happening.node] != NIL else f"{happening.node} is no switch"
    return _tell_wrong_link(happening, fabric)


def _tell_wrong_link(happening: LinkChange | RateChange | BitErrors | PauseAsked, fabric: Fabric) -> str:
    at = happening.port
    if not 0 <= at < fabric.port_count or fabric.port_peer[at] == NIL:
        return f"port {at} has no link"
    if isinstance(happening, RateChange) and not 0 < happening.rate_gbps < math.inf:
        return f"{happening.rate_gbps:g} Gb/s is no rate"
    if isinstance(happening, BitErrors) and not 0 <= happening.ratio <= 1:
        return f"a bit error ratio of {happening.ratio:g} is not from 0 to 1"
    return ""


def apply_happening(world: World, plant: Plant, happening: Happening) -> World:
    """Let something happen to a world at rest: all events up to its time have been done, none after it.

    Raises:
        InternalError: ``internal.other-fabric``; and what :func:`check_plant` raises, except after pauses, which come
            often and touch no packet.
    """
    world.clock[NOW] = happening.at_ps
    world = _apply(happening, world, plant)
    if not isinstance(happening, PauseAsked):
        check_plant(world, plant)
    return world


def check_plant(world: World, plant: Plant) -> None:
    """Hold a world to which things have happened against what must be true of it.

    Raises:
        InternalError: ``internal.packets-lost``, ``internal.beats-line``.
    """
    check_world(world, _count_fitted(world, plant))
    check_buffers(world, plant.room)


def _apply(happening: Happening, world: World, plant: Plant) -> World:
    match happening:
        case LinkChange():
            plant.is_down[_ends(plant, happening.port)] = not happening.is_up
            return _settle(world, plant)
        case SwitchChange():
            plant.is_off[happening.node] = not happening.is_up
            return _settle(world, plant)
        case RateChange():
            _change_rate(happening, world, plant)
            return world
        case BitErrors():
            _spoil_link(happening, world, plant)
            return world
        case PauseAsked():
            return _ask_pause(happening, world)
        case NewRoutes():
            return _take_routes(happening, world, plant)


def _change_rate(happening: RateChange, world: World, plant: Plant) -> None:
    for at in _ends(plant, happening.port):
        plant.limit[at] = max(1, round(happening.rate_gbps * MBPS_PER_GBPS))
        _set_rate(world, plant, at)


def _spoil_link(happening: BitErrors, world: World, plant: Plant) -> None:
    full = int(world.number[st.MTU] + world.number[st.OVERHEAD])
    hit = round(-math.expm1(8 * full * math.log1p(-happening.ratio)) * BILLION) if happening.ratio < 1 else BILLION
    for at in _ends(plant, happening.port):
        lost, again = (0, min(hit, BILLION - 1)) if happening.has_retry else (hit, 0)
        world.link.loss_ppb[at] = lost
        world.port.fault[at] = (world.port.fault[at] & ~st.LOSSY) | (st.LOSSY if lost else 0)
        plant.repeated[at] = again
        _set_rate(world, plant, at)


def _ask_pause(happening: PauseAsked, world: World) -> World:
    at, now = happening.port, int(world.clock[NOW])
    if world.port.fault[at] & st.DEAD:
        return world
    lanes = int(world.number[st.LANES])
    world = make_room(world, 0, lanes)
    for turn in range(lanes):
        if world.profile.control[world.lane.profile[at * lanes + turn]] == st.PAUSING:
            send_pause(
                at, turn, int(happening.is_on), now, world.port, world.link, world.lane, world.number, world.timer,
                world.clock,
            )  # fmt: skip
    return world


def _take_routes(happening: NewRoutes, world: World, plant: Plant) -> World:
    """Swap tables and the ways of all pairs with flows that have not arrived; packets keep what they were given."""
    ways = renew_ways(
        world.flow.pair[world.finish == NIL], plant.flows, plant.fabric, happening.routes, plant.medium, plant.walk
    )
    if int(ways.lane.max(initial=0)) >= int(world.number[st.LANES]):
        raise InternalError("internal.other-fabric", "the new routes use more lanes than the fabric's ports have")
    wiring = wire(plant.fabric, happening.routes)
    group = wiring.group.astype(np.promote_types(wiring.group.dtype, world.group.dtype))
    freeze(group)  # as those before were: the compiled loop goes on with the types it began with
    known = len(world.path_port)
    before = world.forth.copy()
    forth = np.where(ways.forth == NIL, world.forth, ways.forth + known).astype(np.int32)
    back = np.where(ways.back == NIL, world.back, ways.back + known).astype(np.int32)
    world = world._replace(
        forth=forth, back=back, goal=ways.goal, group=group, group_ptr=wiring.group_ptr, share_ptr=wiring.share_ptr,
        share_port=wiring.share_port, path_port=np.concatenate((world.path_port, ways.port)),
        path_lane=np.concatenate((world.path_lane, ways.lane)),
    )  # fmt: skip
    of = np.flatnonzero(world.slot.flow != NIL)
    pair = world.flow.pair[world.slot.flow[of]]
    world.slot.forth[of], world.slot.back[of], world.slot.goal[of] = forth[pair], back[pair], ways.goal[pair]
    if world.number[st.SPREAD] != st.HASH:
        # There a hop only counts how far a packet has come since the first place of its way, which has moved.
        data = np.flatnonzero(_is_used(world) & (world.packet.tag & st.KIND_MASK == st.DATA))
        moved = world.flow.pair[world.packet.flow[data]]
        world.packet.hop[data] += forth[moved] - before[moved]
    _kick(world, np.flatnonzero(world.port.ring != NIL))
    return world


def _is_used(world: World) -> NDArray[np.bool_]:
    is_used = np.ones(len(world.packet), dtype=bool)
    item = int(world.number[st.PACKET_FREE])
    while item != NIL:
        is_used[item] = False
        item = int(world.packet.next[item])
    return is_used


def _ends(plant: Plant, port: int) -> list[int]:
    peer = int(plant.fabric.port_peer[port])
    return [port] if peer == NIL else [port, peer]


def _settle(world: World, plant: Plant) -> World:
    """Make every link dead that is down by itself or by a switch, and every other one alive."""
    port = world.port
    other = np.where(port.peer == NIL, 0, port.peer)
    is_dead = plant.is_down | plant.is_off[port.node] | plant.is_off[port.node[other]]
    was_dead = port.fault & st.DEAD != 0
    is_wired = port.peer != NIL
    lost, found = np.flatnonzero(is_wired & is_dead & ~was_dead), np.flatnonzero(is_wired & was_dead & ~is_dead)
    if len(lost):
        world = _cut(world, lost)
    if len(found):
        world = _join(world, found)
    return world


def _cut(world: World, ports: I64) -> World:
    """Take links away: nobody there is paused or asks for it any more, and what waits there is discarded."""
    port, lane, hold, now = world.port, world.lane, world.hold, int(world.clock[NOW])
    lanes = int(world.number[st.LANES])
    port.fault[ports] |= st.DEAD
    of = (ports[:, None] * lanes + np.arange(lanes)).ravel()
    lane.xoff[of] = lane.life[of] = 0
    hold.shut[of], hold.in_row[of] = st.OPEN, 0
    starved = of[(port.starved[of // lanes] >> (of % lanes) & 1) == 1]
    hold.starved_time[starved] += now - hold.starved_since[starved]
    port.starved[ports] = 0
    _forget_timers(world, ports)
    used = len(world.packet) - int(world.number[st.PACKETS_LEFT])
    world = make_room(world, used, 2 * used + lanes * len(world.port))
    for at in ports.tolist():
        flush_port(
            at, now, world.port, world.link, world.lane, world.hold, world.profile, world.node, world.packet,
            world.owed, world.number, world.clock, world.bucket, world.chain, world.when, world.work, world.full,
            world.timer,
        )  # fmt: skip
    return world


def _forget_timers(world: World, ports: I64) -> None:
    """Lose the pause frames on links that are gone, and the lives of heads and stalls of lanes before them.

    A pause that came after the link is back would never be taken back, and a stall that is over would stand for the
    life of the next head.
    """
    count = int(world.clock[TIMERS])
    timer = world.timer[:count]
    subject = timer[:, 1] & ((1 << KIND) - 1)
    kind = timer[:, 1] >> KIND
    is_lost = (kind == st.CONTROL_AT) & np.isin(subject >> 4, ports)
    is_lost |= (kind == st.LIFE) & np.isin(subject // world.number[st.LANES], ports)
    kept = timer[~is_lost]
    # What is sorted is a heap.
    world.timer[: len(kept)] = kept[np.lexsort((kept[:, 2], kept[:, 1], kept[:, 0]))]
    world.clock[TIMERS] = len(kept)


def _join(world: World, ports: I64) -> World:
    """Bring links back; where a group still needs its headroom, its peer is paused from the first moment.

    A frame that asked for it would come when as much as the headroom was computed for is on its way again.
    """
    port, lane, now, lanes = world.port, world.lane, int(world.clock[NOW]), int(world.number[st.LANES])
    port.fault[ports] &= ~st.DEAD
    world = make_room(world, 0, lanes * len(ports))
    for at in ports.tolist():
        for turn in range(lanes):
            into = at * lanes + turn
            if lane.headroom[into] > 0 and world.profile.control[lane.profile[into]] == st.PAUSING:
                lane.xoff[into] = 1
                hold_lane(
                    int(port.peer[at]), turn, 1, now, port, lane, world.hold, world.profile, world.number, world.timer,
                    world.clock,
                )  # fmt: skip
    _kick(world, ports)
    return world


def _kick(world: World, ports: I64) -> None:
    """Let ports look whether they have something to send."""
    number, kick = world.number, world.kick
    for at in ports.tolist():
        if world.port.kicked[at] == 0:
            world.port.kicked[at] = 1
            kick[number[st.KICK_LAST]] = at
            number[st.KICK_LAST] = (number[st.KICK_LAST] + 1) % len(kick)


def _set_rate(world: World, plant: Plant, at: int) -> None:
    """Give a link the rate that is left to it; a packet that has begun keeps its own."""
    begin = max(int(world.clock[NOW]), int(world.port.busy[at]), int(plant.since[at]))
    plant.fitted[at] += (begin - plant.since[at]) * float(world.link.rate[at]) / PS_PER_BYTE
    plant.since[at] = begin
    rate = min(int(plant.rate[at]), int(plant.limit[at]))
    rate = max(1, rate * (BILLION - int(plant.repeated[at])) // BILLION)
    world.link.rate[at] = rate
    world.port.byte_ps[at] = int(PS_PER_BYTE) // rate if int(PS_PER_BYTE) % rate == 0 else 0
    # A switch cannot send on what comes slower than it goes.
    world.port.stored[at] = 1 if rate < plant.rate[at] else plant.stored[at]


def _count_fitted(world: World, plant: Plant) -> F64:
    run = np.maximum(np.maximum(world.port.busy, int(world.clock[NOW])), plant.since)
    return plant.fitted + (run - plant.since) * world.link.rate.astype(np.float64) / PS_PER_BYTE


__all__ = ["Plant", "apply_happening", "check_happenings", "check_plant", "make_plant"]
