"""The buffer that a lane waits in behind a link: reserve, share of a pool, headroom, as files or the device say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from weftline.headroom import ONLY_SMALL, find_floor, nic_headroom, switch_headroom
from weftline.headroom.sorting import find_buffer, get_group, read_map
from weftline.medium import Note
from weftline.model.design import ResolvedSpec
from weftline.model.headroom import HeadroomAsic, HeadroomPort
from weftline.model.observed import ObservedDevice, ObservedPool
from weftline.model.observed_port import ObservedGroup
from weftline.model.parameters import Figure
from weftline.model.said import Said
from weftline.technologies.roce.buffers import plan_buffers, total_bytes
from weftline.technologies.roce.classes import number_classes
from weftline.technologies.roce.headrooms import Headroom, find_headroom
from weftline.technologies.roce.mtu import SWITCH_MTU, host_mtu
from weftline.technologies.roce.pausing import End
from weftline.technologies.roce.platform import LANES_PER_CAGE

CELL = 64
CELL_SOURCE = "no source has the cell of the chip: the smallest frame"
SHARE = 0
SHARE_SOURCE = "no file says the share: as much as is free, SONiC's own default_dynamic_th"
LIKE = HeadroomAsic(cell_bytes=192, pipeline_kib=19, mac_phy_kib=0.8, is_tiled=True)
"""The chip of SN5600, for chips without figures; with nothing but the smallest packets it has the widest headroom."""
POOL_PER_GBPS = 3_000
"""Bytes of packet buffer for each Gb/s of a switch: SN5600 has 3,090, and 7060X6-64PE 3,236."""
POOL_SOURCE = (
    "no source has the buffer: 3 MB for each Tb/s, a little less than chips of 51.2 Tb/s have; override with "
    "roce.buffers.total_bytes"
)
RESUME_SOURCE = "no file says it: 0, the default of SAI (saibuffer.h, XON_OFFSET_TH)"
OWN = "the device's own: no file says it"


@dataclass(frozen=True, slots=True)
class Buffer:
    """What a lane has behind one link."""

    cell: Figure
    reserve: Figure
    headroom: Figure
    share: Figure | None
    """Power of two of the free pool; None where ``static`` counts."""
    static: Figure | None
    resume: Figure
    doubts: tuple[str, ...] = ()

    def list_notes(self) -> list[Note]:
        """List the figures by name."""
        notes = [Note("buffer cell", "B", self.cell), Note("reserve", "B", self.reserve)]
        if self.share is not None:
            notes.append(Note("share of the free pool, 2^n", "", self.share))
        if self.static is not None:
            notes.append(Note("share of the pool", "B", self.static))
        return [*notes, Note("headroom", "B", self.headroom), Note("resumes below its share by", "B", self.resume)]


def find_held(design: ResolvedSpec, end: End, number: int, asked: frozenset[int]) -> Buffer:
    """Find the buffer of a class behind a link; ``asked`` are the priorities for which a pause is asked."""
    if end.tier is None:
        return _find_nic(design, end, asked)
    port, device = end.port, end.device
    key = number if port is None else read_map(port.group_of_class).get(number, number)
    group = None if port is None else get_group(port, key)
    cell_bytes = None if end.tier.chip is None else end.tier.chip.cell_bytes
    cell = Figure(CELL, "default", CELL_SOURCE)
    if cell_bytes is not None:
        cell = Figure(cell_bytes, "part", f"chip {end.tier.part.asic} of the catalogue")
    if group is None or (group.is_computed is not None and group.is_computed.value):
        return _compute(design, end, group, cell, is_lossless=bool(asked))
    return _read(device, group, cell, key)


def _read(device: ObservedDevice | None, group: ObservedGroup, cell: Figure, key: int) -> Buffer:
    """Take what files say of a group; a size that holds its headroom too is split in two."""
    pool = find_pool(device, group)
    shared = pool is not None and pool.headroom_bytes is not None and pool.headroom_bytes.value > 0
    size, xoff = group.size_bytes, group.xoff_bytes
    own = 0 if size is None else size.value
    room = 0 if xoff is None else xoff.value
    if room and not shared and own >= room + (0 if group.xon_bytes is None else group.xon_bytes.value):
        own -= room
    doubts: list[str] = []
    if shared and room:
        doubts.append(f"headroom comes from one pool for all ports, and group {key} is taken to have all of its own")
    return Buffer(
        cell=cell,
        reserve=_tell(size, own, f"no file says what group {key} has for itself"),
        headroom=_tell(xoff, room, f"the files give group {key} no headroom"),
        share=_find_share(group),
        static=None if group.static_bytes is None else _say(group.static_bytes),
        resume=Figure(0, "default", RESUME_SOURCE) if group.xon_offset_bytes is None else _say(group.xon_offset_bytes),
        doubts=tuple(doubts),
    )


def _find_share(group: ObservedGroup) -> Figure | None:
    if group.dynamic_th is not None:
        return _say(group.dynamic_th)
    return None if group.static_bytes is not None else Figure(SHARE, "default", SHARE_SOURCE)


def _compute(design: ResolvedSpec, end: End, group: ObservedGroup | None, cell: Figure, *, is_lossless: bool) -> Buffer:
    """Size what a device computes by itself, by its formula, for the cable that its own file names."""
    share = None if group is None else group.dynamic_th
    shown = Figure(SHARE, "default", SHARE_SOURCE) if share is None else _say(share)
    resume = Figure(0, "default", RESUME_SOURCE)
    none = Figure(0, "default", OWN)
    if not is_lossless or end.tier is None:
        return Buffer(cell, none, none, shown, None, resume)
    length = end.length_m if end.port is None or end.port.length_m is None else end.port.length_m.value
    found = find_headroom(design, end.tier, math.ceil(length))
    if found is None:
        return _take_widest(end, length, cell, shown, resume)
    room = Figure(found.xoff, "formula", f"{OWN}; by the formula of its chip for {found.length_m} m")
    reserve = Figure(_own_bytes(design, found), "formula", f"{OWN}; what its pipeline holds")
    words = f"headroom is {OWN}; the formula of its chip is taken"
    return Buffer(cell, reserve, room, shown, None, resume, (words,))


def _own_bytes(design: ResolvedSpec, found: Headroom) -> int:
    return found.size if design.spec.roce.buffers.shared_headroom else max(found.size - found.xoff, 0)


def _take_widest(end: End, length: float, cell: Figure, share: Figure, resume: Figure) -> Buffer:
    """Take what no chip is known to exceed, where nobody knows its own formula: a device is taken to protect itself."""
    port = HeadroomPort(end.rate_mbps, length, SWITCH_MTU, LANES_PER_CAGE)
    sized = switch_headroom(port, LIKE, ONLY_SMALL, is_pool_shared=True)
    floor = find_floor(end.rate_mbps, length, SWITCH_MTU)
    size = math.ceil(floor.certain) if sized is None and floor is not None else 0 if sized is None else sized.xoff
    room = Figure(size, "default", f"{OWN}; no source has its formula: as SONiC's SN5600 has it, for {length:g} m")
    words = f"headroom is {OWN}, and no source has its formula: as SONiC's SN5600 has it for the smallest packets"
    return Buffer(cell, Figure(0, "default", OWN), room, share, None, resume, (words,))


def _find_nic(design: ResolvedSpec, end: End, asked: frozenset[int]) -> Buffer:
    """Find the receive buffer of an adapter; what is above its headroom is its own."""
    port = end.port
    mtu = host_mtu(design) if port is None or port.mtu is None else port.mtu.value
    told = None if port is None else port.length_m
    if port is not None and port.nic is not None and port.nic.cable_m is not None:
        told = port.nic.cable_m
    sized = nic_headroom(end.rate_mbps / 1000, None if told is None else told.value, mtu)
    need = 0 if sized is None or not asked else sized.driver_xoff
    said = None if port is None or not asked else find_buffer(port, min(asked))[1]
    cell = Figure(1, "default", "an adapter keeps packets whole")
    resume = Figure(0, "default", "an adapter resumes as soon as its headroom is empty")
    static = Figure(0, "default", "an adapter shares nothing between its ports")
    how = "Linux, mlx5, port_buffer.c: the driver's formula"
    if said is None:
        return Buffer(cell, Figure(0, "default", OWN), Figure(need, "formula", how), None, static, resume)
    room = min(need, said.value)
    reserve = Figure(said.value - room, "file", "receive buffer less its headroom", said.where)
    return Buffer(cell, reserve, Figure(room, "formula", how), None, static, resume)


def find_pool(device: ObservedDevice | None, group: ObservedGroup | None) -> ObservedPool | None:
    """Find the pool of a group."""
    if device is None or group is None or group.pool is None:
        return None
    return next((pool for pool in device.pools if pool.name == group.pool.value), None)


def size_pool(design: ResolvedSpec, end: End, number: int, lengths_m: list[int]) -> tuple[Figure, str]:
    """Size the pool that the groups of a switch share, and say what is assumed; ``lengths_m`` are those of its ports.

    Where no file says it, it is what the device's own division leaves; where nobody has the buffer, a stated default.
    """
    tier, port = end.tier, end.port
    if tier is None:
        return Figure(0, "default", "an adapter shares nothing between its ports"), ""
    key = number if port is None else read_map(port.group_of_class).get(number, number)
    pool = find_pool(end.device, None if port is None else get_group(port, key))
    if pool is not None and pool.size_bytes is not None:
        size, chip = pool.size_bytes, tier.chip
        if pool.headroom_bytes is not None and chip is not None and chip.holds_headroom_apart is False:
            rest = max(size.value - pool.headroom_bytes.value, 0)
            return Figure(rest, "file", "the pool without its shared headroom", size.where), ""
        return _say(size), ""
    total = total_bytes(design, tier)
    if total is None:
        guess = round(POOL_PER_GBPS * tier.rate_gbps * tier.ports)
        return Figure(guess, "default", POOL_SOURCE), "the size of its buffer is in no file and no source: a default"
    plan = plan_buffers(design, tier, number_classes(design.spec))
    left = plan.divide(lengths_m, total).shared_pool if plan.model else total
    if left <= 0:
        left = total
    how = f"of {total:,} B, what headroom and reserves leave" if plan.model else f"all of {total:,} B"
    return Figure(left, "formula", f"{OWN}; {how}"), "the pool is the device's own division of its buffer"


def _say(said: Said[int]) -> Figure:
    return Figure(said.value, "file", "", said.where)


def _tell(said: Said[int] | None, value: int, otherwise: str) -> Figure:
    if said is None:
        return Figure(value, "default", otherwise)
    return Figure(value, "file", "" if value == said.value else "the size less the headroom", said.where)
