"""The verbs of a lab: the declared fabric made to run on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weftline.cli.options import Json, NoColor, Place, Quiet

if TYPE_CHECKING:
    from weftline.app.keep_event import KeepEvent

LinkName = Annotated[str, typer.Argument(metavar="LINK", help="A link, as leaf-003/33~spine-01/3 or leaf-003/33.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    lab = typer.Typer(no_args_is_help=True, help="Make the declared fabric run here under its real manager.")
    for verb in (up, verify, keep, break_, miscable, degrade, kill_master, heal, env, down, engines):
        lab.command(verb.__name__.rstrip("_").replace("_", "-"))(verb)
    app.add_typer(lab, name="lab")


def up(
    place: Place,
    lab: Annotated[
        str | None, typer.Option("--lab", metavar="NAME", help="Which lab; without it the one for the technology.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Start the fabric and read back that it runs as rendered; exit 5 with the difference when it does not."""
    from weftline.app.lab import bring_up
    from weftline.cli import labs
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        looked = bring_up(place, lab, progress)
    return labs.show_looked(looked, as_json=as_json, quiet=quiet, no_color=no_color)


def verify(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Read the running fabric and name everything that is not as rendered; exit 5 when something is not."""
    from weftline.app.lab import verify as verify_place
    from weftline.cli import labs
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        looked = verify_place(place, progress)
    return labs.show_looked(looked, as_json=as_json, quiet=quiet, no_color=no_color)


def keep(
    place: Place,
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", min=0.0, help="End after so many seconds.")
    ] = None,
    until_quiet: Annotated[
        bool, typer.Option("--until-quiet", help="End when nothing has happened for two seconds.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Stay, and after each change of a cable send proved tables for what is left; Ctrl-C ends it."""
    from weftline.app.keep import keep as keep_place
    from weftline.app.keep_event import KeepRules
    from weftline.cli.interrupt import hear_end
    from weftline.cli.keep import show_counts, show_event
    from weftline.cli.output import show_progress

    def emit(event: KeepEvent) -> None:
        show_event(event, as_json=as_json, no_color=no_color)

    with show_progress(quiet=quiet or as_json, no_color=no_color) as progress:
        rules = KeepRules(seconds, until_quiet, hear_end())
        counts = keep_place(place, rules, emit=emit, progress=progress)
    return show_counts(counts, as_json=as_json, quiet=quiet, no_color=no_color)


def break_(
    place: Place,
    subject: Annotated[str, typer.Argument(metavar="LINK|SWITCH|HOST", help="What loses its cables.")],
    silent: Annotated[
        bool, typer.Option("--silent", help="Lose every packet, and let the link look up (lab netns only).")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Take a link, a switch or a host out of the running fabric."""
    from weftline.model.lab import Injection

    injection = Injection("break", (subject,), is_silent=silent)
    return _disturb(place, injection, as_json=as_json, quiet=quiet, no_color=no_color)


def miscable(
    place: Place,
    first: Annotated[str, typer.Argument(metavar="A", help="A link.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The link that it changes its far end with.")],
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Exchange the far ends of two links."""
    from weftline.model.lab import Injection

    return _disturb(place, Injection("miscable", (first, second)), as_json=as_json, quiet=quiet, no_color=no_color)


def degrade(
    place: Place,
    link: LinkName,
    counter: Annotated[
        str,
        typer.Option(
            "--counter",
            metavar="NAME=VALUE",
            help="symbol, recovery, downed, receive, discard or wait, with the value that it shows.",
        ),
    ],
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Let a port show errors; the link is named from the end that shows them."""
    from weftline.app.lab import parse_counter
    from weftline.model.lab import Injection

    name, value = parse_counter(counter)
    injection = Injection("degrade", (link,), name, value)
    return _disturb(place, injection, as_json=as_json, quiet=quiet, no_color=no_color)


def kill_master(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Kill the subnet manager that is the master, and wait until the standby has taken over."""
    from weftline.app.lab import kill_master as kill
    from weftline.cli import labs

    return labs.show_takeovers(kill(place), as_json=as_json, quiet=quiet, no_color=no_color)


def heal(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Take every fault out again."""
    from weftline.app.lab import heal as heal_place
    from weftline.cli import labs

    return labs.show_faults(heal_place(place), "healed", as_json=as_json, quiet=quiet, no_color=no_color)


def env(
    place: Place,
    subnet: Annotated[
        str | None, typer.Option("--subnet", metavar="NAME", help="Which subnet; without it the first.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Print the lines that lead your own tools to the lab: eval "$(weftline lab env PLACE)"."""
    from weftline.app.lab import find_access
    from weftline.cli import labs

    return labs.show_access(find_access(place, subnet), as_json=as_json)


def down(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Stop the fabric and everything that belongs to it."""
    from weftline.app.lab import take_down
    from weftline.cli import labs

    return labs.show_stopped(take_down(place), as_json=as_json, quiet=quiet, no_color=no_color)


def engines(
    place: Annotated[Path, typer.Argument(metavar="PLACE|DUMP", help="A declaration, or a discovery dump.")],
    engine: Annotated[
        str, typer.Option("--engine", metavar="A,B", help="Which engines, as minhop,updn+roots; without it all.")
    ] = "",
    limit_s: Annotated[
        float, typer.Option("--limit-s", min=1.0, metavar="T", help="Seconds that an engine may take for a subnet.")
    ] = 120.0,
    lanes: Annotated[bool, typer.Option("--lanes", metavar="", help="Let engines use several lanes.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Run the manager's own routing engines on the fabric, and prove what each of them programs."""
    from weftline.app.engines import Wanted, judge_engines
    from weftline.cli.engines import show_engines
    from weftline.cli.output import show_progress

    wanted = Wanted(tuple(word for word in engine.split(",") if word), limit_s, lanes)
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        judged = judge_engines(place, wanted, progress)
    return show_engines(judged, as_json=as_json, no_color=no_color)


def _disturb(place: Place, injection: object, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    from weftline.app.lab import disturb
    from weftline.cli import labs
    from weftline.cli.output import show_progress
    from weftline.model.lab import Injection

    assert isinstance(injection, Injection)  # noqa: S101  (typed late, so that --help stays quick)
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        fault = disturb(place, injection, progress)
    return labs.show_faults((fault,), "done", as_json=as_json, quiet=quiet, no_color=no_color)
