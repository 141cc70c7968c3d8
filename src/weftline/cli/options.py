"""The arguments and options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Place = Annotated[
    Path, typer.Argument(metavar="PLACE", help="A declaration file, or its workspace folder `.weftline/NAME`.")
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON document on stdout, errors too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Print the result only, no progress.")]
NoColor = Annotated[
    bool, typer.Option("--no-color", metavar="", help="No colour; NO_COLOR in the environment does the same.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Where artifacts/, report.html or cabling.csv go; without it, the workspace."
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, metavar="N", help="For random placement and hashed paths."),
]
Ibnl = Annotated[
    Path | None,
    typer.Option("--ibnl", metavar="DIR", help="IBNL files that describe the systems of an IBDM .topo file."),
]
