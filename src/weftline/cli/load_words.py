"""Options of the verb that simulates: the loads, what packets do, and what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Collective = Annotated[
    str | None,
    typer.Option(
        "--collective",
        metavar="WORD",
        help="all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, gather, scatter or permutation.",
    ),
]
Algorithm = Annotated[
    str | None,
    typer.Option(
        "--algorithm",
        metavar="WORD",
        help="ring, hierarchical, tree, double-binary-tree, halving-doubling, or in-network.",
    ),
]
Size = Annotated[str | None, typer.Option("--size", metavar="SIZE", help="The whole array, as 64MiB or 1GB.")]
Ranks = Annotated[int | None, typer.Option("--ranks", min=1, metavar="N", help="How many GPUs take part.")]
Placement = Annotated[str | None, typer.Option("--placement", metavar="WORD", help="order or random.")]
Job = Annotated[str | None, typer.Option("--job", metavar="NAME", help="A declared job; else the first.")]
LatencyUs = Annotated[
    float | None,
    typer.Option("--latency-us", metavar="T", help="End-to-end latency of a message, in microseconds."),
]
Load = Annotated[
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
Straggler = Annotated[
    list[str] | None,
    typer.Option(
        "--straggler", metavar="RANK:US", help="A rank that starts late; uniform:US or exponential:US draw for all."
    ),
]
Fidelity = Annotated[
    str, typer.Option("--fidelity", metavar="WORD", help="fluid, or packet: every queue, pause and loss.")
]
Spread = Annotated[
    str | None,
    typer.Option("--spread", metavar="WORD", help="How packets share equal ports: hash, spray, adaptive or flowlet."),
]
Pacing = Annotated[
    str | None, typer.Option("--pacing", metavar="NAME", help="How senders slow down for marks; or none.")
]
Recovery = Annotated[
    str | None,
    typer.Option("--recovery", metavar="WORD", help="What senders send again: go-back-n or selective."),
]
Fault = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="KIND:KEY=VALUE,...",
        help="What goes wrong meanwhile: down, flap, rate, errors or slow, as down:what=leaf-001/3,at_us=100; again "
        "for more.",
    ),
]
FaultFile = Annotated[
    Path | None, typer.Option("--faults", metavar="FILE", help="A file with such a fault in each line.")
]
RerouteAfter = Annotated[
    float | None,
    typer.Option("--reroute-after", metavar="US", help="New tables come so many microseconds after each change."),
]
Seeds = Annotated[
    str | None,
    typer.Option("--seeds", metavar="RANGE", help="A campaign: a run for each seed, as 1..100 or 1,2,7."),
]
Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid", metavar="OPTION=A,B", help="A campaign: a run for each value, as spread=hash,spray; again for more."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, max=1024, metavar="N", help="Runs of a campaign at one time.")
]
Anew = Annotated[bool, typer.Option("--anew", metavar="", help="Leave aside what an earlier call of a campaign found.")]
UntilUs = Annotated[float | None, typer.Option("--until-us", metavar="T", help="Simulated time at which packets stop.")]
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
Against = Annotated[
    Path | None,
    typer.Option("--against", metavar="FOLDER", help="Device files of a second run, beside the first one."),
]
Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="FOLDER", help="Write flows, ports and ports over time as Parquet files."),
]
Page = Annotated[
    Path | None, typer.Option("--page", metavar="FILE", help="Write pictures of the packets, as one HTML file.")
]
