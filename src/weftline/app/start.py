"""The first steps: a starter declaration, and the schema that editors complete from."""

from __future__ import annotations

from pathlib import Path

from weftline.app.files import find, write_text
from weftline.declare import STARTERS, spec_schema, starter
from weftline.errors import ArtifactError, Place, UsageError


def write_starter(path: Path, kind: str, *, force: bool) -> Path:
    """Write the commented starter declaration of a kind of topology, whole or not at all.

    Raises:
        UsageError: ``usage.choice`` when there is no starter of that kind.
        ArtifactError: ``artifact.exists`` when the file exists and ``force`` is not set, ``artifact.unwritable``.
    """
    if kind not in STARTERS:
        raise UsageError("usage.choice", f"--kind {kind[:40]!r} is not known", f"choose {', '.join(STARTERS)}")
    if find(path) is not None and not force:
        hint = "name another file, or give --force"
        raise ArtifactError("artifact.exists", f"{path} exists", hint, Place(str(path)))
    write_text(path, starter(kind))
    return path


def show_schema() -> dict[str, object]:
    """Show the JSON Schema of a declaration."""
    return spec_schema()
