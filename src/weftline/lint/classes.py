"""Rules on classes: what must not lose packets is sorted, paused and queued as one thing, on every port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from weftline.errors import Place
from weftline.headroom.sorting import (
    COUNT,
    classify,
    find_paused_classes,
    find_priorities,
    list_numbers,
    read_map,
)
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import Numbers, ObservedPort

USUAL = 26
"""The DSCP that NVIDIA's NICs, Cumulus and most guides use."""
_PAUSE = "a pause on the priority of its class"
_SORTING = "DSCP to class on every port that pauses"


def _pausing(device: ObservedDevice) -> Iterator[ObservedPort]:
    return (port for port in device.ports if is_used(port) and find_priorities(port))


def _judge_map(source: LintSource) -> Iterator[Hit]:
    """A port that pauses and does not sort by DSCP pauses for nothing."""
    for device in source.devices:
        if "classes" not in device.covers:
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _pausing(device):
            if port.trust is not None and port.trust.value in {"pcp", "port"}:
                words = f"trust is {port.trust.value}: routed packets carry no VLAN priority, so all get one class"
                found.append((port, words, port.trust.where, "trust dscp"))
            elif port.class_of_dscp is None and device.role == "switch":
                where = port.where if port.pauses is None else port.pauses.where
                found.append((port, "it pauses, and nothing sorts its packets by DSCP", where, _SORTING))
        yield from gather(found, device.name)


def _judge_wanted(source: LintSource) -> Iterator[Hit]:
    """What the hosts send, or the declaration names, must go to a class that pauses."""
    wanted = {dscp: why for dscp, why in source.wanted.items() if not source.is_of_host(dscp)}
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if not is_used(port) or port.class_of_dscp is None:
                continue
            paused = find_paused_classes(port)
            for dscp, why in wanted.items():
                number = classify(port, dscp)
                if number is None or number not in paused:
                    to = "no class" if number is None else f"class {number}"
                    words = f"DSCP {dscp} ({why}) goes to {to}, which does not pause: it loses packets when it is full"
                    right = f"DSCP {dscp} to a class that pauses ({list_numbers(paused)})" if paused else _PAUSE
                    found.append((port, words, port.class_of_dscp.where, right))
        yield from gather(found, device.name)


def _judge_usual(source: LintSource) -> Iterator[Hit]:
    """Where nobody says what the hosts send, the usual DSCP is the likely one."""
    if source.wanted:
        return
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _pausing(device):
            if port.class_of_dscp is None or classify(port, USUAL) in find_paused_classes(port):
                continue
            paused = find_paused_classes(port)
            kept = [dscp for dscp, number in port.class_of_dscp.value.items() if number in paused]
            if not kept:
                continue
            words = (
                f"DSCP {USUAL}, which most RoCE hosts send, goes to a class that does not pause; "
                f"lossless {'is' if len(kept) == 1 else 'are'} DSCP {list_numbers(kept)}"
            )
            right = f"hosts that send DSCP {list_numbers(kept)}, or DSCP {USUAL} to class {list_numbers(paused)}"
            found.append((port, words, port.class_of_dscp.where, right))
        yield from gather(found, device.name)


def _judge_queue(source: LintSource) -> Iterator[Hit]:
    """A pause must stop the queue that the class leaves by."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _pausing(device):
            queues, stopped = read_map(port.queue_of_class), read_map(port.queue_of_priority)
            fed = None if port.class_of_dscp is None else {queues.get(n) for n in port.class_of_dscp.value.values()}
            for priority in find_priorities(port):
                number = stopped.get(priority)
                if number in set(queues.values()) and (fed is None or number in fed):
                    continue
                # Where the map of pauses is the plain one, that of classes is the one that was changed.
                said = (port.queue_of_class if number == priority else None) or port.queue_of_priority or port.pauses
                no = "class uses" if number not in set(queues.values()) else "DSCP leads to"
                words = f"priority {priority} pauses queue {'none' if number is None else number}, which no {no}"
                found.append((port, words, port.where if said is None else said.where, "the queue of the class"))
        yield from gather(found, device.name)


def _judge_group(source: LintSource) -> Iterator[Hit]:
    """The group that a class fills must be the one that asks for its pause."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _pausing(device):
            groups, asked = read_map(port.group_of_class), port.group_of_priority
            queues, stopped = read_map(port.queue_of_class), read_map(port.queue_of_priority)
            for priority in find_priorities(port):
                mine = sorted(n for n in range(COUNT) if queues.get(n) == stopped.get(priority))
                meant = priority if asked is None else asked.value.get(priority)
                for number in mine:
                    if groups.get(number) != meant:
                        said = (port.group_of_class if meant == priority else None) or asked or port.pauses
                        words = (
                            f"class {number} waits in group {groups.get(number, 'none')}, and priority {priority} is "
                            f"asked for by group {'none' if meant is None else meant}: its buffer runs over unpaused"
                        )
                        where = port.where if said is None else said.where
                        found.append((port, words, where, f"one group for class {number} and priority {priority}"))
        yield from gather(found, device.name)


