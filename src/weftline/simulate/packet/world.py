"""All state of a packet simulation, laid out before the first event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weftline.kernels import calendar as cal
from weftline.kernels import packet_state as st
from weftline.kernels.chains import count_waits, invert_needs, link_queues
from weftline.kernels.column import F64, I32, I64, NIL, U8, U16, freeze
from weftline.kernels.packet_run import MARGIN, World
from weftline.model.fabric import Fabric
from weftline.model.packet import (
    Carriage,
    DelayTable,
    LaneProfile,
    Machine,
    Marking,
    Medium,
    PacketOptions,
    RootMarking,
    Spread,
)
from weftline.model.routes import Routes
from weftline.model.traffic import Flows, Via
from weftline.simulate.packet.ways import Ways

SPREADS: dict[Spread, int] = {"hash": st.HASH, "spray": st.SPRAY, "adaptive": st.ADAPTIVE, "flowlet": st.FLOWLET}
HORIZON_BITS = 21
"""The wheel looks 2**21 ps ahead: further than the links of a hall; what is later stands in the heap."""
PS_PER_US = 1_000_000
FS_PER_US = 1_000_000_000
BYTES_PER_US = 1000
"""Of one GB/s."""
PS_PER_BYTE = 8_000_000
"""Picoseconds that a byte takes at 1 Mb/s."""
LEAST_PACKETS = LEAST_TIMERS = 4096
LEAST_SLOTS = 1024
"""Pools at first; they double when they are short."""
LEAST_SHIFT = 4
MOST_SHIFT = 7
BUCKET_PORTS = 4096
"""Ports that still leave few events in a bucket of the widest kind."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """What is plugged into what, and the tables of the switches."""

    port_peer: I32
    port_node: I32
    switch_row: I32
    """``[N]``: row of a switch in the tables; NIL for a host."""
    group: U8 | U16
    group_ptr: I32
    share_ptr: I32
    share_port: I32

    def __post_init__(self) -> None:
        # To numba an array that may be written is another type, and another minute and more of compiling.
        freeze(self.group, self.group_ptr, self.share_ptr, self.share_port)

    @property
    def ports(self) -> int:
        """Count the ports."""
        return len(self.port_peer)


def wire(fabric: Fabric, routes: Routes) -> Wiring:
    """Take from a fabric and its routes what packets meet."""
    share_ptr, member = routes.shares
    return Wiring(
        fabric.port_peer, fabric.port_node, fabric.switch_row, routes.group, routes.group_ptr, share_ptr,
        routes.member_port[member],
    )  # fmt: skip


def lay_world(flows: Flows, wiring: Wiring, machine: Machine, ways: Ways, options: PacketOptions) -> World:
    """Lay out ports, lanes, flows and empty pools; O(ports x lanes + flows)."""
    medium, carriage = machine.medium, machine.carriage
    number = _number(medium, carriage, options)
    owes = any(one.control == st.CREDITING for one in medium.profiles)
    packet, slot, owed = _pools(number, min(flows.count + 1, LEAST_SLOTS), owes=owes)
    port, link = _ports(wiring, medium)
    width = (carriage.window_packets + 7) // 8 if carriage.recovery == "selective" else 1
    return World(
        number=number,
        port=port,
        link=link,
        lane=_lanes(wiring, medium),
        hold=st.make_records(wiring.ports * medium.lanes, st.HOLD),
        profile=_profiles(medium, carriage),
        node=_nodes(medium),
        packet=packet,
        owed=owed,
        slot=slot,
        pacing=_pacing(carriage),
        seen=np.zeros((len(slot), width), dtype=np.uint8),
        burst=np.zeros((len(slot) if options.spread == "flowlet" else 1, 2 * st.BURST_HOPS), dtype=np.int64),
        inside=np.zeros(2 * wiring.ports if (flows.via == Via.HOST).any() else 0, dtype=np.int64),
        kick=np.zeros(wiring.ports + 1, dtype=np.int32),
        group=wiring.group,
        group_ptr=wiring.group_ptr,
        share_ptr=wiring.share_ptr,
        share_port=wiring.share_port,
        **_load(flows, ways, number),
        **_calendar(wiring.ports),
    )


def _load(flows: Flows, ways: Ways, number: I64) -> dict[str, Any]:
    """Columns of the flows; those that wait for nothing are ready."""
    count = flows.count
    successor = link_queues(flows.queue, int(flows.queue.max(initial=NIL)) + 1)
    after_ptr, after_flow = invert_needs(flows.need_ptr, flows.need_flow)
    waiting = count_waits(flows.need_ptr, successor)
    # A flow is ready twice where it has to wait for its time.
    ready = np.empty(2 * count + 1, dtype=np.int32)
    first = np.flatnonzero(waiting == 0)
    ready[: len(first)] = first
    number[st.READY_LAST], number[st.FLOWS_LEFT] = len(first), count
    flow = st.make_records(count, st.FLOW)
    flow.source, flow.target, flow.pair, flow.via = flows.source, flows.target, ways.flow_pair, flows.via
    return {
        "flow": flow,
        "flow_bytes": np.ceil(flows.size_bytes).astype(np.int64),
        "earliest": _picoseconds(flows.start_us),
        "delay": _picoseconds(flows.delay_us),
        "start": np.full(count, NIL, dtype=np.int64),
        "finish": np.full(count, NIL, dtype=np.int64),
        "flow_slot": np.full(count, NIL, dtype=np.int32),
        "cause": np.full(count, NIL, dtype=np.int32),
        "longest": np.zeros(count, dtype=np.int64),
        "longest_at": np.full(count, NIL, dtype=np.int32),
        "waiting": waiting,
        "successor": successor,
        "after_ptr": after_ptr,
        "after_flow": after_flow,
        "ready": ready,
        "forth": ways.forth,
        "back": ways.back,
        "goal": ways.goal,
        "path_port": ways.port,
        "path_lane": ways.lane,
    }


def _calendar(ports: int) -> dict[str, Any]:
    """Make an empty calendar; where there are many ports its buckets are narrower."""
    shift = max(LEAST_SHIFT, MOST_SHIFT - max(0, (ports // BUCKET_PORTS).bit_length() - 1))
    clock = np.zeros(cal.CLOCK, dtype=np.int64)
    clock[cal.PORTS], clock[cal.SHIFT] = ports, shift
    buckets = 1 << (HORIZON_BITS - shift)
    return {
        "clock": clock,
        "bucket": np.full(buckets, NIL, dtype=np.int32),
        "chain": np.zeros(2 * ports, dtype=np.int32),
        "when": np.zeros(2 * ports, dtype=np.int64),
        "work": np.zeros(4 * ports + 64, dtype=np.int32),
        "full": np.zeros(buckets >> 6, dtype=np.uint64),
        "timer": np.zeros((LEAST_TIMERS, 3), dtype=np.int64),
    }


def _pools(number: I64, slots: int, *, owes: bool) -> tuple[st.Records, st.Records, I64]:
    """Make packets, slots and credits on their way, all of them free."""
    packet = st.make_records(LEAST_PACKETS, st.PACKET)
    packet.next = np.arange(1, LEAST_PACKETS + 1)
    packet.next[-1] = NIL
    slot = st.make_records(slots, st.SLOT)
    slot.flow = NIL
    slot.after = np.arange(1, slots + 1)
    slot.after[-1] = NIL
    owed = np.zeros((LEAST_PACKETS if owes else 2 * MARGIN, 3), dtype=np.int64)
    owed[:, 2] = np.arange(1, len(owed) + 1)
    owed[-1, 2] = NIL
    number[st.PACKETS_LEFT], number[st.SLOTS_LEFT], number[st.OWED_LEFT] = len(packet), slots, len(owed)
    return packet, slot, owed


def _picoseconds(times_us: F64) -> I64:
    return np.rint(times_us * PS_PER_US).astype(np.int64)


def _number(medium: Medium, carriage: Carriage, options: PacketOptions) -> I64:
    number = np.zeros(st.NUMBERS, dtype=np.int64)
    pacing = carriage.pacing
    values = {
        st.LANES: medium.lanes,
        st.MTU: carriage.mtu_bytes,
        st.OVERHEAD: carriage.overhead_bytes,
        st.UNSTORED: carriage.unstored_bytes,
        st.ACK_WIRE: carriage.ack_bytes,
        st.NOTICE_WIRE: carriage.notice_bytes,
        st.PAUSE_WIRE: carriage.pause_bytes,
        st.ACK_EVERY: carriage.ack_every,
        st.TIMEOUT: carriage.timeout_ps,
        st.WINDOW: carriage.window_packets,
        st.REORDER: carriage.reorder_packets,
        st.IS_SELECTIVE: int(carriage.recovery == "selective"),
        st.SPREAD: SPREADS[options.spread],
        st.SEED: options.seed,
        st.BURST_PS: options.burst_ps,
        st.INSIDE_FS: round(FS_PER_US / BYTES_PER_US / options.inside_host_gbytes_per_s)
        if options.inside_host_gbytes_per_s
        else 0,
        st.INSIDE_PS: options.inside_latency_ps,
        st.NOTICE_LANE: medium.notice_lane,
        st.FIRST_LOST: NIL,
        st.FIRST_LANE: NIL,
        st.FIRST_FLOW: NIL,
    }
    if isinstance(pacing, DelayTable):
        values |= {
            st.PACING_ON: st.BY_DELAY,
            st.STEP: pacing.increase,
            st.FIRST_STEP: pacing.least,
            st.LAST_STEP: len(pacing.entries) - 1,
            st.STEP_PS: pacing.timer_ps,
        }
    elif pacing is not None:
        values |= {
            st.PACING_ON: st.BY_RATE,
            st.NOTICE_PS: pacing.notice_ps,
            st.ALPHA_PS: pacing.alpha_ps,
            st.DECREASE_PS: pacing.decrease_ps,
            st.INCREASE_PS: pacing.increase_ps,
            st.INCREASE_BYTES: pacing.increase_bytes,
            st.STAGES: pacing.stages,
        }
    for column, value in values.items():
        number[column] = value
    return number


def _pacing(carriage: Carriage) -> F64:
    one = carriage.pacing
    if one is None:
        return np.zeros(4)
    if isinstance(one, DelayTable):
        return np.array(one.entries, dtype=np.float64).ravel()
    return np.array([one.gain, one.additive_mbps, one.hyper_mbps, one.least_mbps])


def _ports(wiring: Wiring, medium: Medium) -> tuple[st.Records, st.Records]:
    port = st.make_records(wiring.ports, st.PORT)
    link = st.make_records(wiring.ports, st.LINK)
    peer, node = wiring.port_peer, wiring.port_node
    is_wired = peer != NIL
    other = np.where(is_wired, peer, 0)
    # A link is as fast as its slower end: ports that adoption read may disagree.
    rate = np.minimum(medium.rate_mbps, np.where(is_wired, medium.rate_mbps[other], medium.rate_mbps))
    some = np.maximum(rate, 1)
    link.rate = rate
    link.propagation = medium.propagation_ps
    link.response = medium.response_ps
    port.byte_ps = np.where(PS_PER_BYTE % some == 0, PS_PER_BYTE // some, 0)
    port.peer = peer
    port.node = node
    port.peer_row = np.where(is_wired, wiring.switch_row[node[other]], NIL)
    is_switch = wiring.switch_row != NIL
    inner = np.where(is_switch, medium.latency_ps, 0)
    link.inner = inner[node]
    # A packet is in a switch for its latency before it can be sent on; what it sends is on the line at once.
    own = np.where(is_switch, 0, medium.latency_ps)
    port.delay = own[node] + medium.propagation_ps + inner[node[other]] + medium.receive_ps[node[other]]
    fastest = np.zeros(len(medium.latency_ps), dtype=np.int64)
    np.maximum.at(fastest, node, rate)
    through = (medium.is_cut_through[node[other]] == 1) & (wiring.switch_row[node[other]] != NIL)
    port.stored = ~(through & (fastest[node[other]] <= rate))
    port.fault = np.where(is_wired, 0, st.DEAD)
    port.flight = port.flight_last = port.ring = NIL
    return port, link


def _lanes(wiring: Wiring, medium: Medium) -> st.Records:
    lane = st.make_records(wiring.ports * medium.lanes, st.LANE)
    lane.head = lane.tail = lane.owed = lane.owed_last = NIL
    lane.profile = medium.profile.ravel()
    # Credit is what the other end of the link has room for.
    room = np.array([_promise(one) // 64 for one in medium.profiles], dtype=np.int64)
    peer = np.where(wiring.port_peer == NIL, 0, wiring.port_peer)
    lane.credit = room[medium.profile[peer]].ravel()
    return lane


def _promise(one: LaneProfile) -> int:
    return min(one.buffer_bytes, one.window_bytes) if one.window_bytes else one.buffer_bytes


def _profiles(medium: Medium, carriage: Carriage) -> st.Records:
    profile = st.make_records(len(medium.profiles), st.PROFILE)
    for row, one in zip(profile, medium.profiles, strict=True):
        for name, value in _profile(one, carriage).items():
            row[name] = value
    return profile


def _profile(one: LaneProfile, carriage: Carriage) -> dict[str, int]:
    full = carriage.mtu_bytes + carriage.overhead_bytes
    watchdog = one.watchdog
    return {
        "control": int(one.control),
        "cell": one.cell_bytes,
        "reserve": one.reserve_bytes,
        "headroom": one.headroom_bytes,
        "is_dynamic": int(one.dynamic_th is not None),
        "shift": one.dynamic_th or 0,
        "static": one.static_bytes,
        "offset": one.resume_offset_bytes,
        "is_strict": int(one.is_strict),
        "quantum": one.weight * full,
        "limit": one.limit_bytes,
        **_marking(one.marking),
        "lifetime": one.lifetime_ps,
        "stall_count": one.stall_count,
        "full_stored": -(-(full - carriage.unstored_bytes) // one.cell_bytes) * one.cell_bytes,
        "watch": watchdog.detect_ps if watchdog else 0,
        "restore": watchdog.restore_ps if watchdog else 0,
        "watch_drops": int(watchdog is not None and watchdog.action == "drop"),
        "is_lossless": int(one.is_lossless),
        "obeys": int(one.obeys),
    }


def _marking(marking: Marking | RootMarking | None) -> dict[str, int]:
    if marking is None:
        return {"marks": 0, "mark_least": 0, "mark_most": 0, "mark_ppm": 0}
    if isinstance(marking, Marking):
        how, least, most = st.BY_LENGTH, marking.min_bytes, marking.max_bytes
    else:
        how = st.AT_ROOT_AND_VICTIM if marking.marks_victims else st.AT_ROOT
        least, most = marking.threshold_bytes, marking.least_bytes
    return {"marks": how, "mark_least": least, "mark_most": most, "mark_ppm": marking.chance_ppm}


def _nodes(medium: Medium) -> st.Records:
    node = st.make_records(len(medium.pool_bytes), st.NODE)
    node.pool = medium.pool_bytes
    return node
