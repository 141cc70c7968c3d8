"""Findings: what an audit holds against a fabric, what it found in order, and what it could not judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weftline.errors import Place

FindingSeverity = Literal["critical", "warning", "note"]
TopicVerdict = Literal["good", "bad", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that should be otherwise."""

    rule: str
    """``topic.kebab-words``, stable; ``weftline explain`` knows it."""
    severity: FindingSeverity
    subject: str
    """The port, node, partition or option, as people say it."""
    message: str
    """What is so, with its figures."""
    next_step: str
    """What to do about it."""
    where: tuple[Place, ...] = ()
    """The places in the files that say so."""
    controls: tuple[str, ...] = ()
    """Ids of the controls that it breaks, as ``TEN-02``."""
    case: str = ""
    """The documented case behind the rule: where people met it."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Something that the files given cannot answer."""

    question: str
    needs: str
    """The file, and the command that writes it."""
    controls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """One question of an audit and its answer; what could not be judged is unknown, never good."""

    key: str
    title: str
    verdict: TopicVerdict
    summary: str
    """One sentence for a person in a hurry."""
    findings: tuple[Finding, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    """Name and value, as text."""
    good_controls: tuple[str, ...] = ()
    """Ids of the controls that were judged and hold."""


@dataclass(frozen=True, slots=True)
class Control:
    """The verdict on one control."""

    key: str
    text: str
    verdict: TopicVerdict
    reason: str
