"""What packets meet on RoCE: pauses, shared buffers, marks and queues, as files say when they are read back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from weftline.errors import ArtifactError, Place
from weftline.headroom import headroom_asic
from weftline.headroom.kinds import PortKinds
from weftline.headroom.switch import QUANTUM_BYTES, peer_response
from weftline.kernels.column import I32, I64, NIL
from weftline.medium import Columns, Entry, NodeDefaults, Note, Profiles, cite, find_lengths, find_tier, lay_columns
from weftline.model.design import TierPart
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.observed_port import ObservedPort
from weftline.model.packet import FlowControl, LaneProfile, Medium
from weftline.model.parameters import CarriageChoice, Figure, PacketSource
from weftline.model.parts import NicPart, SwitchPart
from weftline.technologies.roce.arriving import find_held, size_pool
from weftline.technologies.roce.lanes import Lane, LaneSet, list_lanes
from weftline.technologies.roce.leaving import find_left
from weftline.technologies.roce.pausing import (
    End,
    find_class,
    list_asked,
    list_doubts,
    list_obeyed,
    tell_asking,
    tell_obeying,
)  # fmt: skip

HOST_NS = 650.0
DEFAULTS = NodeDefaults(
    response_name="answer to a pause after",
    switch_ns=600.0,
    switch_source=(
        "figures of the Spectrum-4 and Tomahawk 5 class (0.5 to 0.8 us) that resellers and users give, no datasheet "
        "(2026-01); override with latency_ns of the part"
    ),
    send_ns=HOST_NS,
    receive_ns=HOST_NS,
    host_source=(
        "half of 1.3 us from NIC to NIC without a switch, which users measure, no datasheet (2026-01); override with "
        "send_latency_ns and receive_latency_ns of the part"
    ),
    is_cut_through=True,
    cut_through_source=(
        "Spectrum switches can be told either (NVIDIA Onyx user manual v3.10.4206, store-and-forward); which one holds "
        "without a word is unverified; override with is_cut_through of the part"
    ),
)
LATE_NS = 905 * QUANTUM_BYTES * 8 / 400
RESPONSE_SOURCE = (
    "IEEE 802.3, 31B.3.7: the longest that a station may take; override with pause_response_ns of the part"
)


@dataclass(frozen=True, slots=True)
class _Made:
    profile: int
    doubts: tuple[str, ...]


@dataclass(slots=True)
class _Doubts:
    """What is assumed, said once with how many ports it is about."""

    found: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    def add(self, words: str, subject: str) -> None:
        count, first = self.found.get(words, (0, subject))
        self.found[words] = (count + 1, first)

    def list(self, what: str) -> Iterator[str]:
        for words, (count, first) in self.found.items():
            yield f"{words} ({first})" if count == 1 else f"{words} ({count:,} {what}, {first} first)"


def lay_medium(source: PacketSource, _choice: CarriageChoice) -> Medium:
    """Lay out what packets meet.

    Raises:
        ArtifactError: ``artifact.packet-port`` where no file says what a switch or a port of it does.
    """
    return lay(source)[0]


def lay(source: PacketSource) -> tuple[Medium, tuple[Entry, ...], LaneSet]:
    """Lay out what packets meet, and list every figure with who says it."""
    lanes = list_lanes(source)
    columns = lay_columns(source, DEFAULTS, _respond)
    ends = _find_ends(source, columns)
    profiles, doubts = Profiles(), _Doubts()
    profile = _lay_profiles(source, lanes, ends, profiles, doubts)
    pool, pools, more = _lay_pools(source, lanes, ends)
    used = np.flatnonzero(source.fabric.port_peer != NIL)
    entries: list[Entry] = [*columns.entries, *pools]
    for index, lane in enumerate(lanes.lanes):
        entries += profiles.list_entries(profile[:, index], f"lane {index}, {lane.name} (DSCP {lane.dscp})", used)
    medium = Medium(
        lanes=len(lanes.lanes), profiles=tuple(profiles.profiles), profile=profile, rate_mbps=columns.rate_mbps,
        propagation_ps=columns.propagation_ps, response_ps=columns.response_ps, latency_ps=columns.latency_ps,
        receive_ps=columns.receive_ps, pool_bytes=pool, is_cut_through=columns.is_cut_through, data_lane=lanes.data,
        ack_lane=lanes.data, notice_lane=lanes.notice,
        assumptions=(
            *source.notes, *columns.assumptions, *lanes.assumptions, *doubts.list("ports"), *more, *_assume(source)
        ),
    )  # fmt: skip
    return medium, tuple(entries), lanes


def _assume(source: PacketSource) -> Iterator[str]:
    yield "acknowledgements travel in the class of data, as adapters send them"
    yield "a queue takes at most what it could take alone of its egress pool"
    if any(device.watchdog is not None for device in source.devices.values()):
        yield "a watchdog looks all the time, not at the intervals of its file"


def _respond(part: SwitchPart | NicPart, name: str, tier: TierPart | None, rate_gbps: float) -> Figure:
    """Say how long a port may take to obey a pause."""
    if part.pause_response_ns is not None:
        return Figure(part.pause_response_ns, "part", cite(part, name, "pause_response_ns"))
    chip = None if tier is None else headroom_asic(tier.chip)
    sent = peer_response(round(rate_gbps * 1000), chip)
    if sent is not None:
        return Figure(round(sent * 8 / rate_gbps, 3), "standard", RESPONSE_SOURCE)
    return Figure(LATE_NS, "default", f"the standard has no time for {rate_gbps:g} Gb/s: that of 400 Gb/s")


def _find_ends(source: PacketSource, columns: Columns) -> list[End | None]:
    """Find what files say of each port; None where nothing is plugged in.

    A switch without files, or a port that they do not have, cannot be simulated; endpoints may be without.
    """
    fabric, design = source.fabric, source.design
    lengths, _ = find_lengths(source)
    ports: dict[tuple[str, int], ObservedPort] = {
        (device.name, port.number.value): port
        for device in source.devices.values()
        for port in device.ports
        if port.number is not None
    }
    ends: list[End | None] = []
    for index, peer in enumerate(fabric.port_peer.tolist()):
        if peer == NIL:
            ends.append(None)
            continue
        node = int(fabric.port_node[index])
        name = fabric.node_name[node]
        device = source.devices.get(name)
        port = ports.get((name, int(fabric.port_number[index])))
        is_switch = fabric.node_kind[node] == NodeKind.SWITCH
        if is_switch and (device is None or port is None):
            _refuse(fabric, index, () if device is None else device.files)
        tier = find_tier(design, fabric, node) if is_switch else None
        ends.append(End(device, port, tier, int(columns.rate_mbps[index]), float(lengths[index])))
    return ends


def _refuse(fabric: Fabric, port: int, files: tuple[str, ...]) -> None:
    name = fabric.port_name(port)
    if not files:
        message = f"no file says what {name.rpartition('/')[0]} does, and packets pass it"
        raise ArtifactError("artifact.packet-port", message, "give the files of every switch")
    message = f"the files of its switch have no port {name}"
    raise ArtifactError("artifact.packet-port", message, "give files of this very fabric", Place(files[0]))


def _lay_profiles(
    source: PacketSource, lanes: LaneSet, ends: list[End | None], profiles: Profiles, doubts: _Doubts
) -> I32:
    fabric = source.fabric
    profile = np.zeros((fabric.port_count, len(lanes.lanes)), dtype=np.int32)
    kinds, known = PortKinds(), dict[tuple[object, ...], tuple[_Made, ...]]()
    for port, end in enumerate(ends):
        if end is None:
            continue
        far = ends[int(fabric.port_peer[port])]
        key = (_sign(kinds, end), None if far is None else _sign(kinds, far))
        if key not in known:
            known[key] = tuple(_make(source, end, far, lanes, index, profiles) for index in range(len(lanes.lanes)))
        for index, made in enumerate(known[key]):
            profile[port, index] = made.profile
        name = fabric.port_name(port)
        for words in dict.fromkeys(words for made in known[key] for words in made.doubts):
            doubts.add(words, name)
    return profile


def _sign(kinds: PortKinds, end: End) -> tuple[object, ...]:
    """Number what decides at one end."""
    own = (None if end.tier is None else end.tier.name, end.rate_mbps, end.length_m)
    if end.device is None or end.port is None:
        return own
    device = end.device
    around = kinds.strip((device.pools, device.watchdog, device.buffer_model))
    return (*own, kinds.sign(device, end.port), around)


def _make(source: PacketSource, end: End, far: End | None, lanes: LaneSet, index: int, profiles: Profiles) -> _Made:
    """Make the profile of one lane of a port."""
    lane = lanes.lanes[index]
    number = find_class(end, lane) or 0
    asked, obeyed = list_asked(end, lane), list_obeyed(end, lane)
    wanted = frozenset[int]() if far is None else list_asked(far, lane)
    obeys = not wanted or bool(wanted & obeyed)
    held = find_held(source.design, end, number, asked)
    left = find_left(end, number, obeyed, is_data=index == lanes.data, is_capable=lanes.is_capable)
    profile = LaneProfile(
        control=FlowControl.PAUSE if asked else FlowControl.NONE, is_lossless=lane.is_lossless,
        cell_bytes=int(held.cell.value), reserve_bytes=int(held.reserve.value),
        headroom_bytes=int(held.headroom.value) if asked else 0,
        dynamic_th=None if held.share is None else int(held.share.value),
        static_bytes=0 if held.static is None else int(held.static.value), resume_offset_bytes=int(held.resume.value),
        is_strict=left.is_strict, weight=left.weight, limit_bytes=left.limit, marking=left.marking,
        watchdog=left.watchdog, obeys=obeys,
    )  # fmt: skip
    notes = [
        Note("flow control", "", tell_asking(end, asked)),
        *([Note("obeys pauses", "", tell_obeying(end, obeys=obeys))] if wanted else []),
        *(note for note in held.list_notes() if asked or note.name not in {"headroom", "resumes below its share by"}),
        *left.notes,
    ]
    return _Made(profiles.add(profile, notes), (*list_doubts(end, lane), *held.doubts, *left.doubts))


def _lay_pools(source: PacketSource, lanes: LaneSet, ends: list[End | None]) -> tuple[I64, list[Entry], list[str]]:
    """Size the shared buffer of each switch: that of the group which data waits in at its first port."""
    fabric = source.fabric
    pool = np.zeros(fabric.node_count, dtype=np.int64)
    entries: list[Entry] = []
    doubts = _Doubts()
    data = lanes.lanes[lanes.data]
    for node in (int(one) for one in fabric.switch_node):
        ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        own = [end for port in ports if (end := ends[port]) is not None]
        if not own:
            continue
        lengths = [math.ceil(end.length_m) for end in own]
        figure, words = size_pool(source.design, own[0], find_class(own[0], data) or 0, lengths)
        pool[node] = int(figure.value)
        entries.append(Entry("nodes", Note("shared buffer", "B", figure), "node", np.array([node], dtype=np.int64)))
        if words:
            doubts.add(words, fabric.node_name[node])
        _judge_sorting(own, data, fabric.node_name[node], doubts)
    return pool, entries, list(doubts.list("switches"))


def _judge_sorting(ends: list[End], data: Lane, name: str, doubts: _Doubts) -> None:
    numbers = {find_class(end, data) for end in ends}
    if len(numbers) > 1:
        words = f"ports sort DSCP {data.dscp} into different classes: each port treats it by its own map, in and out"
        doubts.add(words, name)
