"""Traffic classes: every table of switch and host comes from the classes of the declaration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weftline.model.intent import ClassIntent, QueueIntent, WatchdogIntent
from weftline.model.roce import ClassSection, MarksSection
from weftline.model.spec import AUTO, FabricSpec

DSCPS = 64
COUNT = 8
"""Traffic classes, priorities, groups and queues of a port. IEEE 802.1Q, 8.6.6 and 36."""
MARK_MIN_BYTES = 150_000
MARK_MAX_TIMES = 10
MARK_PERCENT = 100
"""The preset of NVIDIA's switches, 150 KB to 1.5 MB: low enough for the rule of `mark_bound` on most of them."""
WATCHED_MS = 200
"""SONiC's default; a pause that only drains a full buffer lasts milliseconds."""
MAX_POLL_MS = 1000
ECT = 2
"""ECN-capable transport, ECT(0); without it a congested switch drops instead of marking. RFC 3168, 5."""
REST = "rest"
CNP = "cnp"
PREFERRED = {True: (3, 4, 2, 5, 1, 0, 6, 7), False: (0, 1, 2, 5, 7, 4, 6, 3)}
"""Numbers that classes get by themselves, in order: lossless ones and others. 3 and 4 are those of most networks."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """One declared class with all its numbers."""

    section: ClassSection
    priority: int
    key: int
    """Traffic class."""
    group: int
    queue: int
    weight: int | None


@dataclass(frozen=True, slots=True)
class Notification:
    """The class of congestion notifications with all its numbers."""

    dscp: int
    priority: int
    key: int
    queue: int


@dataclass(frozen=True, slots=True)
class Classes:
    """All classes of a declaration; what cannot be is still numbered, and refused elsewhere."""

    declared: tuple[Numbered, ...]
    notification: Notification
    rest: int | None
    """Traffic class of what belongs to no other; None where there is nothing, or no number left."""
    rest_queue: int
    rest_weight: int
    common_group: int
    """Group of everything that may lose packets."""

    @property
    def lossless(self) -> tuple[Numbered, ...]:
        """List the classes that pause."""
        return tuple(one for one in self.declared if one.section.lossless)

    @property
    def priorities(self) -> tuple[int, ...]:
        """List the priorities that pause, ascending."""
        return tuple(sorted({one.priority for one in self.lossless}))

    @property
    def rdma(self) -> Numbered | None:
        """Find the class of RDMA: the first that is lossless."""
        return next(iter(self.lossless), None)


def list_classes(spec: FabricSpec) -> tuple[ClassSection, ...]:
    """List the declared classes; where there are none, the one of the section ``lossless``."""
    if spec.roce.classes:
        return spec.roce.classes
    old = spec.lossless
    return (ClassSection(name="rdma", dscps=(old.dscp,), lossless=True, priority=old.priority),)


def number_classes(spec: FabricSpec) -> Classes:
    """Give every class its numbers, those first that are declared."""
    sections = list_classes(spec)
    notification = _number_notification(spec)
    priorities = _fill(
        [(one.priority, PREFERRED[one.lossless]) for one in sections], {notification.priority, notification.key}
    )
    keys = [p if one.traffic_class == AUTO else one.traffic_class for one, p in zip(sections, priorities, strict=True)]
    queues = [key if one.queue == AUTO else one.queue for one, key in zip(sections, keys, strict=True)]
    kept = {_own_group(one, p) for one, p in zip(sections, priorities, strict=True) if one.lossless}
    common = _first_free(kept)
    rest = next((key for key in range(COUNT) if key not in {*keys, notification.key}), None)
    covered = {dscp for one in sections for dscp in one.dscps} | {notification.dscp}
    if len(covered) == DSCPS:
        rest = None
    weights, rest_weight = _share_out(sections, has_rest=rest is not None)
    declared = tuple(
        Numbered(one, p, key, _own_group(one, p if one.lossless else common), queue, weight)
        for one, p, key, queue, weight in zip(sections, priorities, keys, queues, weights, strict=True)
    )
    used = {*queues, notification.queue}
    rest_queue = rest if rest is not None and rest not in used else _first_free(used)
    return Classes(declared, notification, rest, rest_queue, rest_weight, common)


def _number_notification(spec: FabricSpec) -> Notification:
    section, old = spec.roce.cnp, spec.lossless
    priority = old.cnp_priority if section.priority == AUTO else section.priority
    key = priority if section.traffic_class == AUTO else section.traffic_class
    return Notification(
        dscp=old.cnp_dscp if section.dscp == AUTO else section.dscp,
        priority=priority,
        key=key,
        queue=key if section.queue == AUTO else section.queue,
    )


def _own_group(section: ClassSection, otherwise: int) -> int:
    return otherwise if section.group == AUTO else section.group


def _fill(wanted: list[tuple[int | str, tuple[int, ...]]], taken: set[int]) -> list[int]:
    """Give each what it asks for, or the first of its list that nobody has; where none is left, the first."""
    taken = taken | {number for number, _ in wanted if isinstance(number, int)}
    given: list[int] = []
    for number, preferred in wanted:
        chosen = (
            number if isinstance(number, int) else next((one for one in preferred if one not in taken), preferred[0])
        )
        taken.add(chosen)
        given.append(chosen)
    return given


def _first_free(taken: Iterable[int]) -> int:
    used = set(taken)
    return next((number for number in range(COUNT) if number not in used), 0)


def _share_out(sections: tuple[ClassSection, ...], *, has_rest: bool) -> tuple[list[int | None], int]:
    """Share what is left of 100 percent equally among weighted classes that ask for nothing, and the rest."""
    weighted = [one for one in sections if one.schedule == "weighted"]
    asked = sum(one.weight for one in weighted if one.weight != AUTO)
    open_count = sum(one.weight == AUTO for one in weighted) + has_rest
    each = max((100 - asked) // max(open_count, 1), 1)
    shares = [None if one.schedule == "strict" else (each if one.weight == AUTO else one.weight) for one in sections]
    return shares, each


def make_queues(spec: FabricSpec, *, mark_bound: int | None = None, pause_ms: float = 0.0) -> QueueIntent:
    """Derive the classes: those declared, congestion notifications ahead of all, and the rest.

    ``mark_bound`` is the queue beyond which a pause may come before a mark, ``pause_ms`` the longest honest pause.
    """
    classes = number_classes(spec)
    made = [_make_class(spec, one, mark_bound) for one in classes.declared]
    notification = classes.notification
    made.append(
        ClassIntent(
            key=notification.key,
            dscps=(notification.dscp,),
            group=classes.common_group,
            queue=notification.queue,
            schedule="strict",
            name=CNP,
        )
    )
    if classes.rest is not None:
        special = {dscp for one in made for dscp in one.dscps}
        made.append(
            ClassIntent(
                key=classes.rest,
                dscps=tuple(dscp for dscp in range(DSCPS) if dscp not in special),
                group=classes.common_group,
                queue=classes.rest_queue,
                schedule="weighted",
                weight=classes.rest_weight,
                name=REST,
            )
        )
    return QueueIntent(tuple(sorted(made, key=lambda item: item.key)), make_watchdog(spec, pause_ms))


def _make_class(spec: FabricSpec, one: Numbered, mark_bound: int | None) -> ClassIntent:
    low, high, percent = _find_marks(spec, one.section, mark_bound)
    return ClassIntent(
        key=one.key,
        dscps=tuple(sorted(one.section.dscps)),
        group=one.group,
        queue=one.queue,
        schedule=one.section.schedule,
        priority=one.priority if one.section.lossless else None,
        weight=one.weight,
        mark_min_bytes=low,
        mark_max_bytes=high,
        mark_percent=percent,
        name=one.section.name,
    )


def _find_marks(
    spec: FabricSpec, section: ClassSection, bound: int | None
) -> tuple[int | None, int | None, int | None]:
    marks = section.ecn
    if marks == AUTO:
        marks = spec.roce.ecn if section.lossless else MarksSection(enabled=False)
    if not marks.enabled:
        return None, None, None
    low = marks.min_bytes
    if low == AUTO:
        low = MARK_MIN_BYTES if bound is None else min(MARK_MIN_BYTES, bound)
    high = MARK_MAX_TIMES * low if marks.max_bytes == AUTO else marks.max_bytes
    return low, high, MARK_PERCENT if marks.percent == AUTO else marks.percent


def make_watchdog(spec: FabricSpec, pause_ms: float = 0.0) -> WatchdogIntent | None:
    """Set the watchdog above the longest honest pause; None where it is off."""
    section = spec.roce.watchdog
    if not section.enabled:
        return None
    longest = 100 * -(-int(pause_ms + 1) // 100)
    detect = max(WATCHED_MS, longest) if section.detect_ms == AUTO else section.detect_ms
    restore = 2 * detect if section.restore_ms == AUTO else section.restore_ms
    poll = min(detect, MAX_POLL_MS) if section.poll_ms == AUTO else section.poll_ms
    return WatchdogIntent(detect_ms=detect, restore_ms=restore, poll_ms=poll, action=section.action)


def traffic_class_byte(spec: FabricSpec) -> int | None:
    """Make the byte that hosts send: DSCP in the upper six bits, ECT(0) in the lower two."""
    rdma = number_classes(spec).rdma
    return None if rdma is None else rdma.section.dscps[0] * 4 + ECT
