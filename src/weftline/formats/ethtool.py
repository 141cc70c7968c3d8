"""``ethtool``: pause (``-a``), counters (``-S``), features (``-k``), driver (``-i``) and link of one interface."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

Kind = Literal["pause", "counters", "features", "driver", "link", ""]

MAX_FIELDS = 20_000
"""Fields of one output; an mlx5 with 128 queues prints about 4,000 counters."""
_TITLE = re.compile(
    r"^(Pause parameters|Features|Settings|Ring parameters|Coalesce parameters|FEC parameters) for (\S{1,64}?):$"
)
_KINDS: dict[str, Kind] = {"Pause parameters": "pause", "Features": "features", "Settings": "link"}
_FLAGS: dict[str, Kind] = {
    "-a": "pause",
    "--show-pause": "pause",
    "-S": "counters",
    "--statistics": "counters",
    "-k": "features",
    "--show-features": "features",
    "-i": "driver",
    "--driver": "driver",
}
_FIELD = re.compile(r"^\s*([^:]{1,120}?)\s*:\s*(\S.*)?$")
_KNOWN = re.compile(
    rb"^(?:(?:Pause parameters|Features|Settings) for \S+:|NIC statistics:|driver: \S+|\s+[rt]x_prio\d_\w+: \d+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Field:
    """One named value as it was printed."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter since the driver was loaded."""

    name: str
    value: int
    line: int


@dataclass(frozen=True, slots=True)
class EthtoolRecord:
    """What ethtool printed of one interface."""

    kind: Kind
    """Empty for an output of ethtool that is not read."""
    interface: str
    """Empty where neither the title nor the command names it."""
    line: int
    fields: tuple[Field, ...] = ()
    counters: tuple[Counter, ...] = ()

    def value(self, name: str) -> Field | None:
        """Return the field of this name, the last one where it stands twice."""
        return next((field for field in reversed(self.fields) if field.name == name), None)


def looks_like(head: bytes) -> bool:
    """Tell the output by its title, or by the counters of priorities."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> EthtoolRecord:
    """Read one output; counters without a number and lines without a colon are named."""
    kind, interface = _read_command(output)
    fields: list[Field] = []
    counters: list[Counter] = []
    for number, line in output.numbered():
        title = _TITLE.match(line.strip())
        if title:
            kind, interface = _KINDS.get(title[1], ""), title[2]
            continue
        if line.strip() == "NIC statistics:":
            kind = "counters"
            continue
        match = _FIELD.match(line)
        if match is None or line.lstrip().startswith("#"):
            if kind not in {"link", ""} and not line.lstrip().startswith("#"):
                log.add("artifact.host-line", f"{line.strip()[:60]!r} is no line of ethtool", "", number, 1, "warning")
            continue
        if len(fields) + len(counters) >= MAX_FIELDS:
            log.add("artifact.dump-too-large", f"one output has more than {MAX_FIELDS:,} lines", "", number)
            break
        name, value = match[1], (match[2] or "").strip()
        if kind in {"counters", ""} and value.isdigit():
            kind = "counters"
            _keep_counter(name, value, number, counters, log)
        elif kind == "counters":
            log.add("artifact.host-value", f"counter {name[:60]!r} is {value[:40]!r}", "", number, 1, "warning")
        else:
            kind = kind or ("driver" if name == "driver" else "")
            fields.append(Field(name, value[:200], number))
    return EthtoolRecord(kind, interface, output.first, tuple(fields), tuple(counters))


def _read_command(output: Output) -> tuple[Kind, str]:
    """Read which output it is, and of which interface, off the command line."""
    kind: Kind = ""
    rest: list[str] = []
    for word in output.command[1:] if output.program == "ethtool" else ():
        if word in _FLAGS:
            kind = _FLAGS[word]
        elif not word.startswith("-"):
            rest.append(word)
    if output.program == "ethtool" and not kind and len(output.command) == len(rest) + 1:
        kind = "link"
    return kind, rest[0] if rest else ""


def _keep_counter(name: str, value: str, line: int, counters: list[Counter], log: ProblemLog) -> None:
    # Kernel counters are 64 bit; a longer number is a damaged line.
    if len(value) > 20 or int(value) >= 2**64:
        log.add("artifact.host-value", f"counter {name[:60]!r} has more than 64 bits", "", line, 1, "warning")
    else:
        counters.append(Counter(name, int(value), line))
