"""Rules on buffers: headroom for what still comes after a pause was asked for, and pools that hold it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from weftline.errors import Place
from weftline.headroom import count_fitting, find_floor
from weftline.headroom.sorting import find_paused_groups, find_priorities, get_group
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, name_table
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedGroup, ObservedPort

FRAME = 9216
"""Where a port says no MTU: the largest frame of common switches."""
FAR_M = 1000.0
"""From here on shipped tables seem to count a cable one way only; below the floor is then a note, not an error."""
_PROFILE = re.compile(r"^pg_lossless_(\d{3,7})_(\d{1,6})m(?:_|$)")
"""How SONiC names the profile of a group: speed in Mb/s and cable length. cfgmgr/buffermgr.cpp of sonic-swss."""


def _lossless(device: ObservedDevice) -> Iterator[tuple[ObservedPort, int, ObservedGroup | None]]:
    """Each group that asks for pauses, or has headroom as if it did, with its buffer where one is said."""
    for port in device.ports:
        if is_used(port):
            paused = find_paused_groups(port)
            for number in sorted(paused | {group.key for group in port.groups if _is_headed(group)}):
                yield port, number, get_group(port, number)


def _is_headed(group: ObservedGroup) -> bool:
    return group.xoff_bytes is not None and group.xoff_bytes.value > 0


def _judge_absent(source: LintSource) -> Iterator[Hit]:
    """A group that pauses and has no buffer of its own drops what comes after the pause."""
    for device in source.switches:
        if "buffers" not in device.covers:
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        is_made = makes_groups(device)
        for port, number, group in _lossless(device):
            if group is None and is_made:
                continue
            if group is None:
                where = port.where if port.pauses is None else port.pauses.where
                words = f"group {number} asks for pauses and has no buffer of its own"
                right = f"a lossless profile of the port's speed and cable{name_table(device, 'groups')}"
                found.append((port, words, where, right))
            elif _is_empty(group):
                said = group.xoff_bytes or group.size_bytes or group.profile
                words = f"group {number} has no headroom: what comes after its pause is dropped"
                where = group.where if said is None else said.where
                found.append((port, words, where, "headroom by the port's speed and cable"))
        yield from gather(found, device.name)


def makes_groups(device: ObservedDevice) -> bool:
    """Tell whether the device may make its lossless groups itself, by speed and cable: SONiC's traditional model.

    Where one group is written down, the others would be as well: the device writes them into its configuration.
    """
    is_traditional = device.buffer_model is None or device.buffer_model.value == "traditional"
    written = any(group is not None for _, _, group in _lossless(device))
    return is_traditional and not written and any(port.length_m is not None for port in device.ports)


def _is_empty(group: ObservedGroup) -> bool:
    """Tell whether a group has no headroom at all; one that the device computes has some."""
    if group.is_computed is not None and group.is_computed.value:
        return False
    return (group.xoff_bytes is None and group.profile is not None and group.size_bytes is not None) or (
        group.xoff_bytes is not None and group.xoff_bytes.value == 0
    )


def _judge_floor(source: LintSource) -> Iterator[Hit]:
    """No headroom may be below what is certain to come: the cable there and back, and one frame."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        far: list[tuple[ObservedPort, str, Place, str]] = []
        for port, number, group in _lossless(device):
            if group is None or group.xoff_bytes is None or port.rate_gbps is None or port.length_m is None:
                continue
            mtu = FRAME if port.mtu is None else port.mtu.value
            floor = find_floor(round(port.rate_gbps.value * 1000), port.length_m.value, mtu)
            if floor is None or group.xoff_bytes.value >= floor.certain or _is_empty(group):
                continue
            words = (
                f"group {number} has {group.xoff_bytes.value:,} B of headroom, and {floor.certain:,.0f} B are certain "
                f"to come: {floor.cable:,.0f} B on {port.length_m.value:g} m of cable there and back at "
                f"{port.rate_gbps.value:g} Gb/s, and a frame of {floor.frame:,} B"
            )
            entry = (
                port,
                words,
                group.xoff_bytes.where,
                f"at least {floor.certain:,.0f} B, with the peer's answer more",
            )
            (far if port.length_m.value >= FAR_M else found).append(entry)
        yield from gather(found, device.name)
        for hit in gather(far, device.name):
            yield Hit(hit.device, hit.message, hit.where, hit.right, hit.ports, "note")


