"""Exports of a subnet for managers that route by engines of their own: what they need, and what nobody proves then."""

from __future__ import annotations

from dataclasses import replace

from weftline.errors import Problem
from weftline.formats.lines import Reading
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import DeviceIntent
from weftline.model.observed import ObservedConfig
from weftline.model.vendor import Vendor
from weftline.vendors.opensm.exports import nvidia, upstream
from weftline.vendors.opensm.reading import read_partitions

NAME = "opensm-export"


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the exports of each subnet."""
    found: list[Artifact] = []
    for intent in intents:
        if intent.role == "manager" and intent.export is not None:
            plain = replace(intent, service=intent.export.service)
            for folder, files in (("upstream", upstream.list_files(plain)), ("nvidia", nvidia.list_files(plain))):
                found += [
                    Artifact(f"opensm/{intent.device}/exports/{folder}/{name}", text.encode(), intent.device, NAME)
                    for name, text in sorted(files.items())
                ]
    return tuple(found)


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the partitions of each export, which must be those of the proved set; routes of others are in no file."""
    found: list[ObservedConfig] = []
    for artifact in artifacts.artifacts:
        if artifact.vendor == NAME and artifact.path.endswith("/partitions.conf"):
            problems: list[Problem] = []
            facts = read_partitions(artifact.content, Reading(artifact.path, problems))
            found.append(ObservedConfig(artifact.device, NAME, (artifact.path,), tuple(facts), tuple(problems)))
    return tuple(found)


OPENSM_EXPORT = Vendor(name=NAME, render=render, observe=observe)

__all__ = ["OPENSM_EXPORT"]
