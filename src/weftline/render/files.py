"""From intents to one ordered set of files, with every path checked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weftline.errors import ArtifactError
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import DeviceIntent
from weftline.model.vendor import Vendor
from weftline.render.manifest import PATH

_DEVICE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")


def render(intents: Sequence[DeviceIntent], vendors: Sequence[Vendor], *, of: str) -> ArtifactSet:
    """Render the intents with each vendor; ``of`` is the digest of the routes that they carry.

    Raises:
        ArtifactError: ``artifact.device-name`` when a name cannot be part of a path or of a device's file,
            ``artifact.path`` when two files would have one path.
    """
    for intent in intents:
        for name in (intent.device, intent.fabric):
            if not _DEVICE.fullmatch(name):
                raise ArtifactError(
                    "artifact.device-name",
                    f"{name[:80]!r} cannot stand in a file: a name has letters, digits, '.', '_' and '-'",
                    "rename the device",
                )
    given = tuple(intents)
    artifacts = sorted((a for vendor in vendors for a in vendor.render(given)), key=lambda artifact: artifact.path)
    _check_paths(artifacts)
    notes = tuple(dict.fromkeys(note for intent in given for note in intent.notes))
    risks = tuple(dict.fromkeys(risk for intent in given for risk in intent.risks))
    return ArtifactSet(of=of, artifacts=tuple(artifacts), notes=(*notes, *risks))


def _check_paths(artifacts: Sequence[Artifact]) -> None:
    seen: set[str] = set()
    for artifact in artifacts:
        if not PATH.fullmatch(artifact.path) or artifact.path in seen:
            raise ArtifactError(
                "artifact.path", f"{artifact.path[:80]!r} is there twice, or no plain path", "rename the device"
            )
        seen.add(artifact.path)
