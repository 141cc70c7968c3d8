"""Files of the user: found, read within a bound, and written whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Generator
from pathlib import Path

from weftline.errors import ArtifactError, Place


def find(path: Path) -> os.stat_result | None:
    """Look at what stands at a path; None where nothing does.

    Raises:
        ArtifactError: ``artifact.unreadable`` when the system does not let us look, as with a name that is too long.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def is_folder(path: Path) -> bool:
    """Whether a folder stands at a path."""
    found = find(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def walk(place: Path, depth: int) -> Generator[Path]:
    """List what is in a folder and ``depth`` folders below it, in the order of names; hidden things are left out."""
    for folder, folders, names in os.walk(place, followlinks=False):
        below = len(Path(folder).relative_to(place).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and below < depth)
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(folder, name)


def read_bytes(path: Path, limit: int, hint: str) -> bytes:
    """Read a file of at most ``limit`` bytes; ``hint`` says what to do about a larger one.

    Raises:
        ArtifactError: ``artifact.no-place``, ``artifact.unreadable`` or ``artifact.too-large``.
    """
    try:
        with path.open("rb") as file:
            # A file says how large it is before it is read; a pipe does not.
            is_larger = os.fstat(file.fileno()).st_size > limit
            data = b"" if is_larger else file.read(limit + 1)
    except FileNotFoundError as error:
        message = f"{path} does not exist"
        raise ArtifactError("artifact.no-place", message, "check the path", Place(str(path))) from error
    except OSError as error:
        raise _unreadable(path, error) from error
    if is_larger or len(data) > limit:
        message = f"{path} is larger than {limit // 2**20} MiB"
        raise ArtifactError("artifact.too-large", message, hint, Place(str(path)))
    return data


def write_text(path: Path, text: str) -> None:
    """Write a text file; see ``write_bytes``."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file by way of one beside it, so that it is never half there; runs at one time follow each other.

    What a killed run left beside it is taken away.

    Raises:
        ArtifactError: ``artifact.unwritable``.
    """
    aside = path.parent / f".{path.name}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path.parent):
            aside.unlink(missing_ok=True)
            try:
                with aside.open("xb") as file:
                    file.write(data)
                aside.replace(path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise _unwritable(path, error) from error


def write_private(path: Path, parts: list[bytes]) -> None:
    """Write a file that only its owner reads, in a folder that only they enter; else as ``write_bytes``.

    Raises:
        ArtifactError: ``artifact.unwritable``.
    """
    aside = path.parent / f".{path.name}.part"
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        with _alone(path.parent):
            aside.unlink(missing_ok=True)
            try:
                handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                with open(handle, "wb") as file:  # noqa: PTH123  (a handle, which has the mode from its first byte)
                    file.writelines(parts)
                aside.replace(path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise _unwritable(path, error) from error


@contextlib.contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Hold a folder; the system lets go of it when the run ends, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: the last of two runs wins
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _unreadable(path: Path, error: OSError) -> ArtifactError:
    message = f"{path} cannot be read: {error.strerror or error}"
    return ArtifactError("artifact.unreadable", message, "check the path and its permissions", Place(str(path)))


def _unwritable(path: Path, error: OSError) -> ArtifactError:
    message = f"{path} cannot be written: {error.strerror or error}"
    hint = "check the folder, its permissions and the space left, or name another one"
    return ArtifactError("artifact.unwritable", message, hint, Place(str(path)))
