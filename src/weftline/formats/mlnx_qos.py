"""``mlnx_qos -i IF``: DCBX mode, trust, DSCP map, receive buffers, PFC and traffic classes of one interface."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output, Told

PRIORITIES = 8
_MAP = re.compile(r"prio:\s?(\d{1,6})\s+dscp:([\d,. ]*)")
_CLASS = re.compile(r"^tc:\s*(\d{1,6})\s+ratelimit:\s*([^,]{1,40}),\s*tsa:\s*([a-z]{1,20})(?:,\s*bw:\s*(\d{1,6})%)?")
_KNOWN = re.compile(rb"^(?:DCBX mode:|Priority trust state:|PFC configuration:)", re.MULTILINE)
_SKIPPED = (
    "priority    0",
    "priority 0",
    "priority:  0   1",
    "*****",
    "Buffers commands are not supported",
    "Enabled TC",
)


@dataclass(frozen=True, slots=True)
class DscpEntry:
    """One DSCP and the priority that it belongs to, as said; either may be out of range."""

    dscp: int
    priority: int
    line: int


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """One traffic class: how it is served, and the priorities in it."""

    number: int
    algorithm: str
    """``ets``, ``strict`` or ``vendor``."""
    percent: int | None
    rate_limit: str
    priorities: tuple[int, ...]
    line: int


@dataclass(frozen=True, slots=True)
class QosRecord:
    """What mlnx_qos printed of one interface; None and () where it did not say."""

    interface: str
    """Empty where the command line was not kept."""
    line: int
    dcbx: Told[str] | None = None
    trust: Told[str] | None = None
    dscps: tuple[DscpEntry, ...] = ()
    default_priority: Told[int] | None = None
    buffer_bytes: Told[tuple[int, ...]] | None = None
    buffer_total: Told[int] | None = None
    cable_m: Told[int] | None = None
    pause: Told[tuple[int, ...]] | None = None
    """Priorities with PFC on."""
    buffers: Told[tuple[int, ...]] | None = None
    """The receive buffer of each priority from 0."""
    classes: tuple[ClassEntry, ...] = ()
    overseen: Told[str] | None = None
    """The warning that another program may overwrite these settings."""


def looks_like(head: bytes) -> bool:
    """Tell the output by its first headings."""
    return _KNOWN.search(head) is not None


@dataclass
class _Draft:
    """What was read so far."""

    log: ProblemLog
    values: dict[str, Told[object]] = field(default_factory=dict[str, Told[object]])
    dscps: list[DscpEntry] = field(default_factory=list[DscpEntry])
    classes: list[ClassEntry] = field(default_factory=list[ClassEntry])
    section: str = ""

    def keep(self, name: str, value: object, line: int) -> None:
        """Keep a value; of one that is said twice differently the last counts, as on the screen."""
        if name in self.values and self.values[name].value != value:
            self.log.add(
                "artifact.host-twice", f"{name} is said twice with different values", _TWICE, line, 1, "warning"
            )
        self.values[name] = Told(value, line)


_TWICE = "keep one output of each command"


def parse(output: Output, log: ProblemLog) -> QosRecord:
    """Read the output; lines in the wrong place or with impossible values are kept or named, never dropped silently."""
    draft = _Draft(log)
    for number, line in output.numbered():
        _read_line(line.strip(), number, draft)
    named: dict[str, object] = dict(draft.values)
    interface = output.option("-i", "--interface")
    return QosRecord(interface, output.first, dscps=tuple(draft.dscps), classes=tuple(draft.classes), **named)  # pyright: ignore[reportArgumentType]


def _read_line(text: str, line: int, draft: _Draft) -> None:
    head, colon, rest = text.partition(":")
    reader = _HEADINGS.get(head) if colon else None
    if reader is not None:
        draft.section = head
        reader(rest.strip(), line, draft)
    elif draft.section == "default priority" and text.startswith("prio:") and "dscp" not in text:
        _read_default(text.removeprefix("prio:").strip(), line, draft)
    elif _MAP.search(text):
        _read_map(text, line, draft)
    elif text.startswith(("enabled", "buffer")):
        _read_row(text, line, draft)
    elif text.startswith("tc:"):
        _read_class(text, line, draft)
    elif head == "priority" and colon and rest.strip().isdigit() and draft.classes:
        _read_member(int(rest.strip()[:6]), line, draft)
    elif "lldpad" in text:
        draft.keep("overseen", text[:200], line)
    elif not text.startswith(("#", *_SKIPPED)):
        draft.log.add("artifact.host-line", f"{text[:60]!r} is no line of mlnx_qos", _UNKNOWN, line, 1, "warning")


_UNKNOWN = "what this line says is not judged"


def _read_word(name: str) -> Callable[[str, int, _Draft], None]:
    return lambda rest, line, draft: draft.keep(name, rest[:40], line)


def _read_default(rest: str, line: int, draft: _Draft) -> None:
    if rest.isdigit() and len(rest) <= 6:
        draft.keep("default_priority", int(rest), line)
    elif rest:
        _impossible(rest, "priority", line, draft)


def _read_cable(rest: str, line: int, draft: _Draft) -> None:
    if rest.isdigit() and len(rest) <= 6:
        draft.keep("cable_m", int(rest), line)
    else:
        _impossible(rest, "cable length", line, draft)


def _read_sizes(rest: str, line: int, draft: _Draft) -> None:
    sizes: list[int] = []
    for piece in rest.split(","):
        name, equals, number = piece.strip().rpartition("=")
        if not number.isdigit() or len(number) > 12:
            if number:
                _impossible(number, "buffer size", line, draft)
        elif equals:
            draft.keep("buffer_total", int(number), line)
            if name not in {"max_buffer_size", "total_size"}:
                draft.log.add("artifact.host-line", f"{name[:40]!r} is not known", _UNKNOWN, line, 1, "warning")
        else:
            sizes.append(int(number))
    if len(sizes) != PRIORITIES:
        _impossible(f"{len(sizes)} sizes", "list of 8 buffers", line, draft)
    draft.keep("buffer_bytes", tuple(sizes[:64]), line)


def _read_map(text: str, line: int, draft: _Draft) -> None:
    for priority, codes in _MAP.findall(text):
        if int(priority) >= PRIORITIES:
            _impossible(priority, "priority", line, draft)
        for code in _spread(codes, line, draft):
            if code > 63:
                _impossible(str(code), "DSCP", line, draft)
            if len(draft.dscps) < 1000:
                draft.dscps.append(DscpEntry(code, int(priority), line))


def _spread(codes: str, line: int, draft: _Draft) -> list[int]:
    """Read ``07,06,05,`` and what a person shortens to ``07,...,00``."""
    pieces = [piece.strip() for piece in codes.split(",") if piece.strip()]
    found: list[int] = []
    for place, piece in enumerate(pieces):
        if piece.isdigit() and len(piece) <= 6:
            found.append(int(piece))
        elif set(piece) == {"."} and found and place + 1 < len(pieces) and pieces[place + 1].isdigit():
            low, high = sorted((found[-1], min(int(pieces[place + 1][:6]), 63)))
            found.extend(range(low + 1, high))
            message = f"the list {codes[:40].strip()!r} was shortened by hand; read as everything between its ends"
            draft.log.add("artifact.host-shortened", message, "give the output as it was printed", line, 1, "warning")
        else:
            _impossible(piece, "DSCP", line, draft)
    return found


def _read_row(text: str, line: int, draft: _Draft) -> None:
    name, *cells = text.replace(":", " ").split()
    numbers = [int(cell) for cell in cells if cell.isdigit() and len(cell) <= 6]
    if len(numbers) != PRIORITIES or len(numbers) != len(cells):
        _impossible(" ".join(cells), "row of 8 priorities", line, draft)
    if name == "enabled":
        if any(number > 1 for number in numbers):
            _impossible(" ".join(cells), "row of 0 and 1", line, draft)
        draft.keep("pause", tuple(place for place, number in enumerate(numbers[:64]) if number), line)
    else:
        draft.keep("buffers", tuple(numbers[:64]), line)


def _read_class(text: str, line: int, draft: _Draft) -> None:
    match = _CLASS.match(text)
    if match is None:
        draft.log.add("artifact.host-line", f"{text[:60]!r} is no traffic class", _UNKNOWN, line, 1, "warning")
        return
    if int(match[1]) >= PRIORITIES:
        _impossible(match[1], "traffic class", line, draft)
    percent = int(match[4]) if match[4] else None
    if len(draft.classes) < 64:
        draft.classes.append(ClassEntry(int(match[1]), match[3], percent, match[2].strip(), (), line))


def _read_member(priority: int, line: int, draft: _Draft) -> None:
    last = draft.classes[-1]
    if priority >= PRIORITIES:
        _impossible(str(priority), "priority", line, draft)
    if len(last.priorities) < 64:
        members = (*last.priorities, priority)
        draft.classes[-1] = ClassEntry(last.number, last.algorithm, last.percent, last.rate_limit, members, last.line)


def _impossible(text: str, what: str, line: int, draft: _Draft) -> None:
    draft.log.add("artifact.host-value", f"{text[:40]!r} is no {what}", "", line, 1, "warning")


def _read_pause(rest: str, line: int, draft: _Draft) -> None:
    if rest:
        _read_row(rest, line, draft)


def _read_mapping(rest: str, line: int, draft: _Draft) -> None:
    if rest:
        _read_map(rest, line, draft)


_HEADINGS: dict[str, Callable[[str, int, _Draft], None]] = {
    "DCBX mode": _read_word("dcbx"),
    "Priority trust state": _read_word("trust"),
    "dscp2prio mapping": _read_mapping,
    "default priority": _read_default,
    "Receive buffer size (bytes)": _read_sizes,
    "Cable len": _read_cable,
    "PFC configuration": _read_pause,
}
