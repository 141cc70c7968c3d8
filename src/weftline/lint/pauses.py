"""Rules on pauses: both ends of a link, every member of a bundle, no pause of the whole link, and a watchdog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from weftline.errors import Place
from weftline.headroom.sorting import find_priorities, list_numbers
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, name_table, show_place
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort, ObservedWatchdog

MOST_PRIORITIES = 2
"""Lossless priorities for which common chips have headroom on every port."""
NOTIFY_DSCP = 48
"""DSCP of congestion notifications where nobody says otherwise; NVIDIA's default."""
SHORT_MS = 100
"""A watchdog shorter than this fires on pauses that an incast of a few hundred megabytes makes."""


def _judge_ends(source: LintSource) -> Iterator[Hit]:
    """A pause that one end sends and the other does not obey is none."""
    for link in source.links:
        (device, port), (other_device, other) = link.a, link.b
        if port.pauses is None or other.pauses is None:
            continue
        mine, theirs = set(port.pauses.value), set(other.pauses.value)
        if mine != theirs:
            words = (
                f"priorities {list_numbers(mine)} pause here, and {list_numbers(theirs)} at the other end, "
                f"{other_device.name}/{other.name} ({show_place(other.pauses.where)})"
            )
            yield Hit(device.name, words, port.pauses.where, "the same priorities at both ends", (port.name,))


def _judge_missing(source: LintSource) -> Iterator[Hit]:
    """Where some ports pause, a port that does not is a hole in the fabric."""
    for device in source.devices:
        if "pauses" not in device.covers:
            continue
        used = [port for port in device.ports if is_used(port) and _is_plug(port)]
        if device.role != "switch":  # an output of one NIC says nothing of the others
            used = [port for port in used if port.pauses is not None]
        pausing = [port for port in used if find_priorities(port)]
        if not pausing:
            if device.role == "switch" and used and (source.wanted or _has_pausing(source)):
                right = f"PFC on the lossless priority{name_table(device, 'pauses')}"
                yield Hit(device.name, "no port pauses any priority", used[0].where, right)
            continue
        usual = max({find_priorities(p) for p in pausing}, key=lambda s: sum(find_priorities(p) == s for p in pausing))
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in used:
            if find_priorities(port) != usual:
                where = (port.sorted_at or port.where) if port.pauses is None else port.pauses.where
                have = (
                    f"priorities {list_numbers(find_priorities(port))} pause" if find_priorities(port) else "no pause"
                )
                words = f"{have}, and {list_numbers(usual)} on {len(pausing):,} other ports of the device"
                right = f"PFC on priority {list_numbers(usual)}{name_table(device, 'pauses')}"
                found.append((port, words, where, right))
        yield from gather(found, device.name)


def _has_pausing(source: LintSource) -> bool:
    return any(find_priorities(port) for device in source.devices for port in device.ports)


def _is_plug(port: ObservedPort) -> bool:
    """Tell a port from a bundle, VLAN or loopback of the device."""
    return port.rate_gbps is not None or port.lanes is not None or port.nic is not None


def _judge_bundle(source: LintSource) -> Iterator[Hit]:
    """Members of a bundle carry the same flows."""
    for device in source.devices:
        bundles: dict[str, list[ObservedPort]] = {}
        for port in device.ports:
            if port.bundle is not None:
                bundles.setdefault(port.bundle.value, []).append(port)
        for name, members in bundles.items():
            kinds = {(frozenset(find_priorities(port)), _value(port.mtu)) for port in members}
            if len(kinds) > 1:
                words = f"members of {name} differ in priorities that pause or in MTU"
                where = members[0].pauses or members[0].mtu or members[0].bundle
                place = members[0].where if where is None else where.where
                ports = tuple(port.name for port in members)
                yield Hit(device.name, words, place, "the same on every member", ports)


def _value(said: object) -> object:
    return getattr(said, "value", None)


def _judge_link_pause(source: LintSource) -> Iterator[Hit]:
    """A pause of the whole link stops every class, and excludes those by priority."""
    for device in source.devices:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if port.link_pause is not None and port.link_pause.value != "off":
                words = f"pauses of the whole link are on ({port.link_pause.value})"
                found.append((port, words, port.link_pause.where, "off; PFC on the lossless priority instead"))
        yield from gather(found, device.name)


def _judge_ways(source: LintSource) -> Iterator[Hit]:
    """Pauses must be sent and obeyed."""
    for device in source.devices:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if not find_priorities(port):
                continue
            if port.pause_ways is not None and port.pause_ways.value != "both":
                words = f"pauses act one way only ({port.pause_ways.value})"
                found.append((port, words, port.pause_ways.where, "both directions"))
            if port.is_asymmetric is not None and port.is_asymmetric.value:
                words = "asymmetric: it obeys pauses of every priority, also of those that nobody must send"
                found.append((port, words, port.is_asymmetric.where, "off"))
        yield from gather(found, device.name)


