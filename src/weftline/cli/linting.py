"""How linted configuration looks on a terminal: the outcome first, then each finding with its place and right value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftline.cli.layout import clean
from weftline.cli.output import make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.lint import LintedPlace
    from weftline.model.finding import Finding, FindingSeverity
    from weftline.model.lint import PredictedTable

STYLES = {"critical": "bold red", "warning": "yellow", "note": "dim"}
MAX_SHOWN = 200
"""Findings and tables on a terminal; JSON has all."""
MAX_UNKNOWN = 12


def show_lint(
    linted: LintedPlace, fail_on: FindingSeverity | None, *, predict: bool, as_json: bool, no_color: bool
) -> int:
    """Print what the files come to, and what should be otherwise."""
    from weftline.app.views.lint import view_lint

    status = EXIT_NO if linted.fails(fail_on) else EXIT_DONE
    if as_json:
        print_json(view_lint(linted))
        return status
    console = make_console(no_color=no_color)
    if linted.devices:
        console.print(_say_devices(linted))
    if linted.manager is not None:
        console.print(clean(linted.manager.outcome))
    if linted.evidence:
        console.print(clean(linted.evidence))
    _print_findings(console, linted)
    _print_unknown(console, linted)
    if predict:
        _print_tables(console, None if linted.manager is None else linted.manager.predicted)
    return status


def _say_devices(linted: LintedPlace) -> str:
    roles = [device.role for device in linted.devices]
    kinds = [
        f"{roles.count(role):,} {word if roles.count(role) == 1 else f'{word}{ending}'}"
        for role, word, ending in (("switch", "switch", "es"), ("host", "host", "s"), ("unknown", "other device", "s"))
        if role in roles
    ]
    files = "file" if len(linted.files) == 1 else "files"
    return f"{len(linted.files):,} {files}, {len(linted.judged):,} judged: {', '.join(kinds)}"


def _print_findings(console: Console, linted: LintedPlace) -> None:
    from rich.text import Text

    from weftline.app.lint import WORDS

    loud = [finding for finding in linted.findings if finding.severity != "note"]
    for finding in loud[:MAX_SHOWN]:
        controls = f" [{', '.join(finding.controls)}]" if finding.controls else ""
        console.print()
        head = Text(f"{WORDS[finding.severity]}: ", STYLES[finding.severity]) + Text(clean(f"{finding.rule}{controls}"))
        console.print(head)
        console.print(clean(f"  {_say_place(finding)}{finding.subject}: {finding.message}"))
        if finding.next_step:
            console.print(clean(f"  {'right' if finding.case else 'next'}: {finding.next_step}"))
        if finding.case:
            console.print(clean(f"  case: {finding.case}"), style="dim")
    if len(loud) > MAX_SHOWN:
        console.print(f"\n{len(loud) - MAX_SHOWN:,} more findings; --json has all")
    _print_notices(console, [finding for finding in linted.findings if finding.severity == "note"])
    counts = [(linted.count(severity), word) for severity, word in WORDS.items()]
    words = [f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in counts]
    console.print(f"\n{', '.join(words)}")


def _say_place(finding: Finding) -> str:
    first = finding.where[0] if finding.where else None
    return "" if first is None else f"{first}{f' {first.path}' if first.path else ''}: "


def _print_notices(console: Console, notices: list[Finding]) -> None:
    """Print notices rule by rule, the first of each in full: they are many, and none of them loses a packet."""
    from rich.text import Text

    by_rule: dict[str, list[Finding]] = {}
    for finding in notices:
        by_rule.setdefault(finding.rule, []).append(finding)
    for rule, found in by_rule.items():
        first = found[0]
        more = f" (and {len(found) - 1:,} more; --json has all)" if found[1:] else ""
        console.print()
        console.print(Text("notice: ", STYLES["note"]) + Text(clean(f"{rule}{more}")))
        console.print(clean(f"  {_say_place(first)}{first.subject}: {first.message}"))
        if first.next_step:
            console.print(clean(f"  {'right' if first.case else 'next'}: {first.next_step}"))


def _print_unknown(console: Console, linted: LintedPlace) -> None:
    """Print what could not be judged: silence is no approval."""
    if not linted.unjudged:
        return
    console.print("not judged:")
    for item in linted.unjudged[:MAX_UNKNOWN]:
        console.print(clean(f"  {item.question} (needs {item.needs})"))
    if len(linted.unjudged) > MAX_UNKNOWN:
        console.print(f"  and {len(linted.unjudged) - MAX_UNKNOWN:,} more; --json has all")


def _print_tables(console: Console, tables: tuple[PredictedTable, ...] | None) -> None:
    console.print()
    if tables is None:
        console.print("no table is predicted: give --fabric, or see above why the outcome is not certain")
        return
    for one in tables[:MAX_SHOWN]:
        keys = " ".join(f"{key:#06x}" for key in one.table.keys)
        console.print(clean(f"{one.name}{_enforce(one)}: {keys}"), soft_wrap=True)
    if len(tables) > MAX_SHOWN:
        console.print(f"{len(tables) - MAX_SHOWN:,} more tables; --json has all")


def _enforce(one: PredictedTable) -> str:
    if one.table.enforces_in is None:
        return ""
    ways = [
        word for word, is_on in (("in", one.table.enforces_in), ("out", one.table.enforces_out)) if is_on is not False
    ]
    return f" (enforces {' and '.join(ways)})" if ways else " (enforces nothing)"