def _judge_mixed(source: LintSource) -> Iterator[Hit]:
    """A class that may lose packets must not share the group or queue of one that may not."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _pausing(device):
            paused = find_paused_classes(port)
            fed = set[int]() if port.class_of_dscp is None else set(port.class_of_dscp.value.values())
            used = fed | paused
            if port.queue_of_class is not None:
                for queue, members in _share_queues(port.queue_of_class.value, paused & fed).items():
                    words = f"classes {list_numbers(members)} share queue {queue}, which pauses"
                    right = "a queue of its own for each lossless class"
                    found.append((port, words, port.queue_of_class.where, right))
            for name, said in (("group", port.group_of_class), ("queue", port.queue_of_class)):
                if said is None:
                    continue
                for other in sorted(used - paused):
                    shared = [n for n in paused if said.value.get(n) == said.value.get(other)]
                    if shared:
                        words = f"class {other} shares {name} {said.value.get(other)} with class {list_numbers(shared)}"
                        found.append((port, words, said.where, f"a {name} of its own for each lossless class"))
        yield from gather(found, device.name)


def _share_queues(queues: Numbers, classes: Iterable[int]) -> dict[int, list[int]]:
    """Find queues that several classes use."""
    found: dict[int, list[int]] = {}
    for number in classes:
        if number in queues:
            found.setdefault(queues[number], []).append(number)
    return {queue: members for queue, members in found.items() if len(members) > 1}


def _judge_remark(source: LintSource) -> Iterator[Hit]:
    """A packet that leaves with another DSCP is sorted otherwise at the next hop."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if port.dscp_of_class is None or port.class_of_dscp is None:
                continue
            for dscp, number in sorted(port.class_of_dscp.value.items()):
                new = port.dscp_of_class.value.get(number, dscp)
                if new != dscp and (dscp in source.wanted or number in find_paused_classes(port)):
                    words = f"class {number} leaves with DSCP {new}, and came with {dscp}"
                    found.append((port, words, port.dscp_of_class.where, "no remarking of lossless classes"))
        yield from gather(found, device.name)


def _judge_uneven(source: LintSource) -> Iterator[Hit]:
    """Ports and devices of one fabric must sort alike: what one calls lossless the next one drops."""
    sorts: Counter[frozenset[tuple[int, int]]] = Counter()
    first: dict[frozenset[tuple[int, int]], str] = {}
    kinds: list[tuple[ObservedDevice, ObservedPort, frozenset[tuple[int, int]]]] = []
    cache: dict[int, frozenset[tuple[int, int]]] = {}
    for device in source.switches:
        for port in _pausing(device):
            if port.class_of_dscp is None:
                continue
            kept = _keep_lossless(port, cache)
            sorts[kept] += 1
            first.setdefault(kept, f"{device.name}/{port.name}")
            kinds.append((device, port, kept))
    if len(sorts) < 2:
        return
    usual = max(sorts, key=lambda kind: (sorts[kind], first[kind]))
    common: frozenset[tuple[int, int]] = usual.intersection(*sorts)
    by_device: dict[str, list[tuple[ObservedPort, str, Place, str]]] = {}
    for device, port, kept in kinds:
        if kept != usual and port.class_of_dscp is not None:
            mine, others = list_numbers(d for d, _ in kept), list_numbers(d for d, _ in usual)
            words = f"lossless here is DSCP {mine}, and DSCP {others} on {first[usual]} and most other ports"
            entry = (port, words, port.class_of_dscp.where, "the same DSCPs on every port")
            by_device.setdefault(device.name, []).append(entry)
    for name, found in by_device.items():
        for hit in gather(found, name):
            # Some ports may have more lossless classes, as those between two top-of-rack switches of one rack.
            yield replace(hit, severity="warning") if common else hit


def _keep_lossless(port: ObservedPort, cache: dict[int, frozenset[tuple[int, int]]]) -> frozenset[tuple[int, int]]:
    said = port.class_of_dscp
    numbers: Numbers = {} if said is None else said.value
    paused = find_paused_classes(port)
    key = hash((id(numbers), paused))
    if key not in cache:
        cache[key] = frozenset((dscp, 1) for dscp, number in numbers.items() if number in paused)
    return cache[key]


RULES = (
    Rule("classes.not-sorted", "critical", _judge_map, "VLAN priority is lost at the first routed hop; SIGCOMM 2016"),
    Rule(
        "classes.dscp-lossy", "critical", _judge_wanted,
        "SONiC's default map sends DSCP 26 to class 1 (sonic-buildimage, qos_config.j2); NVIDIA/nccl issue 2383",
    ),
    Rule(
        "classes.usual-dscp-lossy", "note", _judge_usual,
        "SONiC's default map makes DSCP 3 and 4 lossless and no other (sonic-buildimage, qos_config.j2)",
    ),
    Rule("classes.pauses-no-class", "critical", _judge_queue, "a map from pause to queue that no class uses"),
    Rule("classes.group-not-paused", "critical", _judge_group, "TC_TO_PRIORITY_GROUP_MAP against pfc_enable"),
    Rule("classes.mixed", "warning", _judge_mixed, "head-of-line blocking of lossy traffic; SIGCOMM 2015 (DCQCN)"),
    Rule("classes.remarked", "critical", _judge_remark, "sonic-buildimage issues 8525, 8835, 7216"),
    Rule("classes.differ", "critical", _judge_uneven, "configuration drift between switches; SIGCOMM 2016, section 6"),
)  # fmt: skip
