"""The command ``simulate``: a job, a collective, or any loads at once, and what packets would meet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weftline.cli.options import Json, NoColor, Place, Quiet, Seed
from weftline.errors import UsageError

Kind = Annotated[
    str | None,
    typer.Option(
        "--collective",
        metavar="WORD",
        help="all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, gather, scatter or permutation.",
    ),
]
Way = Annotated[
    str | None,
    typer.Option(
        "--algorithm", metavar="WORD", help="ring, hierarchical, tree, double-binary-tree or halving-doubling."
    ),
]
Size = Annotated[str | None, typer.Option("--size", metavar="SIZE", help="The whole array, as 64MiB or 1GB.")]
Ranks = Annotated[int | None, typer.Option("--ranks", min=1, metavar="N", help="How many GPUs take part.")]
Placement = Annotated[str | None, typer.Option("--placement", metavar="WORD", help="order or random.")]
Job = Annotated[str | None, typer.Option("--job", metavar="NAME", help="A declared job; else the first.")]
Latency = Annotated[
    float | None,
    typer.Option("--latency-us", metavar="T", help="End-to-end latency of a message, in microseconds."),
]
Loads = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        metavar="KIND[:KEY=VALUE,...]",
        help="A load beside the others, as incast:senders=15,size=4MiB; again for more. Alone, without the job.",
    ),
]
Trace = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Flows from a CSV file: source, target, bytes.")
]
Stragglers = Annotated[
    list[str] | None,
    typer.Option(
        "--straggler", metavar="RANK:US", help="A rank that starts late; uniform:US or exponential:US draw for all."
    ),
]
Parameters = Annotated[
    bool,
    typer.Option(
        "--parameters", metavar="", help="Print what packets would meet (buffers, thresholds, timers), and stop."
    ),
]
Files = Annotated[
    Path | None,
    typer.Option("--files", metavar="FOLDER", help="Device files to read in place of those that are rendered."),
]


def simulate(
    place: Place,
    collective: Kind = None,
    algorithm: Way = None,
    size: Size = None,
    ranks: Ranks = None,
    placement: Placement = None,
    seed: Seed = 0,
    job: Job = None,
    latency_us: Latency = None,
    load: Loads = None,
    trace: Trace = None,
    straggler: Stragglers = None,
    parameters: Parameters = False,
    files: Files = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Simulate the declared job's all-reduce, or the collective and other loads that the options describe."""
    if parameters:
        from weftline.cli.parameters import show_parameters

        return show_parameters(place, files, as_json=as_json, quiet=quiet, no_color=no_color)
    if files is not None:
        raise UsageError("usage.choice", "--files goes with --parameters", "add --parameters, or leave --files out")
    from weftline.app.simulate import LoadChoice, simulate_place
    from weftline.cli import show
    from weftline.cli.output import show_progress

    choice = LoadChoice(
        collective, algorithm, size, ranks, placement, seed, latency_us, job, tuple(load or ()), trace,
        tuple(straggler or ()),
    )  # fmt: skip
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        simulated = simulate_place(place, choice, progress)
    return show.show_simulation(simulated, as_json=as_json, no_color=no_color)
