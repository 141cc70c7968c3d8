"""The ``qos`` tree of NVUE: what its profiles, and the RoCE preset below them, give a port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from weftline.errors import Place
from weftline.model.observed_port import (
    Numbers,
    ObservedGroup,
    ObservedMarks,
    ObservedPort,
    ObservedQueue,
    ObservedWatchdog,
    Trust,
    Ways,
)
from weftline.model.said import Said
from weftline.vendors.nvue.file import At, NvueDevice

GLOBAL = "default-global"
COUNT = 8
DSCPS = 64
MAX_BYTES = 2**40
TRUSTS: dict[str, Trust] = {"l2": "pcp", "l3": "dscp", "both": "both", "port": "port"}
KINDS = ("mapping", "egress-queue-mapping", "egress-scheduler", "congestion-control", "pfc", "link-pause", "remark")
# What ``qos roce`` alone gives. Cumulus Linux user guide 5.0 to 5.14, 'Quality of Service', RoCE.
ROCE_PRIORITY, ROCE_NOTIFY = 3, 6
ROCE_QUEUES = {number: number if number in {ROCE_PRIORITY, ROCE_NOTIFY} else 0 for number in range(COUNT)}
ROCE_MARKS = (150_000, 1_500_000, 100)
ROCE_SHARE = 50
DSCP_DEFAULTS = {dscp: dscp // 8 for dscp in range(DSCPS)}
"""Switch priorities where DSCP is trusted and no line says another. The same guide, 'Classification'."""


@dataclass(slots=True)
class Profiles:
    """The profiles of a file, each read once for all ports that it is bound to."""

    device: NvueDevice
    qos: At | None
    watchdog: ObservedWatchdog | None = None
    """Its timers, which hold for all ports."""
    made: dict[tuple[str, str], ObservedPort] = field(default_factory=dict[tuple[str, str], ObservedPort])
    base: ObservedPort = field(default_factory=lambda: ObservedPort("", Place("")))
    """What every port has: the preset, where it is on."""

    def __post_init__(self) -> None:
        """Read the preset."""
        roce = self.qos.find("roce") if self.qos is not None else None
        if roce is None:
            return
        state = self.device.state(roce)
        # ``qos roce: {}`` alone, or with a mode, switches it on.
        if state is None or state.value:
            self.base = _read_preset(self.device, roce, self.base)

    def serve(self, port: ObservedPort, bound: dict[str, tuple[str, At]]) -> ObservedPort:
        """Lay the profiles of a port over the preset: its own where it is bound to one, else those of all ports."""
        for kind in KINDS:
            name, at = bound.get(kind, (GLOBAL, None))
            source = self.qos.find(kind, name) if self.qos is not None else None
            if source is None:
                if at is not None:
                    self.device.blame("artifact.dangling", f"there is no profile qos.{kind}.{name[:60]}", at)
                continue
            if (kind, name) not in self.made:
                self.made[kind, name] = _READERS[kind](self.device, source, self.base)
            port = _lay(port, self.made[kind, name], kind)
        return port


def start_port(port: ObservedPort, profiles: Profiles) -> ObservedPort:
    """Give a port what every port has."""
    names = ("trust", "class_of_dscp", "queue_of_class", "pauses", "pause_ways", "length_m", "queues")
    return replace(port, **{name: getattr(profiles.base, name) for name in names})


_FIELDS = {
    "mapping": ("trust", "default_class", "class_of_dscp", "class_of_pcp"),
    "egress-queue-mapping": ("queue_of_class", "queue_of_priority"),
    "pfc": ("pauses", "pause_ways", "groups", "length_m"),
    "link-pause": ("link_pause",),
    "remark": ("dscp_of_class",),
}


def _lay(port: ObservedPort, part: ObservedPort, kind: str) -> ObservedPort:
    """Lay what one profile says over a port; queues are joined field by field."""
    said = {name: getattr(part, name) for name in _FIELDS.get(kind, ()) if getattr(part, name) not in (None, ())}
    if kind in {"egress-scheduler", "congestion-control"}:
        queues = {queue.key: queue for queue in port.queues}
        for queue in part.queues:
            old = queues.get(queue.key)
            queues[queue.key] = queue if old is None else _join(old, queue)
        said["queues"] = tuple(queues[key] for key in sorted(queues))
    return replace(port, **said)


def _join(old: ObservedQueue, new: ObservedQueue) -> ObservedQueue:
    return replace(
        old, schedule=new.schedule or old.schedule, weight=new.weight if new.schedule else new.weight or old.weight,
        marks=new.marks or old.marks,
    )  # fmt: skip


def _read_preset(device: NvueDevice, roce: At, port: ObservedPort) -> ObservedPort:
    """Expand ``qos roce``: every value of it stands where the preset does."""
    where = device.place(roce)
    mode = device.text(roce.find("mode"))
    is_lossless = mode is None or mode.value == "lossless"
    marks = ObservedMarks(
        "qos roce", where, Said(value=True, where=where), None, *(Said(value, where) for value in ROCE_MARKS)
    )
    shared: Said[Literal["strict", "weighted"]] = Said("weighted", where)
    strict: Said[Literal["strict", "weighted"]] = Said("strict", where)
    share = Said(ROCE_SHARE, where)
    length = device.number(roce.find("cable-length"), 1, 100_000)
    trust: Said[Trust] = Said("both", where)
    return replace(
        port,
        trust=trust,
        class_of_dscp=Said(DSCP_DEFAULTS, where),
        queue_of_class=Said(ROCE_QUEUES, where),
        pauses=Said((ROCE_PRIORITY,) if is_lossless else (), where),
        length_m=None if length is None else Said(float(length.value), length.where),
        queues=(
            ObservedQueue(0, where, shared, share, marks=marks),
            ObservedQueue(ROCE_PRIORITY, where, shared, share, marks=marks),
            ObservedQueue(ROCE_NOTIFY, where, strict),
        ),
    )


def _read_numbers(device: NvueDevice, at: At, section: str, leaf: str, bounds: tuple[int, int]) -> dict[int, int]:
    """Read ``section.<n>.leaf`` as a map of numbers."""
    found: dict[int, int] = {}
    for key, item in at.items(section):
        source = device.number(item, 0, bounds[0], key)
        value = device.number(item.find(leaf), 0, bounds[1])
        if source is not None and value is not None:
            found[source.value] = value.value
    return found


def _read_mapping(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    trust: Said[Trust] | None = None
    word = at.find("trust")
    if word is not None and word.text is not None:
        if word.text in TRUSTS:
            trust = device.said(TRUSTS[word.text], word)
        else:
            device.blame("artifact.out-of-range", f"trust {word.text[:40]!r} is none of l2, l3, both, port", word)
    dscps = _read_numbers(device, at, "dscp", "switch-priority", (DSCPS - 1, COUNT - 1))
    pcps = _read_numbers(device, at, "pcp", "switch-priority", (COUNT - 1, COUNT - 1))
    trusts_dscp = trust is not None and trust.value in {"dscp", "both"}
    whole: Said[Numbers] | None = None
    if dscps or trusts_dscp:
        where = at.find("dscp") if dscps else word
        under = base.class_of_dscp.value if base.class_of_dscp is not None else DSCP_DEFAULTS
        whole = device.said({**under, **dscps}, where or at)
    pcp = at.find("pcp")
    default = device.number(at.find("port-default-sp"), 0, COUNT - 1)
    said = None if pcp is None or not pcps else device.said(pcps, pcp)
    return replace(_EMPTY, trust=trust, default_class=default, class_of_dscp=whole, class_of_pcp=said)


def _read_queues(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    found = _read_numbers(device, at, "switch-priority", "traffic-class", (COUNT - 1, COUNT - 1))
    section = at.find("switch-priority")
    if not found or section is None:
        return _EMPTY
    under = base.queue_of_class.value if base.queue_of_class is not None else {key: key for key in range(COUNT)}
    said = device.said({**under, **found}, section)
    return replace(_EMPTY, queue_of_class=said)


def _read_scheduler(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    del base
    queues: list[ObservedQueue] = []
    for key, item in at.items("traffic-class"):
        number = device.number(item, 0, COUNT - 1, key)
        if number is None:
            continue
        mode = item.find("mode")
        kind: Said[Literal["strict", "weighted"]] | None = None
        if mode is not None and mode.text in {"dwrr", "strict"}:
            kind = device.said("strict" if mode.text == "strict" else "weighted", mode)
        weight = device.number(item.find("bw-percent"), 0, 100)
        queues.append(ObservedQueue(number.value, number.where, kind, weight))
    return replace(_EMPTY, queues=tuple(queues))


def _read_marks(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    del base
    queues: list[ObservedQueue] = []
    for key, item in at.items("traffic-class"):
        number = device.number(item, 0, COUNT - 1, key)
        if number is None:
            continue
        marks = ObservedMarks(
            f"qos congestion-control {at.path[-1]} traffic-class {key}",
            number.where,
            device.switch(item.find("ecn")),
            device.switch(item.find("red")),
            device.number(item.find("min-threshold"), 0, MAX_BYTES),
            device.number(item.find("max-threshold"), 0, MAX_BYTES),
            device.number(item.find("probability"), 0, 100),
        )
        queues.append(ObservedQueue(number.value, number.where, marks=marks))
    return replace(_EMPTY, queues=tuple(queues))


def _read_ways(device: NvueDevice, at: At, *, default: bool) -> Said[Ways] | None:
    """Read ``tx`` and ``rx``; ``default`` is what the one that is not written counts as."""
    tx, rx = device.switch(at.find("tx")), device.switch(at.find("rx"))
    said = tx or rx
    if said is None:
        return None
    sends = tx.value if tx is not None else default
    takes = rx.value if rx is not None else default
    ways: Ways = "both" if sends and takes else "tx" if sends else "rx" if takes else "off"
    return Said(ways, said.where)


def _read_pauses(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    """Read the priorities that pause and the buffer of their group: it pauses when ``xoff-threshold`` of it is used."""
    del base
    section = at.find("switch-priority")
    keys = [device.number(item, 0, COUNT - 1, key) for key, item in at.items("switch-priority")]
    numbers = tuple(sorted({said.value for said in keys if said is not None}))
    pauses = None if section is None else device.said(numbers, section)
    length = device.number(at.find("cable-length"), 1, 100_000)
    size = device.number(at.find("port-buffer"), 0, MAX_BYTES)
    start = device.number(at.find("xoff-threshold"), 0, MAX_BYTES)
    stop = device.number(at.find("xon-threshold"), 0, MAX_BYTES)
    groups: tuple[ObservedGroup, ...] = ()
    if size is not None:
        rest = None if start is None else Said(max(size.value - start.value, 0), start.where)
        groups = tuple(
            ObservedGroup(number, size.where, size_bytes=size, xoff_bytes=rest, xon_bytes=stop, static_bytes=start)
            for number in numbers
        )
    return replace(
        _EMPTY,
        pauses=pauses,
        pause_ways=_read_ways(device, at, default=True),
        groups=groups,
        length_m=None if length is None else Said(float(length.value), length.where),
    )


def _read_link_pause(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    del base
    return replace(_EMPTY, link_pause=_read_ways(device, at, default=False))


def _read_remark(device: NvueDevice, at: At, base: ObservedPort) -> ObservedPort:
    del base
    rewrite = at.find("rewrite")
    found = _read_numbers(device, at, "switch-priority", "dscp", (COUNT - 1, DSCPS - 1))
    if rewrite is None or rewrite.text not in {"l3", "both"}:
        return _EMPTY
    return replace(_EMPTY, dscp_of_class=device.said(found, rewrite))


def read_watchdog(device: NvueDevice, qos: At | None) -> ObservedWatchdog | None:
    """Read the timers of all ports: it acts after so many intervals without a packet sent."""
    at = qos.find("pfc-watchdog") if qos is not None else None
    if at is None:
        return None
    poll = device.number(at.find("polling-interval"), 100, 5_000)
    times = device.number(at.find("robustness"), 1, 1_000)
    detect = None if poll is None or times is None else Said(poll.value * times.value, times.where)
    return ObservedWatchdog(device.place(at), detect_ms=detect, poll_ms=poll)


_EMPTY = ObservedPort("", Place(""))
_READERS: dict[str, Callable[[NvueDevice, At, ObservedPort], ObservedPort]] = {
    "mapping": _read_mapping,
    "egress-queue-mapping": _read_queues,
    "egress-scheduler": _read_scheduler,
    "congestion-control": _read_marks,
    "pfc": _read_pauses,
    "link-pause": _read_link_pause,
    "remark": _read_remark,
}
