"""``balance``: how loads spread over links, and what it prints of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from weftline.cli.options import Json, NoColor, Place, Quiet
from weftline.cli.output import clean, make_console, print_json
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from weftline.app.balance import Balanced

MOST_PERMUTATIONS = 1_000_000


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(balance)


def balance(
    place: Place,
    shifts: Annotated[
        str, typer.Option("--shifts", metavar="N", help="Shifts to load, or all; auto: all up to 4,096 endpoints.")
    ] = "auto",
    permutations: Annotated[
        int,
        typer.Option("--permutations", min=0, max=MOST_PERMUTATIONS, metavar="N", help="Random permutations to load."),
    ] = 100,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**31 - 1, metavar="N", help="For permutations, hashes and samples.")
    ] = 1,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Show how loads spread over links for shifts, random permutations and jobs; exit 2 when flows are lost."""
    from weftline.app.balance import balance_place, choose
    from weftline.cli.output import show_progress

    choice = choose(shifts, permutations, seed)
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        balanced = balance_place(place, choice, progress)
    return show_balance(balanced, as_json=as_json, no_color=no_color)


def show_balance(balanced: Balanced, *, as_json: bool, no_color: bool) -> int:
    """Print a line per family of patterns, and how many links are how loaded."""
    from weftline.app.views.balance import view_balance

    view: dict[str, Any] = view_balance(balanced)
    families = cast("list[dict[str, Any]]", view["families"])
    status = EXIT_NO if any(family["flows_lost"] for family in families) else EXIT_DONE
    if as_json:
        print_json(view)
        return status
    from weftline.cli.layout import make_table, print_trimmed

    console = make_console(no_color=no_color)
    if not families:
        console.print("nobody sends anything: no endpoint is connected")
        return status
    table = make_table(
        ("traffic", "patterns", "worst load", "median", "optimum", "mean flow", "least flow"), (1, 2, 3, 4, 5, 6)
    )
    for family in families:
        worst, optimum, left = family["worst_load"], family["optimum"], family["bandwidth"]
        table.add_row(
            clean(family["name"]), _count(family), f"{worst['max']:.6g}", f"{worst['median']:.6g}",
            f"{optimum['max']:.6g}", f"{left['mean']:.1%}", f"{left['least_flow']:.1%}",
        )  # fmt: skip
    print_trimmed(console, table)
    console.print()
    print_trimmed(console, _histogram(view["load_edges"], families))
    for line in ("", *(text for family in families for text in _say(family))):
        console.print(clean(line))
    return status


def _count(family: dict[str, Any]) -> str:
    of = family["of"]
    return f"{family['judged']:,}" if of in {None, family["judged"]} else f"{family['judged']:,} of {of:,}"


def _histogram(edges: list[float], families: list[dict[str, Any]]) -> Any:
    """Lay out how many links between switches are how loaded, a row per class that occurs."""
    from weftline.cli.layout import make_table

    table = make_table(
        ("load of a link", *(clean(family["name"]) for family in families)), tuple(range(1, 1 + len(families)))
    )
    for at in range(len(edges) + 1):
        counts = [family["link_loads"][at] for family in families]
        if any(counts):
            totals = [max(1, sum(family["link_loads"])) for family in families]
            cells = [f"{count / total:.2%}" for count, total in zip(counts, totals, strict=True)]
            table.add_row(_name_class(edges, at), *cells)
    return table


def _name_class(edges: list[float], at: int) -> str:
    if at == 0:
        return "idle"
    if at == len(edges):
        return f"above {edges[-1]:g}"
    return f"up to {edges[at]:g}"


def _say(family: dict[str, Any]) -> list[str]:
    """Say where the worst is, how far from the optimum, and what no shift exceeds."""
    name, worst = family["name"], family["worst_load"]["max"]
    lines: list[str] = []
    if family["worst_link"] and worst > family["optimum"]["max"]:
        which = "" if name.startswith("job") else f" of {name[:-1]} {family['worst_pattern']}"
        lines.append(
            f"{name}: {family['worst_link']} carries {worst:.6g} times its rate{which}, "
            f"{family['worst_over_optimum']['max']:.6g} times the optimum at most"
        )
    if family["no_shift_exceeds"] is not None:
        lines.append(f"{name}: none of all {family['of']:,} exceeds {family['no_shift_exceeds']:.6g}")
    if family["flows_lost"]:
        lines.append(f"{name}: {family['flows_lost']:,} flows are not delivered")
    return lines
