"""Rules on drift: what one port, switch or host says otherwise than most of its kind, without knowing who is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

from weftline.errors import Place
from weftline.headroom.sorting import find_paused_classes, find_paused_groups, find_priorities, get_group, get_queue
from weftline.headroom.sorting import read_map as read
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, name_table
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.said import Said

T = TypeVar("T", bound=Hashable)
Entry = tuple[ObservedDevice, ObservedPort, int, Said[int]]
MAPS = {
    "class_of_dscp": "DSCP to class",
    "group_of_class": "class to group",
    "queue_of_class": "class to queue",
    "queue_of_priority": "pause to queue",
    "group_of_priority": "pause to group",
}
LEAST = 3
"""So many must agree before the one that differs is blamed."""
SMALL = 0.5
"""A pool below this share of the usual one is not the same division of the chip with other cables."""
ELSE, RIGHT = "on most ports of that rate and cable", "as much, unless the peer answers sooner"
SETTINGS = ("NCCL_", "UCX_", "NVSHMEM_", "net.")


def find_usual(values: Sequence[T]) -> T | None:
    """Find the value that most have; None where fewer than three agree, or as many say something else."""
    if not values:
        return None
    value, times = Counter(values).most_common(1)[0]
    return value if times >= LEAST and times * 2 > len(values) else None


def _kind(device: ObservedDevice) -> tuple[str, str]:
    return device.vendor, "" if device.platform is None else device.platform.value


def _judge_maps(source: LintSource) -> Iterator[Hit]:
    """A port without a map that its neighbours have sorts by the chip's default, which few know."""
    for device in source.switches:
        ports = [port for port in device.ports if is_used(port) and find_priorities(port)]
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for field, what in MAPS.items():
            bare = [port for port in ports if getattr(port, field) is None]
            if not bare or len(ports) - len(bare) < LEAST or len(bare) * 2 >= len(ports):
                continue
            words = f"it has no map of {what}, and {len(ports) - len(bare):,} other ports that pause have one"
            right = f"the map of the other ports{name_table(device, 'pauses')}"
            found += [(port, words, port.sorted_at or port.where, right) for port in bare]
        yield from gather(found, device.name)


def _judge_headroom(source: LintSource) -> Iterator[Hit]:
    """Ports of one rate and one cable length on switches of one kind need one headroom."""
    kinds: dict[tuple[object, ...], list[Entry]] = {}
    for device in source.switches:
        for port in device.ports:
            if not is_used(port) or port.rate_gbps is None or port.length_m is None:
                continue
            lanes = 0 if port.lanes is None else len(port.lanes.value)
            for number in find_paused_groups(port):
                group = get_group(port, number)
                if group is not None and group.xoff_bytes is not None:
                    key = (_kind(device), port.rate_gbps.value, lanes, port.length_m.value)
                    kinds.setdefault(key, []).append((device, port, number, group.xoff_bytes))
    for entries in kinds.values():
        usual = find_usual([said.value for _, _, _, said in entries])
        for device in {entry[0].name: entry[0] for entry in entries}.values():
            found = [
                (port, f"group {number} has {said.value:,} B of headroom, and {usual:,} B {ELSE}", said.where, RIGHT)
                for owner, port, number, said in entries
                if owner is device and usual is not None and 0 < said.value < usual
            ]
            yield from gather(found, device.name)


def _judge_pools(source: LintSource) -> Iterator[Hit]:
    kinds: dict[tuple[object, str], list[tuple[ObservedDevice, Said[int]]]] = {}
    for device in source.switches:
        for pool in device.pools:
            if pool.size_bytes is not None:
                kinds.setdefault((_kind(device), pool.name), []).append((device, pool.size_bytes))
    for (_, name), sizes in kinds.items():
        if len(sizes) < LEAST:
            continue
        usual = sorted(said.value for _, said in sizes)[len(sizes) // 2]
        for device, said in sizes:
            if said.value < SMALL * usual:
                words = f"{name} has {said.value:,} B, and about {usual:,} B on other switches of its kind"
                yield Hit(device.name, words, said.where, "the division of the chip's memory that the others have")


def _judge_shares(source: LintSource) -> Iterator[Hit]:
    """A lossless class with a smaller share on one switch is that switch's bottleneck under load."""
    kinds: dict[tuple[object, ...], list[Entry]] = {}
    for device in source.switches:
        for port in device.ports:
            queues = read(port.queue_of_class)
            for number in find_paused_classes(port) if is_used(port) else ():
                queue = get_queue(port, queues.get(number, number))
                if queue is not None and queue.weight is not None:
                    rate = None if port.rate_gbps is None else port.rate_gbps.value
                    kinds.setdefault((_kind(device)[0], rate, number), []).append(
                        (device, port, queue.key, queue.weight)
                    )
    for entries in kinds.values():
        usual = find_usual([said.value for _, _, _, said in entries])
        for device in {entry[0].name: entry[0] for entry in entries}.values():
            found = [
                (port, f"lossless queue {key} has weight {said.value}, and {usual} on most ports of that rate",
                 said.where, f"weight {usual}")
                for owner, port, key, said in entries
                if owner is device and usual is not None and said.value != usual
            ]  # fmt: skip
            yield from gather(found, device.name)


def _judge_settings(source: LintSource) -> Iterator[Hit]:
    """One host that says otherwise than all the others makes the whole job slow or wait."""
    said: dict[str, list[tuple[ObservedDevice, Said[str]]]] = {}
    for host in source.hosts:
        for setting in host.settings:
            if setting.name.startswith(SETTINGS):
                said.setdefault(setting.name, []).append((host, setting.value))
    for name, values in said.items():
        usual = find_usual([value.value for _, value in values])
        for host, value in values:
            if usual is not None and value.value != usual:
                words = f"{name} is {value.value[:60]}, and {usual[:60]} on most hosts"
                yield Hit(host.name, words, value.where, f"{name} alike on all hosts of a job")


RULES = (
    Rule("drift.map-missing", "warning", _judge_maps, "SAI leaves the default of a port without a map to the chip"),
    Rule("drift.headroom", "warning", _judge_headroom, "SIGCOMM 2016, section 6: drift between switches"),
    Rule("drift.pools", "warning", _judge_pools, "SIGCOMM 2016, section 6: drift of a switch model's defaults"),
    Rule("drift.shares", "warning", _judge_shares, "SIGCOMM 2016, section 6: drift between switches"),
    Rule("drift.settings", "warning", _judge_settings, "one rank that differs stops a job; NVIDIA/nccl issue 2383"),
)
