"""The parts catalogue: TOML data that ships with the package, or a folder of the same files."""

from __future__ import annotations

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from weftline.errors import ArtifactError, Place
from weftline.model.parts import Catalog

KINDS = ("switches", "nics", "hosts", "cables", "defaults")
SOFT_KINDS = ("asics", "platforms")
"""What a folder of one's own may leave to the shipped catalogue: chips and software, no parts to buy."""


def load_catalog(folder: Path | None = None) -> Catalog:
    """Read the parts catalogue, from a folder where one is given.

    Raises:
        ArtifactError: ``artifact.catalog`` when a file is missing, is no TOML, or has a part that is not whole.
    """
    shipped: Traversable = resources.files("weftline").joinpath("catalog")
    root: Traversable = folder or shipped
    data = {kind: _read_file(root.joinpath(f"{kind}.toml")) for kind in KINDS}
    for kind in SOFT_KINDS:
        own = root.joinpath(f"{kind}.toml")
        data[kind] = _read_file(own if own.is_file() else shipped.joinpath(f"{kind}.toml"))
    try:
        return Catalog.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        message = f"the catalogue is not whole: {where}: {first['msg']}"
        hint = "compare with the shipped catalogue"
        raise ArtifactError("artifact.catalog", message, hint, Place(str(root))) from error


def _read_file(file: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{file.name} of the catalogue cannot be read: {str(error)[:200]}"
        hint = "a catalogue is a folder of " + ", ".join(f"{kind}.toml" for kind in KINDS)
        raise ArtifactError("artifact.catalog", message, hint, Place(str(file))) from error
