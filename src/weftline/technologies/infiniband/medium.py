"""What packets meet on InfiniBand: credits for each lane, lives of packets, and what adapters do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from weftline.errors import ArtifactError, CapabilityError
from weftline.kernels.column import I32, NIL
from weftline.medium import (
    Entry,
    Kind,
    NodeDefaults,
    Note,
    Profiles,
    cite,
    find_tier,
    lay_columns,
    list_parameters,
    make_carriage,
)
from weftline.medium.columns import nic_name
from weftline.model.design import TierPart
from weftline.model.fabric import NodeKind
from weftline.model.packet import Carriage, FlowControl, LaneProfile, Medium
from weftline.model.parameters import CarriageChoice, Figure, PacketSource, Parameter
from weftline.model.parts import NicPart, SwitchPart
from weftline.model.survey import OptionFact
from weftline.technologies.infiniband.congestion import Control, make_marking, read_control
from weftline.technologies.infiniband.weights import LaneWeights, read_weights

MAX_LANES = 8
"""Lanes that a simulation tells apart."""
BLOCK = 64
"""Bytes that a credit stands for. IBTA vol 1, 7.9.4."""
WINDOW = 2048 * BLOCK
WINDOW_SOURCE = (
    "the counters of credits have 12 bits, and at most 2,048 blocks of 64 bytes are open (IBTA vol 1, 7.9.4; not read "
    "again); override with credit_window_bytes of the part"
)
BUFFER_SOURCE = "no vendor publishes it: as much as credits can promise; override with lane_buffer_bytes of the part"
RESPONSE_SOURCE = "no vendor publishes it: credits go out at once; override with credit_response_ns of the part"
HOST_NS = 650.0
DEFAULTS = NodeDefaults(
    response_name="credit for a free buffer after",
    switch_ns=200.0,
    switch_source=(
        "figures of the Quantum-2 class that resellers and users give, no datasheet (2026-01); override with "
        "latency_ns of the part"
    ),
    send_ns=HOST_NS,
    receive_ns=HOST_NS,
    host_source=(
        "half of 1.3 us from NIC to NIC without a switch, which users measure, no datasheet (2026-01); override with "
        "send_latency_ns and receive_latency_ns of the part"
    ),
    is_cut_through=True,
    cut_through_source="what switches of InfiniBand are known for, no document; override with is_cut_through",
)
KIND = Kind(
    overhead=26,
    unstored=0,
    ack=30,
    notice=30,
    pause=0,
    mtus=(256, 512, 1024, 2048, 4096),
    source="IBTA vol 1, 9.3 and 7.8",
    overhead_source="LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA vol 1, 5.2)",
)
MTU = 4096
LIVES = {
    "head_of_queue_lifetime": (0x12, "life of a packet at the head of a queue"),
    "leaf_head_of_queue_lifetime": (0x10, "life of a packet at the head of a queue"),
    "vl_stall_count": (7, "discards in a row that stall a lane"),
    "leaf_vl_stall_count": (7, "discards in a row that stall a lane"),
}
"""Options of OpenSM, its own defaults, and what they are. ``opensm -c`` of 3.3.23; osm_base.h."""
FOREVER = 20
"""Codes of a life from here on are no limit: a value above 19 switches it off (osm_base.h)."""


def lay_medium(source: PacketSource, choice: CarriageChoice) -> Medium:
    """Lay out what packets meet."""
    return _lay(source, choice)[0]


def lay_carriage(source: PacketSource, choice: CarriageChoice) -> Carriage:
    """Lay out what adapters do."""
    return _carry(source, choice)[0]


def tell_parameters(source: PacketSource, choice: CarriageChoice) -> tuple[Parameter, ...]:
    """Tell every figure in force, and who says it."""
    return list_parameters([*_lay(source, choice)[1], *_carry(source, choice)[1]], source.fabric)


def _carry(source: PacketSource, choice: CarriageChoice) -> tuple[Carriage, tuple[Entry, ...]]:
    controls = [read_control(source, choice, plane) for plane in range(max(source.fabric.planes, 1))]
    declared = source.design.spec.lossless.mtu
    mtu = (
        Figure(MTU, "default", "the largest there is (Linux, rdma/ib_verbs.h, enum ib_mtu)")
        if declared == "auto"
        else Figure(int(declared), "declaration", "lossless.mtu", source.design.places.get("lossless.mtu"))
    )
    first = controls[0]
    doubts = list(dict.fromkeys(words for one in controls for words in one.assumptions))
    if any(one.table != first.table for one in controls):
        doubts.append("subnets differ in how adapters slow down: as subnet 1 says")
    return make_carriage(KIND, choice, mtu, None, (first.table, first.name), doubts)


@dataclass(frozen=True, slots=True)
class _Plane:
    """What the manager of one plane sets."""

    lives: Mapping[str, Figure]
    weights: LaneWeights
    control: Control


def _lay(source: PacketSource, choice: CarriageChoice) -> tuple[Medium, tuple[Entry, ...]]:
    fabric = source.fabric
    columns = lay_columns(source, DEFAULTS, _respond)
    planes = [_read_plane(source, choice, plane) for plane in range(max(fabric.planes, 1))]
    lanes = _count_lanes(source, planes)
    profiles = Profiles()
    profile = np.zeros((fabric.port_count, lanes), dtype=np.int32)
    known: dict[tuple[int, int, bool, int, bool], int] = {}
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    for port, peer in enumerate(fabric.port_peer.tolist()):
        node = int(fabric.port_node[port])
        tier = int(fabric.node_tier[node]) if is_switch[port] else NIL
        plane = max(int(fabric.node_plane[node]) if is_switch[port] else int(fabric.port_plane[port]), 0)
        to_host = peer != NIL and not is_switch[peer]
        for lane in range(lanes):
            of_plane = planes[min(plane, len(planes) - 1)]
            number = int(fabric.port_number[port])
            key = (tier, plane, to_host, lane, bool(of_plane.control.victims >> number & 1))
            if key not in known:
                switch = find_tier(source.design, fabric, node) if is_switch[port] else None
                made = _make_profile(source, of_plane, switch, lane, number, to_host=to_host)
                known[key] = profiles.add(*made)
            profile[port, lane] = known[key]
    medium = Medium(
        lanes=lanes, profiles=tuple(profiles.profiles), profile=profile, rate_mbps=columns.rate_mbps,
        propagation_ps=columns.propagation_ps, response_ps=columns.response_ps, latency_ps=columns.latency_ps,
        receive_ps=columns.receive_ps, pool_bytes=np.zeros(fabric.node_count, dtype=np.int64),
        is_cut_through=columns.is_cut_through, data_lane=0, ack_lane=0, notice_lane=0,
        assumptions=(*columns.assumptions, *_assume(source, planes, lanes)),
    )  # fmt: skip
    return medium, (*columns.entries, *_list_lanes(source, profiles, profile))


def _list_lanes(source: PacketSource, profiles: Profiles, profile: I32) -> Iterator[Entry]:
    used = np.flatnonzero(source.fabric.port_peer != NIL)
    for lane in range(profile.shape[1]):
        yield from profiles.list_entries(profile[:, lane], f"lane {lane}", used)


def _respond(part: SwitchPart | NicPart, name: str, _tier: TierPart | None, _rate_gbps: float) -> Figure:
    if part.credit_response_ns is not None:
        return Figure(part.credit_response_ns, "part", cite(part, name, "credit_response_ns"))
    return Figure(0.0, "default", RESPONSE_SOURCE)


def _read_plane(source: PacketSource, choice: CarriageChoice, plane: int) -> _Plane:
    options = {one.name: one for one in source.options[plane]} if plane < len(source.options) else {}
    lives = {name: _read_life(name, default, options.get(name)) for name, (default, _) in LIVES.items()}
    return _Plane(lives, read_weights(options), read_control(source, choice, plane))


def _read_life(name: str, default: int, option: OptionFact | None) -> Figure:
    if option is None:
        return Figure(default, "default", f"OpenSM's own {name}, 0x{default:02x} (opensm -c of 3.3.23)")
    try:
        value = int(option.value, 0)
    except ValueError:
        value = -1
    if not 0 <= value <= 255:
        message = f"{name} is {option.value[:40]!r}, and is a number from 0 to 255"
        raise ArtifactError("artifact.packet-option", message, "write it as 0x12", option.where)
    return Figure(value, "file", name, option.where)


def _count_lanes(source: PacketSource, planes: list[_Plane]) -> int:
    routed = 1 if source.routes.lanes is None else source.routes.lanes.count
    lanes = max(routed, *(plane.weights.lanes for plane in planes))
    if lanes > MAX_LANES:
        raise CapabilityError(
            "capability.simulated-lanes",
            f"packets take {lanes} lanes, and a simulation of packets tells {MAX_LANES} apart",
            "use an engine that needs fewer lanes, or fewer classes",
            source.design.places.get("routing.engine"),
        )
    return lanes


def _make_profile(
    source: PacketSource, plane: _Plane, tier: TierPart | None, lane: int, number: int, *, to_host: bool
) -> tuple[LaneProfile, list[Note]]:
    """Make the profile of one lane of a port: of a switch, or of an endpoint where there is no tier."""
    part = source.design.nic if tier is None else tier.part
    name = nic_name(source.design) if tier is None else tier.name
    window = _find_bytes(part, name, "credit_window_bytes", WINDOW_SOURCE)
    buffer = _find_bytes(part, name, "lane_buffer_bytes", BUFFER_SOURCE)
    is_strict, weight = plane.weights.share(lane)
    notes = [
        Note("flow control", "", Figure("credit", "standard", "IBTA vol 1, 7.9")),
        Note("buffer behind a link", "B", buffer),
        Note("credit window", "B", window),
        Note("arbitration", "", is_strict),
        Note("weight", "", weight),
    ]
    life, stall, marking = 0, 0, None
    if tier is not None:
        prefix = "leaf_" if to_host else ""
        code = plane.lives[f"{prefix}head_of_queue_lifetime"]
        count = plane.lives[f"{prefix}vl_stall_count"]
        life, stall = _life_ps(int(code.value)), int(count.value)
        shown = round(life / 1e9, 3) if life else "never"
        told = Figure(shown, code.origin, code.source, code.where)
        notes += [Note(LIVES["head_of_queue_lifetime"][1], "ms" if life else "", told)]
        notes += [Note(LIVES["vl_stall_count"][1], "", count)]
        marking, more = make_marking(plane.control, number, int(buffer.value))
        notes += more
    profile = LaneProfile(
        control=FlowControl.CREDIT, is_lossless=True, cell_bytes=BLOCK, buffer_bytes=int(buffer.value),
        window_bytes=int(window.value), is_strict=is_strict.value == "strict", weight=int(weight.value),
        lifetime_ps=life, stall_count=stall, marking=marking,
    )  # fmt: skip
    return profile, notes


def _life_ps(code: int) -> int:
    """Turn the code of a life into picoseconds, 0 for none. IBTA vol 1, 14.2.5.6, HOQLife: 4.096 us * 2^code."""
    return 0 if code >= FOREVER else 4_096_000 << code


def _find_bytes(part: SwitchPart | NicPart, name: str, key: str, source: str) -> Figure:
    value = getattr(part, key)
    return Figure(WINDOW, "default", source) if value is None else Figure(value, "part", cite(part, name, key))


def _assume(source: PacketSource, planes: list[_Plane], lanes: int) -> Iterator[str]:
    """Say what no file said."""
    yield from source.notes
    if not source.options:
        yield "no options of a subnet manager were read: OpenSM's own defaults hold"
    routed = 1 if source.routes.lanes is None else source.routes.lanes.count
    for number, plane in enumerate(planes, start=1):
        yield from (f"subnet {number}: {words}" for words in plane.weights.assumptions)
        if source.options and routed > plane.weights.lanes:
            words = f"its options name {plane.weights.lanes} lane(s), and paths take {routed}: each on its own lane"
            yield f"subnet {number}: {words}"
    if lanes > 1:
        yield f"each of {lanes} lanes has a buffer of its own as large as one lane alone would have"
