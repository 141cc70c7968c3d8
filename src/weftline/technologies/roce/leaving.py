"""The queue that a lane leaves by: its turn, its length, its marks and its watchdog, as files say."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.headroom.sorting import get_queue, read_map
from weftline.medium import Note
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedMarks, ObservedPort, ObservedQueue, ObservedWatchdog
from weftline.model.packet import Marking, Watchdog
from weftline.model.parameters import Figure
from weftline.model.said import Said
from weftline.technologies.roce.pausing import End

MS = 1_000_000_000
"""Picoseconds."""
ALIKE = "no file says how queues share a link: alike"
PERCENT = 100
RESTORE_TIMES = 2
RESTORE_SOURCE = "no file says it: twice the time of detection, as SONiC's command has it"


@dataclass(slots=True)
class Leaving:
    """How a lane leaves by one port, and the figures behind it."""

    is_strict: bool = False
    weight: int = 1
    limit: int = 0
    marking: Marking | None = None
    watchdog: Watchdog | None = None
    notes: list[Note] = field(default_factory=list[Note])
    doubts: list[str] = field(default_factory=list[str])


def find_left(end: End, number: int, obeyed: frozenset[int], *, is_data: bool, is_capable: bool) -> Leaving:
    """Find the queue of a class at a port.

    ``obeyed`` are the priorities whose pause stops it; ``is_capable`` whether its packets may be marked.
    """
    made = Leaving()
    port, device = end.port, end.device
    if port is None or device is None:
        made.notes.append(Note("arbitration", "", Figure("weighted", "default", ALIKE)))
        return made
    queue = get_queue(port, read_map(port.queue_of_class).get(number, number))
    _schedule(made, queue)
    if end.tier is None:
        return made
    _limit(made, device, queue)
    if is_data and queue is not None and queue.marks is not None:
        _mark(made, queue.marks, is_capable=is_capable)
    _watch(made, device, port, obeyed)
    return made


def _schedule(made: Leaving, queue: ObservedQueue | None) -> None:
    said = None if queue is None else queue.schedule
    words = Figure("weighted", "default", ALIKE) if said is None else _say(said)
    made.is_strict = words.value == "strict"
    made.notes.append(Note("arbitration", "", words))
    if made.is_strict:
        return
    weight = None if queue is None else queue.weight
    made.weight = 1 if weight is None else max(weight.value, 1)
    made.notes.append(Note("weight", "", Figure(1, "default", ALIKE) if weight is None else _say(weight)))


def _limit(made: Leaving, device: ObservedDevice, queue: ObservedQueue | None) -> None:
    """Limit a queue to what it can take alone: with a share a of what is free, a / (1 + a) of its pool."""
    if queue is None:
        return
    pool = next((one for one in device.pools if queue.pool is not None and one.name == queue.pool.value), None)
    own = 0 if queue.reserved_bytes is None else queue.reserved_bytes.value
    if queue.static_bytes is not None:
        made.limit = own + queue.static_bytes.value
        made.notes.append(Note("queue limit", "B", Figure(made.limit, "file", "", queue.static_bytes.where)))
    elif queue.dynamic_th is not None and pool is not None and pool.size_bytes is not None:
        exponent = max(min(queue.dynamic_th.value, 16), -16)
        size = pool.size_bytes.value
        most = (size << exponent) // (1 + (1 << exponent)) if exponent >= 0 else size // (1 + (1 << -exponent))
        made.limit = own + most
        how = f"2^{exponent} of what is free of its pool, alone"
        made.notes.append(Note("queue limit", "B", Figure(made.limit, "file", how, queue.dynamic_th.where)))


def _mark(made: Leaving, marks: ObservedMarks, *, is_capable: bool) -> None:
    """Take the marks of a queue; what is not ECN-capable is never marked."""
    if marks.is_marking is not None and not marks.is_marking.value:
        return
    if marks.min_bytes is None or marks.max_bytes is None:
        made.doubts.append("a queue has marks without thresholds in its files: it does not mark")
        return
    if not is_capable:
        words = "data is not ECN-capable: it is not marked"
        if marks.drops_unmarked is not None and marks.drops_unmarked.value:
            words += ", and the drops that switches make in place of marks are not simulated"
        made.doubts.append(words)
        return
    percent = marks.percent
    chance = PERCENT if percent is None else percent.value
    least, most = marks.min_bytes.value, max(marks.max_bytes.value, marks.min_bytes.value)
    made.marking = Marking(least, most, min(max(chance, 0), PERCENT) * 10_000)
    shown = Figure(chance, "default", "no file says it: certain") if percent is None else _say(percent)
    made.notes += [
        Note("marks from", "B", _say(marks.min_bytes)),
        Note("marks all above", "B", _say(marks.max_bytes)),
        Note("chance of a mark below that", "%", shown),
    ]


def _watch(made: Leaving, device: ObservedDevice, port: ObservedPort, obeyed: frozenset[int]) -> None:
    watched = frozenset(() if port.watched is None else port.watched.value)
    if not watched & obeyed:
        return
    both = [one for one in (port.watchdog, device.watchdog) if one is not None]
    detect = _first(both, "detect_ms")
    if detect is None:
        made.doubts.append("a watchdog without a time of detection in its files: it does nothing")
        return
    restore = _first(both, "restore_ms")
    action = next((one.action for one in both if one.action is not None), None)
    word = "drop" if action is None else action.value
    wait = detect.value * RESTORE_TIMES if restore is None else restore.value
    rest = Figure(wait, "default", RESTORE_SOURCE) if restore is None else _say(restore)
    then = Figure(word, "default", "no file says it: drop") if action is None else _say(action)
    made.notes += [
        Note("watchdog detects after", "ms", _say(detect)),
        Note("watchdog restores after", "ms", rest),
        Note("watchdog then", "", then),
    ]
    if word in {"drop", "forward"}:
        made.watchdog = Watchdog(detect.value * MS, wait * MS, "drop" if word == "drop" else "forward")


def _first(watchdogs: list[ObservedWatchdog], key: str) -> Said[int] | None:
    return next((found for one in watchdogs if (found := getattr(one, key)) is not None), None)


def _say(said: Said[int] | Said[str]) -> Figure:
    return Figure(said.value, "file", "", said.where)
