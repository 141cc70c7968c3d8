"""The programs of one lab: started apart from the command, found again by a mark in their environment, and stopped."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weftline.errors import ArtifactError
from weftline.model.lab import LabProcess

MARK = "WEFTLINE_LAB"
"""Variable in the environment of every program of a lab; its value names the lab and the program."""
MAX_LOG_BYTES = 512 * 2**20
"""Largest file that a program of a lab can write; what it writes beyond is lost, and it goes on."""
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
TERM_S = 5.0
KILL_S = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start."""

    name: str
    subnet: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    errors: Path
    preload: str = ""
    console: Path | None = None
    """A named pipe for its standard input, which never ends."""


def find_program(name: str) -> str | None:
    """Find a program, also where only the path of root leads: it needs no root to run."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS)))


def start(program: Program, key: str) -> LabProcess:
    """Start a program in a session of its own, so that it outlives this command and no Ctrl-C reaches it."""
    path = find_program(program.arguments[0])
    if path is None:
        raise ArtifactError("artifact.program-missing", f"{program.arguments[0]} is not installed", "install it")
    words = ["env", "-C", str(program.folder)]
    words += [f"LD_PRELOAD={program.preload}"] if program.preload else []
    words += [path, *program.arguments[1:]]
    mark = {MARK: f"{key}/{program.subnet}/{program.name}"}
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(program.console or os.devnull), os.O_RDWR, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(program.log), flags, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, str(program.errors), flags, 0o600),
    ]
    # SIGXFSZ stays ignored, as Python has it: a log that is full then costs its lines and not the program.
    pid = os.posix_spawn(
        shutil.which("env") or "/usr/bin/env",
        words,
        {**os.environ, **program.environment, **mark},
        file_actions=actions,
        setsid=True,
        setsigmask=[],
        setsigdef=[signal.SIGINT, signal.SIGPIPE],
    )
    with contextlib.suppress(OSError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (MAX_LOG_BYTES, MAX_LOG_BYTES))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    return LabProcess(program.name, program.subnet, pid, read_start(pid) or 0, is_running=True)


def read_start(pid: int) -> int | None:
    """Read when a process started, in clock ticks since boot; None when it is gone or only its status is left."""
    with contextlib.suppress(ChildProcessError):  # a child of this very process would stay as a zombie
        os.waitpid(pid, os.WNOHANG)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def find(key: str) -> tuple[LabProcess, ...]:
    """Find the programs of a lab that run, whatever is written about them: by the mark in their environment."""
    prefix = f"{MARK}={key}/".encode()
    found: list[LabProcess] = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        for word in _read_environment(pid):
            if word.startswith(prefix):
                subnet, _, name = word[len(prefix) :].decode("utf-8", "replace").partition("/")
                started = read_start(pid)
                if started is not None:
                    found.append(LabProcess(name, subnet, pid, started, is_running=True))
    return tuple(sorted(found, key=lambda process: (process.subnet, process.name, process.pid)))


def _read_environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # gone, or somebody else's
        return []


def signal_process(key: str, process: LabProcess, number: signal.Signals) -> bool:
    """Send a signal to a program of the lab, and to no process that took its number since."""
    handle = _open(key, process)
    if handle is None:
        return False
    try:
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def _open(key: str, process: LabProcess) -> int | None:
    """Hold a process by a handle that cannot come to mean another one; None when it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return None
    prefix = f"{MARK}={key}/".encode()
    if read_start(process.pid) == process.started and any(w.startswith(prefix) for w in _read_environment(process.pid)):
        return handle
    os.close(handle)
    return None


def stop(key: str, processes: Sequence[LabProcess]) -> None:
    """End programs by SIGTERM, then what is left by SIGKILL, and wait until they are gone."""
    for number, seconds in ((signal.SIGTERM, TERM_S), (signal.SIGKILL, KILL_S)):
        handles = [handle for process in processes if (handle := _open(key, process)) is not None]
        try:
            for handle in handles:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, number)
            for handle in handles:
                select.select([handle], [], [], seconds)
        finally:
            for handle in handles:
                os.close(handle)
    for process in processes:
        read_start(process.pid)
