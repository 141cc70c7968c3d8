"""The workspace: the folder beside a declaration where everything made from it stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.files import find, is_folder
from weftline.errors import ArtifactError, Place

FOLDER = ".weftline"
SUFFIXES = (".yaml", ".yml")
"""How the name of a declaration ends, where the name has to tell."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A declaration and the folder that holds what was made from it."""

    declaration: Path
    folder: Path


def open_place(place: Path) -> Workspace:
    """Find the declaration that a PLACE means: the file itself, or the workspace folder beside it.

    Raises:
        ArtifactError: ``artifact.no-place`` when nothing stands there, ``artifact.unreadable`` when we may not look.
    """
    if not is_folder(place):
        if find(place) is None:
            hint = "give a declaration file; weftline init writes one to start from"
            raise ArtifactError("artifact.no-place", f"{place} does not exist", hint, Place(str(place)))
        return Workspace(place, place.parent / FOLDER / place.stem)
    folder = place.resolve()
    if folder.parent.name == FOLDER:
        for suffix in SUFFIXES:
            declaration = folder.parent.parent / f"{folder.name}{suffix}"
            if declaration.is_file():
                return Workspace(declaration, place)
    message = f"{place} is a folder, but no workspace of a declaration"
    hint = f"a workspace is {FOLDER}/NAME beside NAME.yaml; give that folder or the declaration file"
    raise ArtifactError("artifact.no-place", message, hint, Place(str(place)))
