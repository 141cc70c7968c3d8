"""``mlxconfig -d DEV query`` and ``mstconfig``: settings of the NIC's firmware, now and after the next boot."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

MAX_SETTINGS = 20_000
_LINE = re.compile(r"^[*\s]*([A-Z][A-Z0-9_]{2,79}(?:\[[\d.]{1,12}\])?)((?:\s+\S+){1,3})\s*$")
_HEAD = re.compile(r"^(Device(?: #\d+|\s+type|)|Name|Description|Configurations|PCI device|Device type):?\s*(.*)$")
_VALUE = re.compile(r"^(?:.{0,60}\()?(0x[0-9a-fA-F]{1,16}|\d{1,20})\)?$")
_KNOWN = re.compile(
    rb"^[*\s]*(?:LLDP_NB_DCBX|ROCE_CC_PRIO_MASK|CNP_DSCP|DCBX_WILLING|LINK_TYPE|RPG_AI_RATE)_P\d\s", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class FirmwareSetting:
    """One setting of one device."""

    device: str
    """As the tool names it, a PCI address or a file below /dev/mst; empty where neither command nor heading says it."""
    name: str
    current: str
    """As printed, as ``True(1)``."""
    next_boot: str
    """What it is after the next boot; the same as current where the tool prints one column."""
    line: int

    @property
    def number(self) -> int | None:
        """The value after the next boot as a number, as 1 of ``True(1)``."""
        match = _VALUE.match(self.next_boot)
        return int(match[1], 0) if match else None


def looks_like(head: bytes) -> bool:
    """Tell the output by settings that every NIC with Ethernet has."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> tuple[FirmwareSetting, ...]:
    """Read the settings; columns are default, current and next boot where the tool printed three."""
    found: list[FirmwareSetting] = []
    device = output.option("-d", "--dev") if output.program in {"mlxconfig", "mstconfig"} else ""
    for number, line in output.numbered():
        text = line.strip()
        head = _HEAD.match(text)
        match = _LINE.match(line)
        if head:
            if head[1] in {"Device", "PCI device"} and head[2]:
                device = head[2].strip()[:64]
        elif match is None:
            if not text.startswith(("-", "*", "The '*'", "#")):
                log.add("artifact.host-line", f"{text[:60]!r} is no firmware setting", "", number, 1, "warning")
        elif len(found) < MAX_SETTINGS:
            values = match[2].split()
            current = values[1] if len(values) == 3 else values[0]
            found.append(FirmwareSetting(device, match[1], current[:80], values[-1][:80], number))
    return tuple(found)
