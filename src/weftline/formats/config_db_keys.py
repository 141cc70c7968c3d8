"""What the keys and values of CONFIG_DB are made of: references old and new, spans of queues, numbers, lengths."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DIGITS = 19
MAX_QUEUE = 63
"""A span beyond it is no span of queues; the most that a chip has is 20."""
MAX_NAMES = 1024
"""Names in one key or list; a switch has at most 512 ports."""
_DIGITS = frozenset("0123456789")
_REFERENCE = re.compile(r"\[([A-Z0-9_]+)[|:]([^\[\]]*)\]")
_NUMBER = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}", re.ASCII)
_SPAN = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", re.ASCII)
_LENGTH = re.compile(r"([0-9]{1,7})m", re.ASCII)


@dataclass(frozen=True, slots=True)
class Reference:
    """A row that a field names."""

    table: str
    """Table that an old reference, as ``[BUFFER_PROFILE|x]``, names besides; empty where it names the row alone."""
    name: str


@dataclass(frozen=True, slots=True)
class QueueKey:
    """The key of a queue or priority group: one row for several ports and several queues."""

    ports: tuple[str, ...]
    first: int
    last: int
    host: str = ""
    """Line card that the ports are of, where queues are virtual ones of a whole chassis."""
    chip: str = ""

    @property
    def numbers(self) -> range:
        """Queues or groups that it is of."""
        return range(self.first, self.last + 1)


def read_references(text: str | tuple[str, ...]) -> tuple[Reference, ...]:
    """Read names, bare or as ``[TABLE|a],[TABLE|b]``; a colon instead of the bar is what ``show buffer`` prints."""
    pieces = text.split(",") if isinstance(text, str) else text
    found: list[Reference] = []
    for piece in pieces[:MAX_NAMES]:
        plain = piece.strip()
        match = _REFERENCE.fullmatch(plain)
        if match is not None:
            found.append(Reference(match[1], match[2].strip()))
        elif plain:
            found.append(Reference("", plain))
    return tuple(found)


def read_span(text: str) -> range | None:
    """Read ``3`` or ``3-4``; None where it is no span of queues."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        return None
    first = int(match[1])
    last = int(match[2]) if match[2] is not None else first
    return range(first, last + 1) if first <= last <= MAX_QUEUE else None


def read_queue_key(key: str) -> QueueKey | None:
    """Read ``Ethernet0,Ethernet4|3-4``, or ``card|asic0|Ethernet0|3`` of a chassis; None where it is neither."""
    port, _, text = key.rpartition("|")
    if text in _DIGITS and port and "|" not in port and "," not in port:
        return QueueKey((port.strip(),), int(text), int(text)) if port.strip() else None  # as most keys are
    parts = key.split("|")
    span = read_span(parts[-1])
    if len(parts) not in {2, 4} or span is None:
        return None
    names = tuple(name.strip() for name in parts[-2].split(",")[:MAX_NAMES])
    if not all(names):
        return None
    host, chip = parts[:2] if len(parts) == 4 else ("", "")
    return QueueKey(names, span[0], span[-1], host, chip)


def read_number(text: str) -> int | None:
    """Read a whole number, spaces around it allowed; None where it is none."""
    plain = text.strip()
    return int(plain) if _NUMBER.fullmatch(plain) else None


def read_numbers(text: str) -> tuple[int, ...] | None:
    """Read ``3,4``, or nothing as none; None where one of them is no number."""
    pieces = [piece.strip() for piece in text.split(",")[:MAX_NAMES]]
    if pieces == [""]:
        return ()
    values = [read_number(piece) for piece in pieces]
    return None if None in values else tuple(value for value in values if value is not None)


def read_length(text: str) -> int | None:
    """Read ``40m`` as metres; None where it is no length."""
    match = _LENGTH.fullmatch(text.strip())
    return int(match[1]) if match else None
