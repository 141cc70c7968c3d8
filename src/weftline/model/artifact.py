"""Artifacts: files to be written, with the digest of each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Artifact:
    """One file: a path relative to the output folder, its bytes, and which device and vendor it is for."""

    path: str
    content: bytes
    device: str
    vendor: str

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in hex."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class ArtifactSet:
    """All files of one design, ordered by path."""

    of: str
    """Digest of the routes that they carry."""
    artifacts: tuple[Artifact, ...]
    notes: tuple[str, ...] = ()
    """What a person who deploys the files must know."""
