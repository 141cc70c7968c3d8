"""The first steps: a starter declaration, and the schema that editors complete from."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from weftline.declare import spec_schema, starter
from weftline.errors import ArtifactError, Place


def write_starter(path: Path, *, force: bool) -> Path:
    """Write the commented starter declaration, whole or not at all.

    Raises:
        ArtifactError: ``artifact.exists`` when the file exists and ``force`` is not set, ``artifact.unwritable``.
    """
    place = Place(str(path))
    if path.exists() and not force:
        raise ArtifactError("artifact.exists", f"{path} exists", "name another file, or give --force", place)
    write_text(path, starter())
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file by way of a temporary one beside it, so that it is never half there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        hint = "check the folder, its permissions and the space left, or give --out"
        raise ArtifactError("artifact.unwritable", message, hint, Place(str(path))) from error


def show_schema() -> dict[str, object]:
    """Show the JSON Schema of a declaration."""
    return spec_schema()
