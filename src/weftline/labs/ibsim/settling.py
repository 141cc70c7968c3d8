"""Waiting until the managers of a lab are through with what they were told of."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from weftline.formats.opensm_log import LogEvent, list_events
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, seats, state
from weftline.labs.ibsim.waiting import POLL_S
from weftline.model.lab import LabProcess

RECENT_BYTES = 1 << 20
QUIET_S = 0.15
"""How long nothing may happen after the end of a sweep; a second one follows at once where more was told."""
STALL_S = 10.0
"""A manager that says nothing for so long in the middle of a sweep hangs, and nobody has to wait for it."""
ENDS = frozenset({"up", "given-up"})
AGAIN_S = 2.0
WAKE_S = 30.0
"""How long managers that were cut off may take to find each other and to sweep."""
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


def mark(folder: Path, subnets: Collection[str]) -> Mapping[Path, int]:
    """Mark where the logs of the managers of some subnets end."""
    note = state.read(folder)
    chosen = [record for record in note.subnets if record.name in subnets]
    logs = [folder / seats.find_master(folder, note, record).folder / opensm.LOG for record in chosen]
    return {log: _size(log) for log in logs}


def settle_after(folder: Path, marks: Mapping[Path, int], limit_s: float) -> bool:
    """Wait until the managers swept after a change that was made after ``marks``; who did not hear of it is told."""
    end = time.monotonic() + BEGIN_S
    while time.monotonic() < end and not all(_size(log) > size for log, size in marks.items()):
        time.sleep(POLL_S)
    is_settled = settle(folder, limit_s) if any(_size(log) > size for log, size in marks.items()) else True
    if all(_is_through(log, size) for log, size in marks.items()):
        return is_settled
    return wake(folder)


def wake(folder: Path) -> bool:
    """Tell every manager to sweep, and wait until all are through: who was cut off is the master again, or stands by.

    OpenSM looks at its own port once in a sweep interval, and hears of nothing while that is down.
    """
    note = state.read(folder)
    logs = [folder / seat.folder / opensm.LOG for record in note.subnets for seat in seats.list_running(note, record)]
    marks = {log: _size(log) for log in logs}
    begin = told = time.monotonic()
    _tell(folder, note)
    while (passed := time.monotonic() - begin) < WAKE_S:
        if all(_is_through(log, size) for log, size in marks.items()):
            firsts = [(record, seats.find_master(folder, note, record)) for record in note.subnets]
            if passed > seats.HANDOVER_S or all(master == record.seats[0] for record, master in firsts):
                return settle(folder, WAKE_S)
        if time.monotonic() - told > AGAIN_S:  # the master hands over in a sweep that finds the other one standing by
            told = time.monotonic()
            _tell(folder, note)
        time.sleep(POLL_S)
    return False


def _tell(folder: Path, note: state.State) -> None:
    key = holding.key_of(folder)
    for one in note.processes:
        if opensm.NAME in one.name:
            process = LabProcess(one.name, one.subnet, one.pid, one.started, is_running=True)
            processes.signal_process(key, process, signal.SIGHUP)


def _is_through(log: Path, since: int) -> bool:
    """Say whether a manager ended a sweep since its log had some length, or stands by."""
    kinds = [event.kind for event in _read_events(log)]
    if not kinds or kinds[-1] == "standby":
        return bool(kinds)
    told = {event.kind for event in _read_events(log, since)}
    return kinds[-1] in ENDS and not told.isdisjoint(ENDS)


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _is_sweeping(path: Path) -> bool:
    """Say whether the last that a log tells of is no end of a sweep; a manager that is cut off does not sweep."""
    kinds = [event.kind for event in _read_events(path)]
    return bool(kinds) and kinds[-1] not in {*ENDS, "standby", "cut-off"}


def _read_events(path: Path, since: int = 0) -> tuple[LogEvent, ...]:
    """Read the end of a log, from some place in it onwards."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        since = 0 if size < since else since  # it was full, and began anew
        file.seek(max(size - RECENT_BYTES, since))
        return list_events(file.read())
    return ()
