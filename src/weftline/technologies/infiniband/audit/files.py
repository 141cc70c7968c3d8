"""What was read: which files the folder holds, which nobody knows, and which are broken."""

from __future__ import annotations

from collections import Counter

from weftline.errors import Place
from weftline.model.audit import AuditInput
from weftline.model.finding import Finding, Topic
from weftline.technologies.infiniband.audit.verdicts import count, from_problem, settle


def judge(source: AuditInput) -> Topic:
    """Say what was read; a file that is broken may hide what it does not say."""
    survey = source.survey
    unknown = [item for item in survey.sources if not item.form]
    broken = [problem for part in survey.parts for problem in part.problems] + list(survey.problems)
    if source.programmed is not None:
        broken += source.programmed.problems
    findings = [
        Finding(
            rule="files.not-known",
            severity="note",
            subject=item.file,
            message="nobody here knows what this file is, so it was not read",
            next_step="weftline explain files.not-known lists the files that are read, and what writes them",
            where=(Place(item.file),),
        )
        for item in unknown
    ]
    findings += [from_problem(problem) for problem in dict.fromkeys(broken)]
    forms = Counter(item.form for item in survey.sources if item.form)
    read = sum(forms.values())
    summary = f"{count(read, 'file')} read" + (f", {count(len(unknown), 'file')} not known" if unknown else "")
    wrong = sum(finding.severity != "note" for finding in findings)
    return Topic(
        key="files",
        title="What was read",
        verdict=settle(findings),
        summary=summary + (f"; {count(wrong, 'place')} in them that cannot be right" if wrong else ""),
        findings=tuple(findings),
        figures=tuple((form, f"{number:,}") for form, number in sorted(forms.items())),
    )
