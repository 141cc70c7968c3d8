"""Atomic writing: all files stand aside first, then each is renamed into place, the manifest last."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Generator
from pathlib import Path

from weftline.errors import ArtifactError, Place
from weftline.model.artifact import ArtifactSet
from weftline.render.manifest import (
    FILES,
    MANIFEST,
    READY,
    STAGING,
    Manifest,
    make_manifest,
    read_manifest,
    write_manifest,
)

MAX_MANIFEST_BYTES = 256 * 1024 * 1024


def write(artifacts: ArtifactSet, folder: Path, *, forced: bool) -> Manifest:
    """Write a set of files into a folder and return its manifest; a second run writes the same bytes.

    The files are first written to STAGING inside the folder, flushed, and the whole is renamed to READY. From then on
    the new set stands: its files are renamed into place, files that only the old manifest names are removed, and the
    manifest is renamed last. A run that is killed before that point leaves the old set, and one that is killed after
    it leaves the new set, half of it in READY; the next run brings it to its end first. Files that no manifest names
    are never touched.

    Raises:
        ArtifactError: ``artifact.foreign-folder`` when the folder holds files but no manifest, ``artifact.symlink``
            when a path leads through a symbolic link, ``artifact.busy`` when another run writes there,
            ``artifact.unwritable`` when the system refuses.
    """
    manifest = make_manifest(artifacts, forced=forced)
    with _explained(folder), _alone(folder):
        _recover(folder)
        old = _read_old(folder)
        _check_places(folder, artifacts, old)
        _stage(folder, artifacts, manifest)
        _finish(folder)
    return manifest


@contextlib.contextmanager
def _explained(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        where = Path(str(error.filename)) if error.filename else folder
        hints = {
            errno.ENOSPC: "free some space; what stood there before still stands",
            errno.EDQUOT: "free some of your quota; what stood there before still stands",
            errno.EROFS: "the file system is read-only; give another folder with --out",
        }
        raise ArtifactError(
            "artifact.unwritable",
            f"{where} cannot be written: {error.strerror or error}",
            hints.get(error.errno or 0, "give a folder that you may write to with --out"),
            Place(str(where)),
        ) from error


@contextlib.contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Make the folder and hold it; the system lets go of it when a run ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"another run is writing into {folder}"
            raise ArtifactError("artifact.busy", message, "wait for it to end", Place(str(folder))) from error
        yield
    finally:
        os.close(handle)


def _recover(folder: Path) -> None:
    """Drop a set that was not whole, and bring one that was to its end."""
    for name in (STAGING, READY):
        if (folder / name).is_symlink():
            _refuse_link(folder / name)
    if (folder / STAGING).is_dir():
        shutil.rmtree(folder / STAGING)
    if (folder / READY).is_dir():
        _finish(folder)


def _read_old(folder: Path) -> Manifest | None:
    path = folder / MANIFEST
    if path.is_symlink():
        _refuse_link(path)
    if not path.exists():
        if any(folder.iterdir()):
            raise ArtifactError(
                "artifact.foreign-folder",
                f"{folder} holds files, but no {MANIFEST}: Weftline did not write them",
                "give an empty folder with --out",
                Place(str(folder)),
            )
        return None
    if path.stat().st_size > MAX_MANIFEST_BYTES:
        message = f"{path} has more than {MAX_MANIFEST_BYTES:,} bytes: it is no manifest of Weftline"
        hint = "give a folder that is empty or was written by Weftline"
        raise ArtifactError("artifact.manifest", message, hint, Place(str(path)))
    return read_manifest(path.read_bytes(), str(path))


def _check_places(folder: Path, artifacts: ArtifactSet, old: Manifest | None) -> None:
    """Refuse to write through links, over folders, or over files that no manifest names."""
    ours: frozenset[str] = frozenset() if old is None else frozenset(entry.path for entry in old.files)
    for artifact in artifacts.artifacts:
        target = _check_parents(folder, artifact.path)
        if target.is_dir() or (artifact.path not in ours and target.exists()):
            raise ArtifactError(
                "artifact.foreign-file",
                f"{target} stands there, and Weftline did not write it",
                "move it away, or give another folder with --out",
                Place(str(target)),
            )


def _check_parents(folder: Path, path: str) -> Path:
    place = folder
    for part in path.split("/"):
        place /= part
        if place.is_symlink():
            _refuse_link(place)
    return place


def _refuse_link(place: Path) -> None:
    raise ArtifactError(
        "artifact.symlink",
        f"{place} is a symbolic link, and files are not written through links",
        "remove the link, or give another folder with --out",
        Place(str(place)),
    )


def _stage(folder: Path, artifacts: ArtifactSet, manifest: Manifest) -> None:
    staging = folder / STAGING
    staging.mkdir()
    try:
        for artifact in artifacts.artifacts:
            target = staging / FILES / artifact.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(artifact.content)
        (staging / MANIFEST).write_bytes(write_manifest(manifest))
        # Flushed after all are written: the system then writes them together, many times quicker than one by one.
        for artifact in artifacts.artifacts:
            _flush(staging / FILES / artifact.path)
        _flush(staging / MANIFEST)
        _flush(staging)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    staging.rename(folder / READY)
    _flush(folder)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _finish(folder: Path) -> None:
    """Rename what is ready into place, remove what only the old manifest names, rename the manifest last."""
    ready = folder / READY
    if (ready / MANIFEST).exists():
        new = read_manifest((ready / MANIFEST).read_bytes(), str(ready / MANIFEST))
        for entry in new.files:
            source, target = ready / FILES / entry.path, _check_parents(folder, entry.path)
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                source.replace(target)
        kept = {entry.path for entry in new.files}
        old = folder / MANIFEST
        if old.exists():
            for entry in read_manifest(old.read_bytes(), str(old)).files:
                if entry.path not in kept:
                    _remove(folder, entry.path)
        (ready / MANIFEST).replace(old)
        _flush(folder)
    shutil.rmtree(ready)


def _remove(folder: Path, path: str) -> None:
    target = _check_parents(folder, path)
    target.unlink(missing_ok=True)
    for parent in target.relative_to(folder).parents:
        if str(parent) != ".":
            with contextlib.suppress(OSError):  # a folder that holds something else stays
                (folder / parent).rmdir()
