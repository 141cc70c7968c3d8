"""How the findings about a configuration look on a terminal: the outcome first, then each finding with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftline.cli.layout import clean
from weftline.cli.output import make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.lint import LintedPlace
    from weftline.model.finding import FindingSeverity
    from weftline.model.lint import PredictedTable

STYLES = {"critical": "bold red", "warning": "yellow", "note": "dim"}
MAX_SHOWN = 200
"""Findings and tables on a terminal; JSON has all."""


def show_lint(
    linted: LintedPlace, fail_on: FindingSeverity | None, *, predict: bool, as_json: bool, no_color: bool
) -> int:
    """Print what the manager will make of the files, and what should be otherwise."""
    from weftline.app.views.lint import view_lint

    status = EXIT_NO if linted.fails(fail_on) else EXIT_DONE
    if as_json:
        print_json(view_lint(linted))
        return status
    console = make_console(no_color=no_color)
    console.print(clean(linted.linted.outcome))
    _print_findings(console, linted)
    if predict:
        _print_tables(console, linted.linted.predicted)
    return status


def _print_findings(console: Console, linted: LintedPlace) -> None:
    from rich.text import Text

    for finding in linted.findings[:MAX_SHOWN]:
        controls = f" [{', '.join(finding.controls)}]" if finding.controls else ""
        place = f"{finding.where[0]}: " if finding.where else ""
        console.print()
        head = Text(f"{finding.severity}: ", STYLES[finding.severity]) + Text(clean(f"{finding.rule}{controls}"))
        console.print(head)
        console.print(clean(f"  {place}{finding.subject}: {finding.message}"))
        if finding.next_step:
            console.print(clean(f"  next: {finding.next_step}"))
    if len(linted.findings) > MAX_SHOWN:
        console.print(f"\n{len(linted.findings) - MAX_SHOWN:,} more findings; --json has all")
    words = [f"{linted.count(severity):,} {severity}" for severity in ("critical", "warning", "note")]
    console.print(f"\n{', '.join(words)}")


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
