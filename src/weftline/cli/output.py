"""Output: stdout is data, stderr is talk."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

    from weftline.app.pipeline import Progress
    from weftline.errors import Place, Problem, WeftlineError

MAX_PRINTED = 50
"""Problems of a failure printed before the rest is only counted."""
MAX_ALIKE = 3
"""Problems of one code in a verdict printed before the rest is only counted."""
PLAIN_WIDTH = 100
"""Columns of a table that goes to a file or a pipe."""


def print_json(view: Mapping[str, object]) -> None:
    """Print one JSON document on stdout."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(view, indent=2, ensure_ascii=not is_utf8, allow_nan=False) + "\n")


def make_console(*, no_color: bool = False, stream: TextIO | None = None) -> Console:
    """Make a console that prints text as it is, colours only on a terminal and leaves long lines to the terminal."""
    from rich.console import Console

    out = sys.stdout if stream is None else stream
    is_terminal = out.isatty()
    plain = no_color or bool(os.environ.get("NO_COLOR")) or not is_terminal
    width = None if is_terminal else PLAIN_WIDTH
    return Console(file=out, no_color=plain, highlight=False, markup=False, emoji=False, soft_wrap=True, width=width)


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
    words_column = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), words_column, BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task, shown = bar.add_task("starting", total=None), ""

        def advance(words: str, share: float | None) -> None:
            nonlocal task, shown
            if words != shown:  # a task that was full stays full, so each stage is a new one
                bar.remove_task(task)
                task, shown = bar.add_task(words, total=None), words
            if share is not None:
                bar.update(task, total=1.0, completed=share)

        yield advance


def _plain_progress() -> Progress:
    last = ""

    def advance(words: str, _share: float | None) -> None:
        nonlocal last
        if words != last:
            last = words
            print_talk(f"{words} ...")

    return advance


def print_talk(text: str) -> None:
    """Print on stderr, where no program reads; what would steer a terminal is written out."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def clean(text: str) -> str:
    """Write out every character that is not printable, line ends excepted: names in a dump are not ours."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


def print_failure(error: WeftlineError, *, in_json: bool) -> None:
    """Print an error: as JSON on stdout when asked, else what, where and what to do on stderr."""
    if in_json:
        from weftline.app.views.failure import view_error

        print_json(view_error(error))
        return
    print_talk("\n".join(_list_failure(error)))


def _list_failure(error: WeftlineError) -> Iterator[str]:
    problems = [problem for problem in error.problems if problem.is_error] or list(error.problems)
    if not problems:
        yield f"error: {_describe(error.where, error.message, error.code)}"
        yield from _hint(error.hint)
    for problem in problems[:MAX_PRINTED]:
        yield from _list_problem(problem)
    if len(problems) > MAX_PRINTED:
        yield f"and {len(problems) - MAX_PRINTED} more problems; --json prints them all"


def print_warnings(problems: Iterable[Problem]) -> None:
    """Print warnings on stderr."""
    for line in gather_problems(problems):
        print_talk(line)


def gather_problems(problems: Iterable[Problem]) -> Iterator[str]:
    """Write problems, those of one code and file together: how many, the first few, and what to do."""
    groups: dict[tuple[str, str, str, str], list[Problem]] = {}
    for problem in problems:
        file = problem.where.file if problem.where else ""
        groups.setdefault((problem.severity, problem.code, problem.hint, file), []).append(problem)
    for (severity, code, hint, file), alike in groups.items():
        if len(alike) <= MAX_ALIKE:
            for problem in alike:
                yield from _list_problem(problem)
            continue
        yield f"{severity}: {len(alike):,} problems of one kind{f' in {file}' if file else ''} [{code}]"
        yield from (f"  {_line(problem.where)}{problem.message}" for problem in alike[:MAX_ALIKE])
        yield f"  and {len(alike) - MAX_ALIKE:,} more like these"
        yield from _hint(hint)


def _list_problem(problem: Problem) -> Iterator[str]:
    yield f"{problem.severity}: {_describe(problem.where, problem.message, problem.code)}"
    yield from _hint(problem.hint)


def _line(where: Place | None) -> str:
    return "" if where is None or where.line is None else f"line {where.line}: "


def _describe(where: Place | None, message: str, code: str) -> str:
    """Put the place first, unless the message starts with the file itself."""
    is_named = where is None or (where.line is None and message.startswith(where.file))
    return f"{message} [{code}]" if is_named else f"{where}: {message} [{code}]"


def _hint(hint: str) -> list[str]:
    return [f"  hint: {hint}"] if hint else []
