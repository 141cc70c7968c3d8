"""What the trial of a manager's engines prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weftline.cli.layout import make_table, print_trimmed
from weftline.cli.output import clean, make_console, print_json
from weftline.errors import EXIT_DONE

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.engines import EnginesJudged, Judged

FATES = {
    "no-tables": "no tables were programmed",
    "late": "it was not done in time, and was stopped",
}


def show_engines(judged: EnginesJudged, *, as_json: bool, no_color: bool) -> int:
    """Print a line per engine, then why and where; the answer is information, whatever it is."""
    if as_json:
        from weftline.app.views.engines import view_engines

        print_json(view_engines(judged))
        return EXIT_DONE
    print_engines(make_console(no_color=no_color), (*judged.engines, judged.own), quiet=False)
    return EXIT_DONE


def print_engines(console: Console, everyone: tuple[Judged, ...], *, quiet: bool) -> None:
    """Print a line per engine, then why and where."""
    from weftline.app.views.engines import summarise

    table = make_table(("engine", "tables of", "reach", "credit loop", "load", "seconds"), right=(4, 5))
    for one in everyone:
        table.add_row(*summarise(one).values())
    print_trimmed(console, table)
    if not quiet:
        said: dict[str, list[str]] = {}
        for one in everyone:
            for line in list_details(one):
                said.setdefault(line, []).append(one.label)
        for line, labels in said.items():
            console.print(clean(f"{', '.join(labels)}: {line}"))


def list_details(one: Judged) -> Iterator[str]:
    """Say why an engine did not run, which pair is lost first, and which links wait for each other."""
    if one.run is not None and one.run.outcome != "ran":
        fate = FATES.get(one.run.outcome, f"OpenSM gave it up and programmed the tables of {one.run.programmed}")
        yield f"{fate}{': ' + one.reason if one.reason else ''}"
    elif one.run is None:
        yield one.reason
    for problem in one.problems[:1]:
        yield problem.message
    reach, deadlock = one.find("reach"), one.find("deadlock")
    if reach is not None and reach.witness is not None:
        yield f"lost: {reach.witness.summary}"
    if deadlock is None or deadlock.verdict == "proved":
        return
    if deadlock.verdict == "unknown":
        yield deadlock.statement
    shown = one.between_endpoints if one.between_endpoints and one.between_endpoints.witness else deadlock
    if shown.witness is not None:
        yield shown.witness.summary
