"""Rendered files of NVUE read back: the facts that they say, by the same reading as files of anybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weftline.errors import Problem
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.observed import Fact, ObservedConfig, ObservedDevice
from weftline.render.facts import list_said
from weftline.vendors.nvue.configured import configure
from weftline.vendors.nvue.file import NAME
from weftline.vendors.nvue.writing import HASH_KEYS, unsaid

_WORDS = {key: word for word, key in HASH_KEYS.items()}


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the file of each switch; a setting that Weftline does not write is a problem."""
    return tuple(_observe(artifact) for artifact in artifacts.artifacts if artifact.vendor == NAME)


def _observe(artifact: Artifact) -> ObservedConfig:
    (device,) = configure([(artifact.path, artifact.content)])
    where = device.ports[0].where if device.ports else None
    unknown = [
        Problem("artifact.unreadable-line", f"{count} settings {kind!r} are not known here", where=where)
        for kind, count in device.unread
    ]
    if device.name != artifact.device:
        message = f"hostname {device.name[:60]!r} is not {artifact.device}"
        unknown.append(Problem("artifact.unexpected", message, where=where))
    tunnel = device.tunnel
    if tunnel is not None and (tunnel.dscp_out is None or tunnel.dscp_in is None):
        message = "the tunnel does not carry the DSCP of what is inside"
        unknown.append(Problem("artifact.unexpected", message, where=tunnel.where))
    facts = tuple(fact for fact in (*list_said(device), *_list_hashing(device)) if not unsaid(fact.path))
    problems = (*(replace(problem, severity="error") for problem in device.problems), *unknown)
    return ObservedConfig(artifact.device, NAME, (artifact.path,), facts, problems)


def _list_hashing(device: ObservedDevice) -> Iterator[Fact]:
    if device.hash_seed is not None:
        yield Fact("hashing.seed", device.hash_seed.value, device.hash_seed.where)
    if device.hash_fields is not None:
        words = tuple(_WORDS.get(key, key) for key in device.hash_fields.value)
        yield Fact("hashing.fields", words, device.hash_fields.where)
    if device.adaptive_routing is not None:
        yield Fact("hashing.is_adaptive", device.adaptive_routing.value, device.adaptive_routing.where)
