"""What decides losslessness and is of a whole device: what hosts send, notifications, pools, marks before pauses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weftline.headroom import count_fitting, find_limit, judge_marks
from weftline.headroom.sorting import classify, find_priorities, get_group, get_queue, read_map
from weftline.model.headroom import PauseLimit
from weftline.model.lossless import LosslessClass, LosslessSource
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort

BYTE = "NCCL_IB_TC"
VXLAN_BYTES = 50
"""Outer Ethernet, IPv4, UDP and VXLAN headers. RFC 7348, 5."""


def judge_devices(source: LosslessSource) -> Iterator[str]:
    """Judge what no single link shows, each fault in words."""
    for device in source.devices.values():
        if device.role == "switch":
            yield from _judge_switch(source, device)
        elif device.role == "host":
            yield from _judge_host(source, device)
    yield from _judge_frames(source)


def _judge_switch(source: LosslessSource, device: ObservedDevice) -> Iterator[str]:
    said = device.discards_incomplete
    if said is not None and not said.value:
        yield f"{device.name}: lossless packets without a resolved neighbour are flooded ({said.where})"
    total = source.demand.buffers.get(device.name)
    for pool in device.pools:
        size = 0 if pool.size_bytes is None else pool.size_bytes.value
        size += 0 if pool.headroom_bytes is None else pool.headroom_bytes.value
        if total is not None and size > total:
            yield f"{device.name}: pool {pool.name} has {size:,} B with its headroom, and the chip {total:,} B"
    for what in source.demand.classes:
        yield from _judge_sorting(device, what)
    yield from _judge_notifications(device.name, device, source.demand.notify_dscp)
    tunnel = device.tunnel
    for said_, way in () if tunnel is None else ((tunnel.dscp_out, "into"), (tunnel.dscp_in, "out of")):
        if said_ is not None and said_.value == "pipe":
            yield f"{device.name}: packets lose their DSCP on the way {way} the tunnel ({said_.where})"


def _judge_sorting(device: ObservedDevice, what: LosslessClass) -> Iterator[str]:
    """A packet leaves by the queue of the class that it was sorted into where it came in."""
    first: dict[int | None, ObservedPort] = {}
    for port in device.ports:
        if port.class_of_dscp is not None and port.pauses is not None:
            first.setdefault(classify(port, what.dscps[0]), port)
    if len(first) > 1:
        words = " and ".join(f"{number} on {port.name}" for number, port in first.items())
        yield f"{device.name}: DSCP {what.dscps[0]} of class {what.name} is sorted into class {words}"


def _judge_host(source: LosslessSource, device: ObservedDevice) -> Iterator[str]:
    """What a host sends must be one of the declared classes."""
    kept = {dscp for what in source.demand.classes for dscp in what.dscps}
    if not kept:
        return
    for port in device.ports:
        said = None if port.nic is None else port.nic.traffic_class
        if said is not None and said.value >> 2 not in kept:
            yield f"{device.name}/{port.name}: it sends DSCP {said.value >> 2}, no lossless class ({said.where})"
    for setting in device.settings:
        text = setting.value.value.strip()
        if setting.name == BYTE and text.isascii() and text.isdigit() and int(text[:9]) >> 2 not in kept:
            yield f"{device.name}: {BYTE}={text} is of no lossless class ({setting.value.where})"


def _judge_frames(source: LosslessSource) -> Iterator[str]:
    """All hosts need one path MTU, and switches with tunnels room for the outer headers."""
    sizes: dict[int, str] = {}
    for device in source.devices.values():
        for port in device.ports:
            if device.role == "host" and port.mtu is not None and port.nic is not None:
                sizes.setdefault(port.mtu.value, f"{device.name}/{port.name}")
    if len(sizes) > 1:
        yield "hosts differ in MTU: " + ", ".join(f"{size:,} at {name}" for size, name in sorted(sizes.items()))
    if not sizes or not any(device.tunnel is not None for device in source.devices.values()):
        return
    need = max(sizes) + VXLAN_BYTES
    for device in source.devices.values():
        small = [
            port for port in device.ports if device.role == "switch" and port.mtu is not None and port.mtu.value < need
        ]
        if small:
            yield f"{device.name}/{small[0].name}: frames of {need:,} B with outer headers do not fit"


def list_open(source: LosslessSource) -> Iterator[str]:
    """List what the files do not say of whole devices."""
    for device in source.devices.values():
        if device.role != "host":
            continue
        byte = any(setting.name == BYTE for setting in device.settings)
        if not byte and not any(port.nic is not None and port.nic.traffic_class is not None for port in device.ports):
            yield f"with which DSCP {device.name} sends"


def _judge_notifications(name: str, device: ObservedDevice, dscp: int) -> Iterator[str]:
    for port in device.ports:
        if port.class_of_dscp is None or not find_priorities(port):
            continue
        number = port.class_of_dscp.value.get(dscp)
        key = None if number is None else read_map(port.queue_of_class).get(number)
        stopped = {read_map(port.queue_of_priority).get(priority) for priority in find_priorities(port)}
        queue = None if key is None else get_queue(port, key)
        if key in stopped:
            yield f"{name}/{port.name}: notifications (DSCP {dscp}) leave by queue {key}, which pauses"
            return
        if queue is not None and queue.schedule is not None and queue.schedule.value != "strict":
            yield f"{name}/{port.name}: notifications (DSCP {dscp}) leave by queue {key}, which is not strict"
            return


def count_at_once(source: LosslessSource) -> tuple[int | None, str]:
    """Count the groups of one switch that may pause at once where they share their headroom; None: all may."""
    least: tuple[int, str] | None = None
    for name, device in source.devices.items():
        shared = sum(pool.headroom_bytes.value for pool in device.pools if pool.headroom_bytes is not None)
        if not shared:
            continue
        asked = sorted((room for port in device.ports for room in _list_rooms(port)), reverse=True)
        fit = count_fitting(((room, 1) for room in asked), shared)
        if fit < len(asked) and (least is None or fit < least[0]):
            least = (fit, name)
    return (None, "") if least is None else least


def _list_rooms(port: ObservedPort) -> Iterator[int]:
    for priority in find_priorities(port):
        key = read_map(port.group_of_priority).get(priority, priority)
        group = get_group(port, key)
        if group is not None and group.xoff_bytes is not None:
            yield group.xoff_bytes.value


def judge_marks_first(source: LosslessSource) -> list[dict[str, Any]]:
    """Judge whether senders are told to slow down before they are paused: two verdicts per kind of queue."""
    found: dict[tuple[int, PauseLimit, int], dict[str, Any]] = {}
    for name, device in source.devices.items():
        if device.role != "switch":
            continue
        fan = max(sum(bool(find_priorities(port)) for port in device.ports) - 1, 1)
        for port in device.ports:
            for what in source.demand.classes:
                limit = _find_marks(device, port, what, len(source.demand.classes))
                if limit is None:
                    continue
                key = (limit[0], limit[1], fan)
                if key in found:
                    found[key]["ports"] += 1
                else:
                    found[key] = {"first": f"{name}/{port.name}", "ports": 1, **_tell_marks(*key)}
    return list(found.values())


def _find_marks(
    device: ObservedDevice, port: ObservedPort, what: LosslessClass, classes: int
) -> tuple[int, PauseLimit] | None:
    """Find where the queue of a class begins to mark, and when its group asks for a pause."""
    number = None if port.class_of_dscp is None else port.class_of_dscp.value.get(what.dscps[0])
    if number is None:
        return None
    queue = get_queue(port, read_map(port.queue_of_class).get(number, number))
    limit = find_limit(device, port, number, classes)
    if queue is None or queue.marks is None or queue.marks.min_bytes is None or limit is None:
        return None
    return queue.marks.min_bytes.value, limit


def _tell_marks(min_bytes: int, limit: PauseLimit, fan: int) -> dict[str, Any]:
    verdicts = judge_marks(min_bytes, limit, fan)
    if verdicts is None:
        return {"min_bytes": min_bytes, "incast": "unknown", "worst": "unknown", "how": ""}
    words = ["before" if verdict.holds else "after" for verdict in verdicts]
    return {"min_bytes": min_bytes, "incast": words[0], "worst": words[1], "how": verdicts[1].how}
