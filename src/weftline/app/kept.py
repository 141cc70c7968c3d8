"""What `lab keep` writes down: which links the tables that run were made without, so that the next command knows."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from weftline.errors import ArtifactError, Place
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric

FILE = "keep.json"
MAX_BYTES = 64 * 2**20


class Kept(BaseModel):
    """The links without which the tables were made; names as people say them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_name: Literal["weftline/lab-kept/1"] = "weftline/lab-kept/1"
    of: str
    """Digest of the routes that are declared."""
    stage: Literal["sending", "running"]
    """``sending``: the file was exchanged or about to be, and nobody has read back yet that it runs."""
    lost: tuple[str, ...] = ()
    """Ports whose link carries nothing, one of each link."""
    wrong: tuple[str, ...] = ()
    """Ports behind which something else stands than declared."""
    before_lost: tuple[str, ...] = ()
    before_wrong: tuple[str, ...] = ()
    """What the tables before a change that is on its way were made without."""


def read_kept(folder: Path, of: str) -> Kept | None:
    """Read what was kept of a lab; None where nothing was, or it is of another declaration."""
    with contextlib.suppress(OSError, ValidationError):
        path = folder / FILE
        if path.stat().st_size <= MAX_BYTES:
            kept = Kept.model_validate_json(path.read_bytes())
            return kept if kept.of == of else None
    return None


def write_kept(folder: Path, kept: Kept) -> None:
    """Write the file whole or not at all.

    Raises:
        ArtifactError: ``artifact.unwritable``.
    """
    aside = folder / f".{FILE}.part"
    try:
        aside.write_text(kept.model_dump_json(indent=2) + "\n", encoding="utf-8")
        aside.replace(folder / FILE)
    except OSError as error:
        path = folder / FILE
        message = f"{path} cannot be written: {error.strerror or error}"
        raise ArtifactError(
            "artifact.unwritable", message, "check the space left and the permissions", Place(str(path))
        ) from error


def name_ports(fabric: Fabric, ports: I32) -> tuple[str, ...]:
    """Name ports."""
    return tuple(fabric.port_name(int(port)) for port in ports)


def find_ports(fabric: Fabric, names: tuple[str, ...]) -> I32:
    """Find ports by their names; names that no port has any more are left out."""
    wanted = set(names)
    nodes = {name.rpartition("/")[0] for name in wanted}
    found = [
        port
        for node, name in enumerate(fabric.node_name)
        if name in nodes
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        if fabric.port_name(port) in wanted
    ]
    return np.array(sorted(found), dtype=np.int32)
