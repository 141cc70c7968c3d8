"""Reading a written set back, each file held against its digest."""

from __future__ import annotations

from pathlib import Path

from weftline.errors import ArtifactError, Place, Problem
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.render.manifest import MANIFEST, read_manifest
from weftline.render.writing import ASIDE, beside


def read(folder: Path) -> tuple[ArtifactSet, tuple[Problem, ...]]:
    """Read what a manifest names; a file that is gone or differs from its digest is a problem, and is read still.

    Where a run was killed while no folder stood there, the set that it had put aside is read.

    Raises:
        ArtifactError: ``artifact.manifest`` when the folder has no readable manifest.
    """
    if folder.name and not folder.exists() and beside(folder, ASIDE).is_dir():
        folder = beside(folder, ASIDE)
    path = folder / MANIFEST
    try:
        manifest = read_manifest(path.read_bytes(), str(path))
    except OSError as error:
        raise ArtifactError(
            "artifact.manifest",
            f"{path} cannot be read: {error.strerror}",
            "give a folder that was written by Weftline",
            Place(str(path)),
        ) from error
    artifacts: list[Artifact] = []
    problems: list[Problem] = []
    for entry in manifest.files:
        where = Place(str(folder / entry.path))
        try:
            content = (folder / entry.path).read_bytes()
            artifact = Artifact(entry.path, content, entry.device, entry.vendor)
        except OSError as error:
            problems.append(Problem("artifact.missing", f"{where} cannot be read: {error.strerror}", "", where))
            continue
        artifacts.append(artifact)
        if artifact.digest != entry.digest:
            message = f"{where} is not what was written: its digest differs from the manifest"
            problems.append(Problem("artifact.changed", message, "render again, or keep the change elsewhere", where))
    return ArtifactSet(of=manifest.of, artifacts=tuple(artifacts), notes=manifest.notes), tuple(problems)
