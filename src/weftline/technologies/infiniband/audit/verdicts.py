"""Small words that all topics share: severities of problems, verdicts of findings, how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weftline.errors import Problem
from weftline.model.finding import Finding, FindingSeverity, TopicVerdict, Unjudged

_SEVERITY: dict[str, FindingSeverity] = {"error": "critical", "warning": "warning", "note": "note"}


def from_problem(problem: Problem, subject: str = "", controls: tuple[str, ...] = ()) -> Finding:
    """Turn what is wrong with a line of a file into a finding; its code is the rule."""
    return Finding(
        rule=problem.code,
        severity=_SEVERITY[problem.severity],
        subject=subject,
        message=problem.message,
        next_step=problem.hint,
        where=(problem.where,) if problem.where else (),
        controls=controls,
    )


def settle(findings: Sequence[Finding], unjudged: Sequence[Unjudged] = ()) -> TopicVerdict:
    """Bad where a finding is more than a note, unknown where a question is open, good otherwise."""
    if any(finding.severity != "note" for finding in findings):
        return "bad"
    return "unknown" if unjudged else "good"


def count(number: int, one: str, many: str = "") -> str:
    """Write ``1 link`` or ``3 links``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def join(names: Iterable[str], most: int = 3) -> str:
    """Write the first few names, and how many more there are."""
    listed = list(names)
    rest = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {rest:,} more" if rest > 0 else "")
