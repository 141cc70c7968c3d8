"""Rendered configurations of EOS read back: the facts that they say, by the same reading as files of anybody."""

from __future__ import annotations

from dataclasses import replace

from weftline.errors import Problem
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.observed import Fact, ObservedConfig, ObservedDevice
from weftline.render.facts import list_said
from weftline.vendors.eos.configured import configure
from weftline.vendors.eos.file import NAME
from weftline.vendors.eos.writing import ACTIONS, unsaid

_WORDS = {word: action for action, word in ACTIONS.items()}


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the file of each switch; a kind of line that Weftline does not write is a problem."""
    return tuple(_observe(artifact) for artifact in artifacts.artifacts if artifact.vendor == NAME)


def _observe(artifact: Artifact) -> ObservedConfig:
    (device,) = configure([(artifact.path, artifact.content)])
    facts = tuple(_name_action(fact) for fact in list_said(device) if not unsaid(fact.path))
    problems = (
        *(replace(problem, severity="error") for problem in device.problems),
        *_list_unknown(device, artifact.device),
    )
    return ObservedConfig(artifact.device, NAME, (artifact.path,), facts, problems)


def _name_action(fact: Fact) -> Fact:
    if fact.path != "queues.watchdog.action":
        return fact
    return replace(fact, value=_WORDS.get(str(fact.value), fact.value))


def _list_unknown(device: ObservedDevice, name: str) -> list[Problem]:
    where = device.ports[0].where if device.ports else None
    found = [
        Problem("artifact.unreadable-line", f"{count} lines {kind!r} are not known here", where=where)
        for kind, count in device.unread
    ]
    if device.name != name:
        found.append(Problem("artifact.unexpected", f"hostname {device.name[:60]!r} is not {name}", where=where))
    tunnel = device.tunnel
    if tunnel is not None and (tunnel.dscp_out is None or tunnel.dscp_in is None):
        message = "the tunnel does not carry the DSCP of what is inside"
        found.append(Problem("artifact.unexpected", message, where=tunnel.where))
    return found
