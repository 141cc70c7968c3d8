"""``order``: the stages of a change of tables, and what it prints of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weftline.cli.options import Json, NoColor, Quiet
from weftline.cli.output import clean, make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.order import Ordered

SHOWN = 12
"""Things to drain that are listed; the rest are counted."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(order)


def order(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="What runs: a declaration, a workspace, a dump or a folder of dumps.")
    ],
    new: Annotated[
        Path | None, typer.Argument(metavar="[NEW]", help="What shall run: the same, or a dump of tables alone.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="Go to tables that this engine computes for OLD.")
    ] = None,
    root: Annotated[
        list[str] | None, typer.Option("--root", metavar="SWITCH", help="Root of up and down for that engine; again.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the tables of each stage into this folder.")
    ] = None,
    budget: Annotated[
        int, typer.Option("--budget", min=0, metavar="N", help="Steps that the search for stages may take.")
    ] = 2_000_000_000,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Order a change of tables into stages that are safe in every mixture; exit 2 when something must be drained."""
    from weftline.app.order import Wish
    from weftline.app.order import order as order_places
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        ordered = order_places(old, new, Wish(engine, tuple(root or ()), budget, out), progress)
    return show_ordered(ordered, as_json=as_json, no_color=no_color)


def show_ordered(ordered: Ordered, *, as_json: bool, no_color: bool) -> int:
    """Print the verdict, a line for each stage, and what carries nothing meanwhile."""
    from weftline.app.views.order import view_order

    status = EXIT_DONE if ordered.is_accepted else EXIT_NO
    if as_json:
        print_json(view_order(ordered))
        return status
    console = make_console(no_color=no_color)
    _print_verdict(console, ordered)
    _print_stages(console, ordered)
    _print_drain(console, ordered)
    if ordered.written:
        count = f"{len(ordered.written)} file{'s' * (len(ordered.written) != 1)}"
        console.print(f"\nwrote {count} under {clean(str(ordered.written[0].parents[2]))}")
    return status


def _print_verdict(console: Console, ordered: Ordered) -> None:
    from weftline.cli.layout import print_rows

    ordering = ordered.ordering
    direct = ordering.direct
    said = f": {direct.witness.summary}" if direct.witness is not None else ""
    rows: dict[str, object] = {
        "from": str(ordered.old),
        "to": ordered.new,
        "at once": f"{direct.verdict}{said}",
        "in stages": f"{ordering.verdict}: {ordering.why}",
    }
    print_rows(console, rows)


def _print_stages(console: Console, ordered: Ordered) -> None:
    stages = ordered.ordering.stages
    change = ordered.side.technology.change
    if not stages:
        return
    console.print()
    for number, stage in enumerate(stages, start=1):
        entries = "1 entry" if stage.entries == 1 else f"{stage.entries:,} entries"
        size = f"{entries} in {stage.writes:,} write{'s' * (stage.writes != 1)}"
        console.print(clean(f"stage {number}: {stage.words}, {size}: {stage.proof.verdict}"))
    if change is not None:
        console.print(clean(f"\na stage is {change.stage}\na write is {change.piece}; {change.order}"))


def _print_drain(console: Console, ordered: Ordered) -> None:
    drain = ordered.ordering.drain
    if drain is None:
        return
    names = ordered.drained
    if len(names) == len(ordered.ordering.new.destination_node):
        console.print(
            f"\ndrain: until the last stage is through, send nothing at all: it is all {len(names):,} destinations"
        )
    else:
        console.print("\ndrain: until the last stage is through, send nothing to")
    for line in (*names[:SHOWN], *([f"and {len(names) - SHOWN:,} more; --json lists all"] if names[SHOWN:] else [])):
        console.print(clean(f"  {line}"))
    if drain.links:
        console.print("or let nothing be sent over these links, and change all at once")
        more = [f"and {len(drain.links) - SHOWN:,} more; --json lists all"] if drain.links[SHOWN:] else []
        for line in (*drain.links[:SHOWN], *more):
            console.print(clean(f"  {line}"))
