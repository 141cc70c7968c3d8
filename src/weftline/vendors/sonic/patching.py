"""The change to one switch as a patch for ``config apply-patch``: from nothing, or from what runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from weftline.errors import ArtifactError
from weftline.formats.config_db import WrittenTables, read_tables
from weftline.formats.json_patch import make_patch, write_patch
from weftline.formats.lines import Reading
from weftline.model.artifact import Artifact, ArtifactSet

FILE = "patch.json"
CONFIG = "config_db.json"


def make_change(artifact: Artifact, running: WrittenTables | None = None) -> Artifact:
    """Make the patch that goes with the file of a switch."""
    wanted = cast("WrittenTables", json.loads(artifact.content))
    content = write_patch(make_patch({} if running is None else running, wanted))
    path = artifact.path.removesuffix(CONFIG) + FILE
    return Artifact(path=path, content=content, device=artifact.device, vendor=artifact.vendor)


def change_from(artifacts: ArtifactSet, running: Mapping[str, tuple[str, bytes]]) -> tuple[Artifact, ...]:
    """Make the patches of switches from what runs on them: (file name, content) by device.

    Raises:
        ArtifactError: ``artifact.running-config`` when a running configuration cannot be read whole.
    """
    return tuple(
        make_change(one, _read(*running[one.device]))
        for one in artifacts.artifacts
        if one.path.endswith(f"/{CONFIG}") and one.device in running
    )


def _read(name: str, content: bytes) -> WrittenTables:
    reading = Reading(name)
    tables = read_tables(content, reading)
    if reading.problems:
        first = reading.problems[0]
        message = f"{name} cannot be compared: {first.message}"
        hint = "give the file that show runningconfiguration all prints, or /etc/sonic/config_db.json"
        raise ArtifactError("artifact.running-config", message, hint, first.where, tuple(reading.problems))
    return tables


def judge_change(artifact: Artifact, config: Artifact | None, reading: Reading) -> None:
    """Hold a patch from nothing against the file that it comes to."""
    if config is None or write_patch(make_patch({}, _load(config))) != artifact.content:
        reading.report("artifact.unexpected", f"the patch does not come to {CONFIG} beside it", reading.place())


def _load(config: Artifact) -> WrittenTables:
    try:
        return cast("WrittenTables", json.loads(config.content))
    except (ValueError, RecursionError):
        return {}
