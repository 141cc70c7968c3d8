"""ibdmchk of ibutils on the dumps of OpenSM: a checker that shares no code with us, run within bounds."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROGRAM = "ibdmchk"
DUMPS = ("-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs")
MOST_BYTES = 12 << 30
LIMIT_S = float(os.environ.get("WEFTLINE_ORACLE_LIMIT_S", "300"))
"""Seconds of processor time that it may take on one fabric."""
BUSY = 6
"""How many times as long it may take where others use the machine."""
TELLING = re.compile(r"-E- Found |-I- Scanned:|-I- no credit loops|-E- credit loops")
MOST_LINE, MOST_LINES = 4096, 1000
LOST = re.compile(r"-E- Found (\d+) missing paths out of:\s*(\d+)")
SCANNED = re.compile(r"-I- Scanned:\s*(\d+) CA to CA paths")


@dataclass(frozen=True)
class Said:
    """What ibdmchk said of the tables of one engine."""

    paths: int
    lost: int
    has_loop: bool | None
    """None where paths are lost: it then looks for no loop."""
    cpu_s: float
    text: str


def ask(folder: Path, options: tuple[str, ...] = (), limit_s: float = LIMIT_S) -> Said | None:
    """Have it walk the dumps in a folder; None where it was not done within the bounds.

    Its status says nothing: it may crash when it is done, and what it still held back to print would be lost.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bounds = ("prlimit", f"--as={MOST_BYTES}", f"--cpu={int(limit_s)}", "timeout", f"{BUSY * limit_s}s")
    kept: list[str] = []
    with subprocess.Popen(
        (*bounds, "stdbuf", "-o0", PROGRAM, *DUMPS, *options), cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        while line := process.stdout.readline(MOST_LINE):  # of a large fabric it may print more than memory holds
            if TELLING.match(line) and len(kept) < MOST_LINES:
                kept.append(line)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return read("".join(kept), cpu_s)


def read(text: str, cpu_s: float) -> Said | None:
    """Read its verdict from the lines that tell it; None where it broke off before."""
    lost = LOST.search(text)
    if lost:
        return Said(int(lost[2]), int(lost[1]), None, cpu_s, text)
    scanned = SCANNED.search(text)
    has_none, has_loop = "-I- no credit loops found" in text, "-E- credit loops in routing" in text
    if not scanned or has_none == has_loop:
        return None
    return Said(int(scanned[1]), 0, has_loop, cpu_s, text)
