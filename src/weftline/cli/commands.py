"""The verbs that go from a declaration to a proved, simulated, rendered fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weftline.cli.options import Json, NoColor, Out, Place, Quiet, Seed
from weftline.cli.simulating import simulate

Certificates = Annotated[
    Path | None,
    typer.Option(
        "--certificates", metavar="FOLDER", help="Write what an auditor needs to check the claims without Weftline."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verbs in the order in which a newcomer meets them."""
    for verb in (init, check, build, cables, route, trace, prove, render, simulate, report, up):
        app.command()(verb)


def init(
    path: Annotated[Path, typer.Argument(help="The declaration to write.")] = Path("fabric.yaml"),
    kind: Annotated[
        str, typer.Option("--kind", help="rail-optimised, dragonfly, dragonfly-plus or torus.")
    ] = "rail-optimised",
    force: Annotated[bool, typer.Option("--force", metavar="", help="Write over a file that exists.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Write a commented declaration to start from."""
    from weftline.app.start import write_starter
    from weftline.cli import show

    return show.show_starter(write_starter(path, kind, force=force), as_json=as_json, quiet=quiet, no_color=no_color)


def check(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Check a declaration and say what it adds up to; every problem at once."""
    from weftline.app.build import build as build_place
    from weftline.app.check import check as check_place
    from weftline.cli import show

    built = build_place(check_place(place))
    return show.show_checked(built, as_json=as_json, quiet=quiet, no_color=no_color)


def build(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Compile the fabric: hosts, GPUs, switches, cables and links."""
    from weftline.app.build import build as build_place
    from weftline.app.check import check as check_place
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        progress("fabric", None)
        built = build_place(check_place(place))
    return show.show_built(built, as_json=as_json, no_color=no_color)


def cables(
    place: Place, out: Out = None, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False
) -> int:
    """Print the cabling list as CSV: both ends, length, part, label, breakouts."""
    from weftline.app.cables import list_cabling
    from weftline.cli import show

    return show.show_cabling(list_cabling(place, out), as_json=as_json, quiet=quiet, no_color=no_color)


def route(place: Place, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False) -> int:
    """Compute the routes and say what the engine promises."""
    from weftline.app.pipeline import run_to_routes
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        routed = run_to_routes(place, progress)
    return show.show_routes(routed, as_json=as_json, no_color=no_color)


def trace(
    place: Place,
    source: Annotated[str, typer.Argument(metavar="A", help="The sender, as host-0001/nic3 or host-0001.")],
    target: Annotated[str, typer.Argument(metavar="B", help="The receiver.")],
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Explain one path hop by hop."""
    from weftline.app.trace import trace as trace_place
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        traced = trace_place(place, source, target, seed, progress)
    return show.show_path(traced, as_json=as_json, no_color=no_color)


def prove(
    place: Place,
    certificates: Certificates = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Prove the claims; exit 2 when a required one is refuted or unknown."""
    from weftline.app.certify import certify
    from weftline.app.render import prove_all
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        certified = None if certificates is None else certify(place, certificates, progress)
        report = prove_all(place, progress).report if certified is None else certified.report
    if certified is not None:
        return show.show_certified(certified, as_json=as_json, no_color=no_color)
    return show.show_proofs(report, as_json=as_json, no_color=no_color)


def render(
    place: Place,
    out: Out = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", metavar="", help="Write although a required claim is not proved; the manifest records it."
        ),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="FOLDER", help="Running config_db.json files: each patch.json is then the difference."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Write the device files, atomically, with a manifest of digests."""
    from weftline.app.render import render as render_place
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        rendered = render_place(place, out, force=force, against=against, progress=progress)
    return show.show_rendered(rendered, as_json=as_json, no_color=no_color)


def report(
    place: Place, out: Out = None, as_json: Json = False, quiet: Quiet = False, no_color: NoColor = False
) -> int:
    """Write report.html: topology, load, proofs, job, device files; one file that needs nothing else."""
    from weftline.app.up import write_report
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        done = write_report(place, out, progress)
    return show.show_report(done, as_json=as_json, no_color=no_color)


def up(
    place: Place,
    out: Out = None,
    certificates: Certificates = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Do it all: compile, route, prove, simulate, render and report."""
    from weftline.app.up import bring_up
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        done = bring_up(place, out, progress, certificates=certificates)
    return show.show_up(done, as_json=as_json, no_color=no_color)
