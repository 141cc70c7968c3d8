"""What was read: which files the folder holds, which nobody knows, and which are broken."""

from __future__ import annotations

from collections import Counter

from weftline.adopt import find_form, find_promised
from weftline.errors import Place
from weftline.model.audit import AuditInput
from weftline.model.finding import Finding, Topic
from weftline.model.survey import Source
from weftline.technologies.infiniband.audit.verdicts import count, from_problem, settle


def judge(source: AuditInput) -> Topic:
    """Say what was read; a file that is broken may hide what it does not say."""
    survey = source.survey
    unknown = [item for item in survey.sources if not item.form]
    broken = [problem for part in survey.parts for problem in part.problems] + list(survey.problems)
    if source.programmed is not None:
        broken += source.programmed.problems
    findings = [_judge_unknown(item) for item in unknown]
    read = sum(bool(item.form) and find_form(item.form).is_read for item in survey.sources)
    if not read:
        findings.insert(0, _say_nothing(len(survey.sources)))
    findings += [from_problem(problem) for problem in dict.fromkeys(broken)]
    forms = Counter(item.form for item in survey.sources if item.form)
    known = sum(forms.values())
    summary = f"{count(known, 'file')} read" + (f", {count(len(unknown), 'file')} not known" if unknown else "")
    wrong = sum(finding.severity != "note" for finding in findings)
    return Topic(
        key="files",
        title="What was read",
        verdict=settle(findings),
        summary=summary + (f"; {count(wrong, 'place')} in them that cannot be right" if wrong else ""),
        findings=tuple(findings),
        figures=tuple((form, f"{number:,}") for form, number in sorted(forms.items())),
    )


def _judge_unknown(item: Source) -> Finding:
    """A file that nobody knows is only said; one whose name promises a known form is evidence that is missing."""
    promised = find_promised(item.file)
    if promised is None:
        return Finding(
            rule="files.not-known",
            severity="note",
            subject=item.file,
            message="nobody here knows what this file is, so it was not read",
            next_step="weftline explain files.not-known lists the files that are read, and what writes them",
            where=(Place(item.file),),
        )
    nature = {"empty": "it is empty", "binary": "it is binary"}.get(item.nature, "nothing in it looks like that")
    return Finding(
        rule="files.not-as-named",
        severity="warning",
        subject=item.file,
        message=f"by its name this is the {promised.title}, and {nature}, so it was not read",
        next_step=f"take it anew: {promised.written_by}",
        where=(Place(item.file),),
    )


def _say_nothing(files: int) -> Finding:
    return Finding(
        rule="files.nothing-read",
        severity="critical",
        subject="the folder",
        message=f"of {count(files, 'file')} none could be read, so nothing was judged",
        next_step="give a folder with dumps of the subnet; ibnetdiscover > ibnetdiscover.txt is the least",
    )
