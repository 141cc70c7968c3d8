"""Pauses between the two ends of a link: which class a lane is at each, what one asks for, and what the other obeys."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.headroom.sorting import classify, read_map
from weftline.model.design import TierPart
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.parameters import Figure
from weftline.technologies.roce.lanes import Lane

ALL = frozenset(range(8))
DECLARED = "no file of it: as the declaration has it"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: what files say of it, and what it is."""

    device: ObservedDevice | None
    """None for an endpoint without files."""
    port: ObservedPort | None
    tier: TierPart | None
    """None for an endpoint."""
    rate_mbps: int
    length_m: float


def find_class(end: End, lane: Lane) -> int | None:
    """Find the class that a port sorts a lane into; None where no file says it."""
    return None if end.port is None else classify(end.port, lane.dscp)


def list_asked(end: End, lane: Lane) -> frozenset[int]:
    """List the priorities for which a port asks a pause when the buffer of a lane is full."""
    port = end.port
    if port is None:
        return frozenset({lane.priority} - {None}) if lane.is_lossless else frozenset()  # type: ignore[return-value]
    number = find_class(end, lane)
    ways = None if port.pause_ways is None else port.pause_ways.value
    if number is None or port.pauses is None or ways in {"off", "rx"}:
        return frozenset()
    group = read_map(port.group_of_class).get(number)
    if port.group_of_priority is not None:
        meant = port.group_of_priority.value
        return frozenset(one for one in port.pauses.value if meant.get(one) == group)
    groups = read_map(port.group_of_class)
    return frozenset(
        one for one in port.pauses.value if groups.get(one) == group and _find_priority(port, number) == one
    )


def _find_priority(port: ObservedPort, number: int) -> int:
    """Find the number in the pause frames of a class, where no map says which group asks for it."""
    return number if port.priority_of_class is None else port.priority_of_class.value.get(number, number)


def list_obeyed(end: End, lane: Lane) -> frozenset[int]:
    """List the priorities whose pause stops the queue of a lane."""
    port = end.port
    if port is None:
        return list_asked(end, lane)
    number = find_class(end, lane)
    ways = None if port.pause_ways is None else port.pause_ways.value
    if ways in {"off", "tx"}:
        return frozenset()
    every = port.is_asymmetric is not None and port.is_asymmetric.value
    heard = ALL if every else frozenset(() if port.pauses is None else port.pauses.value)
    queue = read_map(port.queue_of_class).get(0 if number is None else number)
    queues = read_map(port.queue_of_priority)
    return frozenset(one for one in heard if queues.get(one) == queue)


def tell_asking(end: End, asked: frozenset[int]) -> Figure:
    """Say whether pauses are asked for, and who says so."""
    value = "pause" if asked else "none"
    if end.port is None:
        return Figure(value, "declaration", DECLARED)
    if end.port.pauses is None:
        return Figure(value, "default", "no file says which priorities pause: none")
    return Figure(value, "file", "", end.port.pauses.where)


def tell_obeying(end: End, *, obeys: bool) -> Figure:
    """Say whether the far end's pauses are obeyed, and who says so."""
    if end.port is None:
        return Figure(obeys, "declaration", DECLARED)
    if end.port.pauses is None:
        return Figure(obeys, "default", "no file says which priorities pause: none")
    return Figure(obeys, "file", "", end.port.pauses.where)


def list_doubts(end: End, lane: Lane) -> list[str]:
    """List what is not simulated of a port's pauses, or is not said of its sorting."""
    port = end.port
    if port is None:
        kind = "an endpoint has no files: it pauses and obeys as the declaration has it"
        return [kind] if lane.is_lossless else []
    doubts: list[str] = []
    if find_class(end, lane) is None:
        doubts.append(f"how it sorts DSCP {lane.dscp} is not said: class 0")
    if port.link_pause is not None and port.link_pause.value != "off":
        doubts.append("pauses of the whole link are on, and are not simulated")
    if port.is_up is not None and not port.is_up.value:
        doubts.append("its file shuts it down, and it is simulated as up")
    if port.rate_gbps is not None and round(port.rate_gbps.value * 1000) != end.rate_mbps:
        doubts.append(
            f"its file gives it {port.rate_gbps.value:g} Gb/s, and its link has {end.rate_mbps / 1000:g} in the fabric"
        )
    number = find_class(end, lane)
    if port.dscp_of_class is not None and number is not None:
        new = port.dscp_of_class.value.get(number, lane.dscp)
        if new != lane.dscp:
            doubts.append(f"packets of lane {lane.name} leave with DSCP {new}, and are simulated with {lane.dscp}")
    return doubts
