"""The running configuration of Arista EOS, plain or with all defaults: text to a tree of lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.config_text import MAX_DEPTH, ConfigText, TreeBuilder, split_lines
from weftline.formats.text import ProblemLog

_PROMPT = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\([A-Za-z0-9._/-]*\))*[#>]\s*(?:(?:show?|ena?b?l?e?|exit|term)\b.*)?"
)
_TEXT_STARTS = frozenset({"banner login", "banner motd", "banner exec", "comment", "action bash"})
_TEXT_END = "EOF"
_ENDS = frozenset({"end", "exit"})
_NUMBERS = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")
_MARKS = re.compile(
    rb"^(?:!\s*(?:Command: show running-config|RANCID-CONTENT-TYPE: arista|boot system flash:.*EOS|.*\(.*EOS-)"
    rb"|transceiver qsfp default-mode|service routing protocols model|qos profile \S|vrf instance \S"
    rb"|interface (?:Management|Vxlan|Port-Channel)\d|(?:class|policy)-map type \S|queue-monitor length"
    rb"|\s{2,3}(?:service-profile \S|no switchport|switchport|vxlan source-interface|neighbor \S+ peer group)"
    rb"|\s*priority-flow-control )",
    re.MULTILINE | re.IGNORECASE,
)
_HEAD = 8_192
_DEVICE = re.compile(rb"^!\s*device: (\S{1,80}) \((\S{1,60}), EOS-(\S{1,40})\)", re.MULTILINE)
MAX_NAMES = 4_096
"""Numbers that one range may stand for: as many VLANs as there are."""


def looks_like(head: bytes) -> bool:
    """Say whether the first bytes of a file are a running configuration of EOS."""
    return _MARKS.search(head) is not None


def read_eos(data: bytes, file: str) -> ConfigText:
    """Read a running configuration: blocks by indentation, comments and texts left out; never raises."""
    log = ProblemLog(file)
    builder = TreeBuilder()
    indents: list[int] = []
    text_line = 0
    for number, raw in split_lines(data, log):
        body = raw.strip()
        if text_line:
            text_line = 0 if body == _TEXT_END else text_line
            continue
        if not body or body.startswith("!") or body in _ENDS:
            continue
        words = tuple(body.split())
        if _PROMPT.fullmatch(body):
            log.add("artifact.terminal-text", f"{body[:40]!r} is what a terminal added", "", number, severity="note")
            continue
        indent = len(raw) - len(raw.lstrip())
        while indents and indents[-1] >= indent:
            indents.pop()
        if not indents and indent:
            message = f"{body[:60]!r} is indented, but no line above opens a block"
            log.add("artifact.config-block", message, "the block's first line is missing; take it again", number)
        builder.close(len(indents))
        if len(indents) >= MAX_DEPTH:
            message = f"blocks are nested more than {MAX_DEPTH} deep; this line is not read"
            log.add("artifact.config-block", message, "no configuration needs that", number, indent + 1)
            continue
        builder.open(number, indent + 1, words)
        indents.append(indent)
        if body in _TEXT_STARTS:
            text_line = number
    if text_line:
        message = "this text has no end: its last line must be EOF"
        log.add("artifact.config-truncated", message, "the file is cut off; take it again", text_line)
    return ConfigText(file, builder.finish(), log.close())


def expand_numbers(text: str) -> tuple[int, ...] | None:
    """Spread ``3-5,9`` into numbers in the order written; None where it is no such list or far too long."""
    if len(text) > MAX_NAMES or not text.isascii() or not _NUMBERS.fullmatch(text):
        return None
    found: list[int] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        if len(piece) > 21:
            return None
        low, high = int(first), int(last or first)
        if high - low >= MAX_NAMES or len(found) > MAX_NAMES:
            return None
        found.extend(range(low, high + 1))
    return tuple(found) if len(found) <= MAX_NAMES else None


def expand_interfaces(text: str) -> tuple[str, ...]:
    """Spread ``Et2-3,5`` into full names; a name that is no range comes back as it is, in full."""
    match = re.match(r"([A-Za-z-]+)\s?(\d.*)?$", text[:MAX_NAMES])
    if match is None or match[2] is None:
        return (_full_name(text),)
    kind = _full_name(match[1])
    names: list[str] = []
    for piece in match[2].split(","):
        stem, _, tail = piece.rpartition("/")
        numbers = expand_numbers(tail)
        if numbers is None or len(names) + len(numbers) > MAX_NAMES:
            return (text,)
        names += [f"{kind}{stem}{'/' if stem else ''}{number}" for number in numbers]
    return tuple(names)


_SHORT = (("et", "Ethernet"), ("po", "Port-Channel"), ("lo", "Loopback"), ("ma", "Management"), ("vl", "Vlan"))


def _full_name(kind: str) -> str:
    """Write the kind of an interface in full, as EOS itself lists it."""
    small = kind.lower()
    if small.startswith("vx"):
        return f"Vxlan{kind.lstrip('VvXxLlAaNn')}"
    return next((full for short, full in _SHORT if small.startswith(short) and full.lower().startswith(small)), kind)


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """What the head of a saved configuration says of the switch, and on which line."""

    line: int
    name: str
    model: str
    release: str


def find_device(data: bytes) -> DeviceLine | None:
    """Find the comment that names switch, model and release; None where the head has none."""
    match = _DEVICE.search(data[:_HEAD])
    if match is None:
        return None
    name, model, release = (part.decode("utf-8", "replace") for part in match.groups())
    return DeviceLine(data.count(b"\n", 0, match.start()) + 1, name, model, release)
