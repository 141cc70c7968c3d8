"""Cabling: what was found, held against the plan that the folder has; few differences one by one, many by device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from weftline.adopt import hold_plan
from weftline.model.audit import AuditInput
from weftline.model.finding import Finding, FindingSeverity, Topic, Unjudged
from weftline.model.plan import PlanDifference, PlanKind, PlanVerdict
from weftline.technologies.infiniband.audit.declared import judge_declared
from weftline.technologies.infiniband.audit.verdicts import count, join, settle

TITLE = "Cabling against the plan"
PLAN = "a cabling plan (NDT or point-to-point CSV, IBDM .topo, weftline cables), or --against DECLARATION"
TOPOLOGY = "ibnetdiscover > ibnetdiscover.txt"
PLANS = ("plan", "ibdm-topo")
"""Forms of files that say how cables should be."""
SINGLE = 5
"""Differences of one kind at one device that are named one by one; more are one finding."""
CONTROL = "CFG-01"
_WORDS: dict[PlanKind, tuple[str, FindingSeverity, str]] = {
    "miswired": ("cabling.miswired", "critical", "put the cables where the plan has them, or correct the plan"),
    "missing": ("cabling.missing", "warning", "look at the ports and cables that the plan names"),
    "unplanned": ("cabling.unplanned", "warning", "add the cables to the plan, or remove them"),
}


def judge(source: AuditInput) -> Topic:
    """Say which cables are not as planned; without a plan nothing is known."""
    plan = [cable for part in source.survey.parts for cable in part.plan]
    if not plan and source.declared is not None and source.adoption is not None:
        return judge_declared(source.declared, source.adoption, "Cabling against the declaration")
    if not plan:
        question = Unjudged("Is every cable where the plan has it?", PLAN, (CONTROL,))
        return Topic("cabling", TITLE, "unknown", "The folder holds no cabling plan.", unjudged=(question,))
    if source.adoption is None or source.survey.is_planned:
        question = Unjudged("Is every cable where the plan has it?", TOPOLOGY, (CONTROL,))
        summary = f"A plan of {count(len(plan), 'cable')} is there, and no topology to hold it against."
        return Topic("cabling", TITLE, "unknown", summary, unjudged=(question,))
    verdict = hold_plan(plan, source.adoption)
    findings = tuple(
        finding for kind in _WORDS for finding in _gather(kind, [d for d in verdict.differences if d.kind == kind])
    )
    unjudged = (*_list_unjudged(verdict), *_list_unread(source))
    return Topic(
        "cabling",
        TITLE,
        settle(findings, unjudged),
        _summarise(verdict),
        findings,
        unjudged,
        (
            ("planned", count(verdict.planned, "cable")),
            ("as planned", f"{verdict.as_planned:,}"),
            ("miswired", f"{verdict.miswired:,}"),
            ("missing", f"{verdict.missing:,}"),
            ("not judged", f"{verdict.unknown:,}"),
            ("unplanned", f"{verdict.unplanned:,}"),
            ("outside of the plan", f"{verdict.outside:,}"),
        ),
    )


def _gather(kind: PlanKind, found: Sequence[PlanDifference]) -> list[Finding]:
    """Make a finding of each difference, or of each device that has many."""
    rule, severity, step = _WORDS[kind]
    by_device: dict[str, list[PlanDifference]] = defaultdict(list)
    for difference in found:
        by_device[difference.device].append(difference)
    findings: list[Finding] = []
    for device, group in by_device.items():
        if len(group) <= SINGLE:
            for item in group:
                where = (item.where,) if item.where else ()
                findings.append(Finding(rule, severity, item.subject, item.message, step, where, (CONTROL,)))
            continue
        places = tuple(item.where for item in group if item.where)[:SINGLE]
        message = f"{count(len(group), 'cable')} {_say(kind)}: {join(item.subject for item in group)}"
        findings.append(Finding(rule, severity, device, message, step, places, (CONTROL,)))
    return findings


def _say(kind: PlanKind) -> str:
    return {"miswired": "are elsewhere", "missing": "were not found"}.get(kind, "are not in the plan")


def _list_unjudged(verdict: PlanVerdict) -> tuple[Unjudged, ...]:
    """Say what the plan asks and the dump does not answer."""
    unknown = [item for item in verdict.differences if item.kind == "unknown"]
    if not unknown:
        return ()
    first = unknown[0]
    question = f"Are {count(len(unknown), 'planned cable')} in place? The first, {first.subject}: {first.message}"
    return (Unjudged(question, "names in the plan as the nodes describe themselves, or a node-name-map", (CONTROL,)),)


def _list_unread(source: AuditInput) -> tuple[Unjudged, ...]:
    """Say which rows of the plans could not be read: their cables may be anywhere."""
    broken = [
        problem
        for found, part in zip(source.survey.sources, source.survey.parts, strict=True)
        if found.form in PLANS
        for problem in part.problems
        if problem.is_error
    ]
    if not broken:
        return ()
    question = (
        f"Are the cables in place whose rows could not be read? The first, {broken[0].where}: {broken[0].message}"
    )
    return (Unjudged(question, "the plan with these rows corrected", (CONTROL,)),)


def _summarise(verdict: PlanVerdict) -> str:
    """Say it in one sentence."""
    text = f"{verdict.as_planned:,} of {count(verdict.planned, 'planned cable')} are where the plan has them"
    wrong = verdict.miswired + verdict.missing
    parts = [f"{wrong:,} are not"] if wrong else []
    parts += [f"{verdict.unknown:,} cannot be judged"] if verdict.unknown else []
    parts += [f"{count(verdict.unplanned, 'link')} found beside the plan"] if verdict.unplanned else []
    return ", ".join([text, *parts]) + "."
