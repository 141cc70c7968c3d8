"""A lab held by one command at a time, named by its folder, with a note of what stands there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from weftline.errors import ArtifactError, Place, SourceError
from weftline.model.lab import LabStatus, Progress

M = TypeVar("M", bound=BaseModel)
LOCK_SUFFIX = ".lock"
KEEP_SUFFIX = ".keep.lock"
PATIENCE_S = 2.0
"""How long a command waits for one that holds the lab; most hold it for a moment only."""
POLL_S = 0.02


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


def begin_anew(
    folder: Path, stop: Callable[[], object], start: Callable[[], LabStatus], progress: Progress
) -> LabStatus:
    """Clear away whatever stood in a folder and bring a lab up there; where that fails nothing of it runs on.

    Raises:
        ArtifactError: ``artifact.busy``, ``artifact.unwritable``; and whatever ``start`` raises.
    """
    with held(folder):
        progress("clearing what an earlier lab left", None)
        stop()
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        try:
            return start()
        except BaseException as error:
            stop()
            if isinstance(error, OSError):
                raise unwritable(folder, error) from error
            raise


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


def write_note(path: Path, note: BaseModel) -> None:
    """Write the note of a lab whole or not at all.

    Raises:
        ArtifactError: ``artifact.unwritable``.
    """
    aside = path.with_name(f".{path.name}.part")
    try:
        aside.write_text(note.model_dump_json(indent=2) + "\n", encoding="utf-8")
        aside.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error


def read_note(path: Path, kind: type[M], limit: int, absent: str) -> M:
    """Read the note of a lab, of at most ``limit`` bytes; ``absent`` says what it means that there is none.

    Raises:
        SourceError: ``source.lab-down`` when there is none, or it is no note of a lab.
    """
    try:
        if path.stat().st_size > limit:
            raise say_down(f"{path} is no file of a lab")
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise say_down(absent) from error
    except (OSError, ValidationError) as error:
        raise say_down(f"{path} cannot be read") from error


def say_down(message: str) -> SourceError:
    """Say that no lab runs, and how one is started."""
    return SourceError("source.lab-down", message, "start it with weftline lab up PLACE")
