"""The command ``rehearse``: states of failure by damage, and yes or no to one question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from weftline.cli.options import Json, NoColor, Place, Quiet

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from weftline.model.rehearsal import Answer, Limits, Rehearsal, State

SHOWN_COMMANDS = 8
SHOWN_RANKS = 12
SHOWN_ENDS = 4


def rehearse(
    place: Place,
    faults: Annotated[
        str | None,
        typer.Option(
            "--faults",
            metavar="WHAT",
            help="links, switches, all (both; the default), pairs:SAMPLE, groups (those under risks:), or a file with "
            "the names of what fails in each line.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option("--link", metavar="X", help="May this link be disabled now? As leaf-003/33~spine-01/3."),
    ] = None,
    switch: Annotated[
        str | None, typer.Option("--switch", metavar="Y", help="May this switch be taken out now? As spine-01.")
    ] = None,
    port: Annotated[
        str | None, typer.Option("--port", metavar="Z", help="May this port be disabled now? As leaf-003/17.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, metavar="N", help="For the sample of pairs.")
    ] = 0,
    worst: Annotated[
        int, typer.Option("--worst", min=0, metavar="N", help="States to print, the worst first; 0 prints all.")
    ] = 20,
    anew: Annotated[
        bool, typer.Option("--anew", metavar="", help="Leave aside what an earlier run of the same states found.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Rehearse failures: what each costs every job, proved; or say whether a port, link or switch may be disabled now.

    Exit 2 when a state is not allowed, or the answer is no.
    """
    from weftline.cli.output import show_progress
    from weftline.errors import UsageError

    asked = [(kind, name) for kind, name in (("link", link), ("switch", switch), ("port", port)) if name is not None]
    if len(asked) + (faults is not None) > 1:
        hint = "ask about one thing at a time; a file with several names in a line rehearses what fails together"
        raise UsageError("usage.choice", "--faults, --link, --switch and --port exclude each other", hint)
    if asked:
        answer = _ask(place, asked[0], anew=anew, quiet=quiet, no_color=no_color)
        return show_answer(answer, as_json=as_json, no_color=no_color)
    from weftline.app.rehearse import FaultChoice
    from weftline.app.rehearse import rehearse as rehearse_place

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        rehearsal = rehearse_place(place, FaultChoice(faults or "all", seed, worst, anew), progress)
    return show_rehearsal(rehearsal, as_json=as_json, no_color=no_color)


def _ask(place: Path, asked: tuple[str, str], *, anew: bool, quiet: bool, no_color: bool) -> Answer:
    """Answer from what is kept, before the rest of the program is imported; else prepare the fabric."""
    from weftline.app.asked import Question, ask_prepared
    from weftline.app.prepared import Reason
    from weftline.cli.output import print_talk, show_progress

    question = Question(*asked)
    if not anew:
        answer = ask_prepared(place, question)
        if not isinstance(answer, Reason):
            return answer
        if answer in {Reason.DAMAGED, Reason.FOREIGN} and not quiet:
            print_talk(f"what was kept for questions is left aside, since {answer}; it is prepared anew")
    from weftline.app.rehearse import ask

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        return ask(place, question, progress)


def show_rehearsal(rehearsal: Rehearsal, *, as_json: bool, no_color: bool) -> int:
    """Print the kinds of failure, then the worst states, then the verdict."""
    from weftline.app.views.rehearsal import view_rehearsal
    from weftline.cli.output import make_console, print_json
    from weftline.errors import EXIT_DONE, EXIT_NO

    status = EXIT_DONE if rehearsal.verdict == "proved" else EXIT_NO
    if as_json:
        print_json(view_rehearsal(rehearsal))
        return status
    console = make_console(no_color=no_color)
    console.print(f"{rehearsal.states:,} states: {rehearsal.what}; each proved and loaded without what fails\n")
    _print_kinds(console, rehearsal)
    _print_states(console, rehearsal)
    console.print(f"\nallowed  {_say_limits(rehearsal.limits, rehearsal.jobs != ())}")
    console.print(f"load     {rehearsal.load}")
    words = {"proved": "yes: every state is allowed", "unknown": "unknown: not every state could be judged"}
    no = f"no: {rehearsal.broken:,} of {rehearsal.states:,} states are not allowed"
    style = "bold green" if status == EXIT_DONE else "bold red"
    console.print(f"verdict  {words.get(rehearsal.verdict, no)}", style=style)
    return status


def _print_kinds(console: Console, rehearsal: Rehearsal) -> None:
    from weftline.cli.layout import make_table, print_trimmed

    headings = ("what fails", "states", "not allowed", "worst loss", "ranks leaving", "endpoints cut off")
    table = make_table(headings, right=(1, 2, 3, 4, 5))
    for kind in rehearsal.kinds:
        loss = _percent(None if math.isnan(kind.most_lost) else kind.most_lost) if rehearsal.jobs else "no job"
        table.add_row(
            kind.kind,
            f"{kind.states:,}",
            f"{kind.broken:,}",
            loss,
            f"{kind.most_leaving:,}" if rehearsal.jobs else "no job",
            f"{kind.most_endpoints:,}",
        )
    print_trimmed(console, table)


