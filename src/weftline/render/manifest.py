"""The manifest: what was written, of what, and the digest of each file."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, cast

from weftline.errors import ArtifactError, Place
from weftline.model.artifact import ArtifactSet

SCHEMA = "weftline/manifest/1"
MANIFEST = "manifest.json"
PATH = re.compile(r"^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,62}/){0,7}[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
"""The path of a file below the folder: nothing that leaves it, or that a shell could mistake."""


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file: its path below the folder, its SHA-256 in hex, its size in bytes, and whose it is."""

    path: str
    digest: str
    size: int
    device: str
    vendor: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All files of one set."""

    of: str
    forced: bool
    """Whether the files were written although a required claim was not proved."""
    notes: tuple[str, ...]
    files: tuple[ManifestEntry, ...]


def make_manifest(artifacts: ArtifactSet, *, forced: bool) -> Manifest:
    """Make the manifest of a set."""
    files = tuple(
        ManifestEntry(item.path, item.digest, len(item.content), item.device, item.vendor)
        for item in artifacts.artifacts
    )
    return Manifest(of=artifacts.of, forced=forced, notes=artifacts.notes, files=files)


def write_manifest(manifest: Manifest) -> bytes:
    """Write a manifest as JSON, the same bytes for the same set."""
    return (json.dumps({"schema": SCHEMA, **asdict(manifest)}, indent=2) + "\n").encode()


def read_manifest(content: bytes, file: str) -> Manifest:
    """Read a manifest.

    Raises:
        ArtifactError: ``artifact.manifest`` when it is none, or names a file outside its folder.
    """
    try:
        return _parse(cast("dict[str, Any]", json.loads(content)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArtifactError(
            "artifact.manifest",
            f"{file} is no manifest of Weftline",
            "give a folder that is empty or was written by Weftline",
            Place(file),
        ) from error


def _parse(data: dict[str, Any]) -> Manifest:
    if data["schema"] != SCHEMA:
        raise ValueError(data["schema"])
    files = tuple(
        ManifestEntry(str(i["path"]), str(i["digest"]), int(i["size"]), str(i["device"]), str(i["vendor"]))
        for i in data["files"]
    )
    if not all(PATH.fullmatch(entry.path) for entry in files):
        raise ValueError("path")
    return Manifest(str(data["of"]), bool(data["forced"]), tuple(str(note) for note in data["notes"]), files)
