"""Exports of a subnet for managers that route by engines of their own: what they need, and what nobody proves then."""

from __future__ import annotations

from dataclasses import replace

from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.intent import DeviceIntent
from weftline.model.observed import ObservedConfig
from weftline.model.vendor import Vendor
from weftline.vendors.opensm.exports import nvidia, upstream

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


def observe(_artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Say nothing: what an engine of its own makes of an export is not in its files."""
    return ()


OPENSM_EXPORT = Vendor(name=NAME, render=render, observe=observe)

__all__ = ["OPENSM_EXPORT"]