def _print_states(console: Console, rehearsal: Rehearsal) -> None:
    from weftline.cli.layout import make_table, print_trimmed
    from weftline.cli.output import clean

    worst = [state for state in rehearsal.worst if _hurts(state)]
    if not worst:
        console.print("\nno state costs a job anything, and none cuts an endpoint off")
        return
    console.print()
    table = make_table(("worst", "loss", "leave", "cut off", "not allowed because"), right=(1, 2, 3))
    for names, state in _gather(worst):
        table.add_row(
            clean(names),
            _percent(_most(state)) if rehearsal.jobs else "no job",
            f"{state.leaving:,}" if rehearsal.jobs else "no job",
            f"{state.lost_endpoints:,}",
            clean("; ".join(state.breaks)),
        )
    print_trimmed(console, table)
    hidden = rehearsal.states - len(rehearsal.worst)
    if hidden and len(worst) == len(rehearsal.worst):
        console.print(f"{hidden:,} more states do no more damage than these; --worst 0 --json lists all")


def _gather(states: list[State]) -> Iterator[tuple[str, State]]:
    """Put states that follow each other by number and cost the same on one line."""
    from weftline.cli.layout import gather_names

    at = 0
    while at < len(states):
        end = at + 1
        while end < len(states) and _cost(states[end]) == _cost(states[at]):
            end += 1
        names = [state.fault for state in states[at:end]]
        yield from ((run, states[at]) for run in gather_names(names))
        at = end


def _cost(state: State) -> tuple[object, ...]:
    return _most(state), state.leaving, state.lost_endpoints, state.breaks


def _hurts(state: State) -> bool:
    return bool(state.breaks or state.leaving or state.lost_endpoints or state.lost_pairs or _most(state) != 0)


def _most(state: State) -> float | None:
    losses = [loss for _, loss in state.job_loss]
    return None if None in losses else max((loss for loss in losses if loss is not None), default=0.0)


def _percent(loss: float | None) -> str:
    return "unknown" if loss is None else f"{loss:.1%}"


def _say_limits(limits: Limits, has_jobs: bool) -> str:
    parts = [
        f"a job loses at most {limits.max_job_loss:.1%} of its all-reduce"
        if limits.max_job_loss is not None
        else ("any loss" if has_jobs else "no job is declared, so that loss is not known")
    ]
    if limits.max_lost_endpoints is not None:
        parts.append(f"at most {limits.max_lost_endpoints:,} endpoints are cut off")
    if limits.max_leaving_ranks is not None:
        many = limits.max_leaving_ranks
        parts.append(f"at most {many:,} ranks must leave" if many else "no rank must leave")
    return "; ".join(parts) + " (section rehearsal)"


def show_answer(answer: Answer, *, as_json: bool, no_color: bool) -> int:
    """Print yes or no with the reason, what it costs each job, and the commands."""
    from weftline.app.views.rehearsal import view_answer
    from weftline.cli.layout import print_rows
    from weftline.cli.output import clean, make_console, print_json
    from weftline.errors import EXIT_DONE, EXIT_NO

    status = EXIT_DONE if answer.is_yes else EXIT_NO
    if as_json:
        print_json(view_answer(answer))
        return status
    console = make_console(no_color=no_color)
    state = answer.state
    if answer.is_yes:
        words = "nothing is cabled there" if answer.dark else "what is left stays proved, and no job loses too much"
        console.print(clean(f"yes: {answer.question} may be disabled now; {words}"), style="bold green")
    else:
        console.print(clean(f"no: {answer.question} should not be disabled now"), style="bold red")
        for why in state.breaks:
            console.print(clean(f"  {why}"))
    console.print()
    rows: dict[str, object] = {
        "connected": _say_connected(state),
        **({"cut off": _shorten(answer.cut, SHOWN_ENDS)} if answer.cut else {}),
        "deadlock": f"none, proved on the {answer.repaired}" if state.deadlock == "proved" else str(state.deadlock),
    }
    for name, loss in state.job_loss:
        rows[f"job {name}"] = _say_job(answer, name, loss)
    if not answer.jobs:
        rows["jobs"] = "none is declared, so that nobody knows what is lost"
    print_rows(console, rows)
    _print_commands(console, answer)
    return status


def _say_connected(state: State) -> str:
    if state.connected:
        return "every pair of endpoints stays connected"
    ends = f"{state.lost_endpoints:,} endpoint{'s' if state.lost_endpoints != 1 else ''} cut off"
    words = f"no: {ends}, {state.lost_pairs:,} ordered pairs of endpoints lost"
    return words + (f", {state.undelivered:,} more not delivered" if state.undelivered > 0 else "")


def _say_job(answer: Answer, name: str, loss: float | None) -> str:
    ranks = dict(answer.state.leave).get(name, ())
    words = "loses nothing of its all-reduce" if loss == 0 else f"loses {_percent(loss)} of its all-reduce"
    link = dict(answer.state.worst_link).get(name)
    if loss and link:
        words += f"; {link} bounds its step"
    if not ranks:
        return f"{words}; nobody leaves"
    return f"{words}; must leave: rank{'s' if len(ranks) > 1 else ''} {_shorten(tuple(map(str, ranks)), SHOWN_RANKS)}"


def _shorten(names: tuple[str, ...], most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _print_commands(console: Console, answer: Answer) -> None:
    from weftline.cli.output import clean

    for title, attribute in (("to do it", "do"), ("to undo it", "undo")):
        if answer.commands:
            console.print(f"\n{title}, {_say_where(answer)}:")
        for command in answer.commands[:SHOWN_COMMANDS]:
            for line in command.do if attribute == "do" else command.undo:
                console.print(clean(f"  {line}"))
        if len(answer.commands) > SHOWN_COMMANDS:
            console.print(f"  and so for {len(answer.commands) - SHOWN_COMMANDS} more ports; --json lists all")


def _say_where(answer: Answer) -> str:
    places = list(dict.fromkeys(command.where for command in answer.commands))
    return places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more switches"
