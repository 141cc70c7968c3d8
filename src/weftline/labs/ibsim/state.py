"""What a lab writes down about itself: its subnets, its programs and the faults that were put in."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from weftline.errors import ArtifactError, Place, SourceError

FILE = "lab.json"
LOCK_SUFFIX = ".lock"
KEEP_SUFFIX = ".keep.lock"
PATIENCE_S = 2.0
"""How long a command waits for one that holds the lab; most hold it for a moment only."""
POLL_S = 0.02
MAX_BYTES = 16 * 2**20


class Record(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SeatRecord(Record):
    """Where a subnet manager runs: its folder and the adapter."""

    program: str
    folder: str
    """Below that of the lab."""
    host: str
    entry: int
    priority: int | None


class SubnetRecord(Record):
    """One subnet: its socket, and the adapter at which it is entered."""

    name: str
    of: str
    """Name of the subnet whose rendered files it runs on."""
    plane: int
    part: int
    """Which of the connected parts of its plane it is."""
    socket: str
    host: str
    entry: int
    seats: tuple[SeatRecord, ...] = ()
    """The managers, the master first."""


class ProcessRecord(Record):
    """One program."""

    name: str
    subnet: str
    pid: int
    started: int


class FaultRecord(Record):
    """One fault that was put in."""

    kind: Literal["break", "miscable", "degrade"]
    subject: str
    undo: tuple[tuple[str, str], ...]


class State(Record):
    """The whole file."""

    schema_name: Literal["weftline/lab-state/2"] = "weftline/lab-state/2"
    of: str
    stage: Literal["starting", "up"]
    subnets: tuple[SubnetRecord, ...]
    processes: tuple[ProcessRecord, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    seconds: dict[str, float] = {}


def key_of(folder: Path) -> str:
    """Name a lab by its folder, so that several stand side by side; short enough for the name of a socket."""
    text = f"{os.getuid()}:{folder.resolve()}"
    return "weftline-" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


@contextlib.contextmanager
def held(folder: Path) -> Generator[None]:
    """Hold a lab; the system lets go of it when the command ends, however it ends.

    Raises:
        ArtifactError: ``artifact.busy`` when another command works on this lab, ``artifact.unwritable``.
    """
    lock = folder.with_name(folder.name + LOCK_SUFFIX)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise unwritable(lock, error) from error
    try:
        if not _lock(handle, PATIENCE_S):
            message = f"another command works on the lab in {folder}"
            raise ArtifactError("artifact.busy", message, "wait for it to end", Place(str(folder)))
        yield
    finally:
        os.close(handle)


def hold_kept(folder: Path) -> int:
    """Hold a lab as the one that keeps it, as long as the handle is open; others may still look and disturb.

    Raises:
        ArtifactError: ``artifact.busy`` when another command keeps it.
    """
    lock = folder.with_name(folder.name + KEEP_SUFFIX)
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(lock, error) from error
    if not _lock(handle, 0.0):
        os.close(handle)
        message = f"another command keeps the lab in {folder}"
        raise ArtifactError("artifact.busy", message, "end it first, or leave it to it", Place(str(folder)))
    return handle


def _lock(handle: int, patience_s: float) -> bool:
    """Lock a file; False when another command holds it all the time."""
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(POLL_S)
        else:
            return True


def unwritable(path: Path, error: OSError) -> ArtifactError:
    """Say that a file of the lab cannot be written."""
    message = f"{path} cannot be written: {error.strerror or error}"
    return ArtifactError("artifact.unwritable", message, "check the space left and the permissions", Place(str(path)))


def write(folder: Path, state: State) -> None:
    """Write the file whole or not at all."""
    aside = folder / f".{FILE}.part"
    try:
        aside.write_text(state.model_dump_json(indent=2) + "\n", encoding="utf-8")
        aside.replace(folder / FILE)
    except OSError as error:
        raise unwritable(folder / FILE, error) from error


def read(folder: Path) -> State:
    """Read the file of a lab that is up.

    Raises:
        SourceError: ``source.lab-down`` when no lab is up there.
    """
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _down(f"{path} is no file of a lab")
        state = State.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise _down(f"no lab runs in {folder}") from error
    except (OSError, ValidationError) as error:
        raise _down(f"{path} cannot be read") from error
    if state.stage != "up":
        raise _down(f"the lab in {folder} was not brought up to its end")
    return state


def _down(message: str) -> SourceError:
    return SourceError("source.lab-down", message, "start it with weftline lab up PLACE")
