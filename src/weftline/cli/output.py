"""Output: stdout is data, stderr is talk."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.pipeline import Progress
    from weftline.errors import Place, Problem, WeftlineError

MAX_PRINTED = 50
"""Problems printed before the rest is only counted."""


def print_json(view: Mapping[str, object]) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(json.dumps(view, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def make_console(*, no_color: bool = False, stream: TextIO | None = None) -> Console:
    """Make a console that colours only on a terminal and never breaks a line in the middle of a name."""
    from rich.console import Console

    out = sys.stdout if stream is None else stream
    is_terminal = out.isatty()
    plain = no_color or bool(os.environ.get("NO_COLOR")) or not is_terminal
    return Console(file=out, no_color=plain, highlight=False, width=None if is_terminal else 120)


@contextmanager
def show_progress(*, quiet: bool, no_color: bool) -> Generator[Progress]:
    """Show the stage that runs: a spinner and a bar on a terminal, plain lines elsewhere, nothing when quiet."""
    if quiet:
        yield lambda _words, _share: None
        return
    if not sys.stderr.isatty():
        yield _plain_progress()
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = make_console(no_color=no_color, stream=sys.stderr)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(words: str, share: float | None) -> None:
            bar.update(task, description=words, total=None if share is None else 1.0, completed=share or 0.0)

        yield advance


def _plain_progress() -> Progress:
    last = ""

    def advance(words: str, _share: float | None) -> None:
        nonlocal last
        if words != last:
            last = words
            sys.stderr.write(f"{words} ...\n")
            sys.stderr.flush()

    return advance


def print_failure(error: WeftlineError, *, in_json: bool) -> None:
    """Print an error: as JSON on stdout when asked, else what, where and what to do on stderr."""
    if in_json:
        from weftline.app.views.failure import view_error

        print_json(view_error(error))
        return
    lines = [f"error: {line}" for line in _describe(error)]
    sys.stderr.write("\n".join(lines) + "\n")


def _describe(error: WeftlineError) -> Iterator[str]:
    problems = [problem for problem in error.problems if problem.severity == "error"] or list(error.problems)
    if not problems:
        yield _describe_one(error.where, error.message, error.code) + _hint(error.hint)
        return
    for problem in problems[:MAX_PRINTED]:
        yield describe_problem(problem)
    if len(problems) > MAX_PRINTED:
        yield f"and {len(problems) - MAX_PRINTED} more problems; --json prints them all"


def describe_problem(problem: Problem) -> str:
    """Write one problem as place, message, code and hint."""
    return _describe_one(problem.where, problem.message, problem.code) + _hint(problem.hint)


def _describe_one(where: Place | None, message: str, code: str) -> str:
    """Put the place first, unless the message starts with the file itself."""
    is_named = where is None or (where.line is None and message.startswith(where.file))
    return f"{message} [{code}]" if is_named else f"{where}: {message} [{code}]"


def _hint(hint: str) -> str:
    return f"\n  hint: {hint}" if hint else ""
