"""One direction of one link for one class: what the sender and the receiver do with it, fault by fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weftline.errors import Place
from weftline.headroom.sorting import classify, find_buffer, find_priorities, get_group, list_numbers, read_map
from weftline.model.lossless import LosslessClass, Need
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.said import Said

End: TypeAlias = Literal["sender", "receiver"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that loses packets, or that nobody knows."""

    end: End
    words: str
    field: str
    """The field of the port whose place says so."""
    is_known: bool
    """False where the files do not say, so that nothing is decided."""


@dataclass(frozen=True, slots=True)
class WayVerdict:
    """What one direction of a link comes to for one class."""

    flaws: tuple[Flaw, ...]
    have: int
    """Headroom of the receiver in bytes; -1 where it is not known."""
    need: int
    """What it needs; -1 where that is not known."""
    how: str = ""


def judge_way(
    sender: tuple[ObservedDevice, ObservedPort],
    receiver: tuple[ObservedDevice, ObservedPort],
    what: LosslessClass,
    need: Need | None,
) -> WayVerdict:
    """Judge whether packets of a class that the sender sends are never lost for want of room at the receiver.

    The receiver sorts all of its DSCPs into one class, its group has the headroom it needs and asks for a pause of a
    priority p; the sender obeys p and p stops the very queue in which it keeps that class.
    """
    flaws: list[Flaw] = []
    sorted_into = _sort(receiver, "receiver", what, flaws)
    held = _sort(sender, "sender", what, flaws)
    have = -1
    asked = None if sorted_into is None else _find_asked(receiver[1], sorted_into, flaws)
    if sorted_into is not None:
        have = _find_room(receiver, sorted_into, asked, flaws)
    if asked is not None and held is not None:
        flaws += _judge_obeying(sender[1], held, asked)
    flaws += _judge_port(*sender, "sender")
    flaws += _judge_port(*receiver, "receiver")
    if need is None:
        flaws.append(Flaw("receiver", "what headroom it needs is not known", "length_m", is_known=False))
    elif 0 <= have < need.size:
        words = f"it has {have:,} B of headroom, and needs {need.size:,} B ({need.how})"
        flaws.append(Flaw("receiver", words, "groups", is_known=True))
    flaws += _judge_sizes(sender, receiver)
    return WayVerdict(tuple(flaws), have, -1 if need is None else need.size, "" if need is None else need.how)


def _sort(end_: tuple[ObservedDevice, ObservedPort], end: End, what: LosslessClass, flaws: list[Flaw]) -> int | None:
    """Find the one class that a port sorts all DSCPs of a declared class into."""
    _, port = end_
    if port.trust is not None and port.trust.value in {"pcp", "port"}:
        words = f"it trusts {port.trust.value}, so DSCP does not choose the class"
        flaws.append(Flaw(end, words, "trust", is_known=True))
        return None
    if port.class_of_dscp is None:
        flaws.append(Flaw(end, "how it sorts by DSCP is not known", "class_of_dscp", is_known=False))
        return None
    numbers = {classify(port, dscp) for dscp in what.dscps}
    if len(numbers) != 1 or None in numbers:
        into = list_numbers(number for number in numbers if number is not None)
        words = f"it sorts DSCP {list_numbers(what.dscps)} into classes {into}, not into one"
        flaws.append(Flaw(end, words, "class_of_dscp", is_known=True))
        return None
    return next(iter(numbers))


def _find_asked(port: ObservedPort, number: int, flaws: list[Flaw]) -> int | None:
    """Find the priority for which a receiver asks a pause when the group of a class is full."""
    if port.pauses is None:
        flaws.append(Flaw("receiver", "which priorities pause is not known", "pauses", is_known=False))
        return None
    group = read_map(port.group_of_class).get(number)
    groups = read_map(port.group_of_priority) if port.group_of_priority is not None else None
    for priority in port.pauses.value:
        meant = groups.get(priority) if groups is not None else read_map(port.group_of_class).get(priority)
        if meant == group and (groups is not None or _pauses_class(port, priority, number)):
            return priority
    words = f"it sorts the class into {number}, group {group}, and asks for no pause of it (PFC on "
    words += f"{list_numbers(port.pauses.value)})"
    flaws.append(Flaw("receiver", words, "pauses", is_known=True))
    return None


def _pauses_class(port: ObservedPort, priority: int, number: int) -> bool:
    """Tell whether a priority is that of a class, where no map says which group asks for it."""
    if port.priority_of_class is not None:
        return port.priority_of_class.value.get(number, number) == priority
    return priority == number


