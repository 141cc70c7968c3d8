"""What the trial of a manager's engines prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weftline.cli.layout import make_table, print_trimmed
from weftline.cli.output import clean, make_console, print_json
from weftline.errors import EXIT_DONE

if TYPE_CHECKING:
    from weftline.app.engines import EnginesJudged, Judged

FATES = {
    "no-tables": "no tables were programmed",
    "late": "it was not done in time, and was stopped",
}


def show_engines(judged: EnginesJudged, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print a line per engine, then why and where; the answer is information, whatever it is."""
    if as_json:
        from weftline.app.views.engines import view_engines

        print_json(view_engines(judged))
        return EXIT_DONE
    console = make_console(no_color=no_color)
    table = make_table(("engine", "tables of", "reach", "credit loop", "load", "seconds"), right=(4, 5))
    everyone = (*judged.engines, judged.own)
    for one in everyone:
        balance = one.find("balance")
        load = "" if balance is None or balance.bound is None else f"{balance.bound:,.2f}"
        table.add_row(one.label, _source(one), _say_reach(one), _say_loop(one), load, f"{one.seconds:.1f}")
    print_trimmed(console, table)
    if not quiet:
        said: dict[str, list[str]] = {}
        for one in everyone:
            for line in list_details(one):
                said.setdefault(line, []).append(one.label)
        for line, labels in said.items():
            console.print(clean(f"{', '.join(labels)}: {line}"))
    return EXIT_DONE


def _source(one: Judged) -> str:
    if one.run is None or one.run.outcome == "ran":
        return "its own"
    return one.run.programmed or "none"


def _say_reach(one: Judged) -> str:
    reach = one.find("reach")
    if reach is None:
        return "-"
    if reach.verdict == "proved":
        return "all pairs"
    lost = int(reach.detail.get("failed_pairs", 0))
    if reach.verdict == "refuted" and lost:
        return f"{lost:,} pairs lost"
    return "no" if reach.verdict == "refuted" else "unknown"


def _say_loop(one: Judged) -> str:
    deadlock = one.find("deadlock")
    if deadlock is None:
        return "-"
    if deadlock.verdict == "proved":
        return "none"
    if deadlock.verdict == "unknown":
        return "unknown"
    only = one.between_endpoints is not None and one.between_endpoints.verdict == "proved"
    return "only to switches" if only else f"of {deadlock.bound} links"


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
