"""Atomic writing: the whole set is written beside the old one, and the two folders change places in one step."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path, PurePosixPath

from weftline.errors import ArtifactError, Place
from weftline.model.artifact import ArtifactSet
from weftline.render.manifest import MANIFEST, Manifest, make_manifest, read_manifest, write_manifest

MAX_MANIFEST_BYTES = 256 * 1024 * 1024
PART, ASIDE, LOCK = "part", "aside", "lock"
"""Beside the folder, as `.NAME.part`: a set that is not whole, a whole set, and what a run holds while it writes."""
_UNABLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})
"""What a kernel or file system says that cannot let two folders change places."""
_HINTS = {
    errno.ENOSPC: "free some space; what stood there before still stands",
    errno.EDQUOT: "free some of your quota; what stood there before still stands",
    errno.EROFS: "the file system is read-only; give another folder with --out",
    errno.EXDEV: "the folder cannot be renamed, as a mount or a layer of an image; give another one with --out",
    errno.EBUSY: "the folder cannot be renamed, as a mount; give another one with --out",
}


def write(artifacts: ArtifactSet, folder: Path, *, forced: bool) -> Manifest:
    """Write a set of files into a folder and return its manifest; where the same bytes stand already, nothing is done.

    The set is written to PART beside the folder, flushed, and renamed to ASIDE once it is whole. Then ASIDE and the
    folder change places: at every moment the folder holds the old set or the new one, also when the run is killed.
    Files that no manifest names move from the old set to the new one, and the rest of the old set is removed; where a
    run is killed before that, the next one does it. Where the system cannot let folders change places, they are
    renamed one after the other, and a run that is killed in between leaves no folder; the next one puts it back.

    Raises:
        ArtifactError: ``artifact.foreign-folder`` when the folder holds files but no manifest,
            ``artifact.foreign-file`` when files of others are in the way, ``artifact.symlink`` when a path leads
            through a symbolic link, ``artifact.busy`` when another run writes there, ``artifact.unwritable`` when the
            system refuses.
    """
    with _explained(folder):
        if folder.is_symlink() or folder.name in {"", ".."}:
            folder = Path(os.path.realpath(folder))
    manifest = make_manifest(artifacts, forced=forced)
    with _explained(folder), _alone(folder):
        _settle(folder)
        old = _read_old(folder)
        _check_places(folder, artifacts, old)
        if not _is_same(folder, artifacts, manifest):
            if old is not None:
                _check_rights(folder, old, manifest)
            try:
                _stage(folder, artifacts, manifest)
                _swap(folder, is_first=old is None)
            finally:
                _settle(folder)
    return manifest


def beside(folder: Path, what: str) -> Path:
    """Name what stands beside a folder while it is written."""
    return folder.with_name(f".{folder.name}.{what}")


@contextlib.contextmanager
def _explained(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        where = Path(str(error.filename)) if error.filename else folder
        raise ArtifactError(
            "artifact.unwritable",
            f"{where} cannot be written: {error.strerror or error}",
            _HINTS.get(error.errno or 0, "give a folder that you may write to with --out"),
            Place(str(where)),
        ) from error


@contextlib.contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Hold a file beside the folder; the system lets go of it when a run ends, however it ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for what in (PART, ASIDE, LOCK):
        _refuse_links(folder.parent, [beside(folder, what).name])
    lock = beside(folder, LOCK)
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        is_ours = False
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.fstat(handle).st_nlink > 0  # else the run that held it took it away meanwhile
        if not is_ours:
            message = f"another run is writing into {folder}"
            raise ArtifactError("artifact.busy", message, "wait for it to end", Place(str(folder)))
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _settle(folder: Path) -> None:
    """Drop a set that is not whole, and bring one that stands aside to its end."""
    part, aside = beside(folder, PART), beside(folder, ASIDE)
    if aside.is_dir() and not folder.exists():
        aside.rename(folder)
    if part.is_dir():
        shutil.rmtree(part)
    if aside.is_dir():
        _clear(aside, folder)


def _read_old(folder: Path) -> Manifest | None:
    manifest = _read_manifest(folder)
    if manifest is None and folder.exists() and any(folder.iterdir()):
        raise ArtifactError(
            "artifact.foreign-folder",
            f"{folder} holds files, but no {MANIFEST}: Weftline did not write them",
            "give an empty folder with --out",
            Place(str(folder)),
        )
    return manifest


def _read_manifest(folder: Path) -> Manifest | None:
    _refuse_links(folder, [MANIFEST])
    path = folder / MANIFEST
    if not path.exists():
        return None
    if path.stat().st_size > MAX_MANIFEST_BYTES:
        message = f"{path} has more than {MAX_MANIFEST_BYTES:,} bytes: it is no manifest of Weftline"
        hint = "give a folder that is empty or was written by Weftline"
        raise ArtifactError("artifact.manifest", message, hint, Place(str(path)))
    return read_manifest(path.read_bytes(), str(path))


def _check_places(folder: Path, artifacts: ArtifactSet, old: Manifest | None) -> None:
    """Refuse to write through links, over folders, or over files that no manifest names."""
    ours = _list_paths(old)
    new = frozenset(artifact.path for artifact in artifacts.artifacts)
    _refuse_links(folder, ours | new)
    for path in sorted(new):
        if (folder / path).is_dir() or (path not in ours and (folder / path).exists()):
            _refuse_foreign(folder / path)
    for path in sorted(_list_holders(new) - ours):
        if (folder / path).exists() and not (folder / path).is_dir():
            _refuse_foreign(folder / path)


def _is_same(folder: Path, artifacts: ArtifactSet, manifest: Manifest) -> bool:
    """Whether the very bytes of a set stand in a folder."""
    files = [(MANIFEST, write_manifest(manifest)), *((item.path, item.content) for item in artifacts.artifacts)]
    return all((folder / path).is_file() and (folder / path).read_bytes() == content for path, content in files)


def _check_rights(folder: Path, old: Manifest, new: Manifest) -> None:
    """Refuse before anything is done where folders of the old set could not be emptied, or folders of others moved."""
    ours = _list_paths(old)
    holders = _list_holders(ours | _list_paths(new))
    for path in (folder / name for name in (".", *sorted(holders), *_find_foreign(folder, ours, holders))):
        if _is_folder(path) and not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _stage(folder: Path, artifacts: ArtifactSet, manifest: Manifest) -> None:
    part = beside(folder, PART)
    part.mkdir()
    for artifact in artifacts.artifacts:
        target = part / artifact.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(artifact.content)
    (part / MANIFEST).write_bytes(write_manifest(manifest))
    if folder.exists():
        shutil.copymode(folder, part)
    # Flushed after all are written: the system then writes them together, many times quicker than one by one.
    for artifact in artifacts.artifacts:
        _flush(part / artifact.path)
    _flush(part / MANIFEST)
    _flush(part)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(folder: Path, *, is_first: bool) -> None:
    """Put the new set in the place of the old one, which then stands aside."""
    part, aside = beside(folder, PART), beside(folder, ASIDE)
    if is_first:
        part.rename(folder)
    else:
        part.rename(aside)
        if not _exchange(aside, folder):
            aside.rename(part)
            folder.rename(aside)
            part.rename(folder)
    _flush(folder.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where the system cannot (Linux, renameat2(2))."""
    at_cwd, exchange = -100, 2
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _clear(aside: Path, folder: Path) -> None:
    """Move to the folder what no manifest names, then remove the set that stands aside, its manifest last."""
    ours = _list_paths(_read_manifest(aside))
    holders = _list_holders(ours | _list_paths(_read_manifest(folder)))
    _refuse_links(aside, ours)
    for path in list(_find_foreign(aside, ours, holders)):
        _refuse_links(folder, [path])
        target = folder / path
        if target.exists():
            _refuse_foreign(aside / path)
        target.parent.mkdir(parents=True, exist_ok=True)
        (aside / path).rename(target)
    for path in sorted(ours):
        (aside / path).unlink(missing_ok=True)
    for path in sorted(holders, reverse=True):  # what stands in a folder comes before the folder
        if (aside / path).is_dir():
            (aside / path).rmdir()
    (aside / MANIFEST).unlink(missing_ok=True)
    aside.rmdir()


