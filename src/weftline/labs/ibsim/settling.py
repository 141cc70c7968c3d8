"""Waiting until the managers of a lab are through with what they were told of."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from weftline.formats.opensm_log import list_events
from weftline.labs.ibsim import opensm, seats, state
from weftline.labs.ibsim.waiting import POLL_S

RECENT_BYTES = 1 << 20
QUIET_S = 0.15
"""How long nothing may happen after the end of a sweep; a second one follows at once where more was told."""
STALL_S = 10.0
"""A manager that says nothing for so long in the middle of a sweep hangs, and nobody has to wait for it."""
BEGIN_S = 1.0
"""How long a manager may take to hear of a change; nothing may come of one that it does not see."""


def settle(folder: Path, limit_s: float) -> bool:
    """Wait until no manager sweeps; False when one still does after ``limit_s``."""
    note = state.read(folder)
    places = [folder / seats.find_master(folder, note, record).folder for record in note.subnets]
    end = time.monotonic() + limit_s
    quiet = 0.0
    sizes, moved = [0], time.monotonic()
    while time.monotonic() < end and time.monotonic() - moved < STALL_S:
        now = [_size(place / opensm.LOG) for place in places]
        if now != sizes:
            sizes, moved = now, time.monotonic()
        if any(_is_sweeping(place / opensm.LOG) for place in places):
            quiet = 0.0
        elif quiet == 0.0:
            quiet = time.monotonic()
        elif time.monotonic() - quiet >= QUIET_S:
            return True
        time.sleep(POLL_S)
    return False


def mark(folder: Path) -> Mapping[Path, int]:
    """Mark where the logs of the managers end."""
    note = state.read(folder)
    logs = [folder / seats.find_master(folder, note, record).folder / opensm.LOG for record in note.subnets]
    return {log: _size(log) for log in logs}


def settle_after(folder: Path, marks: Mapping[Path, int], limit_s: float) -> bool:
    """Wait until the managers heard of a change that was made after ``marks``, and are through with it."""
    end = time.monotonic() + BEGIN_S
    while time.monotonic() < end and all(_size(path) <= size for path, size in marks.items()):
        time.sleep(POLL_S)
    return settle(folder, limit_s)


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _is_sweeping(path: Path) -> bool:
    """Say whether the last that a log tells of is no end of a sweep."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - RECENT_BYTES, 0))
        events = [event for event in list_events(file.read()) if event.kind != "standby"]
        return bool(events) and events[-1].kind not in {"up", "given-up"}
    return False
