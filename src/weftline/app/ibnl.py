"""The folder of IBNL files, which say what is inside the systems of an IBDM topology."""

from __future__ import annotations

import os
from pathlib import Path

from weftline.adopt import Systems, collect_systems
from weftline.app.files import is_folder, read_bytes
from weftline.errors import ArtifactError, Place
from weftline.formats import ibnl

VARIABLE = "WEFTLINE_IBNL"
PLACES = ("lib/*/ibdm*/ibnl", "lib64/ibdm*/ibnl", "lib/ibdm*/ibnl", "local/lib/ibdm*/ibnl")
"""Where packages of ibutils put them, below /usr."""
MAX_FILES = 1000


def read_systems(folder: Path | None) -> Systems:
    """Read the IBNL files of a folder: the one given, that of ``WEFTLINE_IBNL``, else where ibutils puts them.

    Without any, no type of system is known. A file that is broken is a problem of the result.

    Raises:
        ArtifactError: ``artifact.no-place`` when the folder that was asked for does not exist or holds no such file.
    """
    named = folder or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    usual = (path for shape in PLACES for path in sorted(Path("/usr").glob(shape)) if path.is_dir())
    place = named or next(usual, None)
    if place is None:
        return Systems()
    files = sorted(place.glob("*.ibnl"))[:MAX_FILES] if is_folder(place) else []
    if not files and named is not None:
        message = f"{place} is no folder of IBNL files"
        hint = f"give the folder with --ibnl or {VARIABLE}; Debian's libibdm1 has one under /usr/lib/*/ibdm*/ibnl"
        raise ArtifactError("artifact.no-place", message, hint, Place(str(place)))
    hint = "an IBNL file describes one kind of system"
    netlists = (ibnl.parse(read_bytes(file, ibnl.MAX_BYTES, hint), str(file)) for file in files)
    return collect_systems(netlists, str(place))
