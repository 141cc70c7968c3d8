"""Rules on a change that is to be applied operation by operation: what is referred to comes first."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.lint.rule import Hit, LintSource, Rule, show_place
from weftline.model.observed import ObservedStep


def _judge_order(source: LintSource) -> Iterator[Hit]:
    """A row that is set before what it stands on is refused, or runs without it."""
    for device in source.devices:
        last = _find_last(device.steps)
        for number, step in enumerate(device.steps):
            for need in step.needs:
                later, other = last.get(need, last.get((need[0], ""), (-1, step)))
                if later > number:
                    words = (
                        f"{step.table}|{step.row} is set before {other.table}|{need[1]} ({show_place(other.where)}), "
                        "on which it stands: it is refused, or runs without it"
                    )
                    yield Hit(device.name, words, step.where, f"{other.table} before {step.table}")


def _find_last(steps: tuple[ObservedStep, ...]) -> dict[tuple[str, str], tuple[int, ObservedStep]]:
    """Find where each row is set last."""
    return {(step.table, step.row): (number, step) for number, step in enumerate(steps)}


RULES = (Rule("change.order", "critical", _judge_order, "sonic-buildimage issue 24577; sonic-swss pull request 876"),)
