"""Lint: configuration that somebody wrote, judged rule by rule, each with its place, its right value and its case."""

from __future__ import annotations

from weftline.lint.buffers import RULES as BUFFERS
from weftline.lint.changes import RULES as CHANGES
from weftline.lint.classes import RULES as CLASSES
from weftline.lint.drift import RULES as DRIFT
from weftline.lint.edges import RULES as EDGES
from weftline.lint.evidence import RULES as EVIDENCE
from weftline.lint.files import RULES as FILES
from weftline.lint.frames import RULES as FRAMES
from weftline.lint.hosts import RULES as HOSTS
from weftline.lint.links import RULES as LINKS
from weftline.lint.networks import RULES as NETWORKS
from weftline.lint.paths import RULES as PATHS
from weftline.lint.pauses import RULES as PAUSES
from weftline.lint.pools import RULES as POOLS
from weftline.lint.queues import RULES as QUEUES
from weftline.lint.rule import LintSource, Rule, judge_rule
from weftline.lint.sessions import RULES as SESSIONS
from weftline.lint.tenancy import RULES as TENANCY
from weftline.model.finding import Finding

RULES: tuple[Rule, ...] = (
    *CLASSES, *PAUSES, *BUFFERS, *POOLS, *QUEUES, *FRAMES, *LINKS, *HOSTS, *PATHS, *SESSIONS, *TENANCY, *EDGES,
    *NETWORKS, *DRIFT, *CHANGES, *EVIDENCE, *FILES,
)  # fmt: skip
SEVERITIES = ("critical", "warning", "note")


def lint_devices(source: LintSource, rules: tuple[Rule, ...] = RULES) -> tuple[Finding, ...]:
    """Judge devices by every rule; the worst findings first, then by rule, device and place."""
    found = [finding for rule in rules for finding in judge_rule(rule, source)]
    return tuple(sorted(found, key=lambda item: (SEVERITIES.index(item.severity), item.rule, item.subject)))


__all__ = ["RULES", "LintSource", "Rule", "lint_devices"]
