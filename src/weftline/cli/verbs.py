"""The weftline command with all its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from weftline import __version__
from weftline.cli import balancing, commands, inspect, lab, ordering, rehearsal

app = typer.Typer(
    name="weftline",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Declare a GPU-training fabric once; compile, route, prove, simulate and render it.",
    epilog="Start with `weftline init`, then `weftline up`. Exit statuses: 0 done, 1 your input, 2 the answer is no, "
    "4 not reachable, 5 a change failed, 64 wrong usage, 70 our bug.",
)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"weftline {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, metavar="", help="Print the version and leave."),
    ] = False,
) -> None:
    """Declare a GPU-training fabric once; compile, route, prove, simulate and render it."""


commands.register(app)
app.command()(rehearsal.rehearse)
balancing.register(app)
inspect.register(app)
ordering.register(app)
lab.register(app)


def list_verbs() -> list[str]:
    """Name the verbs in the order of the help."""
    return [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