def _judge_length(source: LintSource) -> Iterator[Hit]:
    """SONiC sizes headroom by CABLE_LENGTH; a port that is missing there, or has 0 m, gets none."""
    for device in source.switches:
        if "buffers" not in device.covers or device.buffer_model is None:
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        fixed: list[tuple[ObservedPort, str, Place, str]] = []
        right = f"the length of its cable{name_table(device, 'lengths')}"
        known = any(port.length_m is not None for port in device.ports)
        for port in device.ports:
            if not is_used(port) or not find_priorities(port):
                continue
            if _has_fixed(port):
                if port.length_m is None and known:
                    words = "no cable length is said, so its headroom is not made anew after a change"
                    fixed.append((port, words, port.where, right))
                continue
            if port.length_m is None:
                words = "no cable length is said, so the device makes no headroom for it"
                found.append((port, words, port.where, right))
            elif port.length_m.value == 0:
                words = "the cable length is 0 m, which tells the device to make no headroom"
                found.append((port, words, port.length_m.where, "the length of its cable"))
        yield from gather(found, device.name)
        yield from (replace(hit, severity="warning") for hit in gather(fixed, device.name))


def _has_fixed(port: ObservedPort) -> bool:
    """Tell whether every group that pauses has bytes of its own in the file."""
    groups = [get_group(port, number) for number in find_paused_groups(port)]
    return bool(groups) and all(group is not None and group.xoff_bytes is not None for group in groups)


def _judge_stale(source: LintSource) -> Iterator[Hit]:
    """A profile is named after speed and cable; after recabling it may still be that of the old cable."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, number, group in _lossless(device):
            match = None if group is None or group.profile is None else _PROFILE.match(group.profile.value)
            if match is None or group is None or group.profile is None:
                continue
            speed, length = int(match[1]), int(match[2])
            wrong: list[str] = []
            if port.rate_gbps is not None and speed != round(port.rate_gbps.value * 1000):
                wrong.append(f"the port runs at {port.rate_gbps.value:g} Gb/s")
            if port.length_m is not None and length != port.length_m.value:
                wrong.append(f"its cable has {port.length_m.value:g} m")
            if wrong:
                words = f"group {number} has profile {group.profile.value}, and {' and '.join(wrong)}"
                found.append((port, words, group.profile.where, "the profile of the present speed and cable"))
        yield from gather(found, device.name)


def _judge_lossy_pool(source: LintSource) -> Iterator[Hit]:
    """Egress must not drop what ingress keeps, and a lossless group must be in a lossless pool."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, number, group in _lossless(device):
            if group is not None and group.pool is not None and "lossy" in group.pool.value:
                words = f"group {number} asks for pauses and is in pool {group.pool.value}"
                found.append((port, words, group.pool.where, "the lossless ingress pool"))
            queues = {q.key: q for q in port.queues}
            for priority in find_priorities(port):
                stopped = priority if port.queue_of_priority is None else port.queue_of_priority.value.get(priority)
                queue = None if stopped is None else queues.get(stopped)
                if queue is not None and queue.pool is not None and "lossy" in queue.pool.value:
                    words = f"queue {queue.key} is lossless at ingress and leaves by pool {queue.pool.value}"
                    found.append((port, words, queue.pool.where, "the lossless egress pool"))
        yield from gather(found, device.name)


