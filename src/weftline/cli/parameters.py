"""Every figure that packets meet, as a table: the figure, where it holds, and who says it."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from weftline.cli.output import make_console, print_json, show_progress
from weftline.errors import EXIT_DONE

if TYPE_CHECKING:
    from weftline.app.parameters import Parameters
    from weftline.model.parameters import CarriageChoice, Parameter

SAME = "the same"
MAX_NAME, MAX_FIGURE, MAX_HOLDS = 40, 24, 64
"""Columns are no wider than this; a longer cell pushes its own line to the right."""


def show_parameters(
    place: Path, files: Path | None, choice: CarriageChoice, *, as_json: bool, quiet: bool, no_color: bool
) -> int:
    """Print every figure in force for a place, without simulating."""
    from weftline.app.parameters import list_parameters

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        found = list_parameters(place, choice, files, progress)
    if as_json:
        from weftline.app.views.parameters import view_parameters

        print_json(view_parameters(found))
    else:
        _print_table(found, no_color=no_color)
    return EXIT_DONE


def _print_table(found: Parameters, *, no_color: bool) -> None:
    console = make_console(no_color=no_color)
    rows = found.parameters
    name = _widest([row.name for row in rows], MAX_NAME)
    figure = _widest([_write_figure(row) for row in rows], MAX_FIGURE)
    holds = _widest([row.holds for row in rows], MAX_HOLDS)
    for group, members in groupby(rows, key=lambda row: row.group):
        console.print(group, style="bold")
        last = ""
        for row in members:
            source = _write_source(row)
            told = SAME if source == last and len(source) > len(SAME) else source
            console.print(f"  {row.name:{name}}  {_write_figure(row):{figure}}  {row.holds:{holds}}  {told}")
            last = source
    for text in found.assumptions:
        console.print(f"assumes: {text}", style="dim")


def _widest(cells: list[str], most: int) -> int:
    return min(max(map(len, cells), default=0), most)


def _write_figure(row: Parameter) -> str:
    """Write a value with its unit: ``86,016 B``."""
    value = row.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
    return f"{words} {row.unit}".rstrip()


def _write_source(row: Parameter) -> str:
    """Say who says it: the file and line, else the kind of source and its words."""
    if row.where is None:
        return f"{row.origin}: {row.source}"
    return f"{row.where}: {row.source}" if row.source else str(row.where)
