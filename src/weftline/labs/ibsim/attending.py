"""The managers of a subnet that run: the master's log followed, files exchanged, and told to read them again."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from weftline.errors import ArtifactError, SourceError
from weftline.formats.opensm_log import list_events
from weftline.labs import holding, processes
from weftline.labs.ibsim import opensm, state
from weftline.labs.ibsim import seats as seating
from weftline.model.lab import LabProcess, ManagerEvent

DAY_S = 86_400.0
MAX_READ = 1 << 22
REFRESH_S = 0.5
HANG_S = 10.0
HANG_S_PER_PORT = 0.004
"""How long a manager that was told to sweep may say nothing: ibsim loses an answer now and then, and its library knows
no timeouts, so that OpenSM waits for it for ever."""


@dataclass(slots=True)
class Seat:
    """One manager: its folder, its program and how far its log was read."""

    folder: Path
    process: LabProcess
    offset: int

    @property
    def is_running(self) -> bool:
        """Whether the process is there, and no other of its number."""
        return processes.read_start(self.process.pid) == self.process.started


class Attendant:
    """The managers of one subnet; the one that said last that it is the master counts as it."""

    def __init__(self, folder: Path, subnet: str, seats: list[Seat], handle: int) -> None:
        self.folder = folder
        self.handle = handle
        self.subnet = subnet
        self.key = holding.key_of(folder)
        self.seats = seats
        self.master = seats[0]
        self.refreshed = 0.0
        self.told: float | None = None
        """When the master was told to sweep; None once it said something."""
        self.revived = False
        self.patience_s = HANG_S + HANG_S_PER_PORT * (seats[0].folder / seating.PORTS).read_bytes().count(b"\n")

    def listen(self) -> tuple[ManagerEvent, ...]:
        """Read what the logs gained, in whole lines."""
        if not all(seat.is_running for seat in self.seats) and time.monotonic() - self.refreshed > REFRESH_S:
            self._refresh()
        found = [ManagerEvent("revived", 0.0)] if self.revived else []
        self.revived = False
        for seat in self.seats:
            text = _read_new(seat)
            if not text:
                continue
            if seat is self._find_master():
                self.told = None
            now = time.time()  # noqa: TID251  (what is compared with it is the time of a log)
            local = time.localtime(now)
            second = 3600 * local.tm_hour + 60 * local.tm_min + local.tm_sec + now % 1
            for event in list_events(text):
                if event.kind == "master":
                    self.master = seat
                age = (second - event.second + DAY_S / 2) % DAY_S - DAY_S / 2
                found.append(ManagerEvent(event.kind, age, event.lid))
        return tuple(found)

    def _refresh(self) -> None:
        """Look whether a manager that was gone runs again; its log begins anew then."""
        self.refreshed = time.monotonic()
        try:
            note = state.read(self.folder)
        except SourceError:
            return
        started = {process.name: process for process in note.processes if process.subnet == self.subnet}
        for seat in self.seats:
            one = started.get(seat.process.name)
            if one is not None and (one.pid, one.started) != (seat.process.pid, seat.process.started):
                seat.process = LabProcess(one.name, one.subnet, one.pid, one.started, is_running=True)
                seat.offset = 0

    def _find_master(self) -> Seat:
        if self.master.is_running:
            return self.master
        return next((seat for seat in self.seats if seat.is_running), self.master)

    def put(self, name: str, content: bytes) -> None:
        """Let a new file take the place of the old one, at every manager: who takes over has the same tables."""
        for seat in self.seats:
            aside = seat.folder / f".{name}.part"
            try:
                aside.write_bytes(content)
                aside.replace(seat.folder / name)
            except OSError as error:
                raise holding.unwritable(seat.folder / name, error) from error

    def reload(self) -> bool:
        """Send SIGHUP to the master, upon which OpenSM reads its files and sweeps; one that hangs is started again."""
        master, now = self._find_master(), time.monotonic()
        if self.told is not None and now - self.told > self.patience_s:
            self._revive(master)
            return True
        self.told = self.told or now
        return processes.signal_process(self.key, master.process, signal.SIGHUP)

    def _revive(self, master: Seat) -> None:
        """Start a manager again that hangs; not now where another command works on the lab."""
        with contextlib.suppress(ArtifactError), holding.held(self.folder):
            processes.signal_process(self.key, master.process, signal.SIGKILL)
            seating.restart(self.folder, alone_too=True)
            self._refresh()
            self.told, self.revived = None, True

    def is_running(self) -> bool:
        """Say whether a manager runs, or is on its way to run again."""
        return self.seats[0].folder.is_dir() and any(seat.is_running for seat in self.seats)

    def close(self) -> None:
        """Let another command attend the lab."""
        os.close(self.handle)  # the lock goes with the last of them


def _read_new(seat: Seat) -> bytes:
    """Read the whole lines that a log gained."""
    log = seat.folder / opensm.LOG
    try:
        size = log.stat().st_size
        if size < seat.offset:  # it was full, and begins anew
            seat.offset = 0
        if size == seat.offset:
            return b""
        with log.open("rb") as file:
            file.seek(seat.offset)
            text = file.read(MAX_READ)
    except OSError:
        return b""
    whole = text.rfind(b"\n") + 1
    seat.offset += whole
    return text[:whole]


def attend(folder: Path) -> tuple[Attendant, ...]:
    """Attend the managers of a lab that is up; nobody else does until this program ends.

    Raises:
        ArtifactError: ``artifact.busy`` when another command does.
        SourceError: ``source.lab-down`` when no lab is up there.
    """
    note = state.read(folder)
    handle = holding.hold_kept(folder)
    found: list[Attendant] = []
    for record in note.subnets:
        started = {process.name: process for process in note.processes if process.subnet == record.name}
        seats: list[Seat] = []
        for seat in record.seats:
            one = started[seat.program]
            process = LabProcess(one.name, one.subnet, one.pid, one.started, is_running=True)
            log = folder / seat.folder / opensm.LOG
            seats.append(Seat(folder / seat.folder, process, log.stat().st_size if log.exists() else 0))
        attendant = Attendant(folder, record.name, seats, os.dup(handle))
        attendant.master = seats[record.seats.index(seating.find_master(folder, note, record))]
        found.append(attendant)
    os.close(handle)
    return tuple(found)
