"""``dcb pfc|buffer|app|ets|dcbx show dev IF`` of iproute2: PFC, buffers, DSCP map and scheduling of one interface."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output, Told

SCALARS = frozenset({"pfc-cap", "macsec-bypass", "delay", "willing", "ets-cap", "cbs", "total-size"})
MAPS = frozenset(
    {
        *("prio-pfc", "prio-buffer", "buffer-size", "tc-bw", "tc-tsa", "tc-maxrate", "prio-tc"),
        *("dscp-prio", "ethtype-prio", "port-prio", "stream-port-prio", "dgram-port-prio", "requests", "indications"),
        *("reco-tc-bw", "reco-tc-tsa", "reco-prio-tc", "pcp-prio"),
    }
)
DSCP_NAMES = {
    **{f"CS{number}": number * 8 for number in range(8)},
    **{f"AF{number}{drop}": number * 8 + drop * 2 for number in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
    "LE": 1,
    "VA": 44,
    "default": 0,
}
"""Names of DSCPs that iproute2 prints in their stead. RFC 2474, 2597, 3246, 5865, 8622."""
_KNOWN = re.compile(
    rb"^(?:pfc-cap \d|prio-pfc \d:|prio-buffer \d:|dscp-prio \S+:\d|willing (?:on|off) ets-cap)", re.MULTILINE
)
MAX_PAIRS = 1000


@dataclass(frozen=True, slots=True)
class DcbRecord:
    """What dcb printed of one interface."""

    interface: str
    """Empty where the command line was not kept."""
    line: int
    scalars: dict[str, Told[str]] = field(default_factory=dict[str, Told[str]])
    maps: dict[str, tuple[tuple[str, str, int], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str, int], ...]]
    )
    """Name of the map -> (key, value, line)."""
    flags: tuple[Told[str], ...] = ()
    """The words of ``dcb dcbx show``, as ``host``."""

    def numbers(self, name: str) -> dict[int, tuple[int, int]]:
        """Return a map of numbers to (number, line); DSCPs by name count as their number, ``on`` as 1, ``off`` as 0."""
        found: dict[int, tuple[int, int]] = {}
        for key, value, line in self.maps.get(name, ()):
            low = DSCP_NAMES.get(key, _number(key))
            high = {"on": 1, "off": 0}.get(value, _number(value.removesuffix("b").removesuffix("%")))
            if low is not None and high is not None:
                found[low] = (high, line)
        return found


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() and len(text) <= 12 else None


def looks_like(head: bytes) -> bool:
    """Tell the output by the first word of its lines."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> DcbRecord:
    """Read the output; words that belong to nothing known are named."""
    scalars: dict[str, Told[str]] = {}
    maps: dict[str, list[tuple[str, str, int]]] = {}
    flags: list[Told[str]] = []
    is_dcbx = "dcbx" in output.command[1:]
    for number, line in output.numbered():
        name = ""
        for word in line.split()[:MAX_PAIRS]:
            key, colon, value = word.partition(":")
            if word in MAPS or word in SCALARS:
                name = word
                maps.setdefault(name, []) if word in MAPS else None
            elif name in SCALARS and not colon:
                scalars[name] = Told(word[:40], number)
                name = ""
            elif name in MAPS and colon and len(maps[name]) < MAX_PAIRS:
                maps[name].append((key[:40], value[:40], number))
            elif is_dcbx:
                flags.append(Told(word[:40], number))
            elif name != "default-prio" and word != "default-prio":
                log.add("artifact.host-line", f"{word[:60]!r} is no word of dcb", "", number, 1, "warning")
            else:
                name = "default-prio"
    return DcbRecord(
        output.option("dev"),
        output.first,
        scalars,
        {name: tuple(rows) for name, rows in maps.items()},
        tuple(flags[:64]),
    )
