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
    command = ("prlimit", f"--as={MOST_BYTES}", f"--cpu={int(limit_s)}", "stdbuf", "-o0", PROGRAM, *DUMPS, *options)
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=BUSY * limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    text = done.stdout
    lost = LOST.search(text)
    if lost:
        return Said(int(lost[2]), int(lost[1]), None, cpu_s, text)
    scanned = SCANNED.search(text)
    has_none, has_loop = "-I- no credit loops found" in text, "-E- credit loops in routing" in text
    if not scanned or has_none == has_loop:
        return None
    return Said(int(scanned[1]), 0, has_loop, cpu_s, text)
