"""How the classes of one port hang together: what pauses for which class, where it waits, where it leaves."""

from __future__ import annotations

from collections.abc import Iterable

from weftline.model.observed_port import Numbers, ObservedGroup, ObservedPort, ObservedQueue
from weftline.model.said import Said

COUNT = 8
"""Classes, priorities, groups and queues of a port."""
IDENTITY: Numbers = {number: number for number in range(COUNT)}
"""What devices do where no map is bound: class, priority, group and queue of one number."""


def read_map(said: Said[Numbers] | None) -> Numbers:
    """Take a map, or the identity where none is bound."""
    return IDENTITY if said is None else said.value


def find_priorities(port: ObservedPort) -> tuple[int, ...]:
    """List the priorities that pause; none where nothing says so."""
    return () if port.pauses is None else port.pauses.value


def find_paused_classes(port: ObservedPort) -> frozenset[int]:
    """Find the classes whose queue a pause stops."""
    queues = read_map(port.queue_of_priority)
    stopped = {queues.get(priority) for priority in find_priorities(port)} - {None}
    of_class = read_map(port.queue_of_class)
    return frozenset(number for number in range(COUNT) if of_class.get(number) in stopped)


def find_paused_groups(port: ObservedPort) -> frozenset[int]:
    """Find the ingress groups that ask for a pause when they are full."""
    groups = read_map(port.group_of_priority) if port.group_of_priority is not None else read_map(port.group_of_class)
    return frozenset(group for priority in find_priorities(port) if (group := groups.get(priority)) is not None)


def find_priority(port: ObservedPort, number: int) -> int:
    """Find the number in the pause frames that speak of a class."""
    if port.priority_of_class is not None:
        return port.priority_of_class.value.get(number, number)
    queue = read_map(port.queue_of_class).get(number)
    queues = read_map(port.queue_of_priority)
    return next((priority for priority in find_priorities(port) if queues.get(priority) == queue), number)


def classify(port: ObservedPort, dscp: int) -> int | None:
    """Sort a packet by its DSCP; None where nothing says how."""
    if port.trust is not None and port.trust.value in {"pcp", "port"}:
        return None if port.default_class is None else port.default_class.value
    return None if port.class_of_dscp is None else port.class_of_dscp.value.get(dscp)


def get_group(port: ObservedPort, number: int) -> ObservedGroup | None:
    """Take a group by its number."""
    return next((group for group in port.groups if group.key == number), None)


def find_buffer(port: ObservedPort, priority: int) -> tuple[int, Said[int] | None]:
    """Find the receive buffer of a NIC for a priority: its number, and its size where that is said."""
    nic = port.nic
    index = (
        priority if nic is None or nic.buffer_of_priority is None else nic.buffer_of_priority.value.get(priority, -1)
    )
    group = get_group(port, index)
    if nic is not None and nic.buffers is not None:
        sizes = nic.buffers.value
        return index, Said(sizes[index] if 0 <= index < len(sizes) else 0, nic.buffers.where)
    return index, None if group is None else group.size_bytes


def get_queue(port: ObservedPort, number: int) -> ObservedQueue | None:
    """Take a queue by its number."""
    return next((queue for queue in port.queues if queue.key == number), None)


def list_numbers(numbers: Iterable[int]) -> str:
    """Write numbers as people do: ``3 and 4``, ``0 to 2 and 5``."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    words = [word for first, last in runs for word in _write_run(first, last)]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "none"


def _write_run(first: int, last: int) -> list[str]:
    return [f"{first} to {last}"] if last - first > 1 else [str(number) for number in range(first, last + 1)]
