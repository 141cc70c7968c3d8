"""Files of a vendor read back device by device, each by the reader for its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from weftline.errors import Problem
from weftline.formats.lines import Reading
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.observed import Fact, ObservedConfig

Reader: TypeAlias = Callable[[bytes, Reading], list[Fact]]
"""Returns what a file says, and reports what is wrong with it."""


def observe_files(artifacts: ArtifactSet, vendor: str, readers: Mapping[str, Reader]) -> tuple[ObservedConfig, ...]:
    """Read the files of one vendor by their names; a file that no reader is named for is a problem.

    Files that several devices share belong to the device without a name.
    """
    devices: dict[str, list[Artifact]] = {}
    for artifact in artifacts.artifacts:
        if artifact.vendor == vendor:
            devices.setdefault(artifact.device, []).append(artifact)
    return tuple(_observe_device(device, vendor, files, readers) for device, files in devices.items())


def _observe_device(device: str, vendor: str, files: list[Artifact], readers: Mapping[str, Reader]) -> ObservedConfig:
    facts: list[Fact] = []
    problems: list[Problem] = []
    for artifact in files:
        reading = Reading(artifact.path, problems)
        reader = readers.get(artifact.path.rsplit("/", 1)[-1])
        if reader is None:
            reading.report("artifact.unknown-file", "no file of this name is known", reading.place())
        else:
            facts.extend(reader(artifact.content, reading))
    return ObservedConfig(device, vendor, tuple(file.path for file in files), tuple(facts), tuple(problems))
