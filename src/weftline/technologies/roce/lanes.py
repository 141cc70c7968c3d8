"""Which lanes a simulation tells apart: a lane for each declared class, one for notices, and what hosts really send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from weftline.errors import Place
from weftline.model.observed import ObservedDevice
from weftline.model.parameters import Figure, PacketSource
from weftline.model.said import Said
from weftline.technologies.roce.classes import CNP, ECT, Classes, number_classes

BYTE = "NCCL_IB_TC"
"""The byte (DSCP * 4 + ECN bits) that the collective library sets, before that of the adapter."""
ECN_BITS = 3


@dataclass(frozen=True, slots=True)
class Lane:
    """Traffic of one DSCP."""

    name: str
    dscp: int
    is_lossless: bool
    priority: int | None
    """That of the declaration, for devices without files."""


@dataclass(frozen=True, slots=True)
class LaneSet:
    """Every lane, and which of them data and notices take."""

    lanes: tuple[Lane, ...]
    data: int
    notice: int
    data_dscp: Figure
    notice_dscp: Figure
    is_capable: bool
    """Whether data packets say that they may be marked (ECT)."""
    assumptions: tuple[str, ...]


def list_lanes(source: PacketSource) -> LaneSet:
    """Number the lanes, declared classes first; at most 8, since a port tells no more classes apart."""
    classes = number_classes(source.design.spec)
    hosts = [device for device in source.devices.values() if device.role == "host"]
    byte, doubts = _find_byte(hosts, classes)
    dscp = int(byte.value) >> 2
    notify, more = _find_notify(hosts, classes)
    lanes = [
        Lane(
            one.section.name,
            dscp if dscp in one.section.dscps else min(one.section.dscps),
            one.section.lossless,
            one.priority,
        )
        for one in classes.declared
    ]
    data = _find_lane(lanes, dscp)
    if data is None:
        data = len(lanes)
        lanes.append(Lane(f"dscp-{dscp}", dscp, bool(classes.lossless), None))
        doubts += (f"hosts send data with DSCP {dscp}, which is of no declared class: it has a lane of its own",)
    notice = _find_lane(lanes, int(notify.value))
    if notice is None:
        notice = len(lanes)
        lanes.append(Lane(CNP, int(notify.value), is_lossless=False, priority=classes.notification.priority))
    shown = Figure(dscp, byte.origin, byte.source, byte.where)
    is_capable = int(byte.value) & ECN_BITS != 0
    return LaneSet(tuple(lanes), data, notice, shown, notify, is_capable, (*doubts, *more))


def _find_lane(lanes: list[Lane], dscp: int) -> int | None:
    return next((index for index, lane in enumerate(lanes) if lane.dscp == dscp), None)


def _find_byte(hosts: list[ObservedDevice], classes: Classes) -> tuple[Figure, tuple[str, ...]]:
    """Find the byte that most hosts send with; that of the declared class where no file says one."""
    said = [(device.name, byte) for device in hosts for byte in list_bytes(device)]
    if not said:
        first = classes.rdma or next(iter(classes.declared), None)
        dscp = 0 if first is None else min(first.section.dscps)
        words = f"no file says with which DSCP hosts send: they are taken to send {dscp}, ECN-capable"
        return Figure(dscp << 2 | ECT, "default", "DSCP of the first lossless class"), (words,)
    return _take_most(said, "hosts do not all send data with one byte")


def _find_notify(hosts: list[ObservedDevice], classes: Classes) -> tuple[Figure, tuple[str, ...]]:
    said = [
        (device.name, port.nic.notify_dscp)
        for device in hosts
        for port in device.ports
        if port.nic is not None and port.nic.notify_dscp is not None
    ]
    if not said:
        dscp = classes.notification.dscp
        return Figure(dscp, "declaration", "DSCP of notifications"), ()
    return _take_most(said, "hosts do not all send notices with one DSCP")


def _take_most(said: list[tuple[str, Said[int]]], words: str) -> tuple[Figure, tuple[str, ...]]:
    counts = Counter(one.value for _, one in said)
    value = min(counts, key=lambda number: (-counts[number], number))
    where: Place = next(one.where for _, one in said if one.value == value)
    others = sorted({name for name, one in said if one.value != value})
    doubt = (f"{words}: {value} counts, and {len(others):,} of them differ, {others[0]} first",) if others else ()
    return Figure(value, "file", "", where), doubt


def list_bytes(device: ObservedDevice) -> Iterator[Said[int]]:
    """List the bytes that a host sends with: that of its collective library, else those of its adapters."""
    for setting in device.settings:
        text = setting.value.value.strip()
        if setting.name == BYTE and text.isascii() and text.isdigit() and len(text) <= 3:
            yield Said(int(text), setting.value.where)
            return
    for port in device.ports:
        if port.nic is not None and port.nic.traffic_class is not None:
            yield port.nic.traffic_class