def _list_paths(manifest: Manifest | None) -> frozenset[str]:
    return frozenset() if manifest is None else frozenset(entry.path for entry in manifest.files)


def _list_holders(paths: Iterable[str]) -> frozenset[str]:
    """List the folders that hold one of the paths, each below the same place."""
    return frozenset(str(above) for path in paths for above in PurePosixPath(path).parents[:-1])


def _find_foreign(folder: Path, ours: frozenset[str], holders: frozenset[str], at: str = "") -> Iterator[str]:
    """Find what is not ours; a folder that holds nothing of ours is one thing."""
    for path in sorted(f"{at}{place.name}" for place in (folder / at).iterdir()):
        if path in holders and _is_folder(folder / path):
            yield from _find_foreign(folder, ours, holders, f"{path}/")
        elif (path not in ours and path != MANIFEST) or _is_folder(folder / path):
            yield path


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _refuse_links(folder: Path, paths: Iterable[str]) -> None:
    """Refuse paths below a folder that are symbolic links or lead through them."""
    given = frozenset(paths)
    for path in sorted(given | _list_holders(given)):
        place = folder / path
        if place.is_symlink():
            raise ArtifactError(
                "artifact.symlink",
                f"{place} is a symbolic link, and files are not written through links",
                "remove the link, or give another folder with --out",
                Place(str(place)),
            )


def _refuse_foreign(place: Path) -> None:
    raise ArtifactError(
        "artifact.foreign-file",
        f"{place} stands there, and Weftline did not write it",
        "move it away, or give another folder with --out",
        Place(str(place)),
    )