def _judge_xon(source: LintSource) -> Iterator[Hit]:
    """Where the pause ends above where it begins, or a group is smaller than what it must hold, it cannot work."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        # With a ratio above 0 SONiC computes a shared pool, which no file holds (dynamically-headroom-calculation.md).
        ratio = device.over_subscribe_ratio
        shared = (ratio is not None and ratio.value > 0) or any(
            pool.headroom_bytes is not None and pool.headroom_bytes.value for pool in device.pools
        )
        for port, number, group in _lossless(device):
            if group is None or group.size_bytes is None or group.xoff_bytes is None:
                continue
            xon = 0 if group.xon_bytes is None else group.xon_bytes.value
            if not shared and group.size_bytes.value < group.xoff_bytes.value:
                words = (
                    f"group {number} has {group.size_bytes.value:,} B of its own and no shared headroom pool, and "
                    f"{group.xoff_bytes.value:,} B of headroom shall fit into it"
                )
                found.append((port, words, group.size_bytes.where, f"at least {group.xoff_bytes.value + xon:,} B"))
        yield from gather(found, device.name)


def _judge_pools(source: LintSource) -> Iterator[Hit]:
    """A shared headroom pool holds so many groups that pause at once, and no more."""
    for device in source.switches:
        for pool in device.pools:
            if pool.headroom_bytes is None or not pool.headroom_bytes.value:
                continue
            asked = sorted(
                (group.xoff_bytes.value for _, _, group in _lossless(device) if group is not None and group.xoff_bytes),
                reverse=True,
            )
            fit = count_fitting(((room, 1) for room in asked), pool.headroom_bytes.value)
            if fit < len(asked):
                words = (
                    f"{pool.name} shares {pool.headroom_bytes.value:,} B of headroom among {len(asked):,} groups that "
                    f"want {sum(asked):,} B: lossless for up to {fit:,} groups that pause at once"
                )
                right = "more shared headroom, or the knowledge that no more pause together"
                severity = "critical" if fit == 0 else None
                yield Hit(device.name, words, pool.headroom_bytes.where, right, severity=severity)


def _judge_monotone(source: LintSource) -> Iterator[Hit]:
    """More cable never needs less headroom."""
    for device in source.switches:
        rows: dict[tuple[float, int], dict[float, ObservedGroup]] = {}
        for port, _, group in _lossless(device):
            if group is not None and group.xoff_bytes is not None and port.rate_gbps and port.length_m:
                key = (port.rate_gbps.value, 0 if port.lanes is None else len(port.lanes.value))
                rows.setdefault(key, {}).setdefault(port.length_m.value, group)
        for (rate, _), by_length in sorted(rows.items()):
            for shorter, longer in pairwise(sorted(by_length)):
                less, more = by_length[longer].xoff_bytes, by_length[shorter].xoff_bytes
                if less is not None and more is not None and less.value < more.value:
                    words = (
                        f"at {rate:g} Gb/s {longer:g} m of cable get {less.value:,} B of headroom, and {shorter:g} m "
                        f"get {more.value:,} B"
                    )
                    yield Hit(device.name, words, less.where, "headroom that grows with the cable")


RULES = (
    Rule("buffers.no-headroom", "critical", _judge_absent, "SONiC issue 480; sonic-swss issue 465 and PR 3548"),
    Rule("buffers.below-floor", "critical", _judge_floor, "round trip of the cable and one frame; SIGCOMM 2016, 3"),
    Rule("buffers.no-length", "critical", _judge_length, "sonic-buildimage pull requests 23059 and 25606"),
    Rule("buffers.stale-profile", "critical", _judge_stale, "sonic-swss pull request 4004"),
    Rule("buffers.lossy-pool", "critical", _judge_lossy_pool, "what ingress keeps, an egress pool must not drop"),
    Rule("buffers.size-below-headroom", "critical", _judge_xon, "size is xon with a shared headroom pool, else both"),
    Rule("buffers.shared-headroom", "note", _judge_pools, "over_subscribe_ratio of sonic-swss"),
    Rule("buffers.falls-with-length", "note", _judge_monotone, "11 rows of shipped tables (SN5600, SN4700)"),
)
