"""Render: intents become files, written all or not at all, with a manifest of their digests."""

from __future__ import annotations

from weftline.render.capabilities import check_needs
from weftline.render.check import check_files
from weftline.render.files import render
from weftline.render.manifest import MANIFEST, Manifest, ManifestEntry, read_manifest, write_manifest
from weftline.render.reading import read
from weftline.render.writing import write

__all__ = [
    "MANIFEST",
    "Manifest",
    "ManifestEntry",
    "check_files",
    "check_needs",
    "read",
    "read_manifest",
    "render",
    "write",
    "write_manifest",
]