def _judge_notifications(source: LintSource) -> Iterator[Hit]:
    """A paused notification cannot end the congestion."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        wanted = {dscp for dscp in find_notify_dscps(source) if dscp not in source.wanted}
        for port in device.ports:
            if port.class_of_dscp is None or not find_priorities(port):
                continue
            for dscp in sorted(wanted):
                number = port.class_of_dscp.value.get(dscp)
                if number is not None and number in find_priorities(port):
                    words = f"congestion notifications (DSCP {dscp}) are in class {number}, which pauses"
                    found.append((port, words, port.class_of_dscp.where, "a strict class of their own without pauses"))
        yield from gather(found, device.name)


def find_notify_dscps(source: LintSource) -> set[int]:
    """Find the DSCPs of congestion notifications: as the hosts say, else the usual one."""
    said = Counter(
        port.nic.notify_dscp.value
        for host in source.hosts
        for port in host.ports
        if port.nic is not None and port.nic.notify_dscp is not None
    )
    most = max(said.values(), default=0)  # few that differ are their hosts' fault: rule nic.notifications
    return {dscp for dscp, times in said.items() if times == most} or {NOTIFY_DSCP}


def _judge_many(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if port.pauses is not None and len(port.pauses.value) > MOST_PRIORITIES:
                words = f"{len(port.pauses.value)} priorities pause ({list_numbers(port.pauses.value)})"
                found.append((port, words, port.pauses.where, f"at most {MOST_PRIORITIES} lossless priorities"))
        yield from gather(found, device.name)


def _judge_watched(source: LintSource) -> Iterator[Hit]:
    """The watchdog must watch exactly what pauses."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        some: list[tuple[ObservedPort, str, Place, str]] = []
        bare: list[tuple[ObservedPort, str, Place, str]] = []
        watching = any(port.watched is not None and port.watched.value for port in device.ports)
        for port in device.ports:
            if port.watched is None and watching and find_priorities(port) and is_used(port):
                words = "the watchdog watches nothing, and other ports of the device are watched"
                right = f"watch {list_numbers(find_priorities(port))}{name_table(device, 'pauses')}"
                bare.append((port, words, port.sorted_at or port.where, right))
            if port.watched is None or port.pauses is None or set(port.watched.value) == set(port.pauses.value):
                continue
            words = (
                f"the watchdog watches priorities {list_numbers(port.watched.value)}, and "
                f"{list_numbers(port.pauses.value)} pause"
            )
            entry = (port, words, port.watched.where, f"watch {list_numbers(port.pauses.value)}")
            (some if set(port.watched.value) < set(port.pauses.value) and port.watched.value else found).append(entry)
        yield from gather(found, device.name)
        yield from (replace(hit, severity="warning") for hit in gather([*some, *bare], device.name))


def _judge_unwatched(source: LintSource) -> Iterator[Hit]:
    """Without a watchdog one NIC that pauses for ever stops the fabric."""
    for device in source.switches:
        if "watchdog" not in device.covers:
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if is_used(port) and find_priorities(port) and not _is_watched(device, port):
                where = port.where if port.pauses is None else port.pauses.where
                words = "it pauses, and no watchdog ends a pause that never ends"
                found.append((port, words, where, f"a PFC watchdog{name_table(device, 'watchdog')}"))
        yield from gather(found, device.name)


def _is_watched(device: ObservedDevice, port: ObservedPort) -> bool:
    dog = port.watchdog or device.watchdog
    is_set = port.watchdog is not None or (dog is not None and dog.detect_ms is not None)
    return is_set and (port.watched is None or bool(port.watched.value))


def _judge_times(source: LintSource) -> Iterator[Hit]:
    """A watchdog that fires on a pause of an ordinary incast drops what it should keep."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            dog: ObservedWatchdog | None = port.watchdog
            if dog is None or dog.detect_ms is None:
                continue
            if dog.detect_ms.value < SHORT_MS:
                words = f"a pause counts as endless after {dog.detect_ms.value} ms"
                found.append((port, words, dog.detect_ms.where, f"at least {SHORT_MS} ms"))
            if dog.restore_ms is not None and dog.restore_ms.value < dog.detect_ms.value:
                words = f"packets are let through again after {dog.restore_ms.value} ms, before the next look"
                found.append((port, words, dog.restore_ms.where, f"at least {dog.detect_ms.value} ms"))
        yield from gather(found, device.name)


RULES = (
    Rule("pauses.ends-differ", "critical", _judge_ends, "NVIDIA/nccl issue 378: no flow control at the switch"),
    Rule("pauses.missing", "critical", _judge_missing, "NVIDIA/nccl issue 378: no flow control at the switch"),
    Rule("pauses.bundle-differs", "critical", _judge_bundle, "one member without PFC drops its share of the flows"),
    Rule("pauses.whole-link", "critical", _judge_link_pause, "NVIDIA/daqiri issue 250: 308 of 400 Gb/s, no counter"),
    Rule("pauses.one-way", "critical", _judge_ways, "asymmetric PFC passes a storm on; SONiC PORT.pfc_asym"),
    Rule("pauses.notifications", "critical", _judge_notifications, "SIGCOMM 2015 (DCQCN): notifications go first"),
    Rule("pauses.many", "note", _judge_many, "SIGCOMM 2016: headroom allows two lossless classes on common chips"),
    Rule(
        "watchdog.other-queues", "critical", _judge_watched,
        "edge-core/sonic-buildimage pull requests 689 and 697; sonic-swss issue 842",
    ),
    Rule("watchdog.none", "warning", _judge_unwatched, "SIGCOMM 2016: a NIC's pause storm; sonic-buildimage 24577"),
    Rule("watchdog.times", "warning", _judge_times, "sonic-swss pull request 3036: false alarms of a short detector"),
)  # fmt: skip
