"""The rules by which an InfiniBand fabric that exists is judged from its dumps, a topic each."""

from __future__ import annotations

from weftline.model.audit import AuditInput, Observation
from weftline.model.finding import Topic
from weftline.technologies.infiniband.audit import (
    cabling,
    fabric,
    files,
    keys,
    lanes,
    links,
    managers,
    partitions,
    routing,
)
from weftline.technologies.infiniband.audit.controls import CONTROLS

RULES = (
    files.judge,
    fabric.judge,
    cabling.judge,
    routing.judge_reach,
    routing.judge_deadlock,
    routing.judge_balance,
    partitions.judge,
    keys.judge,
    managers.judge,
    lanes.judge,
    links.judge,
)
"""One question each, in the order in which a person wants the answers."""


def judge(source: AuditInput) -> tuple[Topic, ...]:
    """Answer every question."""
    return tuple(rule(source) for rule in RULES)


OBSERVATION = Observation(judge=judge, controls=CONTROLS)

__all__ = ["OBSERVATION", "judge"]
