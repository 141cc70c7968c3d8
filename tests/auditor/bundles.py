"""Bundles of certificates for tests, the auditor run as its users run it, and bundles that somebody tampered with."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from weftline.app.certify import Certified, certify

ROOT = Path(__file__).parents[2]
AUDITOR = ROOT / "auditor" / "weftline_audit.py"
ROUTES_AUDITOR = ROOT / "auditor" / "weftline_audit_routes.py"
Files = dict[str, bytes]
"""Path below the bundle to content, the manifest left out."""


@dataclass(frozen=True)
class Audited:
    """What the auditor said."""

    status: int
    verdict: dict[str, Any]
    stderr: str

    @property
    def words(self) -> str:
        """Say why it rejects, in one line."""
        claims = cast("dict[str, str]", self.verdict["claims"])
        return "; ".join([str(self.verdict.get("reason", "")), *(f"{claim} {claims[claim]}" for claim in claims)])


def audit(folder: Path, *options: str) -> Audited:
    """Run the auditor alone: no site, no user, no environment."""
    command = [sys.executable, "-I", "-S", str(AUDITOR), str(folder), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={}, check=False, timeout=300)
    assert done.stdout.startswith("{"), done.stderr
    return Audited(done.returncode, json.loads(done.stdout), done.stderr)


def audit_routes(folder: Path, *options: str) -> Audited:
    """Run the auditor of derived tables alone."""
    command = [sys.executable, "-I", "-S", str(ROUTES_AUDITOR), str(folder), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={}, check=False, timeout=300)
    assert done.stdout.startswith("{"), done.stderr
    return Audited(done.returncode, json.loads(done.stdout), done.stderr)


def make_bundle(folder: Path, text: str, **beside: str) -> Certified:
    """Write a declaration, with files that it names beside it, and its bundle."""
    for name, content in beside.items():
        (folder / name.replace("_", ".")).write_text(content)
    place = folder / "fabric.yaml"
    place.write_text(text)
    return certify(place, folder / "bundle")


def read_files(folder: Path) -> Files:
    """Read every file of a bundle but the manifest."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def sign(files: Files) -> bytes:
    """Write a manifest in which every digest is right, as somebody would who knows the format."""
    entries = [
        {"path": path, "digest": hashlib.sha256(content).hexdigest(), "size": len(content), "device": "", "vendor": ""}
        for path, content in sorted(files.items())
    ]
    return json.dumps({"schema": "weftline/manifest/1", "files": entries}).encode()


def write_files(folder: Path, files: Files, manifest: bytes | None = None) -> Path:
    """Write a bundle; without a manifest a right one is made."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "manifest.json").write_bytes(sign(files) if manifest is None else manifest)
    return folder


def edit(files: Files, path: str, old: str, new: str, count: int = 1) -> Files:
    """Change text that is there."""
    text = files[path].decode()
    assert old in text, (path, old)
    return {**files, path: text.replace(old, new, count).encode()}
