"""How an audit looks on a terminal: the answers first, then what should be otherwise, then what stayed open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weftline.cli.engines import print_engines
from weftline.cli.layout import make_table, print_rows, print_trimmed
from weftline.cli.output import clean, make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from weftline.app.audit import Audited
    from weftline.model.finding import Finding, FindingSeverity

STYLES = {"good": "bold green", "bad": "bold red", "unknown": "bold yellow"}
SEVERITY_STYLES = {"critical": "bold red", "warning": "bold yellow", "note": "dim"}
MAX_ALIKE = 3
"""Findings of one rule that are printed before the rest is only counted; the report lists them all."""
MAX_SUMMARY = 300


def show_audit(
    audited: Audited, report: Path, fail_on: FindingSeverity | None, *, as_json: bool, no_color: bool
) -> int:
    """Print the verdict of every topic, the findings, and what could not be judged."""
    from weftline.app.views.audit import view_audit

    status = EXIT_NO if audited.fails(fail_on) else EXIT_DONE
    if as_json:
        print_json({**view_audit(audited), "report": str(report)})
        return status
    console = make_console(no_color=no_color)
    _print_topics(console, audited)
    _print_findings(console, audited)
    if audited.engines:
        console.print("\nwhat OpenSM's own engines would do with these cables:")
        print_engines(console, audited.engines, quiet=True)
    _print_open(console, audited)
    console.print(f"report: {report}")
    return status


def _print_topics(console: Console, audited: Audited) -> None:
    from rich.text import Text

    counts = {name: sum(topic.verdict == name for topic in audited.topics) for name in STYLES}
    words = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    console.print(clean(f"{audited.place}: {len(audited.topics)} questions, {words}\n"))
    table = make_table(("question", "answer", "in short"))
    for topic in audited.topics:
        short = topic.summary if len(topic.summary) <= MAX_SUMMARY else topic.summary[: MAX_SUMMARY - 1] + "…"
        table.add_row(topic.title, Text(topic.verdict, STYLES[topic.verdict]), clean(short))
    print_trimmed(console, table)


def _print_findings(console: Console, audited: Audited) -> None:
    from rich.text import Text

    findings = [finding for finding in audited.findings if finding.severity != "note"]
    notes = len(audited.findings) - len(findings)
    for alike in _gather(findings):
        first = alike[0]
        console.print()
        controls = f"  breaks {', '.join(first.controls)}" if first.controls else ""
        head = Text(f"{first.severity}: ", SEVERITY_STYLES[first.severity])
        number = f"{len(alike):,} findings of " if len(alike) > 1 else ""
        console.print(head + Text(clean(f"{number}{first.rule}{controls}"), ""))
        for finding in alike[:MAX_ALIKE]:
            console.print(clean(f"  {_place(audited, finding)}{_describe(finding)}"))
        if len(alike) > MAX_ALIKE:
            rest = len(alike) - MAX_ALIKE
            console.print(f"  and {rest:,} more like {'this' if rest == 1 else 'these'}")
        if first.next_step:
            console.print(clean(f"  next: {first.next_step}"))
    if notes:
        console.print(f"\n{notes:,} {'note stands' if notes == 1 else 'notes stand'} in the report")


def _place(audited: Audited, finding: Finding) -> str:
    """Name the line, and the file where there are several."""
    if not finding.where:
        return ""
    place = finding.where[0]
    if len(audited.source.survey.sources) > 1:
        return f"{place}: "
    return "" if place.line is None else f"line {place.line}: "


def _describe(finding: Finding) -> str:
    return f"{finding.subject}: {finding.message}" if finding.subject else finding.message


def _gather(findings: list[Finding]) -> Iterator[list[Finding]]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    yield from groups.values()


def _print_open(console: Console, audited: Audited) -> None:
    topics: dict[str, list[str]] = {}
    for topic in audited.topics:
        for item in topic.unjudged:
            titles = topics.setdefault(item.needs, [])
            titles += [topic.title] if topic.title not in titles else []
    if topics:
        console.print("\nnot judged, or not wholly; what would answer it:")
        gathered: dict[str, list[str]] = {}
        for needs, titles in topics.items():
            row = gathered.setdefault(", ".join(titles), [])
            row += [needs] if not any(needs in other for other in row) else []
        print_rows(console, {titles: "; ".join(needs) for titles, needs in gathered.items()})
    judged = sum(control.verdict != "unknown" for control in audited.controls)
    bad = [control.key for control in audited.controls if control.verdict == "bad"]
    broken = f"; broken: {', '.join(bad)}" if bad else ""
    console.print(f"\ncontrols: {judged} of {len(audited.controls)} judged{broken}")
