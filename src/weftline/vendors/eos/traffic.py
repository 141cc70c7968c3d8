"""Lines of a QoS profile or an interface: trust, queues, pauses and watchdog; an interface's own come on top."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from weftline.formats.config_text import ConfigLine
from weftline.model.observed_port import ObservedMarks, ObservedQueue, ObservedWatchdog, Trust
from weftline.model.said import Said
from weftline.vendors.eos.file import EosFile

QUEUES = 8
BYTES = {"bytes": 1, "kbytes": 1_000, "mbytes": 1_000_000}
"""Units of thresholds that are bytes; segments and times depend on the chip and the rate, so no bytes are said."""
MAX_THRESHOLD = 2**40
_SILENT = frozenset({"cos", "dscp", "rewrite"})


@dataclass(slots=True)
class Traffic:
    """What one port does with traffic, while its lines are read."""

    trust: Said[Trust] | None = None
    is_on: Said[bool] | None = None
    """Whether pauses by priority are on."""
    lossless: dict[int, Said[bool]] = field(default_factory=dict[int, "Said[bool]"])
    is_watched: Said[bool] | None = None
    watchdog: ObservedWatchdog | None = None
    queues: dict[int, ObservedQueue] = field(default_factory=dict[int, ObservedQueue])

    @property
    def pauses(self) -> Said[tuple[int, ...]] | None:
        """The priorities that pause; none where pauses are off or never put on."""
        wanted = tuple(sorted(key for key, said in self.lossless.items() if said.value))
        if self.is_on is not None:
            return Said(wanted if self.is_on.value else (), self.is_on.where)
        first = next(iter(self.lossless.values()), None)
        return None if first is None else Said((), first.where)

    @property
    def watched(self) -> Said[tuple[int, ...]] | None:
        """The priorities under the watchdog: it is for the port, and watches all that pause."""
        if self.is_watched is None:
            return None
        pauses = self.pauses
        return Said(pauses.value if pauses is not None and self.is_watched.value else (), self.is_watched.where)


def apply_lines(file: EosFile, traffic: Traffic, lines: Iterable[ConfigLine], owner: str) -> None:
    """Lay lines over what was said before; others than those on traffic are left alone."""
    for line in lines:
        words = list(line.body)
        if words[0] == "qos":
            _read_trust(file, traffic, line)
        elif words[0] == "priority-flow-control":
            _read_pause(file, traffic, line)
        elif words[0] in {"tx-queue", "uc-tx-queue"} and len(words) > 1:
            _read_queue(file, traffic, line, owner)
        elif words[0] in {"mc-tx-queue", "shape"} and not line.is_negated:
            file.pass_over(words[0])


def _read_trust(file: EosFile, traffic: Traffic, line: ConfigLine) -> None:
    words = line.body
    if words[1:2] == ("trust",):
        kinds: dict[str, Trust] = {"dscp": "dscp", "cos": "pcp"}
        if line.is_negated:
            traffic.trust = file.said("port", line)
        elif len(words) > 2 and words[2] in kinds:
            traffic.trust = file.said(kinds[words[2]], line)
    elif len(words) > 1 and words[1] not in _SILENT:
        file.pass_over(f"qos {words[1]}")


def _read_pause(file: EosFile, traffic: Traffic, line: ConfigLine) -> None:
    words = list(line.body[1:])
    is_on = not line.is_negated
    if words in ([], ["on"], ["mode", "on"]):
        # ``no priority-flow-control`` alone takes the pauses of the port away.
        traffic.is_on = file.said(is_on, line)
    elif words in (["off"], ["mode", "off"]):
        traffic.is_on = file.said(value=False, line=line)
    elif words[0] == "priority" and len(words) > 1:
        key = file.number(words[1], 0, QUEUES - 1, line)
        if key is not None:
            traffic.lossless[key.value] = file.said(is_on and words[2:3] == ["no-drop"], line)
    elif words == ["pause", "watchdog"]:
        traffic.is_watched = file.said(is_on, line)
    elif words[:2] == ["pause", "watchdog"]:
        read_watchdog(file, traffic, words[2:], line)
    else:
        file.pass_over(f"priority-flow-control {words[0]}")


def read_watchdog(file: EosFile, traffic: Traffic, words: list[str], line: ConfigLine) -> None:
    """Read an action or timers, of a port or as the default of all."""
    dog = traffic.watchdog or ObservedWatchdog(file.place(line))
    words = words[1:] if words[:1] in (["port"], ["default"]) else words
    if line.is_negated:
        return
    for at, word in enumerate(words[:-1]):
        value = words[at + 1]
        if word == "action":
            dog = replace(dog, action=file.said(value, line))
        elif word in {"timeout", "recovery-time", "polling-interval"} and value != "auto":
            said = _read_seconds(file, value, line)
            if word == "timeout":
                dog = replace(dog, detect_ms=said)
            elif word == "recovery-time":
                dog = replace(dog, restore_ms=said)
            else:
                dog = replace(dog, poll_ms=said)
    traffic.watchdog = dog


def _read_seconds(file: EosFile, text: str, line: ConfigLine) -> Said[int] | None:
    """Read seconds with decimals as milliseconds."""
    whole, _, part = text.partition(".")
    if not (whole + part).isdigit() or len(text) > 12 or not text.isascii():
        file.blame("artifact.out-of-range", f"{text[:40]!r} is no time in seconds", line)
        return None
    return file.said(round(float(text) * 1_000), line)


def _read_queue(file: EosFile, traffic: Traffic, head: ConfigLine, owner: str) -> None:
    key = file.number(head.words[1], 0, QUEUES - 1, head)
    if key is None:
        return
    queue = traffic.queues.get(key.value) or ObservedQueue(key.value, key.where)
    for line in head.children:
        words = list(line.body)
        if words[0] == "priority":
            kind: Literal["strict", "weighted"] = "weighted" if line.is_negated else "strict"
            queue = replace(queue, schedule=file.said(kind, line))
        elif words[:2] == ["bandwidth", "percent"] and len(words) > 2 and not line.is_negated:
            queue = replace(queue, weight=file.number(words[2], 1, 100, line))
        elif words[:2] == ["bandwidth", "guaranteed"]:
            queue = replace(queue, is_guaranteed=file.said(not line.is_negated, line))
        elif words[0] == "random-detect" and not line.is_negated:
            queue = replace(queue, marks=_read_marks(file, line, queue, f"{owner} {' '.join(head.words[:2])}"))
        elif not line.is_negated:
            file.pass_over(f"tx-queue {words[0]}")
    traffic.queues[key.value] = queue


def _read_marks(file: EosFile, line: ConfigLine, queue: ObservedQueue, name: str) -> ObservedMarks | None:
    """Read thresholds of marks, or of early drops of what cannot be marked."""
    old = queue.marks or ObservedMarks(name, file.place(line))
    if line.words[1:3] == ("ecn", "count"):
        return queue.marks
    if line.words[1:2] == ("drop",):
        return replace(old, is_marking=old.is_marking or file.said(value=False, line=line),
                       drops_unmarked=file.said(value=True, line=line))  # fmt: skip
    if line.words[1:2] != ("ecn",):
        file.pass_over(f"random-detect {line.words[1] if len(line.words) > 1 else ''}")
        return queue.marks
    percent = line.value("max-mark-probability")
    return replace(
        old,
        is_marking=file.said(value=True, line=line),
        min_bytes=_read_threshold(file, line, "minimum-threshold"),
        max_bytes=_read_threshold(file, line, "maximum-threshold"),
        percent=None if percent is None else file.number(percent, 0, 100, line),
    )


def _read_threshold(file: EosFile, line: ConfigLine, word: str) -> Said[int] | None:
    text = line.value(word)
    if text is None:
        return None
    at = line.words.index(word) + 2
    unit = line.words[at] if at < len(line.words) else ""
    value = file.number(text, 0, MAX_THRESHOLD, line)
    if value is None or unit not in BYTES:
        return None
    return Said(value.value * BYTES[unit], value.where)
