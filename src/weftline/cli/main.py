"""The one door of the command line, where failures become words and exit statuses."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from weftline.cli.interrupt import EXIT_INTERRUPTED, WORDS, listen

if TYPE_CHECKING:
    from weftline.errors import WeftlineError

EXIT_UNREAD = 141
"""What a shell expects where the reader of a pipe left early: never 0, since the answer may have been no."""


def run() -> None:
    """Run the command line; every failure leaves through here with its exit status."""
    relax_collector()
    for name in ("stdout", "stderr"):
        _prepare(name)
    listen()
    arguments = sys.argv[1:]
    status = call(arguments)
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        status = _leave(error, arguments, in_json=False)
    for stream in (sys.stdout, sys.stderr):  # what is still held back would fail once more, and change the status
        try:
            stream.flush()
        except (OSError, ValueError):
            _drop_output(stream)
    sys.exit(status)


def relax_collector() -> None:
    """Let the collector of cycles look seldom: a command is short, and what its imports and kernels make stays.

    Python's own thresholds have it look hundreds of times before a command does anything, and find nothing.
    """
    gc.set_threshold(100_000, 50, 50)


def _prepare(name: str) -> None:
    """Let a stream that is closed swallow what is written, and one that lacks a character write its number."""
    stream: TextIO | None = getattr(sys, name)
    if stream is None:
        setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  (open until the end)
    elif isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def call(arguments: list[str]) -> int:
    """Run one command and return its exit status; prints, never raises."""
    in_json = "--json" in arguments
    try:
        from weftline.cli.verbs import app  # in here, so that Ctrl-C during the imports is heard too

        status = app(arguments, prog_name="weftline", standalone_mode=False)
        if status == EXIT_INTERRUPTED:  # typer keeps the interrupt to itself
            raise KeyboardInterrupt  # noqa: TRY301
    except BaseException as error:  # the door: nothing passes as a traceback
        if os.environ.get("WEFTLINE_TRACEBACK"):
            raise
        return _leave(error, arguments, in_json=in_json)
    return status if isinstance(status, int) else 0


def _leave(error: BaseException, arguments: list[str], *, in_json: bool) -> int:
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.write(WORDS)
        return EXIT_INTERRUPTED
    import typer

    from weftline.errors import ArtifactError, InternalError, WeftlineError

    match error:
        case WeftlineError():
            status = _fail(error, in_json)
        case typer.Exit():
            status = error.exit_code
        case typer.exceptions.TyperException():
            status = _refuse_usage(error.format_message().replace("\n", " ").rstrip("."), arguments, in_json)
        case BrokenPipeError() | SystemExit():  # rich leaves by SystemExit when nobody reads
            _drop_output(sys.stdout)
            status = EXIT_UNREAD
        case OSError():
            hint = "check where the output goes, the space left and the permissions"
            text = f"the system refused: {error.strerror or error}"
            status = _fail(ArtifactError("artifact.system", text, hint), in_json)
        case MemoryError():
            status = _fail(InternalError("internal.memory", "out of memory", "use a machine with more memory"), in_json)
        case _:
            text = f"{type(error).__name__}: {error}"[:500]
            hint = "this is a bug of ours; run again with WEFTLINE_TRACEBACK=1 and report what it prints"
            status = _fail(InternalError("internal.bug", text, hint), in_json)
    return status


def _drop_output(stream: TextIO) -> None:
    """Let the rest of the output go nowhere."""
    with contextlib.suppress(OSError, ValueError):  # a stream that is no file has nothing to drop
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _refuse_usage(message: str, arguments: list[str], in_json: bool) -> int:
    from weftline.errors import EXIT_USAGE, UsageError

    if message:  # without arguments the help was printed, and there is nothing to add
        _fail(UsageError("usage.command", message, _usage_hint(arguments)), in_json)
    return EXIT_USAGE


def _fail(error: WeftlineError, in_json: bool) -> int:
    from weftline.cli.output import print_failure

    try:
        print_failure(error, in_json=in_json)
    except OSError:  # the failure may be that stdout cannot be written
        _drop_output(sys.stdout)
        with contextlib.suppress(OSError):
            print_failure(error, in_json=False)
    return error.exit_status


def _usage_hint(arguments: list[str]) -> str:
    from weftline.cli.verbs import list_verbs

    verbs = [word for word in arguments[:1] if not word.startswith("-")]
    known = verbs and verbs[0] in list_verbs()
    return f"see weftline {verbs[0]} --help" if known else "see weftline --help"
