"""The weftline command: its verbs, and the one door where failures become words and exit statuses."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from weftline import __version__
from weftline.cli import commands, inspect

if TYPE_CHECKING:
    from weftline.errors import WeftlineError

EXIT_INTERRUPTED = 130
"""What a shell expects after Ctrl-C."""

app = typer.Typer(
    name="weftline",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Declare a GPU-training fabric once; compile, route, prove, simulate and render it.",
    epilog="Start with `weftline init`, then `weftline up`. Exit statuses: 0 done, 1 your input, 2 the answer is no, "
    "64 wrong usage, 70 our bug.",
)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"weftline {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Declare a GPU-training fabric once; compile, route, prove, simulate and render it."""


commands.register(app)
inspect.register(app)


def run() -> None:
    """Run the command line; every failure leaves through here with its exit status."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run one command and return its exit status; prints, never raises."""
    in_json = "--json" in arguments
    try:
        status = app(arguments, standalone_mode=False)
    except BaseException as error:  # the door: nothing passes as a traceback
        if isinstance(error, GeneratorExit | SystemExit) or os.environ.get("WEFTLINE_TRACEBACK"):
            raise
        return _leave(error, arguments, in_json)
    return status if isinstance(status, int) else 0


def _leave(error: BaseException, arguments: list[str], in_json: bool) -> int:
    from weftline.errors import EXIT_DONE, InternalError, WeftlineError

    match error:
        case WeftlineError():
            status = _fail(error, in_json)
        case typer.Exit():
            status = error.exit_code
        case typer.exceptions.TyperException():
            status = _refuse_usage(error.format_message().replace("\n", " "), arguments, in_json)
        case KeyboardInterrupt() | typer.Abort():
            sys.stderr.write("\ninterrupted; nothing is half-written\n")
            status = EXIT_INTERRUPTED
        case BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = EXIT_DONE
        case MemoryError():
            status = _fail(InternalError("internal.memory", "out of memory", "use a machine with more memory"), in_json)
        case _:
            text = f"{type(error).__name__}: {error}"[:500]
            hint = "this is a bug of ours; run again with WEFTLINE_TRACEBACK=1 and report what it prints"
            status = _fail(InternalError("internal.bug", text, hint), in_json)
    return status


def _refuse_usage(message: str, arguments: list[str], in_json: bool) -> int:
    from weftline.errors import EXIT_USAGE, UsageError

    if message:  # without arguments the help was printed, and there is nothing to add
        _fail(UsageError("usage.command", message, _usage_hint(arguments)), in_json)
    return EXIT_USAGE


def _fail(error: WeftlineError, in_json: bool) -> int:
    from weftline.cli.output import print_failure

    print_failure(error, in_json=in_json)
    return error.exit_status


def _usage_hint(arguments: list[str]) -> str:
    verbs = [word for word in arguments[:1] if not word.startswith("-")]
    known = verbs and verbs[0] in {command.callback.__name__ for command in app.registered_commands if command.callback}
    return f"see weftline {verbs[0]} --help" if known else "see weftline --help"