def _find_room(receiver: tuple[ObservedDevice, ObservedPort], number: int, asked: int | None, flaws: list[Flaw]) -> int:
    """Find the headroom of the group, or of the NIC's receive buffer; -1 where it is not known."""
    device, port = receiver
    if device.role == "host":
        return _find_nic_room(port, asked, flaws)
    key = read_map(port.group_of_class).get(number, number)
    group = get_group(port, key)
    if group is None or (group.is_computed is not None and group.is_computed.value):
        words = f"the headroom of group {key} is the device's own, and no file says it"
        flaws.append(Flaw("receiver", words, "groups", is_known=False))
        return -1
    if group.xoff_bytes is None:
        is_lossy = group.size_bytes is not None
        words = f"group {key} has no headroom" if is_lossy else f"the headroom of group {key} is not known"
        flaws.append(Flaw("receiver", words, "groups", is_known=is_lossy))
        return 0 if is_lossy else -1
    return group.xoff_bytes.value


def _find_nic_room(port: ObservedPort, asked: int | None, flaws: list[Flaw]) -> int:
    size = None if asked is None else find_buffer(port, asked)[1]
    if size is None:
        flaws.append(Flaw("receiver", "the receive buffer of the NIC is not known", "nic", is_known=False))
        return -1
    if size.value == 0:
        flaws.append(Flaw("receiver", f"priority {asked} has no receive buffer", "nic", is_known=True))
    return size.value


def _judge_obeying(port: ObservedPort, held: int, asked: int) -> Iterator[Flaw]:
    """Judge whether the sender stops the queue of the class when it is asked to."""
    if port.pauses is None:
        yield Flaw("sender", "which priorities it obeys is not known", "pauses", is_known=False)
        return
    if asked not in find_priorities(port):
        words = f"it is asked to pause priority {asked}, and obeys {list_numbers(find_priorities(port))}"
        yield Flaw("sender", words, "pauses", is_known=True)
        return
    stopped, queue = read_map(port.queue_of_priority).get(asked), read_map(port.queue_of_class).get(held)
    if stopped != queue:
        words = f"a pause of priority {asked} stops queue {stopped}, and the class leaves by queue {queue}"
        yield Flaw("sender", words, "queue_of_priority", is_known=True)


def _judge_port(device: ObservedDevice, port: ObservedPort, end: End) -> Iterator[Flaw]:
    """Judge what spoils pauses on a port, whatever class they are of."""
    if port.link_pause is not None and port.link_pause.value != "off":
        yield Flaw(end, "pauses of the whole link are on", "link_pause", is_known=True)
    if port.is_asymmetric is not None and port.is_asymmetric.value:
        yield Flaw(end, "its pauses are asymmetric", "is_asymmetric", is_known=True)
    needed = {"sender": "rx", "receiver": "tx"}[end]
    if port.pause_ways is not None and port.pause_ways.value not in {"both", needed}:
        yield Flaw(end, f"its pauses act one way only ({port.pause_ways.value})", "pause_ways", is_known=True)
    if device.role == "switch" and port.dscp_of_class is not None and end == "sender":
        yield from _judge_remarks(port)
    if device.role != "switch" or port.pauses is None:
        return
    if port.watched is None and "watchdog" in device.covers:
        yield Flaw(end, "no watchdog watches what pauses", "pauses", is_known=True)
    elif port.watched is not None and set(port.watched.value) != set(port.pauses.value):
        words = f"its watchdog watches {list_numbers(port.watched.value)}, and {list_numbers(port.pauses.value)} pause"
        yield Flaw(end, words, "watched", is_known=True)


def _judge_remarks(port: ObservedPort) -> Iterator[Flaw]:
    """A packet that leaves with another DSCP is another class at the next hop."""
    if port.class_of_dscp is None or port.dscp_of_class is None:
        return
    for dscp, number in port.class_of_dscp.value.items():
        new = port.dscp_of_class.value.get(number, dscp)
        if new != dscp and number in find_priorities(port):
            yield Flaw("sender", f"class {number} leaves with DSCP {new} for {dscp}", "dscp_of_class", is_known=True)
            return


def _judge_sizes(
    sender: tuple[ObservedDevice, ObservedPort], receiver: tuple[ObservedDevice, ObservedPort]
) -> Iterator[Flaw]:
    """A receiver must take the frames that the sender sends; hosts agree on a path MTU of their own."""
    if sender[0].role == "switch" and receiver[0].role == "host":
        return
    mine, theirs = sender[1].mtu, receiver[1].mtu
    if mine is None or theirs is None:
        yield Flaw("receiver" if theirs is None else "sender", "its MTU is not known", "mtu", is_known=False)
    elif theirs.value < mine.value:
        words = f"it takes frames of {theirs.value:,} B, and {mine.value:,} B may come"
        yield Flaw("receiver", words, "mtu", is_known=True)


def find_place(port: ObservedPort, field: str) -> Place:
    """Find the place of a field of a port; of the port where nothing says the field."""
    value = getattr(port, field, None)
    if isinstance(value, Said):
        return value.where  # type: ignore[reportUnknownVariableType]
    if field == "groups" and port.groups:
        lossless = [group for group in port.groups if group.xoff_bytes is not None]
        return lossless[0].xoff_bytes.where if lossless and lossless[0].xoff_bytes else port.groups[0].where
    if field == "nic" and port.nic is not None and port.nic.buffers is not None:
        return port.nic.buffers.where
    return port.where
