"""Rules on files: what could not be read, dangles or is out of range, and what nobody here knows."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.lint.rule import Hit, LintSource, Rule

BROKEN = frozenset({"artifact.not-json", "artifact.config-yaml", "artifact.dump-binary"})
"""The file is of its form and broken; a whole file of another kind, as of another database, is none of its faults."""


def _judge_problems(source: LintSource) -> Iterator[Hit]:
    for device in source.devices:
        for problem in device.problems:
            where = problem.where or Place(device.files[0] if device.files else device.name)
            severity = "note" if problem.severity == "note" else None
            if not device.covers and problem.code in BROKEN:
                severity = "critical"  # nothing of it was read, so that no rule can speak, and silence is no approval
            right = problem.hint or "the value that was meant"
            yield Hit(device.name, problem.message, where, right, severity=severity)


def _judge_unread(source: LintSource) -> Iterator[Hit]:
    for device in source.devices:
        if device.unread:
            names = ", ".join(f"{name} ({count:,})" for name, count in device.unread[:8])
            more = f" and {len(device.unread) - 8:,} more" if len(device.unread) > 8 else ""
            words = f"not judged, since nobody here reads them: {names}{more}"
            yield Hit(device.name, words, Place(device.files[0] if device.files else device.name), "")


RULES = (
    Rule("files.faulty", "warning", _judge_problems),
    Rule("files.not-judged", "note", _judge_unread),
)
