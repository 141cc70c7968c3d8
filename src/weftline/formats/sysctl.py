"""``sysctl`` output and ``sysctl.conf``: settings of the kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

MAX_SETTINGS = 20_000
_LINE = re.compile(r"^-?\s*([A-Za-z0-9_.*/@:-]{1,120})\s*=\s*(.{0,400})$")
_KNOWN = re.compile(rb"^-?(?:net|kernel|vm|fs|dev)[./][A-Za-z0-9_./*-]+\s*=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KernelSetting:
    """One setting, its name with dots."""

    key: str
    value: str
    line: int


def looks_like(head: bytes) -> bool:
    """Tell the text by a setting of a part of the kernel that exists everywhere."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog) -> tuple[KernelSetting, ...]:
    """Read the settings; lines that are none are named."""
    found: list[KernelSetting] = []
    for number, line in output.numbered():
        text = line.strip()
        if text.startswith(("#", ";", "*", "sysctl:")):
            continue
        match = _LINE.match(text)
        if match is None:
            log.add("artifact.host-line", f"{text[:60]!r} is no kernel setting", "", number, 1, "warning")
        elif len(found) < MAX_SETTINGS:
            found.append(KernelSetting(match[1].replace("/", "."), " ".join(match[2].split()), number))
    return tuple(found)
