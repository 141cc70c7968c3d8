"""Rules on what lossless packets wait in on their way out, and on pools of the wrong kind or size."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.headroom.sorting import find_paused_classes, find_paused_groups, find_priorities, get_group, get_queue
from weftline.headroom.sorting import read_map as read
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, name_table
from weftline.model.observed import ObservedDevice, ObservedPool
from weftline.model.observed_port import ObservedGroup, ObservedPort, ObservedQueue


def _list_lossless(device: ObservedDevice) -> Iterator[tuple[ObservedPort, list[ObservedGroup], list[int]]]:
    """Each port that pauses, with its lossless groups and the numbers of its lossless queues."""
    for port in device.ports:
        if is_used(port) and find_priorities(port):
            groups = [group for number in find_paused_groups(port) if (group := get_group(port, number)) is not None]
            queues = read(port.queue_of_class)
            yield port, groups, sorted({queues.get(number, number) for number in find_paused_classes(port)})


def _find_pool(device: ObservedDevice, part: ObservedGroup | ObservedQueue) -> ObservedPool | None:
    return None if part.pool is None else next((p for p in device.pools if p.name == part.pool.value), None)


def _judge_direction(source: LintSource) -> Iterator[Hit]:
    """A group waits in an ingress pool and a queue in an egress pool."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, groups, numbers in _list_lossless(device):
            queues = [queue for number in numbers if (queue := get_queue(port, number)) is not None]
            for part, what, want in (
                *((group, "group", "ingress") for group in groups),
                *((queue, "queue", "egress") for queue in queues),
            ):
                pool = _find_pool(device, part)
                if pool is not None and pool.direction is not None and pool.direction.value not in {want, "both"}:
                    words = f"{what} {part.key} is in pool {pool.name}, which is of {pool.direction.value}"
                    found.append((port, words, pool.direction.where, f"a pool of {want}"))
        yield from gather(found, device.name)


def _judge_smaller(source: LintSource) -> Iterator[Hit]:
    """What ingress keeps, egress must hold: a smaller pool drops there what was paused for here."""
    for device in source.switches:
        seen: set[tuple[str, str]] = set()
        for port, groups, numbers in _list_lossless(device):
            ingress = next((pool for group in groups if (pool := _find_pool(device, group)) is not None), None)
            for number in numbers:
                queue = get_queue(port, number)
                egress = None if queue is None else _find_pool(device, queue)
                if ingress is None or egress is None or (ingress.name, egress.name) in seen:
                    continue
                seen.add((ingress.name, egress.name))
                if ingress.size_bytes is None or egress.size_bytes is None:
                    continue
                if egress.size_bytes.value < ingress.size_bytes.value:
                    words = (
                        f"lossless packets come in by {ingress.name} with {ingress.size_bytes.value:,} B and leave by "
                        f"{egress.name} with {egress.size_bytes.value:,} B"
                    )
                    yield Hit(device.name, words, egress.size_bytes.where, "an egress pool at least as large")


def _judge_unbuffered(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        if "buffers" not in device.covers or not any(q.profile is not None for p in device.ports for q in p.queues):
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, _, numbers in _list_lossless(device):
            for number in numbers:
                queue = get_queue(port, number)
                if queue is None or queue.profile is None:
                    words = f"lossless queue {number} has no buffer profile, and other queues have"
                    where = port.where if queue is None else queue.where
                    right = f"the lossless egress profile{name_table(device, 'queue-buffers')}"
                    found.append((port, words, where, right))
        yield from gather(found, device.name)


def _judge_share(source: LintSource) -> Iterator[Hit]:
    """A queue that may take less than one group may fill drops before that group asks for a pause."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, groups, numbers in _list_lossless(device):
            shares = [group.dynamic_th.value for group in groups if group.dynamic_th is not None]
            for number in numbers:
                queue = get_queue(port, number)
                if queue is None or queue.dynamic_th is None or not shares or queue.dynamic_th.value >= max(shares):
                    continue
                words = (
                    f"queue {number} may take 2^{queue.dynamic_th.value} of what is free in its pool, and its group "
                    f"2^{max(shares)}: it drops before the group asks for a pause"
                )
                found.append((port, words, queue.dynamic_th.where, "dynamic_th 7 for lossless queues"))
        yield from gather(found, device.name)


RULES = (
    Rule("buffers.wrong-pool", "critical", _judge_direction, "SAI_BUFFER_POOL_ATTR_TYPE: a pool is of one direction"),
    Rule("buffers.egress-smaller", "warning", _judge_smaller, "what ingress keeps, an egress pool must not drop"),
    Rule("buffers.no-queue", "warning", _judge_unbuffered, "what ingress keeps, an egress queue must not drop"),
    Rule("buffers.queue-drops", "warning", _judge_share, "what ingress keeps, an egress queue must not drop"),
)
