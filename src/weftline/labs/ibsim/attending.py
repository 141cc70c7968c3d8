"""A subnet manager that runs: its log followed, its files exchanged, and told to read them again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from weftline.formats.opensm_log import list_events
from weftline.labs.ibsim import opensm, processes, state
from weftline.model.lab import LabProcess, ManagerEvent

DAY_S = 86_400.0
MAX_READ = 1 << 22


class Attendant:
    """The manager of one subnet."""

    def __init__(self, folder: Path, key: str, process: LabProcess, handle: int) -> None:
        self.handle = handle
        self.subnet = process.subnet
        self.folder = folder
        self.key = key
        self.process = process
        self.log = folder / opensm.LOG
        self.offset = self.log.stat().st_size if self.log.exists() else 0

    def listen(self) -> tuple[ManagerEvent, ...]:
        """Read what the log gained, in whole lines."""
        try:
            size = self.log.stat().st_size
            if size < self.offset:  # it was full, and begins anew
                self.offset = 0
            if size == self.offset:
                return ()
            with self.log.open("rb") as file:
                file.seek(self.offset)
                text = file.read(MAX_READ)
        except OSError:
            return ()
        whole = text.rfind(b"\n") + 1
        self.offset += whole
        now = time.time()  # noqa: TID251  (what is compared with it is the time of a log)
        local = time.localtime(now)
        second = 3600 * local.tm_hour + 60 * local.tm_min + local.tm_sec + now % 1
        return tuple(
            ManagerEvent(event.kind, (second - event.second + DAY_S / 2) % DAY_S - DAY_S / 2, event.lid)
            for event in list_events(text[:whole])
        )

    def put(self, name: str, content: bytes) -> None:
        """Write a file beside the old one and let it take its place."""
        aside = self.folder / f".{name}.part"
        try:
            aside.write_bytes(content)
            aside.replace(self.folder / name)
        except OSError as error:
            raise state.unwritable(self.folder / name, error) from error

    def reload(self) -> bool:
        """Send SIGHUP, upon which OpenSM reads its files and sweeps."""
        return processes.signal_process(self.key, self.process, signal.SIGHUP)

    def is_running(self) -> bool:
        """Say whether the process is there, and no other of its number."""
        return self.folder.is_dir() and processes.read_start(self.process.pid) == self.process.started

    def close(self) -> None:
        """Let another command attend the lab."""
        os.close(self.handle)  # the lock goes with the last of them


def attend(folder: Path) -> tuple[Attendant, ...]:
    """Attend the managers of a lab that is up; nobody else does until this program ends.

    Raises:
        ArtifactError: ``artifact.busy`` when another command does.
        SourceError: ``source.lab-down`` when no lab is up there.
    """
    key = state.key_of(folder)
    note = state.read(folder)
    handle = state.hold_kept(folder)
    started = {p.subnet: p for p in note.processes if p.name == opensm.NAME}
    found: list[Attendant] = []
    for record in note.subnets:
        one = started[record.name]
        process = LabProcess(one.name, one.subnet, one.pid, one.started, is_running=True)
        found.append(Attendant(folder / record.name, key, process, os.dup(handle)))
    os.close(handle)
    return tuple(found)
