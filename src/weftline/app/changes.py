"""Changes from what runs: the running configuration of each device beside the files that were rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from weftline.app.files import is_folder, read_bytes
from weftline.errors import ArtifactError, Place
from weftline.model.artifact import ArtifactSet
from weftline.model.vendor import Vendor

MAX_BYTES = 64 * 2**20
NAMES = ("{}/config_db.json", "switches/{}/config_db.json", "{}.json")
"""Where the running configuration of a device may stand in a folder."""


def change_from(artifacts: ArtifactSet, vendors: Sequence[Vendor], folder: Path) -> ArtifactSet:
    """Put changes from what runs in the place of changes from nothing; a device that is not there keeps its own.

    Raises:
        ArtifactError: ``artifact.running-config`` when the folder has nothing of any device, or what cannot be read.
    """
    able = [vendor for vendor in vendors if vendor.change is not None]
    devices = {one.device for one in artifacts.artifacts if one.vendor in {vendor.name for vendor in able}}
    running = _find_running(sorted(devices), folder)
    changed = {
        one.path: one for vendor in able if vendor.change is not None for one in vendor.change(artifacts, running)
    }
    missing = sorted(devices - running.keys())
    notes = artifacts.notes
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        notes = (*notes, f"nothing said what runs on {missing[0]}{more}: the change there is from nothing")
    kept = tuple(changed.get(one.path, one) for one in artifacts.artifacts)
    return replace(artifacts, artifacts=kept, notes=notes)


def _find_running(devices: Sequence[str], folder: Path) -> Mapping[str, tuple[str, bytes]]:
    found: dict[str, tuple[str, bytes]] = {}
    for device in devices if is_folder(folder) else ():
        path = next((path for name in NAMES if (path := folder / name.format(device)).is_file()), None)
        if path is not None:
            hint = "a configuration of one switch is far smaller"
            found[device] = (str(path), read_bytes(path, MAX_BYTES, hint))
    if not found:
        message = f"{folder} holds the running configuration of no switch"
        hint = "put config_db.json of each switch into a folder of its name"
        raise ArtifactError("artifact.running-config", message, hint, Place(str(folder)))
    return found
